#include "mapper/space.hpp"

#include "mapper/cost_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::mapper {

using namespace model;

namespace {

const std::array<std::vector<Dim>, kGroups> kGroupDims = {
    std::vector{Dim::N}, {Dim::G}, {Dim::K}, {Dim::C}, {Dim::P, Dim::R}, {Dim::Q, Dim::S}};

// ---- layout -------------------------------------------------------------------------------------

// Network traffic of level e is needed where it costs time or energy.
bool needs_edge(const Task& task, std::size_t e, Operand o, std::size_t parent) {
    const Channel* here = channel_of(task.machine.levels[e], o);
    const Channel* above = e > 0 ? channel_of(task.machine.levels[e - 1], o) : nullptr;
    const bool timed = here != nullptr && (std::isfinite(here->down_bytes_per_cycle) ||
                                           std::isfinite(here->up_bytes_per_cycle));
    return e == parent || timed || (above != nullptr && above->hop_pj > 0.0);
}

double volume_of(const Problem& problem, Operand o) {
    double volume = 1.0;
    for (const Dim d : kAllDims) {
        const bool window = o == Operand::input && index(d) >= index(Dim::P);
        volume *= relevant(o, d) && !window ? static_cast<double>(problem.bounds[index(d)]) : 1.0;
    }
    return volume;
}

// Orders of the loops that move the input differ by the window that moves first: by 4 of them where
// windows overlap, or by 5 with Slide::none.
std::size_t slides_at_all(const Space& space) {
    const Problem& problem = space.task->problem;
    const auto& blocks = space.roles.hands_on;
    if (!has_windows(problem, Dim::P) && !has_windows(problem, Dim::Q)) {
        return 1;
    }
    const bool hands_on = std::find(blocks.begin(), blocks.end(), true) != blocks.end();
    return hands_on || space.roles.many_lanes ? 5 : 4;
}

void add_links(Space& space) {
    const Task& task = *space.task;
    const std::size_t levels = task.machine.levels.size();
    for (const Operand o : kAllOperands) {
        std::vector<std::size_t> homes;
        for (std::size_t i = 0; i < levels && present(task, o); ++i) {
            if (space.keeps[i].contains(o)) {
                homes.push_back(i);
            }
        }
        for (std::size_t h = 0; h < homes.size(); ++h) {
            Link link;
            link.operand = o;
            link.parent = homes[h];
            link.child = h + 1 < homes.size() ? homes[h + 1] : levels;
            link.produced = o == task.problem.produced;
            link.volume = volume_of(task.problem, o);
            if (o == Operand::input && link.child < levels) {
                link.slides = slides_at_all(space);
            }
            link.variants = link.child == levels ? 1 : link.child * 2 * link.slides;
            const auto take = [&](std::size_t n) {
                return std::exchange(space.cost_factors, space.cost_factors + n);
            };
            link.received = take(link.variants);
            link.edges.assign(levels, 0);
            for (std::size_t e = link.parent; e < link.child && e < levels; ++e) {
                if (needs_edge(task, e, o, link.parent)) {
                    link.edges[e] = take(link.variants);
                }
            }
            link.sent = link.edges[link.parent];
            if (link.produced) {
                link.reduced = take(link.variants);
                link.lanes = take(1);
            }
            space.links.push_back(link);
        }
    }
}

void add_layout(Space& space) {
    const std::size_t levels = space.task->machine.levels.size();
    space.cost_factors = 1;
    space.steps = space.cost_factors++;
    for (std::size_t i = 0; i < levels; ++i) {
        space.spatial[i] = space.cost_factors++;
        for (const Operand o : kAllOperands) {
            if (space.keeps[i].contains(o) && present(*space.task, o)) {
                space.tile[i][index(o)] = space.cost_factors++;
            }
        }
    }
    add_links(space);
    space.depth = space.task->factors == Factors::perfect ? levels : levels + 1;
}

// The operands whose tiles inside a block may move there.
OperandSet waiting_inside(const Space& space, std::size_t block) {
    OperandSet waiting;
    for (const Link& link : space.links) {
        if (link.child < space.keeps.size() && link.child > block) {
            waiting.insert(link.operand);
        }
    }
    return waiting;
}

// Slides that differ among the orders in which an operand rests: the windows that may move first
// among the loops that do. None of them where units hand windows on, which may cost more than it
// saves, and where many lanes make it worth while that the sums move.
std::vector<Slide> slides_of(const Space& space, std::size_t block, Operand rests) {
    const Problem& problem = space.task->problem;
    std::vector<Slide> slides;
    const auto add = [&](Slide slide, std::initializer_list<Dim> dims) {
        const bool some = std::any_of(dims.begin(), dims.end(), [&](Dim d) {
            const bool windows = has_windows(problem, d);
            return slide == Slide::none ? problem.bounds[index(d)] > 1 && !windows : windows;
        });
        if (some) {
            slides.push_back(slide);
        }
    };
    if (rests != Operand::output) {
        add(Slide::p, {Dim::P});
        add(Slide::q, {Dim::Q});
    }
    if (rests != Operand::weight) {
        add(Slide::r, {Dim::R});
        add(Slide::s, {Dim::S});
    }
    const bool moves_sums = space.roles.many_lanes && rests != problem.produced;
    if ((space.roles.hands_on[block] || moves_sums) && !slides.empty()) {
        rests == Operand::output ? add(Slide::none, {Dim::C, Dim::R, Dim::S})
        : rests == Operand::weight
            ? add(Slide::none, {Dim::N, Dim::P, Dim::Q})
            : add(Slide::none, {Dim::N, Dim::C, Dim::G, Dim::P, Dim::Q, Dim::R, Dim::S});
    }
    return slides;
}

// The operands that are worth trying to rest: those whose tiles inside the block may move there.
// Where it may pay that others move, also those that rest then.
OperandSet worth_reusing(const Space& space, std::size_t block, OperandSet waiting) {
    const Operand sums = space.task->problem.produced;
    if (waiting.contains(Operand::input) && space.roles.hands_on[block]) {
        return {Operand::input, Operand::weight, Operand::output};
    }
    if (waiting == OperandSet{sums} && space.roles.many_lanes) {
        return {sums, sums == Operand::input ? Operand::output : Operand::input};
    }
    return waiting;
}

std::vector<BlockOrder> orders_of(const Space& space, std::size_t block) {
    const OperandSet waiting = waiting_inside(space, block);
    const OperandSet resting = worth_reusing(space, block, waiting);
    std::vector<BlockOrder> orders;
    for (const auto& [rests, usual] :
         {std::pair(Operand::output, Slide::r), std::pair(Operand::weight, Slide::p),
          std::pair(Operand::input, Slide::p)}) {
        if (!resting.contains(rests)) {
            continue;
        }
        const std::size_t before = orders.size();
        for (const Slide slide : slides_of(space, block, rests)) {
            if (waiting.contains(Operand::input)) {
                orders.push_back({rests, slide});
            }
        }
        if (orders.size() == before) {
            orders.push_back({rests, usual});
        }
    }
    return orders;
}

// ---- trees --------------------------------------------------------------------------------------

// Compares the trips that tell siblings apart at a depth of the tree: less than 0, 0, above 0.
int compare_at(const Chain& a, const Chain& b, std::size_t depth) {
    const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : x == y ? 0 : 1; };
    if (depth == 0) {
        const int first = order(a.first.spatial, b.first.spatial);
        return first != 0 ? first : order(a.tap.spatial, b.tap.spatial);
    }
    const int first = order(a.first.temporal[depth - 1], b.first.temporal[depth - 1]);
    return first != 0 ? first : order(a.tap.temporal[depth - 1], b.tap.temporal[depth - 1]);
}

