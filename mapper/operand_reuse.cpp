#include "mapper/operand_reuse.hpp"

#include "mapper/exact.hpp"
#include "model/accelerator/data_width.hpp"
#include "model/cost/arrival.hpp"
#include "model/nest/digits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::array<DimSet, kOperands> kMovers = {
    DimSet{Dim::N, Dim::G, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S},
    DimSet{Dim::G, Dim::K, Dim::C, Dim::R, Dim::S}, DimSet{Dim::N, Dim::G, Dim::K, Dim::P, Dim::Q}};

template <class Keep> DimSet those(DimSet dims, Keep keep) {
    DimSet some;
    for (const Dim d : kAllDims) {
        if (dims.contains(d) && keep(d)) {
            some.insert(d);
        }
    }
    return some;
}

DimSet both(DimSet a, DimSet b) {
    return those(a, [&](Dim d) { return b.contains(d); });
}

DimSet without(DimSet a, DimSet b) {
    return those(a, [&](Dim d) { return !b.contains(d); });
}

std::vector<DimSet> subsets_of(DimSet dims) { // not the empty one; the whole one first
    std::vector<DimSet> all = {{}};
    for (const Dim d : kAllDims) {
        if (dims.contains(d)) {
            const std::size_t n = all.size();
            for (std::size_t i = 0; i < n; ++i) {
                DimSet more = all[i];
                more.insert(d);
                all.push_back(more);
            }
        }
    }
    std::reverse(all.begin(), all.end());
    all.pop_back();
    return all;
}

} // namespace

OperandReuse::OperandReuse(const Space& space, Estimator& estimator)
    : space_(space), task_(*space.task), estimator_(estimator), levels_(space.keeps.size()),
      edge_(array_edge(task_.machine)), orders_(levels_) {
    const Problem& problem = task_.problem;
    last_ = edge_;
    for (const Operand o : kAllOperands) {
        if (o == Operand::weight && !problem.has_weight) {
            continue;
        }
        present_.insert(o);
        std::size_t next = 1;
        while (next < levels_ && !space.keeps[next].contains(o)) {
            ++next;
        }
        next_[index(o)] = next;
        for (std::size_t i = edge_ + 1; i < levels_; ++i) {
            if (space.keeps[i].contains(o)) {
                kept_inside_.insert(o);
            }
        }
        const bool arrives = edge_ > 0 && channel_of(task_.machine.levels[0], o) != nullptr;
        last_ = arrives ? std::max(last_, std::min(next, levels_) - 1) : last_;
    }
    at_edge_ = channel_costs(task_, edge_);
    at_outermost_ = channel_costs(task_, 0);
    for (std::size_t i = 0; i < levels_; ++i) {
        LevelMapping level;
        level.keeps = space.keeps[i];
        for (const Dim d : kAllDims) {
            level.temporal.push_back({d, 1});
            level.spatial.push_back({d, 1, 0});
        }
        mapping_.levels.push_back(level);
    }
    loaded_.fill(std::numeric_limits<std::uint32_t>::max());
    for (const auto& orders : estimator.orders().combinations()) {
        for (std::size_t i = 0; i < levels_; ++i) {
            const auto& all = space.orders[i];
            const auto at = std::find(all.begin(), all.end(), orders[i]);
            order_at_.push_back(static_cast<std::uint8_t>(at - all.begin()));
        }
    }
}

// ---- what may rest ------------------------------------------------------------------------------

// May tiles of the operand, inside this block, move here?
bool OperandReuse::waiting(std::size_t block, Operand o) const {
    return std::any_of(space_.links.begin(), space_.links.end(), [&](const Link& link) {
        return link.operand == o && link.child < levels_ && link.child > block;
    });
}

// What rests without a store below moves as much in any order, but for the windows that slide, and
// for the sums, which then move.
Operand OperandReuse::owner(std::size_t block, std::optional<Operand> o) const {
    const auto& orders = space_.orders[block];
    const auto of = [&](auto holds) {
        return std::find_if(orders.begin(), orders.end(),
                            [&](const BlockOrder& order) { return holds(order.stationary); });
    };
    if (o && of([&](Operand rests) { return rests == *o; }) != orders.end()) {
        return *o;
    }
    if (waiting(block, Operand::input) || orders.empty()) {
        return orders.empty() ? BlockOrder{}.stationary : Operand::input;
    }
    const auto sums_move = of([&](Operand rests) { return rests != task_.problem.produced; });
    return space_.roles.many_lanes && sums_move != orders.end() ? sums_move->stationary
                                                                : orders.front().stationary;
}

