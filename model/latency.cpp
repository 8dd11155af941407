#include "model/latency.hpp"

#include "model/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

// The model, per edge and operand. The array edge is the network that feeds the units; a step is
// one trip of the innermost temporal loop above it.
//
//   An operand whose tile in the units changes at every step streams: its transfer overlaps the
//   computation, and the slower of both sets the pace. An operand that stays for several steps
//   arrives in a burst, for which the units wait unless their store is double buffered. The steps
//   between two bursts are a pass; every pass starts by priming the streams with their first tile
//   and ends with draining its last partial sums through the reduction chain and the pipeline of a
//   unit:
//
//   processing = max(compute, streams beyond their priming)
//              + passes * (burst + prime + drain)
//
//   At the outermost memory, what goes to or comes from a single-buffered store is waited for (the
//   units' burst loads go on meanwhile). What can arrive early, because the store is double
//   buffered, or prefetches and holds the tile twice, or stores further in hold the current tile,
//   costs its first tile, and what exceeds the processing time. A tile is what the next store that
//   keeps the operand takes in at a time, whatever levels it passes by on the way.
//
// Source: Eyexam step 7 (IEEE SSC Magazine, 2020: single and double buffering); the ramp-up terms
// are those that Chen et al., IEEE JSSC 52(1), 2017, name for Eyeriss. No constant is fitted.

