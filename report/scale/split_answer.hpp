// A network divided over devices that differ, as an answer.
#pragma once

#include "analysis/scale/heterogeneous.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer split_answer(const analysis::HeterogeneousAnswer& split);

} // namespace eyeroof::report
