#include "analysis/sparse/sparse_exam.hpp"

#include "analysis/sparse/levels_exam.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using model::Layer;
using model::sparse::Densities;

namespace {

// Words that leave the chip when pooling follows at once, before anything else that multiplies;
// 0: the layer's own.
Count pooled_outputs(const model::Network& network, std::size_t at) {
    for (std::size_t i = at + 1; i < network.layers.size(); ++i) {
        const Layer& next = network.layers[i];
        if (const auto* pool = std::get_if<model::PoolShape>(&next.shape)) {
            return pool->n * pool->c * pool->p() * pool->q();
        }
        if (model::multiplies(next.op)) {
            return 0;
        }
    }
    return 0;
}

bool runs(const SparseMachine& machine, const Layer& layer) {
    const bool product = layer.op == model::Op::gemm;
    const bool convolution = layer.op == model::Op::conv2d;
    return layer.direction == model::Direction::fwd &&
           (std::holds_alternative<model::sparse::Columns>(machine.kind) ? product
                                                                         : product || convolution);
}

Result<model::sparse::Cost> cost_on(const SparseMachine& machine, const Layer& layer,
                                    const Densities& densities, Count outputs) {
    if (const auto* cartesian = std::get_if<model::sparse::Cartesian>(&machine.kind)) {
        return model::sparse::cost_of(*cartesian, layer, densities, outputs);
    }
    if (const auto* columns = std::get_if<model::sparse::Columns>(&machine.kind)) {
        return model::sparse::cost_of(*columns, layer, densities);
    }
    return model::sparse::cost_of(std::get<model::sparse::Selection>(machine.kind), layer,
                                  densities);
}

SparseExam begun(const SparseMachine& machine, const model::Network& network) {
    SparseExam exam;
    exam.network = network.name.empty() ? network.id : network.name;
    exam.machine = machine.name;
    exam.machine_id = machine.id;
    exam.clock_hz = machine.clock_hz();
    return exam;
}

void add(SparseExam& exam, SparseLayer layer) {
    const auto count = static_cast<double>(layer.count);
    exam.cycles += count * layer.cost.cycles();
    exam.dense_cycles += count * layer.cost.dense_cycles;
    exam.effectual += count * layer.cost.effectual;
    exam.macs += count * static_cast<double>(layer.cost.macs);
    exam.energy_j += count * layer.cost.energy_j;
    exam.dense_energy_j += count * layer.cost.dense_energy_j;
    exam.layers.push_back(std::move(layer));
}

Result<SparseExam> nothing_runs(const SparseMachine& machine) {
    return Result<SparseExam>::failure(
        "no-layers", fmt::format("{} runs none of these layers", machine.name),
        "convolutions and products run on machines of the kinds cartesian, selection and levels, "
        "products on columns");
}

// The seven steps as links: cycles of what takes a cycle at each bound.
model::sparse::Cost cost_from(const LayerReport& sparse, const LayerReport& dense,
                              const Densities& densities) {
    model::sparse::Cost cost;
    cost.macs = dense.macs;
    cost.effectual = static_cast<double>(dense.macs) * densities.input * densities.weight;
    cost.dense_cycles = dense.cycles;
    cost.dram_bytes = sparse.outer_bytes;
    cost.energy_j = sparse.energy_j;
    cost.dense_energy_j = dense.energy_j;
    const auto done = static_cast<double>(sparse.macs);
    double cycles = 0.0;
    const auto link = [&](int step, std::string_view name, double at_least, std::string why) {
        cycles = std::max(cycles, at_least);
        cost.chain.push_back({step, std::string(name), cycles, std::move(why)});
    };
    link(1, "effectual work", cost.effectual / sparse.units,
         fmt::format("{:.3g} of {:.3g} MACs have no zero", cost.effectual,
                     static_cast<double>(cost.macs)));
    link(2, "zeros that are not skipped", done / sparse.units,
         fmt::format("{:.3g} MACs take one cycle", done));
    for (std::size_t step = 3; step < model::kSteps; ++step) {
        const model::StepBound& bound = sparse.steps[step - 1];
        link(static_cast<int>(step), model::kStepNames[step - 1],
             done / std::min(sparse.units, bound.macs_per_cycle), bound.reason);
    }
    link(7, model::kStepNames[6], sparse.cycles, sparse.steps[6].reason);
    return cost;
}

Result<SparseExam> levels_exam(const SparseMachine& machine, const SparseLevels& levels,
                               const model::Network& network,
                               const std::vector<Densities>& densities, const Pattern& only,
                               Scenario scenario, const std::stop_token& stop,
                               const ProgressCallback& progress) {
    SparseExam exam = begun(machine, network);
    model::Network some{network.id, network.name, network.source, {}};
    std::vector<Densities> own;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const bool chosen = only.found_in(network.layers[i].name);
        if (chosen && !runs(machine, network.layers[i])) {
            exam.left_out.push_back(network.layers[i].name);
        } else if (chosen) {
            some.layers.push_back(network.layers[i]);
            own.push_back(densities[i]);
        }
    }
    if (some.layers.empty()) {
        return nothing_runs(machine);
    }
    Question question;
    question.scenario = std::move(scenario);
    question.scenario.operators = Operators::all;
    question.network = some;
    question.machine = levels.machine;
    const auto dense = run(question, stop, progress);
    const auto sparse = run_sparse(question, levels, own, stop, progress);
    if (!dense || !sparse) {
        return dense ? sparse.diagnostics() : dense.diagnostics();
    }
    for (std::size_t i = 0; i < some.layers.size(); ++i) {
        add(exam, {some.layers[i].name, some.layers[i].count, own[i],
                   cost_from(sparse->layers[i], dense->layers[i], own[i])});
    }
    return exam;
}

} // namespace

