// What the collector needs of a counter library: open windows of launches, and read them.
// Implemented by the CUPTI backend, and by a fake in the tests.
#pragma once

#include "profiles/collect/fault.hpp"
#include "profiles/measurement.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace eyeroof::profiles {

// One window, read: a range per launch in launch order, a value per metric in the metrics' order.
struct CounterWindow {
    std::vector<std::vector<double>> values;
    std::size_t dropped = 0; // ranges that did not fit
};

// The metrics to collect on a chip; empty when none are known.
using MetricsForChip = std::function<std::vector<std::string>(const std::string& chip)>;

class CounterBackend {
  public:
    CounterBackend() = default;
    CounterBackend(const CounterBackend&) = delete;
    CounterBackend& operator=(const CounterBackend&) = delete;
    virtual ~CounterBackend() = default;

    // Once, in the context that launches first. Fills what is known of the device (into `run`) and
    // the metrics that are collected. Every function gives the fault, or nothing when all is well.
    virtual std::optional<BackendFault> begin(const MetricsForChip& metrics_for,
                                              std::size_t max_ranges, RunInfo& run,
                                              std::vector<std::string>& metrics) = 0;
    virtual std::optional<BackendFault> start() = 0;
    virtual std::optional<BackendFault> stop(CounterWindow& window) = 0;
    virtual void end() = 0;
};

} // namespace eyeroof::profiles
