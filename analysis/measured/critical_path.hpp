// Critical path of a traced step: from the end of its last kernel or copy back through streams,
// launches, and collectives to its start.
//
// Before a kernel that starts at s, launched by the host at c, the path goes on with the kernel or
// copy of any stream that ended last at e <= s:
//   c > e: s - c is launch latency, and c - e the host's
//   else:  s - e is a wait on the device (another stream's event, the start of a kernel)
// so the parts add up to the step's time. Seconds.
#pragma once

#include "profiles/measurement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct PathKernel {
    std::string name;
    std::int64_t calls = 0; // on the path
    double seconds = 0.0;

    bool operator==(const PathKernel&) const = default;
};

struct CriticalPath {
    double computation_s = 0.0, communication_s = 0.0, copies_s = 0.0;
    double host_s = 0.0, launch_s = 0.0, wait_s = 0.0;
    double kernels_s = 0.0;          // of all kernels, on the path or not
    std::vector<PathKernel> longest; // at most ten

    double total_s() const {
        return computation_s + communication_s + copies_s + host_s + launch_s + wait_s;
    }
    bool operator==(const CriticalPath&) const = default;
};

// Of the device with most launches. nullopt where starts are not known or launches are sums.
std::optional<CriticalPath> critical_path(const profiles::Profile& step);

} // namespace eyeroof::analysis
