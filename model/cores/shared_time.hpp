// What the schedules of cores share: a time that never comes, and the time of bytes at a rate.
#pragma once

#include <limits>

namespace eyeroof::model::cores {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// A rate of 0 is no limit.
inline double seconds_at(double bytes, double bytes_per_s) {
    return bytes_per_s > 0.0 ? bytes / bytes_per_s : 0.0;
}

} // namespace eyeroof::model::cores
