// The time of a mapping as a function of the machine's bandwidths alone: everything that the
// counts, tiles and orders settle is worked out once. Made and used by latency_of; kept by sweeps,
// which ask for the same mapping at many bandwidths. Equations: latency.cpp.
#pragma once

#include "model/cost/latency.hpp"

#include <array>
#include <vector>

namespace eyeroof::model {

// Bytes of one instance's share on a channel, by direction.
struct ChannelLoad {
    double down_bytes = 0.0;
    double up_bytes = 0.0;

    bool operator==(const ChannelLoad&) const = default;
};

struct LatencyTerms {
    struct AtArray {
        std::size_t channel = 0;          // of the array edge
        ChannelLoad streaming;            // of operands that change at every step
        ChannelLoad waited;               // of bursts that the units wait for
        ChannelLoad hidden;               // of bursts that arrive early
        PerOperand<double> prime_bytes{}; // of the first tile of each that primes
        bool drains = false;              // partial sums leave at every step
        double sums_up_bytes = 0.0;

        bool operator==(const AtArray&) const = default;
    };
    struct AtOutermost {
        std::size_t channel = 0;
        ChannelLoad waited;
        ChannelLoad overlapped;
        // Of the inputs that arrive early; of the sums where no input does.
        double most_changes = 1.0;

        bool operator==(const AtOutermost&) const = default;
    };

    std::size_t edge = 0;
    double compute_cycles = 0.0;
    double passes = 1.0;
    double steps = 1.0;  // trips of all loops in time at or above the edge
    double visits = 1.0; // how often the units' bursts meet a waited-for transfer
    double hops = 0.0;   // of the longest chain, and the stages of a unit
    // An operand crosses one channel: more than three never carry anything.
    std::array<AtArray, kOperands> array{};
    std::size_t arrays = 0;
    std::array<AtOutermost, kOperands> outermost{};
    std::size_t outermosts = 0;

    bool operator==(const LatencyTerms&) const = default;
};

LatencyTerms latency_terms(const Problem& problem, const Accelerator& accelerator,
                           const Mapping& mapping, const MappingCost& cost);

// What a mapping moves through one store or channel of one instance of a level.
struct PortTraffic {
    std::size_t level = 0;
    std::size_t index = 0; // of the store or channel in its level
    bool store = false;
    double down_bytes = 0.0; // of stores: read
    double up_bytes = 0.0;   // of stores: written

    bool operator==(const PortTraffic&) const = default;
};

struct CountedMapping {
    MappingCost cost;
    std::vector<PortTraffic> transfers;
};

// cost_of under eyeroof's counting, with the transfers that its cycles come from. Errors: its own.
Result<CountedMapping> counted_mapping(const Problem& problem, const Accelerator& machine,
                                       const Mapping& mapping);

// MappingCost::cycles of the same counts at this machine's bandwidths.
double overlapped_cycles(const std::vector<PortTraffic>& transfers, Count compute_steps,
                         const Accelerator& machine);

struct LatencyCycles {
    double compute = 0.0;
    double on_chip_stall = 0.0;
    double outer_stall = 0.0;

    double processing() const { return compute + on_chip_stall; }
    double total() const { return processing() + outer_stall; }
    bool operator==(const LatencyCycles&) const = default;
};

// latency_of()'s figures at this machine's bandwidths. `overlapped`: overlapped_cycles().
LatencyCycles latency_at(const LatencyTerms& terms, const Accelerator& machine, double overlapped);

} // namespace eyeroof::model
