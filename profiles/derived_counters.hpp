// Counters that others imply, so that every export of a profiler has the names that formulas use.
#pragma once

#include "profiles/measurement.hpp"

namespace eyeroof::profiles {

// Adds what is not there yet, by the definitions of the tools:
// Nsight Compute: the time from cycles and their rate; X.sum from X.sum.per_second and the time,
// from X.sum.per_cycle_elapsed and the cycles of its unit, or from its share of the sustained peak;
// sm__ beside smsp__; bytes from sectors of 32 bytes, and from reads and writes together.
// ROCm: FETCH_SIZE and WRITE_SIZE (KiB) from requests of 32, 64, and 128 bytes.
void add_derived_counters(Launch& launch);

} // namespace eyeroof::profiles
