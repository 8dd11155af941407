// Words of one axis that sliding windows cover, as runs of consecutive words, and what a group of
// neighbours needs of them when all windows move on.
#pragma once

#include "base/checked.hpp"

#include <span>
#include <vector>

namespace eyeroof::model::nest {

struct Run { // words begin … end - 1
    Count begin = 0;
    Count end = 0;

    bool operator==(const Run&) const = default;
};
using Runs = std::vector<Run>; // sorted, disjoint, none empty

Count length(const Runs& runs);
// Union of runs in any order, overlapping or not.
Runs united(Runs runs);
Runs without(const Runs& from, const Runs& taken);

// Word i * step + j * gap for position i and tap j. `boxed`: with the words between them.
struct Axis1d {
    Count step = 1;
    Count gap = 1;
    bool boxed = false;
};

struct Interval {
    Count begin = 0;
    Count size = 0;

    bool operator==(const Interval&) const = default;
};

struct Window { // a window without positions or taps covers nothing
    Interval positions;
    Interval taps;
};

Runs window(const Axis1d& axis, const Window& window);

// The words of each window as one run. False when a window leaves out words between its ends.
bool solid_windows(const Axis1d& axis, std::span<const Window> windows, std::vector<Run>& runs);

// What a group of neighbours asks for when windows move from `before` to `now` (index by index).
// received: what each lacks, summed. sent: words that anyone lacks, once each. sent_new: words that
// no one held before. received_new: what each holds now and no one held before, summed.
// sent_tiles: what each lacks, once for all that lack the very same tile.
enum class Measure { received, sent, sent_new, received_new, sent_tiles };
Count moved_words(const std::vector<Runs>& now, const std::vector<Runs>& before, Measure measure);
// The same for windows of one run each, empty ones included.
Count moved_words(std::span<const Run> now, std::span<const Run> before, Measure measure);

} // namespace eyeroof::model::nest
