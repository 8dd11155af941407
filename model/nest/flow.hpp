// Exact counts of the words of an operand that move into (or out of) the tiles below a point of the
// nest, over all time: the one equation behind fills, reads, updates and network traffic.
// Called by cost.cpp.
// Knows no machine: which networks merge equal words is told by the caller.
//
// A level keeps its tile while loops advance that do not move it. When the innermost loop that
// moves it advances, the overlap with the tile before stays (sliding windows); when any other loop
// does, the tile is fetched afresh. Single MACs keep nothing. With independent dimensions every
// count is a product over axes: an axis is N, G, K or C alone, or (P, R) and (Q, S) where they form
// a window.
#pragma once

#include "model/cost.hpp"
#include "model/nest/digits.hpp"
#include "model/nest/loops.hpp"
#include "model/nest/window.hpp"

#include <optional>
#include <vector>

namespace eyeroof::model::nest {

struct Movement {
    Operand operand = Operand::input;
    std::size_t tile_level = 0; // whose tiles; the number of levels: single MACs
    Measure measure = Measure::received;
    std::size_t merge_from = 0; // spatial loops below levels >= this are neighbours in one group …
    std::vector<bool> merges;   // … where the level's network says so; the others are summed
    std::size_t pinned_levels = 0; // spatial loops of levels < this: only the first instance counts
    bool leaving = false;          // words that leave tiles instead of words that enter
    bool once = false;             // every loop that does not move the tile is left out
};

class FlowCounter {
  public:
    FlowCounter(const Problem& problem, const Nest& nest, Counting counting);

    // Words moved. Sets failed() when a count does not fit or the nest is too irregular to count.
    Count moved(const Movement& movement);
    bool failed() const { return failed_; }

    // The innermost temporal loop outside the tile that moves it.
    std::optional<std::size_t> moving_loop(const Movement& movement) const;

    struct AxisLoops { // of one dimension, outermost first
        std::vector<Digit> group;
        std::vector<Digit> family;
        std::optional<std::size_t> moving; // index into group
        Count tile = 1;
        Count bound = 1;
    };
    // Words that windows move, given the loops of their positions and of their taps.
    Count window_words(const AxisLoops& p, const AxisLoops& r, Dim along, Dim tap, Measure measure,
                       bool leaving);

    // Words of a tile with these extents: bounding boxes of windows under Timeloop's counting.
    Count tile_words(Operand operand, const Extents& tile);

  private:
    enum class Part : std::uint8_t { inside, fixed, each, merged };
    struct Entry {       // combinations of trips that look alike
        Count left = 0;  // extent from their offset to the bound, at most what the family reaches
        Count other = 0; // the same before (or after) the move; 0: everything is new (or leaves)
        Count times = 0;
    };

    std::vector<Part> parts_of(const Movement& movement) const;
    AxisLoops loops_of(const Movement& movement, const std::vector<Part>& parts, Dim dim) const;
    Count plain(const Movement& movement, const std::vector<Part>& parts, Dim dim) const;
    Count sliding(const Movement& movement, const std::vector<Part>& parts, Dim along, Dim tap);
    std::vector<Entry> census(const AxisLoops& loops, bool leaving);
    void add_irregular(const AxisLoops& loops, bool leaving, Count from, Count to, Count reach,
                       std::vector<Entry>& entries);
    Count family_words(const AxisLoops& p, const Entry& ep, const AxisLoops& r, const Entry& er,
                       const Axis1d& axis, Measure measure, bool leaving);
    Axis1d geometry(Dim along, Dim tap) const;
    Count times(Count a, Count b);

    const Problem& problem_;
    const Nest& nest_;
    Counting counting_;
    Extents bounds_;
    bool failed_ = false;
};

} // namespace eyeroof::model::nest
