// A sparse exam, and speed-ups by density, as text, JSON and CSV.
// Called by `eyeroof sparse`. Computes nothing.
#pragma once

#include "study/sparse/sparse_exam.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string sparse_text(const SparseExam& exam, bool details);
std::string sparse_json(const SparseExam& exam); // eyeroof/sparse/1
std::string sparse_csv(const SparseExam& exam);

std::string density_curve_text(const SparseMachine& machine, const std::string& network,
                               const std::vector<DensityPoint>& curve);
std::string density_curve_json(const SparseMachine& machine, const std::string& network,
                               const std::vector<DensityPoint>& curve); // eyeroof/sparse-curve/1
std::string density_curve_csv(const std::vector<DensityPoint>& curve);

} // namespace eyeroof::study
