// What an exam with zeros is asked of: machine, layers as the network has them, and the share of
// nonzero values of each.
#pragma once

#include "analysis/scenario/question.hpp"
#include "analysis/sparse/sparse_exam.hpp"

namespace eyeroof::analysis {

inline constexpr std::string_view kDensityCurve = "curve";

// "weights=0.4,inputs=0.6" for all layers, outputs as dense as inputs where they are not given; or
// a density table's name or path. Errors: "density"; those of the table.
Result<std::vector<model::sparse::Densities>>
shares_of(const std::string& density, const model::Network& network,
          std::span<const std::filesystem::path> folders);

struct SparseTask {
    SparseMachine machine;
    model::Network network;
    Pattern only; // layers that are examined
    Scenario scenario;
    std::vector<model::sparse::Densities> densities; // none for a curve
};

// All operators of the network are there, as what pools a layer's outputs is among them; the
// scenario's expression chooses among them. Errors: those of lowered_network() and shares_of();
// "bad-regex".
Result<SparseTask> sparse_task(const SparseMachine& machine, const Scenario& scenario,
                               const model::NetworkGraph& loaded,
                               std::span<const std::filesystem::path> folders);

Result<SparseExam> sparse_exam(const SparseTask& task, std::stop_token stop = {},
                               const ProgressCallback& progress = {});
Result<std::vector<DensityPoint>> density_curve(const SparseTask& task);

} // namespace eyeroof::analysis
