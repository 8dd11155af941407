// A question in one sentence, with the defaults that apply: the first line of every result.
#pragma once

#include "analysis/scenario/question.hpp"

#include <string>

namespace eyeroof::analysis {

// "ResNet-50 (v1.5), inference, batch 32, fp16, on A100 SXM 40GB; eager PyTorch-style launches from
// server-2x64, channels-last, current library"; on accelerators the dataflow and how mappings are
// found. Last, the operators of the network that could not be costed.
std::string scenario_words(const Question& question);

} // namespace eyeroof::analysis
