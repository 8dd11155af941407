#include "mapper/cost_factors.hpp"

#include "model/accelerator/data_width.hpp"

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;
using nest::Digit;
using nest::FlowCounter;
using nest::Measure;

CostFactorMaker::CostFactorMaker(const Space& space)
    : space_(space), task_(*space.task), levels_(space.keeps.size()) {
    flow_.emplace(task_.problem, empty_, task_.counting);
    list_queries();
}

// ---- what is counted ----------------------------------------------------------------------------

void CostFactorMaker::list_queries() {
    for (std::size_t l = 0; l < space_.links.size(); ++l) {
        merging_.push_back(merging(space_.links[l]));
        list_link(l);
    }
}

void CostFactorMaker::list_link(std::size_t l) {
    const Link& link = space_.links[l];
    const bool macs = link.child == levels_;
    const Measure sent = link.produced || task_.counting == Counting::eyeroof
                             ? (forwards(link) ? Measure::sent_new : Measure::sent)
                             : Measure::sent_tiles;
    for (std::size_t v = 0; v < link.variants; ++v) {
        Query query;
        query.link = l;
        query.closing = macs ? levels_ : link.child - 1 - v / link.slides / 2;
        query.free = !macs && v / link.slides % 2 == 1;
        query.passed = !macs;
        if (link.slides > 1 && static_cast<Slide>(v % link.slides) != Slide::none) {
            query.slide = static_cast<Slide>(v % link.slides);
        }
        query.cost_factor = link.received + v;
        queries_.push_back(query);
        query.merges = true;
        query.leaving = link.produced;
        query.measure = sent;
        for (std::size_t e = link.parent; e < link.child && e < levels_; ++e) {
            if (link.edges[e] != 0) {
                query.cost_factor = link.edges[e] + v;
                query.merge_from = e;
                queries_.push_back(query);
            }
        }
        if (link.produced) {
            query.cost_factor = link.reduced + v;
            query.merge_from = link.parent;
            query.reduces_all = true;
            query.measure = Measure::sent;
            queries_.push_back(query);
        }
    }
    if (link.produced && task_.counting == Counting::timeloop) { // different sums of instances
        Query query;
        query.link = l;
        query.free = true;
        query.cost_factor = link.lanes;
        queries_.push_back(query);
    }
}

