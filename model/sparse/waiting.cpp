#include "model/sparse/waiting.hpp"

#include "model/sparse/dense_equivalent.hpp"
#include "model/sparse/nonzeros.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::model::sparse {

namespace {

// The level whose stores feed the units.
std::size_t innermost(const Accelerator& machine) {
    std::size_t level = 0;
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        level = machine.levels[i].stores.empty() ? level : i;
    }
    return level;
}

Count lanes_of(const Accelerator& machine, std::size_t inner) {
    Count lanes = 1;
    for (std::size_t i = inner; i < machine.levels.size(); ++i) {
        for (const Axis& axis : machine.levels[i].fanout) {
            lanes *= axis.size;
        }
    }
    return lanes;
}

// Words of `operand` in one unit that meet the same word of the other operand at once or in turn.
Count column_of(const Problem& problem, const Mapping& mapping, std::size_t inner,
                Operand operand) {
    const Extents tile = tile_at(mapping, problem, inner);
    const Operand other = operand == Operand::weight ? Operand::input : Operand::weight;
    Count words = 1;
    for (const Dim d : kAllDims) {
        words *= relevant(operand, d) && !relevant(other, d) ? tile[index(d)] : 1;
    }
    return words;
}

double lane_loss(const Problem& problem, const Accelerator& machine, const UnitRule& rule,
                 const Densities& densities, const Mapping& mapping, std::size_t inner) {
    if (!rule.lanes) {
        return 1.0;
    }
    const Count lanes = lanes_of(machine, inner);
    const Count words = column_of(problem, mapping, inner, *rule.lanes);
    const double density = density_of(densities, *rule.lanes);
    const double mean = static_cast<double>(words) * density;
    const double dense = static_cast<double>(ceil_div(words, lanes) * lanes);
    if (mean <= 0.0) {
        return 1.0;
    }
    const double steps = NonZeros::independent(words, density).steps(lanes).mean();
    // Lanes that are idle in the dense nest too are a loss of its shape, not of its zeros.
    return std::max(1.0, steps * static_cast<double>(lanes) / (dense * density));
}

// Different tiles of the operand side by side.
Count tiles_beside(const Mapping& mapping, std::size_t inner, Operand o) {
    Count tiles = 1;
    for (std::size_t i = 0; i < inner; ++i) {
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            tiles *= relevant(o, loop.dim) ? loop.bound : 1;
        }
    }
    return tiles;
}

double slowest_over_mean(Count words, double density, Count tiles) {
    const NonZeros work = NonZeros::independent(words, density);
    return work.mean() > 0.0 ? work.slowest(tiles) / work.mean() : 1.0;
}

} // namespace

Waiting waiting_of(const Problem& problem, const Accelerator& machine, const Rules& rules,
                   const Densities& densities, const Mapping& mapping, const MappingCost& cost,
                   double passes) {
    if (!rules.units || rules.units->how != Saving::skip) {
        return {};
    }
    const std::size_t inner = innermost(machine);
    double left = 1.0; // of the dense work
    Waiting waiting;
    for (const Operand o : {Operand::input, Operand::weight}) {
        if (!rules.units->leaders.contains(o) || (o == Operand::weight && !problem.has_weight)) {
            continue;
        }
        left *= std::max(density_of(densities, o), 1e-6);
        const auto instances = static_cast<double>(cost.levels[inner].instances);
        const double arrive =
            static_cast<double>(cost.levels[inner].total[index(o)].fills) / instances / passes;
        const Count words = std::max(cost.levels[inner].tile_words[index(o)],
                                     static_cast<Count>(std::llround(arrive)));
        waiting.slowest *= slowest_over_mean(std::max<Count>(words, 1), density_of(densities, o),
                                             tiles_beside(mapping, inner, o));
    }
    waiting.lanes = lane_loss(problem, machine, *rules.units, densities, mapping, inner);
    waiting.lanes = std::min(waiting.lanes, 1.0 / left);
    waiting.slowest = std::min(waiting.slowest, 1.0 / (left * waiting.lanes));
    return waiting;
}

} // namespace eyeroof::model::sparse
