// A network on a machine that skips zeros, and the speedup over the density, as answers.
#pragma once

#include "analysis/sparse/sparse_exam.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// `details`: text has the chain of every layer.
Answer sparse_answer(const analysis::SparseExam& exam, bool details = false);
Answer density_curve_answer(const analysis::SparseMachine& machine, const std::string& network,
                            const std::vector<analysis::DensityPoint>& curve);

} // namespace eyeroof::report
