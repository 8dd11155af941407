#include "model/cost/latency.hpp"

#include "model/accelerator/data_width.hpp"
#include "model/accelerator/fanout.hpp"
#include "model/accelerator/outermost.hpp"
#include "model/cost/arrival.hpp"
#include "model/cost/dram_pattern.hpp"
#include "model/cost/latency_terms.hpp"
#include "model/nest/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

// The model, per edge and operand. The array edge is the network that feeds the units; a step is
// one trip of the innermost temporal loop above it.
//
//   An operand whose tile in the units changes at every step streams: its transfer overlaps the
//   computation, and the slower of both determines the rate. An operand that stays for several
//   steps arrives in a burst, for which the units wait unless their store is double buffered. The
//   steps between two bursts are a pass; every pass starts by priming the streams with their first
//   tile and ends with draining its last partial sums through the reduction chain and the pipeline
//   of a unit:
//
//   processing = max(compute, streams beyond their priming)
//              + passes * (burst + prime + drain)
//
//   At the outermost memory, what goes to or comes from a single-buffered store is waited for (the
//   units' burst loads go on meanwhile). What can arrive early, because the store is double
//   buffered, or prefetches and holds the tile twice, or stores further in hold the current tile,
//   costs its first tile, and what exceeds the processing time. Where sums alone leave early, the
//   last of them leaves after the units have ended. A tile is what the next store that
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

bool present(const Problem& problem, Operand o) {
    return o != Operand::weight || problem.has_weight;
}

bool kept_inside(const Mapping& mapping, std::size_t edge, Operand o) {
    return std::any_of(mapping.levels.begin() + static_cast<std::ptrdiff_t>(edge) + 1,
                       mapping.levels.end(),
                       [o](const LevelMapping& level) { return level.keeps.contains(o); });
}

// A loop in time: number `loop` of a level's, outermost first.
struct Place {
    std::size_t level = 0;
    std::size_t loop = 0;

    auto operator<=>(const Place&) const = default;
};

// How often the loops down to this one advance, trips without work left out: where the tiles of a
// loop are larger than what is left of a dimension, those are fewer than the product of trips.
double advances(const Problem& problem, const Mapping& mapping, Place last) {
    const Extents bounds = loop_bounds(problem);
    double all = 1.0;
    for (const Dim d : kAllDims) {
        std::vector<nest::Digit> digits; // innermost first
        Count stride = 1;
        for (std::size_t level = mapping.levels.size(); level-- > 0;) {
            for (const SpatialLoop& loop : mapping.levels[level].spatial) {
                stride *= loop.dim == d ? loop.bound : 1;
            }
            const std::vector<TemporalLoop>& loops = mapping.levels[level].temporal;
            for (std::size_t n = loops.size(); n-- > 0;) {
                if (loops[n].dim == d && Place{level, n} <= last) {
                    digits.push_back({loops[n].bound, stride});
                }
                stride *= loops[n].dim == d ? loops[n].bound : 1;
            }
        }
        std::reverse(digits.begin(), digits.end());
        all *= static_cast<double>(nest::visits(bounds[index(d)], digits));
    }
    return all;
}

// How often the loops of the levels down to `edge` change the operand's tile, the first one
// counted.
double tile_changes(const Problem& problem, const Mapping& mapping, std::size_t edge, Operand o) {
    std::optional<Place> changing;
    for (std::size_t level = 0; level <= edge; ++level) {
        for (std::size_t n = 0; n < mapping.levels[level].temporal.size(); ++n) {
            const TemporalLoop& loop = mapping.levels[level].temporal[n];
            if (loop.bound > 1 && relevant(o, loop.dim)) {
                changing = Place{level, n};
            }
        }
    }
    return changing ? advances(problem, mapping, *changing) : 1.0;
}

Array describe_array(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                     const MappingCost& cost) {
    Array array;
    array.edge = array_edge(accelerator);
    array.instances = static_cast<double>(cost.levels[array.edge].instances);
    array.steps = advances(problem, mapping, {array.edge, std::numeric_limits<std::size_t>::max()});
    for (const Operand o : kAllOperands) {
        const std::size_t i = index(o);
        array.changes[i] = tile_changes(problem, mapping, array.edge, o);
        array.streams[i] = !kept_inside(mapping, array.edge, o) || array.changes[i] == array.steps;
        if (present(problem, o) && !array.streams[i]) {
            array.passes = std::max(array.passes, array.changes[i]);
        }
    }
    return array;
}