class TreeBuilder {
  public:
    TreeBuilder(Space& space, Group& group, std::vector<double> chain_cost_factors,
                std::vector<bool> needless, const Effort& effort)
        : effort_(effort), space_(space), group_(group),
          leaf_cost_factors_(std::move(chain_cost_factors)), needless_(std::move(needless)),
          all_(group.chains.size()) {}

    void run() {
        std::iota(all_.begin(), all_.end(), 0U);
        std::sort(all_.begin(), all_.end(), [&](std::uint32_t a, std::uint32_t b) {
            for (std::size_t depth = 0; depth < space_.depth; ++depth) {
                const int order = compare_at(group_.chains[a], group_.chains[b], depth);
                if (order != 0) {
                    return order < 0;
                }
            }
            return a < b;
        });
        const std::size_t nodes = count_nodes();
        group_.nodes.reserve(nodes);
        group_.cost_factors.reserve(nodes * space_.cost_factors);
        group_.nodes.resize(1);
        group_.cost_factors.resize(space_.cost_factors);
        grow(0, 0, 0, all_.size());
    }

  private:
    // A chain starts as many nodes as there are depths from where it leaves the one before.
    std::size_t count_nodes() const {
        std::size_t nodes = 1 + space_.depth;
        for (std::size_t c = 1; c < all_.size(); ++c) {
            std::size_t depth = 0;
            while (depth < space_.depth &&
                   compare_at(group_.chains[all_[c - 1]], group_.chains[all_[c]], depth) == 0) {
                ++depth;
            }
            nodes += space_.depth - depth;
        }
        return nodes;
    }