// Does the order put a loop first along which no windows overlap? Where units hand windows on, that
// may cost less than a window that slides.
bool OperandReuse::stays_apart(const BlockOrder& order, DimSet first) const {
    return order.slide == Slide::none && std::any_of(kAllDims.begin(), kAllDims.end(), [&](Dim d) {
               return first.contains(d) && !has_windows(task_.problem, d);
           });
}

// Is the order's window the one that slides first, or the first of its orders where none does?
bool OperandReuse::slides_apart(std::size_t block, const BlockOrder& order, DimSet may_slide,
                                bool others) const {
    const auto& orders = space_.orders[block];
    const auto first = std::find_if(orders.begin(), orders.end(), [&](const BlockOrder& one) {
        return one.stationary == order.stationary;
    });
    const auto is_one = [&](const BlockOrder& one) {
        return one.stationary == order.stationary && one.slide != Slide::none &&
               may_slide.contains(kSlideDims[static_cast<std::size_t>(one.slide)]);
    };
    const bool none = others || std::none_of(orders.begin(), orders.end(), is_one);
    return is_one(order) || stays_apart(order, may_slide) ||
           (none && (first == orders.end() || *first == order));
}

void OperandReuse::add_reuse(std::size_t block, const BlockOrder& order, Operand o,
                             std::vector<Reuse>& reuses) const {
    const DimSet dims = blocks_[block].dims;
    const DimSet still = without(dims, kMovers[index(o)]);
    const DimSet moving = both(dims, kMovers[index(o)]);
    for (const DimSet over : subsets_of(still)) {
        if (!moving.empty() || over == still) {
            if (slides_apart(block, order, o == Operand::input ? moving : over, false)) {
                reuses.push_back({o, {o, order.slide, over}});
            }
        }
    }
}

void OperandReuse::add_streaming(std::size_t block, const BlockOrder& order,
                                 std::vector<Reuse>& reuses) const {
    DimSet movers = blocks_[block].dims;
    for (const Operand o : kAllOperands) {
        movers = present_.contains(o) ? both(movers, kMovers[index(o)]) : movers;
    }
    const DimSet windows = both(movers, {Dim::P, Dim::Q, Dim::R, Dim::S});
    const bool empty = blocks_[block].dims.empty();
    if ((empty || !movers.empty()) &&
        (stays_apart(order, movers) ||
         slides_apart(block, order, windows, !without(movers, windows).empty()))) {
        reuses.push_back({std::nullopt, {order.stationary, order.slide, DimSet{}}});
    }
}

// What may rest in each order of a block, whose dimensions are known.
void OperandReuse::list_reuses(std::size_t block) {
    Block& of = blocks_[block];
    if (of.listed == of.dims) {
        return;
    }
    of.listed = of.dims;
    of.reuses.clear();
    const auto& orders = space_.orders[block];
    for (std::size_t at = 0; at < std::max<std::size_t>(1, orders.size()); ++at) {
        const auto [found, made] = known_reuses_.try_emplace({block, at, of.dims.bits()});
        if (made) {
            const BlockOrder order =
                orders.empty() ? estimator_.orders().combinations().front()[block] : orders[at];
            found->second = make_reuses(block, order);
        }
        of.reuses.push_back(&found->second);
    }
}

void OperandReuse::list_dims(const std::array<std::uint32_t, kGroups>& chains) {
    for (std::size_t i = 0; i < levels_; ++i) {
        blocks_[i].dims = {};
    }
    for (std::size_t g = 0; g < kGroups; ++g) {
        const Group& group = space_.groups[g];
        const Chain& chain = group.chains[chains[g]];
        for (std::size_t n = 0; n < group.dims.size(); ++n) {
            const Split& split = n == 0 ? chain.first : chain.tap;
            for (std::size_t i = 0; i < levels_; ++i) {
                if (split.temporal[i] > 1) {
                    blocks_[i].dims.insert(group.dims[n]);
                }
            }
        }
    }
}