namespace eyeroof::model {

namespace {

struct Array {
    std::size_t edge = 0;       // the networks below this level feed the units
    double instances = 1.0;     // of that level, that have work
    double steps = 1.0;         // trips of all temporal loops at or above it
    PerOperand<double> changes; // tile changes in the units, per operand
    PerOperand<bool> streams{}; // changes at every step
    double passes = 1.0;        // changes of the operand that bursts most often
};

Count fanout_of(const Level& level) {
    Count units = 1;
    for (const Axis& axis : level.fanout) {
        units *= axis.size;
    }
    return units;
}

bool stores_inside(const Accelerator& accelerator, std::size_t level) {
    return level + 1 < accelerator.levels.size();
}

bool present(const Problem& problem, Operand o) {
    return o != Operand::weight || problem.has_weight;
}

bool kept_inside(const Mapping& mapping, std::size_t edge, Operand o) {
    return std::any_of(mapping.levels.begin() + static_cast<std::ptrdiff_t>(edge) + 1,
                       mapping.levels.end(),
                       [o](const LevelMapping& level) { return level.keeps.contains(o); });
}

// Trips of the loops from the outermost one to the innermost one that changes the operand's tile.
double tile_changes(const Mapping& mapping, std::size_t edge, Operand o) {
    double trips = 1.0;
    double changes = 1.0;
    for (std::size_t level = 0; level <= edge; ++level) {
        for (const TemporalLoop& loop : mapping.levels[level].temporal) {
            trips *= static_cast<double>(loop.bound);
            if (loop.bound > 1 && relevant(o, loop.dim)) {
                changes = trips;
            }
        }
    }
    return changes;
}

Array describe_array(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                     const MappingCost& cost) {
    Array array;
    array.edge = array_edge(accelerator);
    array.instances = static_cast<double>(cost.levels[array.edge].instances);
    for (std::size_t level = 0; level <= array.edge; ++level) {
        for (const TemporalLoop& loop : mapping.levels[level].temporal) {
            array.steps *= static_cast<double>(loop.bound);
        }
    }
    for (const Operand o : kAllOperands) {
        const std::size_t i = index(o);
        array.changes[i] = tile_changes(mapping, array.edge, o);
        array.streams[i] = !kept_inside(mapping, array.edge, o) || array.changes[i] == array.steps;
        if (present(problem, o) && !array.streams[i]) {
            array.passes = std::max(array.passes, array.changes[i]);
        }
    }
    return array;
}

// Cycles on one channel for what some operands move; each direction on its own unless half duplex.
struct Load {
    double down_bytes = 0.0;
    double up_bytes = 0.0;
};

double cycles_on(const Channel& channel, const Load& load) {
    if (channel.half_duplex) {
        return (load.down_bytes + load.up_bytes) / channel.down_bytes_per_cycle;
    }
    return std::max(load.down_bytes / channel.down_bytes_per_cycle,
                    load.up_bytes / channel.up_bytes_per_cycle);
}

double results_of(const Problem& problem) {
    return static_cast<double>(tile_elements(problem, problem.produced, loop_bounds(problem)));
}

// Bytes per instance of the edge's level that the chosen operands move over a channel.
template <class Chosen>
Load load_on(const Problem& problem, const Accelerator& accelerator, std::size_t level,
             const Channel& channel, const MappingCost& cost, Chosen chosen) {
    Load load;
    const auto instances = static_cast<double>(cost.levels[level].instances);
    const EdgeTraffic& traffic = cost.edges[level];
    for (const Operand o : kAllOperands) {
        if (channel.operands.contains(o) && chosen(o)) {
            const WordBytes word = sent_word(problem, accelerator, level, channel, o);
            const double down = o == problem.produced ? word.partial : word.complete;
            load.down_bytes += static_cast<double>(traffic.down[index(o)]) * down / instances;
            load.up_bytes +=
                word.of_results(static_cast<double>(traffic.up[index(o)]), results_of(problem)) /
                instances;
        }
    }
    return load;
}

// What all instances below one instance of level `from` hold together when they hold what level
// `to` works on: the tile of `to` and the spatial loops in between.
Extents spread_tile(const Problem& problem, const Mapping& mapping, std::size_t from,
                    std::size_t to) {
    Extents tile = to < mapping.levels.size() ? tile_at(mapping, problem, to) : kOnes;
    const Extents bounds = loop_bounds(problem);
    for (std::size_t level = from; level < to && level < mapping.levels.size(); ++level) {
        for (const SpatialLoop& loop : mapping.levels[level].spatial) {
            const std::size_t d = index(loop.dim);
            tile[d] = std::min(bounds[d], tile[d] * loop.bound);
        }
    }
    return tile;
}

std::size_t next_keeping(const Mapping& mapping, std::size_t from, Operand o) {
    std::size_t level = from;
    while (level < mapping.levels.size() && !mapping.levels[level].keeps.contains(o)) {
        ++level;
    }
    return level;
}

// Has a store that prefetches room for one more tile of the operand? The operands that come first
// get theirs first.
bool fits_twice(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                std::size_t level, const Store& store, Operand operand) {
    if (!store.prefetch || !store.capacity_bytes) {
        return store.prefetch;
    }
    const Extents tile = tile_at(mapping, problem, level);
    const auto held = [&](OperandSet operands) {
        return held_bytes(problem, accelerator, level, store, operands, tile, Counting::eyeroof)
            .value_or(*store.capacity_bytes + 1);
    };
    Count bytes = held(mapping.levels[level].keeps);
    for (const Operand o : kAllOperands) {
        const bool kept = mapping.levels[level].keeps.contains(o) && store.operands.contains(o);
        const Count more = kept ? held({o}) : 0;
        const bool fits = more <= *store.capacity_bytes - bytes;
        if (o == operand) {
            return fits;
        }
        bytes += fits ? more : 0;
    }
    return false;
}

// Can the next tile of an operand arrive over an edge while the current one is in use? With two
// buffers it can, or where the store prefetches and has room; and also when the stores further in
// hold the whole current tile, because the one at the edge is then free for the next.
bool arrives_early(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   std::size_t edge, Operand o) {
    const std::size_t first = next_keeping(mapping, edge + 1, o);
    if (first == mapping.levels.size()) {
        return false;
    }
    const Store* store = store_of(accelerator.levels[first], o);
    if (store != nullptr &&
        (store->buffers > 1 || fits_twice(problem, accelerator, mapping, first, *store, o))) {
        return true;
    }
    const std::size_t second = next_keeping(mapping, first + 1, o);
    return second < mapping.levels.size() &&
           tile_elements(problem, o, spread_tile(problem, mapping, first, second)) ==
               tile_elements(problem, o, tile_at(mapping, problem, first));
}

// Changes of an operand's tile where what leaves a level is next kept: the loops of the levels that
// it passes by change the tile, too. Each change but the last is a tile that the channel brings.
double arrivals(const Mapping& mapping, std::size_t level, Operand o) {
    return tile_changes(mapping, next_keeping(mapping, level + 1, o) - 1, o);
}

// Bytes of the tile that the whole array holds of an operand when a pass starts.
double array_tile_bytes(const Problem& problem, const Accelerator& accelerator,
                        const Mapping& mapping, const Channel& channel, std::size_t edge,
                        Operand o) {
    return static_cast<double>(
               tile_elements(problem, o, spread_tile(problem, mapping, edge, edge + 1))) *
           sent_word(problem, accelerator, edge, channel, o).complete;
}

struct ArrayCycles {
    double stream = 0.0; // of the slowest channel, priming left out
    double burst = 0.0;  // per pass, that the units wait for
    double prime = 0.0;  // per pass
    double drain = 0.0;  // per pass
};

ArrayCycles cycles_at_array(const Problem& problem, const Accelerator& accelerator,
                            const Mapping& mapping, const MappingCost& cost, const Array& array) {
    ArrayCycles out;
    const double between = static_cast<double>(cost.compute_steps) / array.passes;
    // Trips that have work: where a tile is larger than what is left of a dimension, some have
    // none.
    const double steps = std::min(array.steps, static_cast<double>(cost.compute_steps));
    double longest_drain = 0.0;
    for (const Channel& channel : accelerator.levels[array.edge].channels) {
        const auto load = [&](auto chosen) {
            return cycles_on(channel,
                             load_on(problem, accelerator, array.edge, channel, cost, chosen));
        };
        const double streaming = load([&](Operand o) { return array.streams[index(o)]; });
        const double waited = load([&](Operand o) {
            return !array.streams[index(o)] &&
                   !arrives_early(problem, accelerator, mapping, array.edge, o);
        });
        const double hidden = load([&](Operand o) {
            return !array.streams[index(o)] &&
                   arrives_early(problem, accelerator, mapping, array.edge, o);
        });
        double prime = 0.0;
        for (const Operand o : kAllOperands) {
            const bool primes = present(problem, o) && channel.operands.contains(o) &&
                                o != problem.produced && array.streams[index(o)] &&
                                kept_inside(mapping, array.edge, o) &&
                                !arrives_early(problem, accelerator, mapping, array.edge, o);
            if (primes) {
                prime += array_tile_bytes(problem, accelerator, mapping, channel, array.edge, o) /
                         channel.down_bytes_per_cycle;
            }
        }
        out.stream = std::max(out.stream, streaming - array.passes * prime);
        out.prime = std::max(out.prime, prime);
        out.burst = std::max({out.burst, waited / array.passes, hidden / array.passes - between});
        if (channel.operands.contains(problem.produced) && array.streams[index(problem.produced)]) {
            const Load sums = load_on(problem, accelerator, array.edge, channel, cost,
                                      [&](Operand o) { return o == problem.produced; });
            longest_drain =
                std::max(longest_drain, sums.up_bytes / steps / channel.up_bytes_per_cycle);
        }
    }
    out.drain = longest_drain +
                chain_hops(problem, accelerator, array.edge, mapping.levels[array.edge].spatial) +
                accelerator.pipeline_stages;
    return out;
}

struct OuterCycles {
    double waited = 0.0;     // to and from single-buffered stores
    double overlapped = 0.0; // to and from double-buffered stores
    double first = 0.0;      // the first tile of the latter
    double visits = 1.0;     // how often the units' bursts meet a waited-for transfer
};

OuterCycles cycles_at_outermost(const Problem& problem, const Accelerator& accelerator,
                                const Mapping& mapping, const MappingCost& cost) {
    OuterCycles out;
    for (const Channel& channel : accelerator.levels[0].channels) {
        const auto load = [&](auto chosen) {
            return cycles_on(channel, load_on(problem, accelerator, 0, channel, cost, chosen));
        };
        const auto buffered = [&](Operand o) {
            return arrives_early(problem, accelerator, mapping, 0, o);
        };
        out.waited += load([&](Operand o) { return !buffered(o); });
        const double overlapped = load(buffered);
        out.overlapped = std::max(out.overlapped, overlapped);
        double most_changes = 1.0;
        for (const Operand o : kAllOperands) {
            if (present(problem, o) && channel.operands.contains(o) && o != problem.produced) {
                const double changes = arrivals(mapping, 0, o);
                most_changes = std::max(most_changes, buffered(o) ? changes : 1.0);
                out.visits = std::max(out.visits, buffered(o) ? 1.0 : changes);
            }
        }
        out.first = std::max(out.first, overlapped / most_changes);
    }
    return out;
}

std::string limit_name(const ArrayCycles& array, const Latency& latency, double streams) {
    if (latency.outer_stall_cycles > latency.on_chip_stall_cycles) {
        return "outermost memory";
    }
    if (latency.on_chip_stall_cycles <= 0.0) {
        return "nothing";
    }
    if (streams >= std::max({array.burst, array.prime, array.drain})) {
        return "streams to the array";
    }
    if (array.burst >= std::max(array.prime, array.drain)) {
        return "loading the array before a pass";
    }
    return array.prime >= array.drain ? "priming the array" : "draining the array";
}

} // namespace

std::size_t array_edge(const Accelerator& accelerator) {
    std::size_t edge = accelerator.levels.size() - 1;
    bool found = false;
    for (std::size_t i = accelerator.levels.size(); i-- > 0 && !found;) {
        if (fanout_of(accelerator.levels[i]) > 1) {
            edge = i;
            found = stores_inside(accelerator, i);
        }
    }
    return edge;
}

double chain_hops(const Problem& problem, const Accelerator& accelerator, std::size_t edge,
                  const std::vector<SpatialLoop>& loops) {
    double reduce = 0.0;
    double forward = 0.0;
    for (const SpatialLoop& loop : loops) {
        const double hops = static_cast<double>(loop.bound) - 1.0;
        for (const Channel& channel : accelerator.levels[edge].channels) {
            const bool sums = channel.reduces && channel.operands.contains(problem.produced);
            reduce += sums && !relevant(problem.produced, loop.dim) ? hops : 0.0;
            for (const Operand o : kAllOperands) {
                const bool passes_on = channel.forwards && o != problem.produced &&
                                       channel.operands.contains(o) && !relevant(o, loop.dim);
                forward += passes_on ? hops : 0.0;
            }
        }
    }
    return reduce + forward;
}

Latency latency_of(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   const MappingCost& cost) {
    const Array array = describe_array(problem, accelerator, mapping, cost);
    const ArrayCycles units = cycles_at_array(problem, accelerator, mapping, cost, array);
    Latency latency;
    latency.compute_cycles = static_cast<double>(cost.compute_steps);
    const double slower_streams = std::max(0.0, units.stream - latency.compute_cycles);
    latency.on_chip_stall_cycles =
        slower_streams + array.passes * (units.burst + units.prime + units.drain);
    if (array.edge > 0) {
        const OuterCycles outer = cycles_at_outermost(problem, accelerator, mapping, cost);
        const double hidden = outer.visits * std::min(units.burst, outer.waited / outer.visits);
        const double excess = std::max(outer.first, outer.overlapped - latency.processing_cycles());
        latency.outer_stall_cycles = std::max(0.0, outer.waited - hidden) + excess;
    }
    // Stores and networks between the two edges: whatever needs longer on average sets the pace.
    latency.on_chip_stall_cycles += std::max(0.0, cost.cycles - latency.total_cycles());
    latency.limit = limit_name(units, latency, slower_streams / array.passes);
    return latency;
}

Latency overlapped_latency(const MappingCost& cost) {
    Latency latency;
    latency.compute_cycles = static_cast<double>(cost.compute_steps);
    latency.on_chip_stall_cycles = std::max(0.0, cost.cycles - latency.compute_cycles);
    latency.limit = latency.on_chip_stall_cycles > 0.0 ? cost.cycles_limit : "nothing";
    return latency;
}

} // namespace eyeroof::model