    // The chains all_[from] to all_[to - 1] lie below the node.
    void grow(std::size_t node, std::size_t depth, std::size_t from, std::size_t to) {
        if (depth < 3) {
            space_.unfinished = space_.unfinished || effort_.over();
        }
        if (space_.unfinished) {
            return;
        }
        mark_loops(group_.nodes[node], group_.chains[all_[from]], depth);
        if (depth == space_.depth) {
            const std::uint32_t chain = all_[from];
            group_.nodes[node].chain = chain;
            group_.nodes[node].needless = needless_[chain];
            const double* leaf = leaf_cost_factors_.data() + chain * space_.cost_factors;
            std::copy(leaf, leaf + space_.cost_factors,
                      group_.cost_factors.data() + node * space_.cost_factors);
            return;
        }
        std::vector<std::size_t> begins;
        for (std::size_t c = from; c < to; ++c) {
            if (c == from ||
                compare_at(group_.chains[all_[c - 1]], group_.chains[all_[c]], depth) != 0) {
                begins.push_back(c);
            }
        }
        const std::size_t count = begins.size();
        begins.push_back(to);
        const std::size_t first = group_.nodes.size();
        group_.nodes[node].first_child = static_cast<std::uint32_t>(first);
        group_.nodes[node].children = static_cast<std::uint32_t>(count);
        group_.nodes.resize(first + count);
        group_.cost_factors.resize(group_.nodes.size() * space_.cost_factors);
        for (std::size_t c = 0; c < count; ++c) {
            grow(first + c, depth + 1, begins[c], begins[c + 1]);
        }
        bound(node, first, count);
        const auto begin = group_.nodes.begin() + static_cast<std::ptrdiff_t>(first);
        group_.nodes[node].needless = std::all_of(begin, begin + static_cast<std::ptrdiff_t>(count),
                                                  [](const Node& n) { return n.needless; });
    }

    // With trips in space and those in time of the outermost `depth - 1` levels decided; where
    // loops divide evenly the innermost level's follow from the others.
    void mark_loops(Node& node, const Chain& chain, std::size_t depth) const {
        const std::size_t to = depth == space_.depth ? space_.keeps.size() : depth - 1;
        if (depth >= 2) {
            node.loops = loops_of(space_, group_, chain, depth - 2, to);
        }
    }

    // The least of `count` rows, factor by factor; of lanes the most.
    void least(const double* rows, std::size_t count, double* out) const {
        std::copy(rows, rows + space_.cost_factors, out);
        for (std::size_t n = 1; n < count; ++n) {
            const double* row = rows + n * space_.cost_factors;
            for (std::size_t c = 0; c < space_.cost_factors; ++c) {
                out[c] = std::min(out[c], row[c]);
            }
        }
        for (const std::size_t lanes : lanes_) {
            for (std::size_t n = 0; n < count; ++n) {
                out[lanes] = std::max(out[lanes], rows[n * space_.cost_factors + lanes]);
            }
        }
    }

    void bound(std::size_t node, std::size_t first, std::size_t count) {
        const std::size_t width = space_.cost_factors;
        least(group_.cost_factors.data() + first * width, count,
              group_.cost_factors.data() + node * width);
        group_.nodes[node].ranges = static_cast<std::uint32_t>(group_.ranges.size() / width);
        bool of_children = true;
        std::size_t from = first; // of the rows that ranges are made of
        for (std::size_t rows = count; rows > kRange; rows = (rows + kRange - 1) / kRange) {
            const std::size_t made = group_.ranges.size() / width;
            const std::size_t more = (rows + kRange - 1) / kRange;
            group_.ranges.resize((made + more) * width);
            const auto& source = of_children ? group_.cost_factors : group_.ranges;
            for (std::size_t r = 0; r < more; ++r) {
                least(source.data() + (from + r * kRange) * width,
                      std::min(kRange, rows - r * kRange),
                      group_.ranges.data() + (made + r) * width);
            }
            of_children = false;
            from = made;
        }
    }

    const Effort& effort_;
    Space& space_;
    Group& group_;
    std::vector<double> leaf_cost_factors_;
    std::vector<bool> needless_;
    std::vector<std::uint32_t> all_; // chains in the order of the tree
    std::vector<std::size_t> lanes_ = lane_cost_factors(space_);

