// Progress of long work, reported to a callback; free of any user interface. Cancelling goes the
// other way, through std::stop_token.
#pragma once

#include <functional>
#include <string>

namespace eyeroof {

struct Progress {
    double fraction = 0.0; // 0 … 1
    std::string activity;  // e.g. "mapping conv3 (3 of 12)"
    double best = 0.0;     // best objective so far, 0 when there is none
    double gap = -1.0;     // (best - proven bound) / best, negative when not known
};

using ProgressCallback = std::function<void(const Progress&)>;

} // namespace eyeroof
