// Which counters of a chip family give operations per precision, bytes per level and time.
// Filled from profiles/metrics/*.yaml (read where YAML is known); used by points and the collector.
#pragma once

#include "profiles/measurement.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// The counter of a kernel's time, ns.
inline constexpr const char* kTimeCounter = "gpu__time_duration.sum";

struct MetricTerm {
    std::string counter;
    double weight = 1.0;

    bool operator==(const MetricTerm&) const = default;
};

// Operations (an FMA counts 2) done in one precision by one kind of unit.
struct WorkMetric {
    std::string precision; // "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"
    std::string pipe;      // "fma" or "tensor"
    std::vector<MetricTerm> terms;

    bool operator==(const WorkMetric&) const = default;
};

struct TrafficMetric {
    std::string level;   // "dram", "l2", "l1", "shared"
    std::string meaning; // which direction and which requests are counted
    std::vector<MetricTerm> terms;

    bool operator==(const TrafficMetric&) const = default;
};

// A list of counters that is collected together, with the passes it needs on each chip.
struct MetricSet {
    std::string name; // "roofline", "roofline-full"
    std::vector<std::string> counters;
    int max_passes = 1; // on every chip of the family; a regression budget

    bool operator==(const MetricSet&) const = default;
};

struct MetricFamily {
    std::string name; // "hopper"
    std::string summary;
    std::string source;
    std::vector<std::string> chips;                // "GH100"
    std::vector<std::string> compute_capabilities; // "9.0"
    std::string time_counter = {};                 // in ns; empty: none
    std::string clock_counter = {};                // of the SMs, in Hz; empty: none
    std::string tensor_active_counter = {};        // tensor pipe, in % of its peak; empty: none
    std::string occupancy_counter = {};            // resident warps, in % of the most; empty: none
    std::vector<WorkMetric> work;
    std::vector<TrafficMetric> traffic;
    std::vector<MetricSet> sets;

    const MetricSet* find_set(std::string_view set_name) const;
    bool operator==(const MetricFamily&) const = default;
};

// By chip name if the profile has one, else by compute capability; nullptr when neither is known.
const MetricFamily* find_family(std::span<const MetricFamily> families, const RunInfo& run);
// The same; where the profile says neither, the family that names most of its counters.
const MetricFamily* family_of_profile(std::span<const MetricFamily> families,
                                      const Profile& profile);

// sum of weight * counter. nullopt when no counter of the sum is there; counters that are absent
// beside others that are present make the sum a lower bound and are returned in `missing`.
struct Evaluated {
    double value = 0.0;
    std::vector<std::string> missing;
};
std::optional<Evaluated> evaluate(std::span<const MetricTerm> terms, const Counters& counters);

// Every counter that the family's formulas name, once each, in order.
std::vector<std::string> counters_of(const MetricFamily& family);

} // namespace eyeroof::profiles
