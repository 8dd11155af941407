// Measures what this processor really reaches: memory and cache bandwidth, multiply-add rates, and
// the time of real layers. The result is a profile: ceilings, and a launch per layer.
// docs/measuring.md tells the methods.
#pragma once

#include "base/progress.hpp"
#include "profiles/ceilings.hpp"
#include "profiles/measurement.hpp"

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::profiles {

struct HostOptions {
    int threads = 0; // 0: all of the process's processors
    int trials = 25;
    double trial_s = 0.005; // each trial repeats its loop until it lasts this long
    bool layers = true;
    std::size_t most_bytes = 0; // of all arrays together; 0: half of what the machine has free
    std::string date = {};      // for the profile; the caller knows the clock of the day
    std::string command = {};
};

struct CacheSize {
    std::string level; // "l1", "l2", "l3"
    std::size_t bytes = 0;
    int shared_by = 1; // processors

    bool operator==(const CacheSize&) const = default;
};
// As the operating system tells them, of processor 0; common sizes where it does not.
std::vector<CacheSize> host_caches();

// Bytes that each of `threads` threads walks over to measure a level: half of its share, and at
// least twice the level below it. For "dram": four times all of the last cache, divided.
std::size_t walk_bytes(const std::vector<CacheSize>& caches, const std::string& level, int threads);

// The level whose capacity, all threads' shares together, holds `bytes`; "dram" when none does.
std::string level_holding(const std::vector<CacheSize>& caches, double bytes, int threads);

// Stopped, it gives what it has measured by then, with the warning "cancelled". Errors: "cancelled"
// when that is nothing; "unavailable" when a thread or the memory cannot be had.
Result<Profile> measure_host(const HostOptions& options, std::stop_token stop = {},
                             const ProgressCallback& progress = {});

} // namespace eyeroof::profiles
