// Figures of one nest, and of an operator without one, that the report and the sweeps share: the
// traffic of the outermost memory, and the time of an operator that does not run on the array.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/data_width.hpp"
#include "model/accelerator/outermost.hpp"
#include "model/cost/cost.hpp"
#include "model/workload/layer_work.hpp"

namespace eyeroof::analysis {

// Bytes of words that come down (partial sums, where the operand is produced) and go up.
double bytes_in_and_out(const model::Problem& problem, model::Operand operand,
                        const model::DataWidth& word, Count down, Count up);

// What a mapping moves to and from the outermost memory, bytes, all operands together; `coded`:
// where zeros are coded away, without them.
double outer_bytes_of(const model::Problem& problem, const model::Accelerator& accelerator,
                      const model::MappingCost& cost, bool coded = true);

// An operator without a multiply-accumulate nest: its tensors cross the outermost memory once, and
// a unit does one operation a cycle. Two operations, or two elements moved, count as one MAC. Where
// a schedule keeps them on the chip, they pass the networks below that level instead.
struct OuterOnly {
    double bytes = 0.0;         // that cross the outermost memory, as words rest there
    model::PassingBytes outer;  // the same, by operand
    double equivalent = 0.0;    // MACs
    std::size_t level = 0;      // where its tensors are
    double moving_cycles = 0.0; // of that level's stores and networks
    double energy_pj = 0.0;     // of that level's words

    bool operator==(const OuterOnly&) const = default;
};
OuterOnly outer_only(const model::Layer& layer, const model::Work& work,
                     const model::Accelerator& accelerator);
// Cycles of it on so many MAC units: max(1, equivalent / units, moving_cycles).
double outer_only_cycles(const OuterOnly& only, double units);

} // namespace eyeroof::analysis
