#include "mapper/space.hpp"

#include "model/nest/digits.hpp"
#include "model/nest/flow.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::mapper {

using namespace model;
using nest::Digit;
using nest::FlowCounter;
using nest::Measure;

namespace {

constexpr double kNever = 1e30; // of a variant that does not apply; finite: times 0 pJ it is 0

const std::array<std::vector<Dim>, kGroups> kGroupDims = {
    std::vector{Dim::N}, {Dim::G}, {Dim::K}, {Dim::C}, {Dim::P, Dim::R}, {Dim::Q, Dim::S}};

bool present(const Task& task, Operand o) {
    return o != Operand::weight || task.problem.has_weight;
}

Count extent_at(const Split& split, std::size_t level, std::size_t levels, Count bound) {
    Count tile = 1;
    for (std::size_t i = level; i < levels; ++i) {
        tile *= split.temporal[i] * split.spatial[i];
    }
    return std::min(tile, bound);
}

// ---- columns ------------------------------------------------------------------------------------

// Digits of one dimension outside the tile of `child`.
struct Outside {
    std::size_t child = 0;
    std::size_t closing = 0; // temporal loops of blocks inside this one rest …
    bool free = false;       // … and those of this one, too
    std::size_t merge_from = 0;
    const std::vector<bool>* merges = nullptr; // nullptr: nothing merges
};

class ColumnMaker {
  public:
    ColumnMaker(const Space& space, FlowCounter& flow)
        : space_(space), task_(*space.task), flow_(flow) {}

    void fill(std::size_t group, const Chain& chain, double* out) {
        dims_ = &space_.groups[group].dims;
        chain_ = &chain;
        std::fill(out, out + space_.columns, 1.0);
        double steps = 1.0;
        for (std::size_t n = 0; n < dims_->size(); ++n) {
            steps *= static_cast<double>(steps_of(n));
        }
        out[space_.steps] = steps;
        for (std::size_t i = 0; i < task_.machine.levels.size(); ++i) {
            for (std::size_t n = 0; n < dims_->size(); ++n) {
                out[space_.spatial[i]] *= static_cast<double>(split(n).spatial[i]);
            }
            for (const Operand o : kAllOperands) {
                if (space_.tile[i][index(o)] != 0) {
                    out[space_.tile[i][index(o)]] = tile_words(i, o);
                }
            }
        }
        for (const Link& link : space_.links) {
            fill_link(link, out);
        }
    }

  private:
    const Split& split(std::size_t n) const { return n == 0 ? chain_->first : chain_->tap; }
    Dim dim(std::size_t n) const { return (*dims_)[n]; }
    Count bound(std::size_t n) const { return task_.problem.bounds[index(dim(n))]; }
    std::size_t levels() const { return task_.machine.levels.size(); }

    std::vector<Digit> digits(std::size_t n, bool time, bool space) const {
        std::vector<Digit> result;
        Count stride = 1;
        for (std::size_t i = levels(); i-- > 0;) {
            if (space && split(n).spatial[i] > 1) {
                result.insert(result.begin(), {split(n).spatial[i], stride});
            }
            stride *= split(n).spatial[i];
            if (time && split(n).temporal[i] > 1) {
                result.insert(result.begin(), {split(n).temporal[i], stride});
            }
            stride *= split(n).temporal[i];
        }
        return result;
    }
    Count steps_of(std::size_t n) const { return nest::visits(bound(n), digits(n, true, false)); }

    double tile_words(std::size_t level, Operand o) {
        Extents tile = kOnes;
        for (std::size_t n = 0; n < dims_->size(); ++n) {
            tile[index(dim(n))] = extent_at(split(n), level, levels(), bound(n));
        }
        return static_cast<double>(tile_elements(task_.problem, o, tile));
    }

