// The mapspace of one choice of kept operands, in the form that searches work on: six groups of
// dimensions, the ways to split each over the machine (chains), and for each the factors that it
// contributes to every count. With these a mapping costs a few products.
// Built once per choice of kept operands; read by every strategy.
//
// Groups are N, G, K, C, (P, R) and (Q, S): the counts of a mapping are products over them. A link
// is a pair of neighbouring homes of an operand. Its count depends on the order of loops only
// through the block (the temporal loops of a level) at which its tile first moves, whether the
// loops of that block that do not move it run innermost, and which window dimension moves it first.
#pragma once

#include "mapper/effort.hpp"
#include "mapper/loop_roles.hpp"
#include "mapper/prefetch.hpp"
#include "mapper/problem_space.hpp"

#include <cstdint>
#include <limits>

namespace eyeroof::mapper {

// No value yet: of a minimum over nothing, and of what breaks a rule.
inline constexpr double kNone = std::numeric_limits<double>::infinity();

inline constexpr std::size_t kGroups = 6;
inline constexpr std::size_t kMaxLevels = 10;

// Trips per slot, innermost level last as in Mapping: temporal[i], spatial[i] of level i.
struct Split {
    std::array<Count, kMaxLevels> temporal = ones();
    std::array<Count, kMaxLevels> spatial = ones();

    bool operator==(const Split&) const = default;

  private:
    static constexpr std::array<Count, kMaxLevels> ones() {
        std::array<Count, kMaxLevels> trips{};
        trips.fill(1);
        return trips;
    }
};

// Elements of a dimension in one instance of `level`: trips from there inwards, at most its bound.
Count extent_at(const Split& split, std::size_t level, std::size_t levels, Count bound);

// One way to split a group: of its first dimension and, for windows, of its taps.
struct Chain {
    Split first;
    Split tap;
};

// none: a dimension that moves the input, but no windows that overlap, comes first.
enum class Slide : std::uint8_t { p, q, r, s, none };

// Which operand rests while the innermost loops of a block run, and which window dimension is first
// among those that move the input.
struct BlockOrder {
    model::Operand stationary = model::Operand::output;
    Slide slide = Slide::p;
    // The loops that run innermost while it rests; absent: all that do not move it. Empty: nothing
    // rests, the innermost loop moves every tile.
    std::optional<model::DimSet> over = {};

    bool operator==(const BlockOrder&) const = default;
};

struct Link {
    model::Operand operand;
    std::size_t parent = 0;
    std::size_t child = 0; // number of levels: the MACs
    bool produced = false;
    double volume = 1.0; // product of the bounds of dimensions that move the tile, windows apart
    std::size_t received = 0; // first cost factor of what arrives …
    std::size_t sent = 0;     // … of what is sent …
    std::size_t reduced = 0;  // … and of what is sent when every network adds (sums only)
    std::size_t lanes = 0; // cost factor: received / reduced, at most (sums only); under Timeloop's
                           // counting the different sums that instances hold
    std::vector<std::size_t>
        edges; // cost factor of what crosses the network of level e, 0: not needed
    std::size_t variants = 1;
    std::size_t slides = 1; // for the input, whose windows slide: 4, with Slide::none 5
};

// Levels as bits, by what their loops in time are; see loop_roles.hpp.
struct LoopMasks {
    std::uint16_t anchors = 0;
    std::uint16_t leans = 0;         // on an anchor
    std::uint16_t leans_on_sums = 0; // on an anchor and on many lanes

    LoopMasks& operator|=(const LoopMasks& other) {
        anchors |= other.anchors;
        leans |= other.leans;
        leans_on_sums |= other.leans_on_sums;
        return *this;
    }
    // Levels where all loops might as well be those of the next level outwards.
    std::uint16_t without_anchor() const { return leans & static_cast<std::uint16_t>(~anchors); }
};

// Cost factor of a variant: closing block, are the loops that rest free, window that moves first.
// variant = (parent distance * 2 + free) * slides + slide, distance = child - 1 - block.
struct Node {
    std::uint32_t first_child = 0;
    std::uint32_t children = 0;
    std::uint32_t chain = 0;  // of a leaf
    std::uint32_t ranges = 0; // first of its ranges, if it has more than kRange children
    bool needless = false;    // every chain below is dominated while returned sums cost more than
                              // they save; see sums_price()
    LoopMasks loops;          // of the levels whose trips in time are decided here
};

// So many neighbouring children, or ranges of them, are bounded together before each alone.
inline constexpr std::size_t kRange = 4;

// The chains of a group as a tree: first all trips in space, then the trips in time of each level
// from the outermost inwards. A node's cost factors bound those of all chains below it.
struct Group {
    std::vector<model::Dim> dims; // one, or window position and tap
    std::vector<Chain> chains;
    std::vector<Node> nodes;          // nodes[0] is the root
    std::vector<double> cost_factors; // nodes.size() * Space::cost_factors
    // Bounds of neighbouring children of wide nodes, rows of Space::cost_factors: first of every
    // kRange children, then of every kRange such ranges, and so on while there are more than
    // kRange.
    std::vector<double> ranges;
};

struct Space {
    const Task* task = nullptr;
    std::vector<model::OperandSet> keeps; // by level
    PrefetchCase prefetch;                // the case of step 7 that the space is of
    LoopRoles roles;                      // which dimensions may loop in time where
    std::vector<Link> links;
    std::array<Group, kGroups> groups;
    std::size_t cost_factors = 0;
    std::size_t depth = 0; // of the trees: 1 + number of levels - 1
    std::size_t steps = 0; // cost factor of the trips in time
    std::array<std::array<std::size_t, model::kOperands>, kMaxLevels>
        tile{};                                    // cost factors, 0: not kept
    std::array<std::size_t, kMaxLevels> spatial{}; // cost factors: trips in space at a level
    std::vector<std::size_t> ordered;              // blocks whose order matters
    std::vector<std::vector<BlockOrder>> orders;   // of each, by level
    bool truncated = false;                        // too many chains: not all are in the trees
    bool unfinished = false;                       // the time was over: there are no trees