// The combinations that are meant of which something may rest, or nothing, in every block.
const std::vector<std::uint32_t>& OperandReuse::possible() {
    BlockDims key{};
    for (std::size_t i = 0; i <= last_; ++i) {
        key[i] = blocks_[i].dims.bits();
    }
    if (const auto known = known_possible_.find(key); known != known_possible_.end()) {
        return known->second;
    }
    for (std::size_t i = 0; i <= last_; ++i) {
        list_reuses(i);
    }
    std::vector<std::uint32_t> some;
    for (const std::size_t c : estimator_.orders().meant()) {
        bool any = true;
        for (std::size_t i = 0; i <= last_ && any; ++i) {
            any = !blocks_[i].reuses[order_at_[c * levels_ + i]]->empty();
        }
        if (any) {
            some.push_back(static_cast<std::uint32_t>(c));
        }
    }
    constexpr std::size_t kMostKept = 20'000; // combinations, of each of hundreds of searches
    most_possible_ += some.size() + 1;        // an empty list has an entry, too
    if (most_possible_ > kMostKept) {
        known_possible_.clear();
        most_possible_ = some.size() + 1;
    }
    return known_possible_[key] = std::move(some);
}

std::vector<OperandReuse::Reuse> OperandReuse::make_reuses(std::size_t block,
                                                           const BlockOrder& order) const {
    std::vector<Reuse> reuses;
    const bool free = space_.orders[block].empty();
    for (const Operand o : kAllOperands) {
        if (present_.contains(o) && (free || owner(block, o) == order.stationary)) {
            add_reuse(block, order, o, reuses);
        }
    }
    if (free || owner(block, std::nullopt) == order.stationary) {
        add_streaming(block, order, reuses);
    }
    return reuses;
}

// ---- time ---------------------------------------------------------------------------------------

// How often the loops of blocks up to `to` change the operand's tile.
double OperandReuse::changes(Operand o, std::size_t to) const {
    for (std::size_t b = to + 1; b-- > 0;) {
        const Block& block = blocks_[b];
        if (both(block.dims, kMovers[index(o)]).empty()) {
            continue;
        }
        const Reuse* rest = b <= last_ ? chosen_[b] : nullptr;
        const DimSet over = rest != nullptr && rest->operand == o ? *rest->order.over : DimSet{};
        double all = 1.0;
        for (const Dim d : kAllDims) {
            const bool rests = over.contains(d);
            all *= !rests  ? block.advances[index(d)]
                   : b > 0 ? blocks_[b - 1].advances[index(d)]
                           : 1.0;
        }
        return all;
    }
    return 1.0;
}

// As model::latency_of(), but for counts that are only bounded: then the wait for a burst may be
// longer, of which the outermost memory could make use, so that the best wait is taken.
double OperandReuse::least_cycles(const Crossing& crossing) const {
    OperandSet streams;
    double passes = 1.0;
    for (const Operand o : kAllOperands) {
        const double moves = changes(o, edge_);
        if (!kept_inside_.contains(o) || moves == steps_) {
            streams.insert(o);
        } else if (present_.contains(o)) {
            passes = std::max(passes, moves);
        }
    }
    const auto some = [&](bool early, OperandSet early_ones) {
        OperandSet chosen;
        for (const Operand o : kAllOperands) {
            if (early_ones.contains(o) == early) {
                chosen.insert(o);
            }
        }
        return chosen;
    };
    OperandSet waited;
    OperandSet hidden;
    for (const Operand o : kAllOperands) {
        if (!streams.contains(o)) {
            (early_edge_.contains(o) ? hidden : waited).insert(o);
        }
    }
    double stream = 0.0;
    double wait = 0.0;
    double hide = 0.0;
    double primed = 0.0;
    double drain = 0.0;
    for (const ChannelCost& channel_cost : at_edge_) {
        double prime = 0.0;
        for (const Operand o : kAllOperands) {
            prime += streams.contains(o) ? channel_cost.first[index(o)] : 0.0;
        }
        stream = std::max(stream,
                          channel_cost.cycles(crossing.edge, streams, instances_) - passes * prime);
        primed = std::max(primed, prime);
        wait = std::max(wait, channel_cost.cycles(crossing.edge, waited, instances_));
        hide = std::max(hide, channel_cost.cycles(crossing.edge, hidden, instances_));
        const Operand sums = task_.problem.produced;
        if (channel_cost.operands.contains(sums) && streams.contains(sums)) {
            const double up =
                crossing.edge.up[index(sums)] * channel_cost.up[index(sums)] -
                std::min(crossing.edge.up[index(sums)], channel_cost.results) * channel_cost.saved;
            drain = std::max(drain, up * channel_cost.drain / instances_ / steps_);
        }
    }
    drain += hops_ + task_.machine.pipeline_stages;
    const double burst = std::max({0.0, wait, hide - std::max(compute_, stream)}) / passes;
    const double before = std::max(compute_, stream) + passes * (primed + drain);
    if (edge_ == 0) {
        return std::max(before + passes * burst, crossing.bandwidth_cycles);
    }
    const OperandSet late = some(false, early_outer_);
    const OperandSet early = some(true, early_outer_);
    double outer = 0.0;
    double overlapped = 0.0;
    double first = 0.0;
    double visits = 1.0;
    for (const ChannelCost& channel_cost : at_outermost_) {
        outer += channel_cost.cycles(crossing.outer, late, 1.0);
        const double here = channel_cost.cycles(crossing.outer, early, 1.0);
        overlapped = std::max(overlapped, here);
        double most = 0.0;
        double sums = 1.0;
        for (const Operand o : kAllOperands) {
            if (present_.contains(o) && channel_cost.operands.contains(o)) {
                const double moves = changes(o, std::min(next_[index(o)], levels_) - 1);
                const bool made = o == task_.problem.produced;
                double& known = made ? sums : early.contains(o) ? most : visits;
                known = std::max(known, made && !early.contains(o) ? 1.0 : moves);
            }
        }
        first = std::max(first, here / (most > 0.0 ? most : sums));
    }
    const auto total = [&](double each) {
        const double met = std::min(visits, passes) * std::min(each, outer / visits);
        return std::max(0.0, outer - met) + std::max(before + passes * each + first, overlapped);
    };
    double least = total(burst);
    for (const double each : {outer / visits, (overlapped - first - before) / passes}) { // bends
        least = each > burst ? std::min(least, total(each)) : least;
    }
    return std::max(least, crossing.bandwidth_cycles);
}