    // The digits of dimension n outside a tile, merged ones apart.
    FlowCounter::AxisLoops loops(std::size_t n, const Outside& outside,
                                 std::optional<std::size_t> moving_block) const {
        FlowCounter::AxisLoops result;
        Count stride = 1;
        std::vector<std::pair<Digit, int>> inner_first; // 0: counted, 1: merged, 2: moves first
        for (std::size_t i = levels(); i-- > 0;) {
            const Split& s = split(n);
            if (i < outside.child && s.spatial[i] > 1) {
                const bool merged =
                    outside.merges != nullptr && i >= outside.merge_from && (*outside.merges)[i];
                inner_first.push_back({{s.spatial[i], stride}, merged ? 1 : 0});
            }
            stride *= s.spatial[i];
            const bool counted = i < outside.closing || (i == outside.closing && !outside.free);
            if (i < outside.child && counted && s.temporal[i] > 1) {
                const bool moving = moving_block && *moving_block == i;
                inner_first.push_back({{s.temporal[i], stride}, moving ? 2 : 0});
            }
            stride *= s.temporal[i];
        }
        bool joinable = false; // neighbouring digits that are only counted are one digit
        for (auto d = inner_first.rbegin(); d != inner_first.rend(); ++d) {
            auto& list = d->second == 1 ? result.family : result.group;
            if (d->second == 0 && joinable && !list.empty() &&
                list.back().stride == d->first.bound * d->first.stride) {
                list.back() = {list.back().bound * d->first.bound, d->first.stride};
                continue;
            }
            list.push_back(d->first);
            if (d->second == 2) {
                result.moving = list.size() - 1;
            }
            joinable = d->second == 0;
        }
        Count tile = 1;
        for (std::size_t i = outside.child; i < levels(); ++i) {
            tile *= split(n).temporal[i] * split(n).spatial[i];
        }
        result.tile = tile;
        result.bound = bound(n);
        return result;
    }

    // Factor of this group in a count of link `link`.
    double factor(const Link& link, Outside outside, std::optional<Slide> slide, Measure measure,
                  bool leaving) {
        const bool window = link.operand == Operand::input && dims_->size() == 2;
        if (window) {
            outside.free = false; // every loop here moves the window
            return window_factor(outside, slide, measure, leaving);
        }
        double product = 1.0;
        for (std::size_t n = 0; n < dims_->size(); ++n) {
            if (!relevant(link.operand, dim(n))) {
                const auto at = loops(n, outside, std::nullopt);
                auto counted = at.group;
                if (measure == Measure::received) {
                    counted = loops(n, {outside.child, outside.closing, outside.free, 0, nullptr},
                                    std::nullopt)
                                  .group;
                }
                product *= static_cast<double>(nest::visits(bound(n), counted));
            }
        }
        return product;
    }

    double window_factor(const Outside& outside, std::optional<Slide> slide, Measure measure,
                         bool leaving) {
        std::optional<std::size_t> moves_p;
        std::optional<std::size_t> moves_r;
        if (slide) {
            const Dim first =
                std::array{Dim::P, Dim::Q, Dim::R, Dim::S}[static_cast<std::size_t>(*slide)];
            (first == dim(0) ? moves_p : moves_r) =
                first == dim(0) || first == dim(1) ? std::optional(outside.closing) : std::nullopt;
        }
        const auto p = loops(0, outside, moves_p);
        const auto r = loops(1, outside, moves_r);
        std::vector<Count> key = {p.tile, r.tile, static_cast<Count>(measure), leaving ? 1 : 0};
        for (const auto* l : {&p, &r}) {
            for (const auto* list : {&l->group, &l->family}) {
                key.push_back(-1);
                for (const Digit& d : *list) {
                    key.push_back(d.bound);
                    key.push_back(d.stride);
                }
            }
            key.push_back(l->moving ? static_cast<Count>(*l->moving) : -1);
        }
        auto& memo = memo_[index(dim(0))];
        const auto found = memo.find(key);
        if (found != memo.end()) {
            return found->second;
        }
        const double words =
            static_cast<double>(flow_.window_words(p, r, dim(0), dim(1), measure, leaving));
        memo.emplace(std::move(key), words);
        return words;
    }

