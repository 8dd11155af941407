#include "study/sparse/sparse_exam.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::study {

using model::Count;
using model::Layer;
using model::Result;
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
                               const std::vector<Densities>& densities,
                               const model::Pattern& only) {
    SparseExam exam{network.name.empty() ? network.id : network.name,
                    machine.name,
                    machine.id,
                    machine.clock_hz(),
                    {},
                    {},
                    0.0,
                    0.0,
                    0.0,
                    0.0};
    model::Diagnostics found;
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
            model::Diagnostics own = cost.diagnostics();
            own.place({}, layer.name);
            found.append(own);
            continue;
        }
        const auto count = static_cast<double>(layer.count);
        exam.cycles += count * cost->cycles();
        exam.dense_cycles += count * cost->dense_cycles;
        exam.effectual += count * cost->effectual;
        exam.macs += count * static_cast<double>(cost->macs);
        exam.layers.push_back({layer.name, layer.count, densities[i], *std::move(cost)});
    }
    if (found.has_errors()) {
        return found;
    }
    if (exam.layers.empty()) {
        return Result<SparseExam>::failure(
            "no-layers", fmt::format("{} runs none of these layers", machine.name),
            "convolutions and products run on machines of the kinds cartesian and selection, "
            "products on columns");
    }
    return exam;
}

Result<std::vector<DensityPoint>> density_curve(const SparseMachine& machine,
                                                const model::Network& network,
                                                const model::Pattern& only) {
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

} // namespace eyeroof::study