// ---- all ways -----------------------------------------------------------------------------------

// With the same operands at rest, over some loops or none, as many words cross.
const Crossing& OperandReuse::crossing() {
    std::uint32_t resting = 0;
    for (std::size_t i = 0; i <= last_; ++i) {
        const BlockOrder& order = orders_[i];
        const bool none = order.over && order.over->empty();
        resting = resting * 8U + static_cast<std::uint32_t>(order.stationary) * 2U + (none ? 1 : 0);
    }
    for (const CrossingOf& some : crossings_) {
        if (some.resting == resting) {
            return some.crossing;
        }
    }
    crossings_.push_back({resting, estimator_.crossing(orders_, edge_, product_)});
    return crossings_.back().crossing;
}

void OperandReuse::try_all(std::size_t block, const Tried& tried) {
    if (block > last_) {
        const double value = estimator_.value(tried.pj, least_cycles(crossing()));
        if (value <= cut_) {
            least_ = std::min(least_, value);
            if (best_only_) {
                cut_ = value;
                return;
            }
            constexpr std::size_t kUsual = 16;
            found_.reserve(found_.empty() ? kUsual : 0); // their owner takes them every time
            found_.push_back({value, orders_});
        }
        return;
    }
    const BlockOrder canonical = orders_[block];
    const std::uint8_t at = order_at_[tried.combination * levels_ + block];
    for (const Reuse& rest : *blocks_[block].reuses[at]) {
        chosen_[block] = &rest;
        orders_[block] = rest.order;
        try_all(block + 1, tried);
        if (best_only_ && least_ <= tried.least) {
            break;
        }
    }
    orders_[block] = canonical;
}

void OperandReuse::try_combination(const Tried& tried) {
    crossings_.clear();
    orders_ = estimator_.orders().combinations()[tried.combination];
    try_all(0, tried);
}

// Combinations that may have a value not above the cut, in the order of their numbers; what the
// time depends on is loaded if there are any.
void OperandReuse::list_tried(const std::array<std::uint32_t, kGroups>& chains,
                              const double* product, double cut) {
    product_ = product;
    cut_ = cut;
    least_ = kNone;
    tried_.clear();
    estimator_.choose(product);
    list_dims(chains);
    for (const std::uint32_t c : possible()) {
        const double pj = estimator_.energy_pj(c);
        const double least = estimator_.value(pj, estimator_.least_cycles());
        if (least <= cut) {
            tried_.push_back({least, pj, c});
        }
    }
    if (!tried_.empty()) {
        load(chains);
    }
}

std::vector<OperandReuse::Good> OperandReuse::good(const std::array<std::uint32_t, kGroups>& chains,
                                                   const double* product, double cut) {
    found_.clear();
    best_only_ = false;
    list_tried(chains, product, cut);
    for (const Tried& tried : tried_) {
        try_combination(tried);
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Good& a, const Good& b) { return a.value < b.value; });
    return std::move(found_);
}