std::size_t SparseLayer::costliest_link() const {
    std::size_t worst = 0;
    double most = 1.0;
    for (std::size_t i = 1; i < cost.chain.size(); ++i) {
        const double times = cost.chain[i].cycles / std::max(cost.chain[i - 1].cycles, 1e-300);
        if (times > most) {
            most = times;
            worst = i;
        }
    }
    return worst;
}

Result<SparseExam> sparse_exam(const SparseMachine& machine, const model::Network& network,
                               const std::vector<Densities>& densities, const Pattern& only,
                               const Scenario& scenario, std::stop_token stop,
                               const ProgressCallback& progress) {
    if (const auto* levels = std::get_if<SparseLevels>(&machine.kind)) {
        return levels_exam(machine, *levels, network, densities, only, scenario, stop, progress);
    }
    SparseExam exam = begun(machine, network);
    Diagnostics found;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        const Layer& layer = network.layers[i];
        if (!only.found_in(layer.name)) {
            continue;
        }
        if (!runs(machine, layer)) {
            exam.left_out.push_back(layer.name);
            continue;
        }
        auto cost = cost_on(machine, layer, densities[i], pooled_outputs(network, i));
        if (!cost) {
            Diagnostics own = cost.diagnostics();
            own.place({}, layer.name);
            found.append(own);
            continue;
        }
        add(exam, {layer.name, layer.count, densities[i], *std::move(cost)});
    }
    if (found.has_errors()) {
        return found;
    }
    return exam.layers.empty() ? nothing_runs(machine) : Result<SparseExam>(std::move(exam));
}

Result<std::vector<DensityPoint>>
density_curve(const SparseMachine& machine, const model::Network& network, const Pattern& only) {
    std::vector<DensityPoint> curve;
    for (int percent = 100; percent >= 10; percent -= 5) {
        const double d = percent / 100.0;
        const auto exam = sparse_exam(
            machine, network, std::vector<Densities>(network.layers.size(), {d, d, d}), only);
        if (!exam) {
            return exam.diagnostics();
        }
        curve.push_back({d, exam->speed_up()});
    }
    return curve;
}

std::optional<double> break_even(const std::vector<DensityPoint>& curve) {
    for (std::size_t i = 1; i < curve.size(); ++i) {
        const DensityPoint& a = curve[i - 1];
        const DensityPoint& b = curve[i];
        if (a.speed_up < 1.0 && b.speed_up >= 1.0) {
            const double share = (1.0 - a.speed_up) / (b.speed_up - a.speed_up);
            return a.density + share * (b.density - a.density);
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::analysis
