// A network on a machine that skips zeros: the chain of every layer, and the sparsity speedup over
// a dense machine of the same size. `eyeroof exam --density`.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/sparse/machine.hpp"
#include "base/pattern.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct SparseLayer {
    std::string name;
    Count count = 1;
    model::sparse::Densities densities;
    model::sparse::Cost cost; // of one execution

    // The link of the chain that multiplies the cycles most; 0 where none does.
    std::size_t costliest_link() const;
    bool operator==(const SparseLayer&) const = default;
};

struct SparseExam {
    std::string network, machine, machine_id;
    double clock_hz = 1e9;
    std::vector<SparseLayer> layers;
    std::vector<std::string>
        left_out; // layers that the machine does not run or that never multiply
    double cycles = 0.0, dense_cycles = 0.0, effectual = 0.0; // all executions
    double macs = 0.0;
    double energy_j = 0.0, dense_energy_j = 0.0; // 0: the machine names no energies

    double speed_up() const { return dense_cycles / cycles; }
    bool operator==(const SparseExam&) const = default;
};

// `densities`: one for each layer of the network. Layers whose names do not match `only` are passed
// over; operators without MACs, and those that the machine does not run, are skipped with a
// diagnostic. Errors: those of the cost models; "no-layers"
// when no layer remains.
// `scenario`: effort of the searches on machines of levels, where the dense machine is the same one
// with all words not zero.
Result<SparseExam> sparse_exam(const SparseMachine& machine, const model::Network& network,
                               const std::vector<model::sparse::Densities>& densities,
                               const Pattern& only = {}, const Scenario& scenario = {},
                               std::stop_token stop = {}, const ProgressCallback& progress = {});

// Speed-up over the dense machine when all tensors have one density, from 1 down to 0.1.
struct DensityPoint {
    double density = 1.0;
    double speed_up = 1.0;

    bool operator==(const DensityPoint&) const = default;
};
Result<std::vector<DensityPoint>> density_curve(const SparseMachine& machine,
                                                const model::Network& network,
                                                const Pattern& only = {});
// The density at which the curve crosses 1; nothing where it does not.
std::optional<double> break_even(const std::vector<DensityPoint>& curve);

} // namespace eyeroof::analysis
