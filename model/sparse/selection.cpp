#include "model/sparse/selection.hpp"

#include "base/units.hpp"
#include "model/sparse/problems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace eyeroof::model::sparse {

Result<Cost> cost_of(const Selection& machine, const Layer& layer, const Densities& densities) {
    Diagnostics found = problems(layer, densities, {Op::conv2d, Op::gemm});
    if (found.has_errors()) {
        return found;
    }
    const Work work = *work_of(layer);
    const auto macs = static_cast<double>(work.macs);
    const double share = static_cast<double>(machine.kept) / static_cast<double>(machine.group);
    const bool skips = densities.weight <= share * (1.0 + 1e-9);
    const double word_bytes = machine.word_bits / 8.0;

    Cost cost;
    cost.macs = work.macs;
    cost.effectual = macs * densities.input * densities.weight;
    cost.dense_cycles = macs / machine.macs_per_cycle;
    double cycles = 0.0;
    const auto link = [&](int step, std::string name, double at_least, std::string why) {
        cycles = std::max(cycles, at_least);
        cost.chain.push_back({step, std::move(name), cycles, std::move(why)});
    };
    link(1, "effectual work", cost.effectual / machine.macs_per_cycle,
         fmt::format("{} of {} have no zero", format_si(cost.effectual, "MAC"),
                     format_si(macs, "MAC")));
    link(2, "structure", (skips ? share : 1.0) * cost.dense_cycles,
         skips ? fmt::format("{}:{} weights; other zeros are not skipped", machine.kept,
                             machine.group)
               : fmt::format("weights are denser than {}:{}", machine.kept, machine.group));
    if (machine.input_bytes_per_cycle > 0.0) {
        // Every MAC that could be needs its input at the selector, zero or not.
        link(6, "inputs of whole groups",
             macs * word_bytes / static_cast<double>(machine.rows_at_once) /
                 machine.input_bytes_per_cycle,
             "inputs are not compressed");
    }
    for (const TensorUse& tensor : work.tensors) {
        const auto words = static_cast<double>(tensor.elements);
        const double index_bits =
            tensor.name == "weight" && skips
                ? static_cast<double>(std::bit_width(static_cast<unsigned>(machine.group - 1)))
                : 0.0;
        const double stored = tensor.name == "weight" && skips ? share : 1.0;
        cost.dram_bytes += words * stored * (word_bytes + index_bits / 8.0);
    }
    if (machine.dram_bytes_per_s > 0.0) {
        link(6, "DRAM", cost.dram_bytes / machine.dram_bytes_per_s * machine.clock_hz,
             "each tensor once, weights with their indices");
    }
    return cost;
}

} // namespace eyeroof::model::sparse
