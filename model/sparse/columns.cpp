#include "model/sparse/columns.hpp"

#include "base/units.hpp"
#include "model/sparse/format.hpp"
#include "model/sparse/nonzeros.hpp"
#include "model/sparse/problems.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::sparse {

Result<Cost> cost_of(const Columns& machine, const Layer& layer, const Densities& densities) {
    Diagnostics found = problems(layer, densities, {Op::gemm});
    if (found.has_errors()) {
        return found;
    }
    const auto& shape = std::get<GemmShape>(layer.shape);
    const double padded =
        std::min(1.0, run_length_bits(densities.weight, machine.run_bits, 1.0)); // a word
    const Count rows = ceil_div(shape.n, machine.pes);
    const NonZeros column = NonZeros::independent(rows, padded).steps(machine.lanes);
    const double inputs = static_cast<double>(shape.batch * shape.m * shape.k) * densities.input;
    const auto pes = static_cast<double>(machine.pes * machine.lanes);
    const double behind = column.sum_of(std::max<Count>(machine.queue, 1)).slowest(machine.pes) /
                          static_cast<double>(std::max<Count>(machine.queue, 1));

    Cost cost;
    cost.macs = work_of(layer)->macs;
    cost.effectual = static_cast<double>(cost.macs) * densities.input * densities.weight;
    cost.dense_cycles = static_cast<double>(shape.batch * shape.m * shape.k) *
                        static_cast<double>(ceil_div(rows, machine.lanes));
    double cycles = 0.0;
    const auto link = [&](int step, std::string name, double at_least, std::string why) {
        cycles = std::max(cycles, at_least);
        cost.chain.push_back({step, std::move(name), cycles, std::move(why)});
    };
    link(1, "effectual work", cost.effectual / pes,
         fmt::format("{} of {} have no zero", format_si(cost.effectual, "MAC"),
                     format_si(static_cast<double>(cost.macs), "MAC")));
    link(2, "padding zeros", inputs * static_cast<double>(shape.n) * padded / pes,
         fmt::format("runs longer than {} zeros cost one", (1 << machine.run_bits) - 1));
    link(4, "whole steps", inputs * column.mean(),
         fmt::format("{} rows on {} PEs, {} weights a cycle each", shape.n, machine.pes,
                     machine.lanes));
    link(4, "slowest PE", inputs * behind,
         fmt::format("queues of {} inputs smooth over as many columns", machine.queue));
    return cost;
}

} // namespace eyeroof::model::sparse
