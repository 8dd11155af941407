// Exact counts of the words of an operand that move into (or out of) the tiles below a point of the
// nest, over all time: the one equation behind fills, reads, updates and network traffic.
//
// A level keeps its tile while loops advance that do not move it. When the innermost loop that
// moves it advances, the overlap with the tile before stays (sliding windows); when any other loop
// does, the tile is fetched afresh. Single MACs keep nothing. With independent dimensions every
// count is a product over axes: an axis is N, G, K or C alone, or (P, R) and (Q, S) where they form
// a window.
#pragma once

#include "model/cost/cost.hpp"
#include "model/nest/digits.hpp"
#include "model/nest/loops.hpp"
#include "model/nest/window.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace eyeroof::model::nest {

struct Movement {
    Operand operand = Operand::input;
    std::size_t tile_level = 0; // whose tiles; the number of levels: single MACs
    Measure measure = Measure::received;
    std::size_t merge_from = 0; // spatial loops below levels >= this are neighbours in one group …
    const std::vector<bool>* merges = nullptr; // … where the level's network says so (none does
                                               // without it); the others are summed
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
    // How a movement treats the loops outside the tile, one bit a loop: trips of `each` are summed,
    // those of `merged` are neighbours in one group, and of all others only the first counts.
    struct Parts {
        std::uint64_t each = 0;
        std::uint64_t merged = 0;

        bool operator==(const Parts&) const = default;
    };
    // What was counted before. Movements that treat every loop alike move as many words, and
    // windows of an axis do when they treat the loops of that axis alike.
    struct Counted {
        Operand operand;
        Measure measure;
        bool leaving;
        std::size_t tile_level;
        Parts parts;
        Count words;
    };
    class Memory {
      public:
        std::optional<Count> recall(const Movement& movement, const Parts& parts) const;
        void keep(const Movement& movement, const Parts& parts, Count words);

      private:
        std::vector<Counted> counted_;
    };
    struct Entry {       // combinations of trips that look alike
        Count left = 0;  // extent from their offset to the bound, at most what the family reaches
        Count other = 0; // the same before (or after) the move; 0: everything is new (or leaves)
        Count times = 0;
    };

    Parts parts_of(const Movement& movement) const;
    Parts by_container(Parts parts, Dim along, Dim tap) const;
    Count counted(const Movement& movement, const Parts& parts);
    void set_loops(const Movement& movement, const Parts& parts, Dim dim, AxisLoops& loops) const;
    Count plain(const Movement& movement, const Parts& parts, Dim dim);
    Count sliding(const Movement& movement, const Parts& parts, Dim along, Dim tap);
    Count scattering(const Movement& movement, const Parts& parts, Dim along, Dim tap);
    void take_census(const AxisLoops& loops, bool leaving, std::vector<Entry>& entries);
    void add_irregular(const AxisLoops& loops, bool leaving, Count from, Count to, Count reach,
                       std::vector<Entry>& entries);
    void set_family(const AxisLoops& p, const Entry& ep, const AxisLoops& r, const Entry& er,
                    bool leaving);
    Count family_words(const Axis1d& axis, Measure measure);
    Axis1d geometry(Dim along, Dim tap) const;
    Count times(Count a, Count b);

    const Problem& problem_;
    const Nest& nest_;
    Counting counting_;
    Extents bounds_;
    std::array<std::uint64_t, kDims> of_dim_{}; // a dimension's loops as bits, as in Parts
    std::uint64_t spatial_ = 0;
    std::vector<std::uint64_t> of_level_;
    std::vector<Extents> tiles_; // of each level, and of single MACs
    Memory movements_;
    std::array<Memory, 2> windows_; // by rows and by columns
    // Scratch of the movement at hand, kept so that counting allocates little.
    std::vector<Digit> digits_;
    AxisLoops positions_;
    AxisLoops taps_;
    std::vector<Entry> of_positions_;
    std::vector<Entry> of_taps_;
    std::vector<Window> now_; // of the family at hand …
    std::vector<Window> other_;
    std::vector<Run> solid_now_; // … and the words they cover
    std::vector<Run> solid_other_;
    bool failed_ = false;
};

} // namespace eyeroof::model::nest
