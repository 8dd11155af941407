// Lower bounds of a program's time beside its prediction, as an answer.
#pragma once

#include "analysis/bound/bound.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// `network` and `machine`: their ids.
Answer bound_answer(const analysis::bound::BoundReport& report, const std::string& network,
                    const std::string& machine);

} // namespace eyeroof::report
