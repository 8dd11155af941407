// Work of one stream is serial: a kernel or copy ends before the next of its stream ends.
#pragma once

#include "profiles/measurement.hpp"

#include <string>

namespace eyeroof::profiles {

// Drops what stands twice, with one start and duration on one stream, as merged files have it. One
// warning says how many.
Diagnostics drop_repeats(Profile& profile, const std::string& file);

// Cuts durations that no stream allows, as of counters that overflowed: what ends after the end of
// the next work of its stream, although its kernel's other runs are far shorter, ends where the
// next starts. The last of a stream, as long as those that were cut, takes the median of its
// kernel's runs. One warning says how many. Overlaps of neighbors that both end in order stay, as
// programmatic launches and rounded times have them.
Diagnostics cut_overruns(Profile& profile, const std::string& file);

} // namespace eyeroof::profiles
