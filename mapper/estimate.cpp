#include "mapper/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kLimitSlack = 1e-10; // rounding; the mapping's own cost is held to the limit

} // namespace

Estimator::Estimator(const Space& space)
    : space_(&space), task_(space.task), objective_(task_->objective),
      levels_(task_->machine.levels.size()), macs_(static_cast<double>(macs_of(task_->problem))),
      units_(static_cast<double>(mac_units(task_->machine))),
      least_steps_(std::ceil(macs_ / units_ - 1e-9)),
      timeloop_(task_->counting == Counting::timeloop) {
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = 1.0;
        for (const Axis& axis : task_->machine.levels[i].fanout) {
            fanout_[i] *= static_cast<double>(axis.size);
        }
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_->machine.levels[i], o);
            const Channel* channel = channel_of(task_->machine.levels[i], o);
            read_pj_[i][index(o)] = store == nullptr ? 0.0 : store->read_pj;
            write_pj_[i][index(o)] = store == nullptr ? 0.0 : store->write_pj;
            const bool hops = channel != nullptr && !timeloop_;
            hop_pj_[i][index(o)] = hops ? channel->hop_pj : 0.0;
        }
    }
    made_words_ = static_cast<double>(
        tile_elements(task_->problem, task_->problem.produced, task_->problem.bounds));
    tile_columns_ = space.links.empty() ? space.columns : space.links.front().received;
    for (std::size_t l = 0; l < space.links.size(); ++l) {
        if (space.links[l].produced) {
            sums_.push_back(l);
        }
    }
    for (std::size_t i = 0; i + 2 < sums_.size() && !timeloop_; ++i) {
        double lanes = 1.0; // at most
        for (std::size_t g = 0; g < kGroups && !space.groups[g].nodes.empty(); ++g) {
            lanes *= space.column(g, 0)[space.links[sums_[i]].lanes];
        }
        sums_floored_ = sums_floored_ && lanes <= 1.0;
    }
    list_combinations();
    list_families();
    list_terms();
    list_fits();
    list_pacers();
    exact_ = !timeloop_ && task_->problem.produced != Operand::input &&
             (task_->factors == Factors::perfect || pacers_.empty());
    for (const Level& level : task_->machine.levels) {
        for (const Channel& channel : level.channels) {
            exact_ = exact_ && !channel.forwards;
        }
    }
    for (const LevelConstraint& rule : task_->constraints.levels) {
        exact_ = exact_ && rule.order.empty(); // its order may cost more than those looked at
    }
    std::vector<std::size_t> all(combinations_.size());
    for (std::size_t c = 0; c < all.size(); ++c) {
        all[c] = c;
    }
    restrict_to(all);
}

// ---- orders -------------------------------------------------------------------------------------

void Estimator::list_combinations() {
    std::vector<BlockOrder> orders(levels_);
    for (std::size_t i = 0; i < levels_; ++i) {
        if (!space_->orders[i].empty()) {
            orders[i] = space_->orders[i].front();
        }
    }
    combinations_ = {orders};
    for (const std::size_t block : space_->ordered) {
        std::vector<std::vector<BlockOrder>> next;
        for (const auto& some : combinations_) {
            for (const BlockOrder& order : space_->orders[block]) {
                next.push_back(some);
                next.back()[block] = order;
            }
        }
        combinations_ = std::move(next);
    }
}

void Estimator::list_families() {
    const auto same = [&](std::size_t a, std::size_t b) {
        for (const std::size_t block : space_->ordered) {
            if (combinations_[a][block].stationary != combinations_[b][block].stationary) {
                return false;
            }
        }
        return true;
    };
    for (std::size_t c = 0; c < combinations_.size(); ++c) {
        const auto family = std::find_if(families_.begin(), families_.end(),
                                         [&](const auto& f) { return same(f.front(), c); });
        if (family == families_.end()) {
            families_.push_back({c});
        } else {
            family->push_back(c);
        }
    }
}

// Variant of a link whose tile first moves `back` blocks out of its own.
std::size_t Estimator::variant_at(const Link& link, std::size_t back,
                                  const std::vector<BlockOrder>& orders) const {
    const BlockOrder& order = orders[link.child - 1 - back];
    const std::size_t free = order.stationary == link.operand ? 1 : 0;
    const std::size_t slide = link.slides == 4 ? static_cast<std::size_t>(order.slide) : 0;
    return (back * 2 + free) * link.slides + slide;
}

void Estimator::restrict_to(const std::vector<std::size_t>& combinations) {
    meant_ = combinations;
    active_.assign(space_->links.size(), {});
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        std::vector<bool> used(link.variants, link.child == levels_);
        for (const std::size_t c : combinations) {
            for (std::size_t back = 0; link.child < levels_ && back < link.child; ++back) {
                used[variant_at(link, back, combinations_[c])] = true;
            }
        }
        for (std::size_t v = 0; v < link.variants; ++v) {
            if (used[v]) {
                active_[l].variants[active_[l].count++] = static_cast<std::uint8_t>(v);
            }
        }
    }
}