double OperandReuse::least(const std::array<std::uint32_t, kGroups>& chains, const double* product,
                           double cut) {
    best_only_ = true;
    list_tried(chains, product, cut);
    std::sort(tried_.begin(), tried_.end(),
              [](const Tried& a, const Tried& b) { return a.least < b.least; });
    for (const Tried& tried : tried_) {
        if (tried.least > cut_ || tried.least >= least_) {
            break;
        }
        try_combination(tried);
    }
    return least_;
}

// A leaf as step 7 sees it: how often the loops of each block advance, and which tiles come early.

void OperandReuse::load_blocks(const std::array<std::uint32_t, kGroups>& chains) {
    for (std::size_t g = 0; g < kGroups; ++g) {
        const Group& group = space_.groups[g];
        const Chain& chain = group.chains[chains[g]];
        for (std::size_t n = 0; n < group.dims.size() && chains[g] != loaded_[g]; ++n) {
            load_dim(group.dims[n], n == 0 ? chain.first : chain.tap);
        }
    }
    loaded_ = chains;
    steps_ = 1.0;
    for (const Dim d : kAllDims) {
        steps_ *= blocks_[edge_].advances[index(d)];
    }
}

void OperandReuse::load_dim(Dim dim, const Split& split) {
    std::array<nest::Digit, kMaxLevels> digits; // of all blocks
    Count stride = 1;
    for (std::size_t i = levels_; i-- > 0;) {
        stride *= split.spatial[i];
        digits[i] = {split.temporal[i], stride};
        stride *= split.temporal[i];
    }
    const Count bound = task_.problem.bounds[index(dim)];
    for (std::size_t i = 0; i < levels_; ++i) {
        mapping_.levels[i].temporal[index(dim)].bound = split.temporal[i];
        mapping_.levels[i].spatial[index(dim)].bound = split.spatial[i];
        blocks_[i].advances[index(dim)] = static_cast<double>(
            nest::visits(bound, std::span<const nest::Digit>(digits).first(i + 1)));
    }
}

void OperandReuse::load_tiles() {
    early_edge_ = {};
    early_outer_ = {};
    for (ChannelCost& channel_cost : at_edge_) {
        channel_cost.first = {};
    }
    const Problem& problem = task_.problem;
    const Extents tile = spread_tile(problem, mapping_, edge_, edge_ + 1);
    for (const Operand o : kAllOperands) {
        if (!present_.contains(o)) {
            continue;
        }
        if (arrives_early(problem, task_.machine, mapping_, edge_, o)) {
            early_edge_.insert(o);
        }
        if (edge_ > 0 && arrives_early(problem, task_.machine, mapping_, 0, o)) {
            early_outer_.insert(o);
        }
        const bool primes =
            o != problem.produced && kept_inside_.contains(o) && !early_edge_.contains(o);
        for (ChannelCost& channel_cost : at_edge_) {
            if (primes && channel_cost.operands.contains(o)) {
                channel_cost.first[index(o)] =
                    static_cast<double>(tile_elements(problem, o, tile)) *
                    channel_cost.down[index(o)];
            }
        }
    }
}

void OperandReuse::load(const std::array<std::uint32_t, kGroups>& chains) {
    for (std::size_t i = 0; i <= last_; ++i) {
        list_reuses(i);
    }
    load_blocks(chains);
    compute_ = product_[space_.steps];
    instances_ = 1.0;
    for (std::size_t i = 0; i < edge_; ++i) {
        instances_ *= product_[space_.spatial[i]];
    }
    hops_ = hops_of(chains);
    load_tiles();
}

// Of the placement with the fewest; none where the trips in space fit no axes, as realise() says.
double OperandReuse::hops_of(const std::array<std::uint32_t, kGroups>& chains) {
    Extents spread = kOnes;
    for (const SpatialLoop& loop : mapping_.levels[edge_].spatial) {
        spread[index(loop.dim)] = loop.bound;
    }
    const auto at = known_hops_.find(spread);
    if (at != known_hops_.end() && task_.factors == Factors::perfect) {
        return at->second;
    }
    const double hops = fewest_hops(task_, space_, chains).least;
    return known_hops_[spread] = std::isfinite(hops) ? hops : 0.0;
}

} // namespace eyeroof::mapper