    static std::vector<std::size_t> lane_cost_factors(const Space& space) {
        std::vector<std::size_t> cost_factors;
        for (const Link& link : space.links) {
            if (link.produced) {
                cost_factors.push_back(link.lanes);
            }
        }
        return cost_factors;
    }
};

// Bytes of a chain while its tree is made: its cost factors, those of the nodes above it and of
// their ranges.
std::size_t chain_bytes(const Space& space) {
    return 4 * space.cost_factors * sizeof(double) + 2 * sizeof(Chain) + 4 * sizeof(Node);
}

void build_group(Space& space, std::size_t g, std::size_t max_chains, CostFactorMaker& maker,
                 const Effort& effort) {
    Group& group = space.groups[g];
    group.dims = kGroupDims[g];
    const auto splits = [&](Dim dim) {
        auto all = splits_of(*space.task, space.keeps, space.roles, dim, effort);
        std::erase_if(all, [&](const Split& split) {
            return !suits(*space.task, space.keeps, space.prefetch, dim, split);
        });
        return all;
    };
    const std::vector<Split> first = splits(group.dims[0]);
    const std::vector<Split> taps =
        group.dims.size() > 1 ? splits(group.dims[1]) : std::vector<Split>(1);
    std::vector<double> cost_factors;
    maker.prepare(g, first, taps, effort);
    space.unfinished = effort.over(); // splits may be missing
    const std::size_t most = std::min(max_chains, first.size() * taps.size());
    cost_factors.reserve(most * space.cost_factors);
    group.chains.reserve(most);
    for (std::size_t f = 0; f < first.size(); ++f) {
        space.unfinished = space.unfinished || ((f & 63U) == 0 && effort.over());
        if (space.unfinished) {
            return;
        }
        for (std::size_t t = 0; t < taps.size(); ++t) {
            if (group.chains.size() >= max_chains) {
                space.truncated = true;
                break;
            }
            cost_factors.resize((group.chains.size() + 1) * space.cost_factors);
            if (maker.fill(f, t, cost_factors.data() + group.chains.size() * space.cost_factors)) {
                group.chains.push_back({first[f], taps[t]});
            }
        }
    }
    cost_factors.resize(group.chains.size() * space.cost_factors);
    if (!group.chains.empty()) {
        std::vector<bool> needless(group.chains.size(), false);
        drop_dominated(space, group, cost_factors, needless, effort);
        TreeBuilder(space, group, std::move(cost_factors), std::move(needless), effort).run();
    }
}

} // namespace

Count extent_at(const Split& split, std::size_t level, std::size_t levels, Count bound) {
    Count tile = 1;
    for (std::size_t i = level; i < levels; ++i) {
        tile *= split.temporal[i] * split.spatial[i];
    }
    return std::min(tile, bound);
}

LoopMasks loops_of(const Space& space, const Group& group, const Chain& chain, std::size_t from,
                   std::size_t to) {
    LoopMasks masks;
    for (std::size_t i = from; i < to; ++i) {
        for (std::size_t n = 0; n < group.dims.size(); ++n) {
            const Split& split = n == 0 ? chain.first : chain.tap;
            if (split.temporal[i] == 1) {
                continue;
            }
            const auto bit = static_cast<std::uint16_t>(1U << i);
            const std::uint8_t role = space.roles.of(i, group.dims[n]);
            const bool own = (role & kOwnSpace) != 0 && split.spatial[i - 1] > 1;
            if ((role & kAnchor) != 0 || own) {
                masks.anchors |= bit;
            } else {
                masks.leans |= bit;
                masks.leans_on_sums |= (role & kLeans) == 0 ? bit : std::uint16_t{0};
            }
        }
    }
    return masks;
}

Space build_space(const Task& task, const std::vector<OperandSet>& keeps, std::size_t max_chains,
                  const Effort& effort, const PrefetchCase& prefetch) {
    Space space;
    space.task = &task;
    space.keeps = keeps;
    space.prefetch = prefetch;
    space.roles = loop_roles(task, keeps);
    add_layout(space);
    CostFactorMaker maker(space);
    constexpr std::size_t kMostBytes = 300'000'000;
    std::size_t room = std::min(6 * max_chains, kMostBytes / chain_bytes(space)); // chains
    for (std::size_t g = 0; g < kGroups && !space.unfinished; ++g) {
        build_group(space, g, std::min(max_chains, room), maker, effort);
        room -= std::min(room, space.groups[g].chains.size());
    }
    for (std::size_t i = 0; i < keeps.size(); ++i) {
        space.orders.push_back(orders_of(space, i));
        if (space.orders.back().size() > 1) {
            space.ordered.push_back(i);
        }
    }
    return space;
}

} // namespace eyeroof::mapper