    // Do loops that move the operand's tile run in the blocks between its own and `closing`?
    bool passes(const Link& link, std::size_t closing) const {
        for (std::size_t n = 0; n < dims_->size(); ++n) {
            for (std::size_t i = closing + 1; i < link.child; ++i) {
                if (relevant(link.operand, dim(n)) && split(n).temporal[i] > 1) {
                    return false;
                }
            }
        }
        return true;
    }

    void fill_link(const Link& link, double* out) {
        const std::size_t slides = link.slides;
        for (std::size_t v = 0; v < link.variants; ++v) {
            const bool macs = link.child == levels();
            const std::size_t closing = macs ? levels() : link.child - 1 - v / slides / 2;
            const bool free = !macs && v / slides % 2 == 1;
            std::optional<Slide> slide;
            if (slides == 4) {
                slide = static_cast<Slide>(v % 4);
            }
            fill_variant(link, v, closing, free, slide, out);
        }
    }

    void fill_variant(const Link& link, std::size_t v, std::size_t closing, bool free,
                      std::optional<Slide> slide, double* out) {
        if (link.child < levels() && !passes(link, closing)) {
            out[link.received + v] = kNever;
            for (const std::size_t e : link.edges) {
                out[e == 0 ? 0 : e + v] = e == 0 ? 1.0 : kNever;
            }
            if (link.produced) {
                out[link.reduced + v] = kNever;
            }
            return;
        }
        const Outside apart{link.child, closing, free, 0, nullptr};
        const double received = factor(link, apart, slide, Measure::received, false);
        out[link.received + v] = received;
        const Measure measure = link.produced || task_.counting == Counting::eyeroof
                                    ? (forwards(link) ? Measure::sent_new : Measure::sent)
                                    : Measure::sent_new;
        const std::vector<bool> merges = merging(link);
        for (std::size_t e = link.parent; e < link.child && e < levels(); ++e) {
            if (link.edges[e] != 0) {
                out[link.edges[e] + v] = factor(link, {link.child, closing, free, e, &merges},
                                                slide, measure, link.produced);
            }
        }
        if (link.produced) {
            const std::vector<bool> all(levels(), true);
            const double reduced = factor(link, {link.child, closing, free, link.parent, &all},
                                          slide, Measure::sent, true);
            out[link.reduced + v] = reduced;
            double& lanes = out[link.lanes];
            if (task_.counting == Counting::timeloop) {
                lanes = factor(link, {link.child, 0, true, 0, nullptr}, std::nullopt,
                               Measure::received, false);
                return;
            }
            lanes = v == 0 ? received / reduced : std::max(lanes, received / reduced);
        }
    }

    std::vector<bool> merging(const Link& link) const {
        std::vector<bool> merges;
        for (const Level& level : task_.machine.levels) {
            const Channel* c = channel_of(level, link.operand);
            const bool merge = link.produced ? (c == nullptr || c->reduces)
                                             : (c == nullptr || c->cast != Cast::unicast);
            merges.push_back(merge || task_.counting == Counting::timeloop);
        }
        return merges;
    }
    // Might neighbours hand words on? (Whether they all can is known only with all groups.)
    bool forwards(const Link& link) const {
        if (link.produced || link.child == levels()) {
            return false;
        }
        for (std::size_t e = link.parent; e < link.child; ++e) {
            const Channel* c = channel_of(task_.machine.levels[e], link.operand);
            if (c != nullptr && c->forwards) {
                return true;
            }
        }
        return false;
    }