// ---- products -----------------------------------------------------------------------------------

void Estimator::multiply_tiles(const Factors6& f, double* out) const {
    static_assert(kGroups == 6);
    for (std::size_t c = 0; c < tile_columns_; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

void Estimator::multiply_rest(const Factors6& f, double* out) const {
    for (std::size_t c = tile_columns_; c < space_->columns; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

void Estimator::multiply_others(const Factors6& factors, std::size_t apart, double* out) const {
    std::array<const double*, kGroups - 1> f{};
    std::size_t n = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
        if (g != apart) {
            f[n++] = factors[g];
        }
    }
    for (std::size_t c = 0; c < space_->columns; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c];
    }
}

void Estimator::complete_tiles(const double* others, const double* last, double* out) const {
    for (std::size_t c = 0; c < tile_columns_; ++c) {
        out[c] = others[c] * last[c];
    }
}

void Estimator::complete_rest(const double* others, const double* last, double* out) const {
    for (std::size_t c = tile_columns_; c < space_->columns; ++c) {
        out[c] = others[c] * last[c];
    }
}

void Estimator::list_fits() {
    for (std::size_t i = 0; i < levels_; ++i) {
        for (const Store& store : task_->machine.levels[i].stores) {
            Fit fit;
            fit.bank = static_cast<double>(store.bank_bytes);
            fit.buffers = store.buffers;
            fit.capacity = static_cast<double>(store.capacity_bytes.value_or(0));
            for (const Operand o : kAllOperands) {
                const std::size_t column = space_->tile[i][index(o)];
                if (column != 0 && store.operands.contains(o)) {
                    const int bits = task_->machine.word_bits[index(o)];
                    fit.tiles[fit.count++] = {column, bits / 8.0};
                    fit.whole = fit.whole && bits % 8 == 0 && store.bank_bytes == 1;
                }
            }
            if (store.capacity_bytes && fit.count > 0) {
                fits_[i].push_back(fit);
            }
        }
    }
}

// Whole banks, once per buffer, as in the validation of mappings.
bool Estimator::fits_level(const double* product, std::size_t i) const {
    for (const Fit& fit : fits_[i]) {
        double need = 0.0;
        for (std::size_t n = 0; n < fit.count; ++n) {
            const double bytes = product[fit.tiles[n].column] * fit.tiles[n].bytes;
            if (bytes > fit.capacity) {
                return false;
            }
            need += fit.whole ? bytes : std::ceil(std::ceil(bytes) / fit.bank) * fit.bank;
        }
        if (need * fit.buffers > fit.capacity) {
            return false;
        }
    }
    return true;
}

Estimator::Misfit Estimator::misfit(const double* product) const {
    for (std::size_t i = 0; i < levels_; ++i) {
        if (product[space_->spatial[i]] > fanout_[i]) {
            return Misfit::fanout;
        }
    }
    for (std::size_t i = 0; i < levels_; ++i) {
        if (!fits_level(product, i)) {
            return Misfit::capacity;
        }
    }
    const double least = task_->constraints.min_utilization;
    const bool used =
        least == 0.0 || product[space_->steps] * units_ * least <= macs_ * (1.0 + 1e-12);
    return used ? Misfit::none : Misfit::utilization;
}

// ---- values -------------------------------------------------------------------------------------

double Estimator::value(double energy_pj, double cycles) const {
    return task_->constraints.allow(energy_pj, cycles, kLimitSlack)
               ? objective_.value(energy_pj, cycles)
               : kNone;
}

// Sum over links, each level's links together at least at their floor. energy(l) -> pJ of a link.
template <class Energy> double Estimator::with_floors(Energy energy) const {
    std::array<double, kMaxLevels + 1> into{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        into[link.produced && !sums_floored_ ? levels_ : link.child] += energy(l);
    }
    double pj = base_pj_ + into[levels_];
    for (std::size_t i = 0; i < levels_; ++i) {
        pj += std::max(into[i], floors_[i]);
    }
    return pj;
}

double Estimator::relaxed(const double* product, Known known, double cut) {
    tabulate(product, known);
    const double pj = with_floors([&](std::size_t l) { return least_pj_[l]; });
    limit_ = Limit::units;
    least_cycles_ = least_steps_;
    double bound = value(pj, least_cycles_);
    if (bound <= cut) {
        limit_ = Limit::steps;
        least_cycles_ = std::max(product[space_->steps], least_steps_);
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut && !pacers_.empty()) {
        limit_ = Limit::bandwidth;
        least_cycles_ = std::max(least_cycles_, least_pace(product, known));
        bound = value(pj, least_cycles_);
    }
    limit_ = bound <= cut ? Limit::none : limit_;
    return bound;
}

// Among the blocks at which the tile may move first, the one with the fewest words: the others are
// upper bounds of the same count, or do not apply and are endless.
std::size_t Estimator::ordered_variant(std::size_t l, const double* product,
                                       const std::vector<BlockOrder>& orders) const {
    const Link& link = space_->links[l];
    if (link.child == levels_) {
        return 0;
    }
    std::size_t best = 0;
    double least = kNone;
    for (std::size_t back = 0; back < link.child; ++back) {
        const std::size_t v = variant_at(link, back, orders);
        const double words = product[link.received + v] + product[link.sent + v];
        if (words < least) {
            least = words;
            best = v;
        }
    }
    return best;
}

double Estimator::order_bound(const double* product, double cut) const {
    double least = kNone;
    for (const std::size_t c : meant_) {
        least = std::min(least, with_floors([&](std::size_t l) {
                             return pj_[l][ordered_variant(l, product, combinations_[c])];
                         }));
        if (value(least, least_cycles_) <= cut) {
            break;
        }
    }
    return value(least, least_cycles_);
}

Estimate Estimator::ordered(const double* product, const std::vector<BlockOrder>& orders) const {
    Estimate e;
    e.energy_pj = base_pj_;
    std::array<std::size_t, kMaxLinks> variants{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        variants[l] = ordered_variant(l, product, orders);
        e.energy_pj += pj_[l][variants[l]];
    }
    e.cycles = product[space_->steps];
    if (!pacers_.empty()) {
        e.cycles = std::max(e.cycles, pace(variants, product, Known::all));
    }
    return e;
}

std::vector<std::pair<double, std::size_t>> Estimator::good_orders(const double* product,
                                                                   double cut) const {
    std::vector<std::pair<double, std::size_t>> good;
    double most = cut;
    for (const std::size_t c : meant_) {
        double pj = base_pj_;
        for (std::size_t l = 0; l < space_->links.size(); ++l) {
            pj += pj_[l][ordered_variant(l, product, combinations_[c])];
        }
        if (value(pj, least_cycles_) > most) {
            continue;
        }
        const Estimate e = ordered(product, combinations_[c]);
        const double v = value(e.energy_pj, e.cycles);
        if (v > most) {
            continue;
        }
        if (exact_ && !task_->constraints.limited()) {
            good.clear();
            most = std::nextafter(v, 0.0);
        }
        good.push_back({v, c});
    }
    std::stable_sort(good.begin(), good.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return good;
}

// One mapping: tiles first, most points of a space do not fit.
Estimate Estimator::evaluate(const Factors6& f, std::size_t combination, double* product) {
    multiply_tiles(f, product);
    if (!fits(product)) {
        return {kNone, kNone};
    }
    const Plan& plan = plan_of(combination);
    for (const auto& [from, to] : plan.runs) {
        for (std::size_t c = from; c < to; ++c) {
            product[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
        }
    }
    return of_plan(plan, product);
}

Estimate Estimator::evaluate_beside(const double* others, const double* last,
                                    std::size_t combination, double* product) {
    complete_tiles(others, last, product);
    if (!fits(product)) {
        return {kNone, kNone};
    }
    const Plan& plan = plan_of(combination);
    for (const auto& [from, to] : plan.runs) {
        for (std::size_t c = from; c < to; ++c) {
            product[c] = others[c] * last[c];
        }
    }
    return of_plan(plan, product);
}

Estimate Estimator::of_plan(const Plan& plan, const double* product) {
    std::array<std::size_t, kMaxLinks> variants; // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        const Active& some = plan.variants[l];
        const auto words = [&](std::size_t n) {
            return product[link.received + some.variants[n]] +
                   product[link.sent + some.variants[n]];
        };
        std::size_t best = 0;
        for (std::size_t n = 1; n < some.count; ++n) {
            best = words(n) < words(best) ? n : best;
        }
        variants[l] = some.variants[best];
    }
    Estimate e{energy_of(variants, product), product[space_->steps]};
    if (!pacers_.empty()) {
        e.cycles = std::max(e.cycles, pace(variants, product, Known::all));
    }
    return e;
}

const Estimator::Plan& Estimator::plan_of(std::size_t combination) {
    plans_.resize(combinations_.size());
    Plan& plan = plans_[combination];
    if (!plan.runs.empty()) {
        return plan;
    }
    std::vector<bool> used(space_->columns, false);
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        const bool macs = link.child == levels_;
        for (std::size_t back = 0; back < (macs ? 1 : link.child); ++back) {
            const std::size_t v = macs ? 0 : variant_at(link, back, combinations_[combination]);
            plan.variants[l].variants[plan.variants[l].count++] = static_cast<std::uint8_t>(v);
            used[link.received + v] = true;
            used[link.sent + v] = true;
            for (const std::size_t e : link.edges) {
                used[e == 0 ? link.received + v : e + v] = true;
            }
            if (link.produced) {
                used[link.reduced + v] = true;
                used[link.lanes] = true;
            }
        }
    }
    for (std::size_t c = tile_columns_; c < used.size(); ++c) {
        const auto column = static_cast<std::uint32_t>(c);
        if (used[c] && !plan.runs.empty() && plan.runs.back().second == column) {
            ++plan.runs.back().second;
        } else if (used[c]) {
            plan.runs.push_back({column, column + 1});
        }
    }
    return plan;
}

} // namespace eyeroof::mapper
