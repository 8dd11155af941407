// A sparse exam, and speedups by density, as text, JSON and CSV. Computes nothing.
#pragma once

#include "analysis/sparse/sparse_exam.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string sparse_text(const analysis::SparseExam& exam, bool details);
std::string sparse_json(const analysis::SparseExam& exam); // eyeroof/sparse/1
std::string sparse_csv(const analysis::SparseExam& exam);

std::string density_curve_text(const analysis::SparseMachine& machine, const std::string& network,
                               const std::vector<analysis::DensityPoint>& curve);
std::string
density_curve_json(const analysis::SparseMachine& machine, const std::string& network,
                   const std::vector<analysis::DensityPoint>& curve); // eyeroof/sparse-curve/1
std::string density_curve_csv(const std::vector<analysis::DensityPoint>& curve);

} // namespace eyeroof::report