// Cycles on one channel for what some operands move; each direction on its own unless half duplex.
double cycles_on(const Channel& channel, const ChannelLoad& load) {
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
ChannelLoad load_on(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                    std::size_t level, const Channel& channel, const MappingCost& cost,
                    Chosen chosen) {
    const auto pattern = dram_pattern(problem, accelerator, mapping, channel);
    ChannelLoad load;
    const auto instances = static_cast<double>(cost.levels[level].instances);
    const EdgeTraffic& traffic = cost.edges[level];
    for (const Operand o : kAllOperands) {
        if (channel.operands.contains(o) && chosen(o)) {
            const DataWidth word = sent_width(problem, accelerator, level, channel, o);
            const double down = o == problem.produced ? word.partial : word.complete;
            load.down_bytes += static_cast<double>(traffic.down[index(o)]) * down / instances *
                               pattern[index(o)].read_slowdown;
            load.up_bytes +=
                word.of_results(static_cast<double>(traffic.up[index(o)]), results_of(problem)) /
                instances * pattern[index(o)].write_slowdown;
        }
    }
    return load;
}

// Changes of an operand's tile where what leaves a level is next kept: the loops of the levels that
// it passes by change the tile, too. Each change but the last is a tile that the channel brings.
double arrivals(const Problem& problem, const Mapping& mapping, std::size_t level, Operand o) {
    return tile_changes(problem, mapping, next_keeping(mapping, level + 1, o) - 1, o);
}

// Bytes of the tile that the whole array holds of an operand when a pass starts.
double array_tile_bytes(const Problem& problem, const Accelerator& accelerator,
                        const Mapping& mapping, const Channel& channel, std::size_t edge,
                        Operand o) {
    return static_cast<double>(
               tile_elements(problem, o, spread_tile(problem, mapping, edge, edge + 1))) *
           sent_width(problem, accelerator, edge, channel, o).complete;
}

struct ArrayCycles {
    double stream = 0.0; // of the slowest channel, priming left out
    double burst = 0.0;  // per pass, that the units wait for
    double prime = 0.0;  // per pass
    double drain = 0.0;  // per pass
};

// Does the first tile of a streaming operand have to arrive before a pass can start?
bool primes(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
            const Array& array, const Channel& channel, Operand o) {
    return present(problem, o) && channel.operands.contains(o) && o != problem.produced &&
           array.streams[index(o)] && kept_inside(mapping, array.edge, o) &&
           !arrives_early(problem, accelerator, mapping, array.edge, o);
}

LatencyTerms::AtArray terms_at_array(const Problem& problem, const Accelerator& accelerator,
                                     const Mapping& mapping, const MappingCost& cost,
                                     const Array& array, std::size_t c) {
    const Channel& channel = accelerator.levels[array.edge].channels[c];
    const auto load = [&](auto chosen) {
        return load_on(problem, accelerator, mapping, array.edge, channel, cost, chosen);
    };
    const auto early = [&](Operand o) {
        return arrives_early(problem, accelerator, mapping, array.edge, o);
    };
    LatencyTerms::AtArray terms;
    terms.channel = c;
    terms.streaming = load([&](Operand o) { return array.streams[index(o)]; });
    terms.waited = load([&](Operand o) { return !array.streams[index(o)] && !early(o); });
    terms.hidden = load([&](Operand o) { return !array.streams[index(o)] && early(o); });
    for (const Operand o : kAllOperands) {
        if (primes(problem, accelerator, mapping, array, channel, o)) {
            terms.prime_bytes[index(o)] =
                array_tile_bytes(problem, accelerator, mapping, channel, array.edge, o);
        }
    }
    terms.drains =
        channel.operands.contains(problem.produced) && array.streams[index(problem.produced)];
    terms.sums_up_bytes = load([&](Operand o) { return o == problem.produced; }).up_bytes;
    return terms;
}

ArrayCycles cycles_at_array(const LatencyTerms& terms, const Accelerator& accelerator) {
    ArrayCycles out;
    double longest_drain = 0.0;
    double waited = 0.0;
    double hidden = 0.0; // as far as it takes no longer than a pass
    for (std::size_t i = 0; i < terms.arrays; ++i) {
        const LatencyTerms::AtArray& own = terms.array[i];
        const Channel& channel = accelerator.levels[terms.edge].channels[own.channel];
        double prime = 0.0;
        for (const double bytes : own.prime_bytes) {
            prime += bytes / channel.down_bytes_per_cycle;
        }
        out.stream = std::max(out.stream, cycles_on(channel, own.streaming) - terms.passes * prime);
        out.prime = std::max(out.prime, prime);
        waited = std::max(waited, cycles_on(channel, own.waited));
        hidden = std::max(hidden, cycles_on(channel, own.hidden));
        if (own.drains) {
            longest_drain = std::max(longest_drain,
                                     own.sums_up_bytes / terms.steps / channel.up_bytes_per_cycle);
        }
    }
    const double processed = std::max(terms.compute_cycles, out.stream);
    out.burst = std::max({0.0, waited, hidden - processed}) / terms.passes;
    out.drain = longest_drain + terms.hops;
    return out;
}

struct OuterCycles {
    double waited = 0.0;     // to and from single-buffered stores
    double overlapped = 0.0; // to and from double-buffered stores
    double first = 0.0;      // the first tile of the latter
};

void add_outermost(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   const MappingCost& cost, std::size_t c, LatencyTerms& terms) {
    const Channel& channel = accelerator.levels[0].channels[c];
    const auto buffered = [&](Operand o) {
        return arrives_early(problem, accelerator, mapping, 0, o);
    };
    LatencyTerms::AtOutermost own;
    own.channel = c;
    const auto load = [&](auto chosen) {
        return load_on(problem, accelerator, mapping, 0, channel, cost, chosen);
    };
    own.waited = load([&](Operand o) { return !buffered(o); });
    own.overlapped = load(buffered);
    const double sums = buffered(problem.produced) && channel.operands.contains(problem.produced)
                            ? arrivals(problem, mapping, 0, problem.produced)
                            : 1.0;
    own.most_changes = 0.0;
    for (const Operand o : kAllOperands) {
        if (present(problem, o) && channel.operands.contains(o) && o != problem.produced) {
            const double changes = arrivals(problem, mapping, 0, o);
            own.most_changes = std::max(own.most_changes, buffered(o) ? changes : 0.0);
            terms.visits = std::max(terms.visits, buffered(o) ? 1.0 : changes);
        }
    }
    own.most_changes = own.most_changes > 0.0 ? own.most_changes : sums;
    terms.outermost[terms.outermosts++] = own;
}

OuterCycles cycles_at_outermost(const LatencyTerms& terms, const Accelerator& accelerator) {
    OuterCycles out;
    for (std::size_t i = 0; i < terms.outermosts; ++i) {
        const LatencyTerms::AtOutermost& own = terms.outermost[i];
        const Channel& channel = accelerator.levels[0].channels[own.channel];
        out.waited += cycles_on(channel, own.waited);
        const double overlapped = cycles_on(channel, own.overlapped);
        out.overlapped = std::max(out.overlapped, overlapped);
        out.first = std::max(out.first, overlapped / own.most_changes);
    }
    return out;
}

std::string limit_name(const Accelerator& accelerator, const ArrayCycles& array,
                       const Latency& latency, double streams) {
    if (latency.outer_stall_cycles > latency.on_chip_stall_cycles) {
        return outermost_name(accelerator);
    }
    if (latency.on_chip_stall_cycles <= 0.0) {
        return "nothing";
    }
    if (streams >= std::max({array.burst, array.prime, array.drain})) {
        return "streams to the array";
    }
    if (array.burst >= std::max(array.prime, array.drain)) {
        return "array fill before a pass";
    }
    return array.prime >= array.drain ? "array fill" : "array drain";
}

} // namespace