std::vector<bool> CostFactorMaker::merging(const Link& link) const {
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
bool CostFactorMaker::forwards(const Link& link) const {
    for (std::size_t e = link.parent; e < link.child && link.child < levels_ && !link.produced;
         ++e) {
        const Channel* c = channel_of(task_.machine.levels[e], link.operand);
        if (c != nullptr && c->forwards) {
            return true;
        }
    }
    return false;
}

// ---- one split ----------------------------------------------------------------------------------

// Windows of one position or one tap never share a word: each moves its own, whatever the loops.
// (Timeloop's boxes hold the words in between, too.)
bool CostFactorMaker::window(const Query& query) const {
    return space_.links[query.link].operand == Operand::input &&
           space_.groups[group_].dims.size() == 2 &&
           (task_.counting == Counting::timeloop || (bound(0) > 1 && bound(1) > 1));
}

// Are a level's loops in time counted? All that move a window are.
bool CostFactorMaker::counts(const Query& query, const Split& split, std::size_t level) const {
    const bool free = query.free && !window(query);
    return level < space_.links[query.link].child && split.temporal[level] > 1 &&
           (level < query.closing || (level == query.closing && !free));
}

bool CostFactorMaker::merged(const Query& query, std::size_t level) const {
    return query.merges && level >= query.merge_from &&
           (query.reduces_all || merging_[query.link][level]);
}

// Do loops that move the operand's tile run in the blocks between its own and the closing one?
bool CostFactorMaker::passes(const Query& query, std::size_t n, const Split& split) const {
    const Link& link = space_.links[query.link];
    for (std::size_t i = query.closing + 1; query.passed && i < link.child; ++i) {
        if (relevant(link.operand, dim(n)) && split.temporal[i] > 1) {
            return false;
        }
    }
    return true;
}

// Trips outside the tile of a dimension that does not move it.
double CostFactorMaker::visits(const Query& query, std::size_t n, const Split& split) const {
    const Operand operand = space_.links[query.link].operand;
    if (relevant(operand, dim(n))) { // all of it, as in Link::volume
        const bool of_window = operand == Operand::input && space_.groups[group_].dims.size() == 2;
        return of_window ? static_cast<double>(bound(n)) : 1.0;
    }
    std::array<Digit, 2 * kMaxLevels> digits; // filled from the back
    std::size_t from = digits.size();
    Count stride = 1;
    for (std::size_t i = levels_; i-- > 0;) {
        if (i < space_.links[query.link].child && split.spatial[i] > 1 && !merged(query, i)) {
            digits[--from] = {split.spatial[i], stride};
        }
        stride *= split.spatial[i];
        if (counts(query, split, i)) {
            digits[--from] = {split.temporal[i], stride};
        }
        stride *= split.temporal[i];
    }
    return static_cast<double>(
        nest::visits(bound(n), std::span<const Digit>(digits).subspan(from)));
}

// The digits of dimension n outside a tile, merged ones apart. Equal lists have one number.
std::uint32_t CostFactorMaker::loops_of(const Query& query, std::size_t n, const Split& split) {
    const std::size_t child = space_.links[query.link].child;
    const bool slides = query.slide && kSlideDims[static_cast<std::size_t>(*query.slide)] == dim(n);
    auto& [inner_first, result, key] = scratch_;
    inner_first.clear();
    result.group.clear();
    result.family.clear();
    result.moving.reset();
    Count stride = 1;
    Count tile = 1;
    for (std::size_t i = levels_; i-- > 0;) {
        if (i < child && split.spatial[i] > 1) {
            inner_first.push_back({{split.spatial[i], stride}, merged(query, i) ? 1 : 0});
        }
        stride *= split.spatial[i];
        if (counts(query, split, i)) {
            const bool moving = slides && i == query.closing;
            inner_first.push_back({{split.temporal[i], stride}, moving ? 2 : 0});
        }
        stride *= split.temporal[i];
        tile = i == child ? stride : tile;
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
    result.tile = tile;
    result.bound = bound(n);
    key.assign({tile, result.moving ? static_cast<Count>(*result.moving) : -1});
    for (const auto* list : {&result.group, &result.family}) {
        key.push_back(-1);
        for (const Digit& d : *list) {
            key.push_back(d.bound);
            key.push_back(d.stride);
        }
    }
    if (const auto at = known_[n].find(key); at != known_[n].end()) {
        return at->second;
    }
    const auto next = static_cast<std::uint32_t>(loops_[n].size());
    known_[n].emplace(key, next);
    loops_[n].push_back(result);
    return next;
}

// Everything that visits() and passes() take from a query.
CostFactorMaker::TripsKey CostFactorMaker::trips_key(const Query& query, std::size_t n) const {
    const Link& link = space_.links[query.link];
    TripsKey key;
    key.relevant = relevant(link.operand, dim(n));
    key.of_window = link.operand == Operand::input && space_.groups[group_].dims.size() == 2;
    key.free = query.free && !window(query);
    key.passed = query.passed;
    key.child = link.child;
    key.closing = query.closing;
    for (std::size_t i = 0; i < link.child && i < levels_; ++i) {
        key.merged.set(i, merged(query, i));
    }
    return key;
}

// Of each query the first one with equal trips of dimension n, often itself.
std::vector<std::size_t> CostFactorMaker::first_alike(std::size_t n) const {
    std::vector<TripsKey> keys;
    std::vector<std::size_t> first;
    for (const Query& query : queries_) {
        keys.push_back(trips_key(query, n));
        first.push_back(static_cast<std::size_t>(std::find(keys.begin(), keys.end(), keys.back()) -
                                                 keys.begin()));
    }
    return first;
}

void CostFactorMaker::add_row(std::size_t n, const Split& split,
                              const std::vector<std::size_t>& alike) {
    Rows& rows = rows_[n];
    const std::size_t begin = rows.factors.size();
    for (std::size_t q = 0; q < queries_.size(); ++q) {
        const Query& query = queries_[q];
        const bool windows = window(query);
        const double factor = alike[q] < q               ? rows.factors[begin + alike[q]]
                              : !passes(query, n, split) ? kNever
                              : windows                  ? 1.0
                                                         : visits(query, n, split);
        if (space_.groups[group_].dims.size() == 2) {
            rows.loops.push_back(windows && factor != kNever ? loops_of(query, n, split) : 0);
        }
        rows.factors.push_back(factor);
    }
    std::array<Digit, kMaxLevels> digits;
    std::size_t from = digits.size();
    Count stride = 1;
    for (std::size_t i = levels_; i-- > 0;) {
        stride *= split.spatial[i];
        if (split.temporal[i] > 1) {
            digits[--from] = {split.temporal[i], stride};
        }
        stride *= split.temporal[i];
    }
    rows.steps.push_back(
        static_cast<double>(nest::visits(bound(n), std::span<const Digit>(digits).subspan(from))));
}

void CostFactorMaker::prepare(std::size_t group, const std::vector<Split>& first,
                              const std::vector<Split>& taps, const Effort& effort) {
    group_ = group;
    splits_ = {&first, &taps};
    words_.clear();
    const std::size_t dims = space_.groups[group].dims.size();
    for (std::size_t n = 0; n < 2; ++n) {
        rows_[n] = {};
        known_[n].clear();
        loops_[n].clear();
        if (n < dims) {
            rows_[n].steps.reserve(splits_[n]->size());
            rows_[n].factors.reserve(splits_[n]->size() * queries_.size());
            rows_[n].loops.reserve(dims == 2 ? splits_[n]->size() * queries_.size() : 0);
        }
        const auto alike = n < dims ? first_alike(n) : std::vector<std::size_t>{};
        for (std::size_t s = 0; n < dims && s < splits_[n]->size(); ++s) {
            if ((s & 255U) == 0 && effort.over()) {
                return;
            }
            add_row(n, (*splits_[n])[s], alike);
        }
    }
}

// ---- a chain ------------------------------------------------------------------------------------

// Timeloop's links between neighbours: may one hold what another needs next? Only when a window's
// positions move and its taps are in space right below, or the other way round; see
// model/nest/neighbours.cpp. (Whether all loops in between are in space is known only with all
// groups.)
bool CostFactorMaker::may_pass_on(const Query& query) const {
    const Link& link = space_.links[query.link];
    if (!query.slide || query.closing < link.parent) {
        return false;
    }
    for (std::size_t n = 0; n < 2; ++n) {
        Count reach = 1;
        for (std::size_t i = 0; i < levels_; ++i) {
            reach *= at_[n]->temporal[i] * at_[n]->spatial[i];
        }
        if (reach != bound(n)) {
            return false;
        }
    }
    const Dim slides = kSlideDims[static_cast<std::size_t>(*query.slide)];
    bool passes = false;
    for (std::size_t n = 0; n < 2; ++n) {
        for (std::size_t i = query.closing; i < link.child; ++i) {
            passes = passes || (dim(n) != slides && at_[n]->spatial[i] > 1 &&
                                dim(1 - n) == slides && at_[1 - n]->temporal[query.closing] > 1);
        }
    }
    return passes;
}

double CostFactorMaker::window_words(const Query& query, std::uint32_t p, std::uint32_t r) {
    const Measure measure = query.measure == Measure::sent_tiles && may_pass_on(query)
                                ? Measure::sent_new // at least
                                : query.measure;
    const std::uint64_t kind = static_cast<std::uint64_t>(measure) * 2 + (query.leaving ? 1 : 0);
    const std::uint64_t key = (kind << 58U) | (static_cast<std::uint64_t>(p) << 29U) | r;
    const auto [at, made] = words_.try_emplace(key, 0.0);
    if (made) {
        at->second = static_cast<double>(flow_->window_words(loops_[0][p], loops_[1][r], dim(0),
                                                             dim(1), measure, query.leaving));
        if (flow_->failed()) { // too irregular: such mappings have no cost either
            flow_.emplace(task_.problem, empty_, task_.counting);
            at->second = kNever;
        }
    }
    return at->second;
}

// Tiles and trips in space; false when the tiles overflow a store beside nothing else.
bool CostFactorMaker::fill_tiles(double* out) const {
    const std::size_t dims = space_.groups[group_].dims.size();
    for (std::size_t i = 0; i < levels_; ++i) {
        Extents tile = kOnes;
        for (std::size_t n = 0; n < dims; ++n) {
            out[space_.spatial[i]] *= static_cast<double>(at_[n]->spatial[i]);
            tile[index(dim(n))] = extent_at(*at_[n], i, levels_, bound(n));
        }
        for (const Operand o : kAllOperands) {
            const std::size_t cost_factor = space_.tile[i][index(o)];
            if (cost_factor == 0) {
                continue;
            }
            out[cost_factor] =
                static_cast<double>(held_words(task_.problem, o, tile, task_.counting));
            const Store* store = store_of(task_.machine.levels[i], o);
            const double bits = out[cost_factor] * bits_at(task_.machine, i, o) * store->buffers;
            if (store->capacity_bytes &&
                bits > 8.0 * static_cast<double>(*store->capacity_bytes) + 7.0) {
                return false;
            }
        }
    }
    return true;
}

bool CostFactorMaker::fill(std::size_t first, std::size_t tap, double* out) {
    const std::size_t dims = space_.groups[group_].dims.size();
    at_ = {&(*splits_[0])[first], &(*splits_[1])[tap]};
    std::fill(out, out + space_.cost_factors, 1.0);
    if (!fill_tiles(out)) {
        return false;
    }
    const std::size_t width = queries_.size();
    const double* p = rows_[0].factors.data() + first * width;
    const double* r = dims == 2 ? rows_[1].factors.data() + tap * width : nullptr;
    out[space_.steps] = rows_[0].steps[first] * (dims == 2 ? rows_[1].steps[tap] : 1.0);
    for (std::size_t q = 0; q < width; ++q) {
        const double other = r == nullptr ? 1.0 : r[q];
        double& factor = out[queries_[q].cost_factor];
        if (p[q] == kNever || other == kNever) {
            factor = kNever;
        } else if (window(queries_[q])) {
            factor = window_words(queries_[q], rows_[0].loops[first * width + q],
                                  rows_[1].loops[tap * width + q]);
        } else {
            factor = p[q] * other;
        }
    }
    for (const Link& link : space_.links) {
        if (link.produced && task_.counting == Counting::eyeroof) {
            double& lanes = out[link.lanes];
            for (std::size_t v = 0; v < link.variants; ++v) {
                const double received = out[link.received + v];
                lanes =
                    received == kNever ? lanes : std::max(lanes, received / out[link.reduced + v]);
            }
        }
    }
    return true;
}

} // namespace eyeroof::mapper
