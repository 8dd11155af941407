// Optimizations of a step as an answer.
#pragma once

#include "analysis/step/improve.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// `network` and `machine`: their ids; `limit`: bytes for tensors.
Answer improve_answer(const analysis::step::Improvement& found, const std::string& network,
                      const std::string& machine, Count limit);

} // namespace eyeroof::report