    const double* cost_factor(std::size_t group, std::size_t node) const {
        return groups[group].cost_factors.data() + node * cost_factors;
    }
    const double* range(std::size_t group, std::size_t range) const {
        return groups[group].ranges.data() + range * cost_factors;
    }
};

// Every choice of kept operands that machine and constraints allow, fullest first.
std::vector<std::vector<model::OperandSet>> bypass_choices(const Task& task);

// What constraints ask of a level.
const LevelConstraint& rules_of(const Task& task, std::size_t level);

// May, must or can a level not keep an operand whose home is known? never_but_asked: a rule asks it
// to keep what it cannot hold, or what must pass by.
enum class Keeping { never, may, must, never_but_asked };
Keeping keeping_of(const Task& task, model::Operand o, std::size_t home, std::size_t level);

// The levels that may be an operand's home: the outermost that stores it, and, where the machine
// keeps activations between layers, the one that does; see model/accelerator/residency.hpp.
std::vector<std::size_t> homes_allowed(const Task& task, model::Operand o);

// The outermost level that keeps an operand.
std::size_t home_of(const std::vector<model::OperandSet>& keeps, model::Operand o);

// All splits of one dimension that respect fan-outs, fixed trips and what each level may loop over.
// Some are missing when the effort is over before the end.
std::vector<Split> splits_of(const Task& task, const std::vector<model::OperandSet>& keeps,
                             const LoopRoles& roles, model::Dim dim, const Effort& effort = {});

// Builds the space; `max_chains` bounds the chains of a group.
Space build_space(const Task& task, const std::vector<model::OperandSet>& keeps,
                  std::size_t max_chains, const Effort& effort = {},
                  const PrefetchCase& prefetch = {});

// What one more returned word of sums costs, less the reads that it saves in each further lane:
// {cost, saving}. Above zero lanes with cost - saving * (lanes - 1) < 0 the fewest returns are not
// best.
struct SumsPrice {
    double cost = 0.0;
    double saving = 0.0;
};
SumsPrice sums_price(const Task& task, model::Operand sums, std::size_t parent, std::size_t child);

// What the loops of a chain are at the levels from `from` to before `to`.
LoopMasks loops_of(const Space& space, const Group& group, const Chain& chain, std::size_t from,
                   std::size_t to);

// Marks chains that another one with the same trips in space beats or equals in every cost factor.
void drop_dominated(Space& space, Group& group, std::vector<double>& cost_factors,
                    std::vector<bool>& needless, const Effort& effort);

// The mapping that chains (one a group) and orders (one per Space::ordered) stand for. Spatial
// trips are put on axes; none when they do not fit.
std::optional<model::Mapping> mapping_of(const Space& space,
                                         const std::array<std::uint32_t, kGroups>& chains,
                                         const std::vector<BlockOrder>& orders);

// Can the trips in space of these chains, one a group, be put on the axes?
bool axes_fit(const Space& space, const std::array<std::uint32_t, kGroups>& chains);

// Every way to put the trips in space of these chains, one a group, on the axes of a level, the
// first ones where there are many; none when they do not fit.
inline constexpr std::size_t kMostPlacements = 4096;
std::vector<std::vector<model::SpatialLoop>>
placements_of(const Space& space, const std::array<std::uint32_t, kGroups>& chains,
              std::size_t level);

// Spreads trips in space per dimension over the axes of a level; false when they do not fit.
// `reach`: how many of the trips have work; more trips are made only where axes divide them so.
bool pack_axes(const Task& task, std::size_t level, const model::Extents& trips,
               const model::Extents& reach, std::vector<model::SpatialLoop>* loops);

// The dimension that each Slide names.
inline constexpr std::array<model::Dim, 4> kSlideDims = {model::Dim::P, model::Dim::Q,
                                                         model::Dim::R, model::Dim::S};

// Whether a problem has the operand at all.
inline bool present(const Task& task, model::Operand o) {
    return o != model::Operand::weight || task.problem.has_weight;
}

} // namespace eyeroof::mapper
