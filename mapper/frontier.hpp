// What one thing costs in another: the Pareto front of latency and energy, and the DRAM traffic
// that a buffer's capacity buys. Both are exact: every point carries its certificate, and
// `complete` says that there is no point beside them.
#pragma once

#include "mapper/search.hpp"

#include <vector>

namespace eyeroof::mapper {

// Mappings of which none is at least as fast and as frugal as another; energy rises and cycles fall
// from point to point. The certificate of a point is of the least energy among all mappings that
// are at least as fast as the point.
struct Front {
    std::vector<SearchResult> points;
    bool complete = false; // every search ended: no other point exists, but for the tolerance
    std::uint64_t nodes = 0;
    double time_s = 0.0;

    bool operator==(const Front&) const = default;
};

struct FrontOptions {
    SearchOptions search;   // its time limit holds for the whole front
    double tolerance = 0.0; // t: every mapping left out is at most 1 + t times as fast as a point
                            // that needs no more energy; 0: nothing is left out
};

// A DRAM whose rate follows the mapping is taken at that of a stream. task.objective is not used;
// its constraints (max_energy_pj and max_cycles among them) hold for every point. Errors: those of
// search().
Result<Front> pareto_front(const Task& task, const FrontOptions& options = {},
                           std::stop_token stop = {}, const ProgressCallback& progress = {});

// The least traffic between memory and a buffer of a given capacity that stands before one MAC:
// what any on-chip storage of that size, shared freely by all operands, can save. Words count as
// stored (task.machine.word_bits), reads and writes alike. An operand may pass the buffer by.
struct CapacityPoint {
    Count capacity_bytes = 0; // the least with which the traffic is reached
    double traffic_bytes = 0.0;
    model::PerOperand<Count> buffer_words{};  // of each operand in the buffer; 0: passes by
    model::PerOperand<Count> traffic_words{}; // of each operand, both ways
    model::Mapping mapping;                   // two levels: memory, buffer
    Certificate certificate;                  // of traffic_bytes with this capacity

    bool operator==(const CapacityPoint&) const = default;
};

// Traffic as a falling staircase: points[i].traffic_bytes holds for capacities from
// points[i].capacity_bytes up to that of points[i + 1].
struct CapacityCurve {
    std::vector<CapacityPoint> points; // rising capacity, falling traffic
    double compulsory_bytes = 0.0;     // each word once: no capacity buys less
    bool complete = false;             // every search ended
    double time_s = 0.0;

    bool operator==(const CapacityCurve&) const = default;
};

struct CurveOptions {
    SearchOptions search;                    // its time limit holds for the whole curve
    std::optional<Count> max_capacity_bytes; // nullopt: as much as any word could use
    double tolerance = 0.0; // t: steps left out are at most 1 + t times smaller than a point with
                            // no more traffic; 0: nothing is left out
};

// Of the task: problem, word sizes, factors and counting. Errors: those of search().
Result<CapacityCurve> capacity_curve(const Task& task, const CurveOptions& options = {},
                                     std::stop_token stop = {},
                                     const ProgressCallback& progress = {});

// The least traffic with one capacity, by one search. Errors: as above; a capacity of 0 is 1.
Result<CapacityPoint> least_traffic(const Task& task, Count capacity_bytes,
                                    const SearchOptions& options = {}, std::stop_token stop = {});

} // namespace eyeroof::mapper
