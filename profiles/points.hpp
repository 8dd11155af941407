// A profile as points of a roofline plot: time, operations per precision, bytes per level.
#pragma once

#include "profiles/measurement.hpp"
#include "profiles/metric_family.hpp"

#include <string>
#include <vector>

namespace eyeroof::profiles {

// Where a figure comes from. `counted`: hardware counters. `partly_counted`: some counters of the
// sum were not collected, a lower bound. `from_shape`: the operator's dimensions, 2 per MAC, and
// for DRAM each tensor once, so that real traffic is at least this. `given`: written in a plain
// file.
enum class Evidence { counted, partly_counted, from_shape, given };
const char* evidence_name(Evidence evidence);

struct PointWork {
    std::string precision; // "fp32"
    std::string pipe;      // "fma", "tensor", or empty where only the precision is known
    double flops = 0.0;
    Evidence evidence = Evidence::counted;

    bool operator==(const PointWork&) const = default;
};

struct PointTraffic {
    std::string level; // "dram", "l2", "l1", "shared"
    double bytes = 0.0;
    Evidence evidence = Evidence::counted;

    bool operator==(const PointTraffic&) const = default;
};

// One or several launches of one kernel (or of one range or operator). Sums over its launches.
struct MeasuredPoint {
    std::string name;   // what it was grouped by
    std::string kernel; // demangled; of the launch that took longest
    std::string range;
    std::string op; // "aten::mm [[8,16],[16,4]]", empty if not known
    std::vector<std::size_t> launches;
    std::int64_t calls = 0; // of these launches
    double time_s = 0.0;
    double share = 0.0;                // of the time of all points
    bool under_replay = false;         // times were taken while counters were replayed
    std::vector<PointWork> work;       // only what is above zero
    std::vector<PointTraffic> traffic; // only levels that are known

    double flops() const; // over all precisions
    // The precision and pipe with most operations; nullptr without any.
    const PointWork* main_work() const;
    const PointTraffic* at_level(std::string_view level) const;
    double flops_per_s() const { return time_s > 0.0 ? flops() / time_s : 0.0; }
    // Operations per byte at a level; 0 when either is not known.
    double intensity(std::string_view level) const;

    bool operator==(const MeasuredPoint&) const = default;
};

enum class GroupBy { launch, kernel, range, op };

struct PointOptions {
    GroupBy group = GroupBy::kernel;
    bool work_from_shape = true; // where counters are missing, take operations from the dimensions
};

// Points in order of first launch. Launches without a time are left out and reported, one warning
// for all ("no-time"). `family` may be null: then only the neutral counters and shapes are used.
// A launch of several kernels of one operator carries the operator's work once, on the longest.
Result<std::vector<MeasuredPoint>> points_of(const Profile& profile, const MetricFamily* family,
                                             const PointOptions& options = {});

} // namespace eyeroof::profiles