    const Space& space_;
    const Task& task_;
    FlowCounter& flow_;
    const std::vector<Dim>* dims_ = nullptr;
    const Chain* chain_ = nullptr;
    std::array<std::map<std::vector<Count>, double>, kDims> memo_;
};

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
            link.slides = o == Operand::input && link.child < levels ? 4 : 1;
            link.variants = link.child == levels ? 1 : link.child * 2 * link.slides;
            const auto take = [&](std::size_t n) {
                return std::exchange(space.columns, space.columns + n);
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
    space.columns = 1;
    space.steps = space.columns++;
    for (std::size_t i = 0; i < levels; ++i) {
        space.spatial[i] = space.columns++;
        for (const Operand o : kAllOperands) {
            if (space.keeps[i].contains(o) && present(*space.task, o)) {
                space.tile[i][index(o)] = space.columns++;
            }
        }
    }
    add_links(space);
    space.depth = space.task->factors == Factors::perfect ? levels : levels + 1;
}

std::vector<BlockOrder> orders_of(const Space& space, std::size_t block) {
    const Problem& problem = space.task->problem;
    const auto moves = [&](Slide s) {
        return problem.bounds[index(
                   std::array{Dim::P, Dim::Q, Dim::R, Dim::S}[static_cast<std::size_t>(s)])] > 1;
    };
    OperandSet waiting; // operands whose tiles inside this block may move here
    for (const Link& link : space.links) {
        if (link.child < space.keeps.size() && link.child > block) {
            waiting.insert(link.operand);
        }
    }
    std::vector<BlockOrder> orders;
    const auto add = [&](Operand s, std::initializer_list<Slide> slides) {
        bool any = false;
        for (const Slide slide : slides) {
            if (waiting.contains(s) && waiting.contains(Operand::input) && moves(slide)) {
                orders.push_back({s, slide});
                any = true;
            }
        }
        if (!any && waiting.contains(s)) {
            orders.push_back({s, *slides.begin()});
        }
    };
    add(Operand::output, {Slide::r, Slide::s});
    add(Operand::weight, {Slide::p, Slide::q});
    add(Operand::input, {Slide::p, Slide::q, Slide::r, Slide::s});
    return orders;
}

bool group_fits(const Space& space, const double* columns) {
    for (std::size_t i = 0; i < space.keeps.size(); ++i) {
        for (const Store& store : space.task->machine.levels[i].stores) {
            for (const Operand o : kAllOperands) {
                if (store.capacity_bytes && store.operands.contains(o) &&
                    space.tile[i][index(o)] != 0) {
                    const double bits = columns[space.tile[i][index(o)]] *
                                        space.task->machine.word_bits[index(o)] * store.buffers;
                    if (bits > 8.0 * static_cast<double>(*store.capacity_bytes) + 7.0) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

// ---- trees --------------------------------------------------------------------------------------

// The trips that tell siblings apart at a depth of the tree.
std::vector<Count> key_at(const Chain& chain, std::size_t depth, std::size_t levels) {
    std::vector<Count> key;
    for (const Split* split : {&chain.first, &chain.tap}) {
        if (depth == 0) {
            key.insert(key.end(), split->spatial.begin(),
                       split->spatial.begin() + static_cast<std::ptrdiff_t>(levels));
        } else {
            key.push_back(split->temporal[depth - 1]);
        }
    }
    return key;
}

class TreeBuilder {
  public:
    TreeBuilder(Space& space, Group& group, std::vector<double> chain_columns,
                std::vector<bool> needless)
        : space_(space), group_(group), leaf_columns_(std::move(chain_columns)),
          needless_(std::move(needless)) {}

    void run() {
        std::vector<std::uint32_t> all(group_.chains.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = static_cast<std::uint32_t>(i);
        }
        group_.nodes.resize(1);
        group_.columns.resize(space_.columns);
        grow(0, 0, all);
    }

  private:
    void grow(std::size_t node, std::size_t depth, const std::vector<std::uint32_t>& chains) {
        if (depth == space_.depth) {
            group_.nodes[node].chain = chains.front();
            group_.nodes[node].needless = needless_[chains.front()];
            const double* leaf = leaf_columns_.data() + chains.front() * space_.columns;
            std::copy(leaf, leaf + space_.columns, group_.columns.data() + node * space_.columns);
            return;
        }
        std::map<std::vector<Count>, std::vector<std::uint32_t>> parts;
        for (const std::uint32_t chain : chains) {
            parts[key_at(group_.chains[chain], depth, space_.keeps.size())].push_back(chain);
        }
        const std::size_t first = group_.nodes.size();
        group_.nodes[node].first_child = static_cast<std::uint32_t>(first);
        group_.nodes[node].children = static_cast<std::uint32_t>(parts.size());
        group_.nodes.resize(first + parts.size());
        group_.columns.resize(group_.nodes.size() * space_.columns);
        std::size_t child = first;
        for (const auto& [key, part] : parts) {
            grow(child++, depth + 1, part);
        }
        bound(node, first, parts.size());
        const auto begin = group_.nodes.begin() + static_cast<std::ptrdiff_t>(first);
        group_.nodes[node].needless =
            std::all_of(begin, begin + static_cast<std::ptrdiff_t>(parts.size()),
                        [](const Node& n) { return n.needless; });
    }

    void bound(std::size_t node, std::size_t first, std::size_t count) {
        double* own = group_.columns.data() + node * space_.columns;
        for (std::size_t c = 0; c < space_.columns; ++c) {
            own[c] = group_.columns[first * space_.columns + c];
            const bool most = std::find(lanes_.begin(), lanes_.end(), c) != lanes_.end();
            for (std::size_t n = first + 1; n < first + count; ++n) {
                const double other = group_.columns[n * space_.columns + c];
                own[c] = most ? std::max(own[c], other) : std::min(own[c], other);
            }
        }
    }

    Space& space_;
    Group& group_;
    std::vector<double> leaf_columns_;
    std::vector<bool> needless_;
    std::vector<std::size_t> lanes_ = lane_columns(space_);

    static std::vector<std::size_t> lane_columns(const Space& space) {
        std::vector<std::size_t> columns;
        for (const Link& link : space.links) {
            if (link.produced) {
                columns.push_back(link.lanes);
            }
        }
        return columns;
    }
};

void build_group(Space& space, std::size_t g, std::size_t max_chains, ColumnMaker& maker) {
    Group& group = space.groups[g];
    group.dims = kGroupDims[g];
    const std::vector<Split> first = splits_of(*space.task, space.keeps, group.dims[0]);
    const std::vector<Split> taps = group.dims.size() > 1
                                        ? splits_of(*space.task, space.keeps, group.dims[1])
                                        : std::vector<Split>(1);
    std::vector<double> columns;
    std::vector<double> row(space.columns);
    for (const Split& f : first) {
        for (const Split& t : taps) {
            const Chain chain{f, t};
            if (group.chains.size() >= max_chains) {
                space.truncated = true;
                break;
            }
            maker.fill(g, chain, row.data());
            if (group_fits(space, row.data())) {
                group.chains.push_back(chain);
                columns.insert(columns.end(), row.begin(), row.end());
            }
        }
    }
    if (!group.chains.empty()) {
        std::vector<bool> needless(group.chains.size(), false);
        drop_dominated(space, group.chains, columns, needless);
        TreeBuilder(space, group, std::move(columns), std::move(needless)).run();
    }
}

} // namespace

Space build_space(const Task& task, const std::vector<OperandSet>& keeps, std::size_t max_chains) {
    Space space;
    space.task = &task;
    space.keeps = keeps;
    add_layout(space);
    const nest::Nest empty;
    FlowCounter flow(task.problem, empty, task.counting);
    ColumnMaker maker(space, flow);
    for (std::size_t g = 0; g < kGroups; ++g) {
        build_group(space, g, max_chains, maker);
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
