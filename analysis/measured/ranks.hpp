// Several ranks of one run, one trace each: load imbalance, and which rank waits for which in each
// collective. The entry point of `eyeroof exam` with several traces.
//
// Clocks of ranks differ, so only durations are compared. A collective's kernels end together. The
// rank with the shortest kernel came last, and the extra time of the others is waiting:
//   wait(r) = duration(r) - min over all ranks of duration
// The i-th launch of a collective of one name is the same collective on every rank.
#pragma once

#include "profiles/device_time.hpp"
#include "profiles/measurement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct RankSide {
    std::string name;          // "rank 3", else the file
    profiles::DeviceTime time; // from its first kernel to its last
    double waits_s = 0.0;      // in collectives, for the last of each
    double delays_s = 0.0;     // that all others together wait for it
    std::int64_t last = 0;     // collectives to which it came last

    bool operator==(const RankSide&) const = default;
};

struct RankCollective {
    std::string name;
    std::int64_t calls = 0;     // on every rank
    std::int64_t unmatched = 0; // launches beyond what every rank has
    double mean_s = 0.0;        // of a call on a rank
    double least_s = 0.0;       // of a call: without waiting
    double waits_s = 0.0;       // of all ranks and calls
    std::size_t last = 0;       // rank that most is waited for, index into ranks

    bool operator==(const RankCollective&) const = default;
};

struct Ranks {
    std::vector<RankSide> ranks;
    std::vector<RankCollective> collectives; // those with most waiting first
    std::vector<std::vector<double>> waits;  // [r][s]: seconds that r waits for s
    double imbalance = 0.0;                  // of computation: most over mean, less 1

    bool operator==(const Ranks&) const = default;
};

// Errors: "one-rank" of fewer than two; "no-times" where a profile's starts are not known.
Result<Ranks> ranks_of(const std::vector<profiles::Profile>& profiles);

} // namespace eyeroof::analysis