LatencyTerms latency_terms(const Problem& problem, const Accelerator& accelerator,
                           const Mapping& mapping, const MappingCost& cost) {
    const Array array = describe_array(problem, accelerator, mapping, cost);
    LatencyTerms terms;
    terms.edge = array.edge;
    terms.compute_cycles = static_cast<double>(cost.compute_steps);
    terms.passes = array.passes;
    terms.steps = array.steps;
    terms.hops = chain_hops(problem, accelerator, array.edge, mapping.levels[array.edge].spatial) +
                 accelerator.pipeline_stages;
    const auto& channels = accelerator.levels[array.edge].channels;
    for (std::size_t c = 0; c < channels.size(); ++c) {
        if (!channels[c].operands.empty() && terms.arrays < kOperands) {
            terms.array[terms.arrays++] =
                terms_at_array(problem, accelerator, mapping, cost, array, c);
        }
    }
    const auto& outer = accelerator.levels.front().channels;
    for (std::size_t c = 0; c < outer.size() && array.edge > 0; ++c) {
        if (!outer[c].operands.empty() && terms.outermosts < kOperands) {
            add_outermost(problem, accelerator, mapping, cost, c, terms);
        }
    }
    return terms;
}

namespace {

LatencyCycles latency_at(const LatencyTerms& terms, const ArrayCycles& units,
                         const Accelerator& machine, double overlapped) {
    LatencyCycles latency;
    latency.compute = terms.compute_cycles;
    const double slower_streams = std::max(0.0, units.stream - latency.compute);
    latency.on_chip_stall =
        slower_streams + terms.passes * (units.burst + units.prime + units.drain);
    if (terms.edge > 0) {
        const OuterCycles outer = cycles_at_outermost(terms, machine);
        // No more bursts meet a transfer than there are.
        const double hidden = std::min(terms.visits, terms.passes) *
                              std::min(units.burst, outer.waited / terms.visits);
        const double excess = std::max(outer.first, outer.overlapped - latency.processing());
        latency.outer_stall = std::max(0.0, outer.waited - hidden) + excess;
    }
    // Stores and networks between the two edges: whatever needs longer on average determines the
    // rate.
    latency.on_chip_stall += std::max(0.0, overlapped - latency.total());
    return latency;
}

} // namespace

LatencyCycles latency_at(const LatencyTerms& terms, const Accelerator& machine, double overlapped) {
    return latency_at(terms, cycles_at_array(terms, machine), machine, overlapped);
}

Latency latency_of(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   const MappingCost& cost) {
    const LatencyTerms terms = latency_terms(problem, accelerator, mapping, cost);
    const ArrayCycles units = cycles_at_array(terms, accelerator);
    const LatencyCycles cycles = latency_at(terms, units, accelerator, cost.cycles);
    Latency latency{cycles.compute, cycles.on_chip_stall, cycles.outer_stall, {}};
    const double slower_streams = std::max(0.0, units.stream - latency.compute_cycles);
    latency.limit = limit_name(accelerator, units, latency, slower_streams / terms.passes);
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
