// Layers on equal and on unequal cores as answers.
#pragma once

#include "analysis/cores/cores.hpp"
#include "analysis/cores/heterogeneous.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

Answer cores_answer(const analysis::CoresReport& report);
Answer placement_answer(const analysis::HeterogeneousReport& report);

} // namespace eyeroof::report
