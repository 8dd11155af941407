// A question in one sentence, with the defaults that apply: the first line of every result.
#pragma once

#include "analysis/scenario/question.hpp"

#include <string>

namespace eyeroof::analysis {

// "ResNet-50 (v1.5), inference, batch 32, fp16, on A100 SXM 40GB; eager PyTorch-style launches from
// server-2x64, channels-last, current library"; on accelerators the dataflow and how mappings are
// found. Last, how many operators of the network have no cost. `lengths`: a network that
// looks up tokens says how many a sample has; false where requests or a plan set the length.
std::string scenario_words(const Question& question, bool lengths = true);

} // namespace eyeroof::analysis
