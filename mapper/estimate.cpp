#include "mapper/estimate.hpp"

#include "mapper/reported.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kLimitSlack = 1e-10; // rounding; the mapping's own cost is held to the limit

bool on_some_axis(const Task& task, Dim dim) {
    for (std::size_t i = 0; i < task.machine.levels.size(); ++i) {
        const auto& fanout = task.machine.levels[i].fanout;
        const auto& rules = task.constraints.levels;
        for (std::size_t a = 0; a < fanout.size(); ++a) {
            const auto axes = i < rules.size() ? rules[i].axis_dims : std::nullopt;
            if (!axes || (a < axes->size() && (*axes)[a].contains(dim))) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

// Steps 2 and 3: serial = product of the dimensions that must run in time; those that may lie in
// space, P2 in all, take at least ceil(P2 / units) trips.
Steps least_steps(const Task& task) {
    double serial = 1.0;
    double parallel = 1.0;
    for (const Dim d : kAllDims) {
        (on_some_axis(task, d) ? parallel : serial) *=
            static_cast<double>(task.problem.bounds[index(d)]);
    }
    const auto units = static_cast<double>(mac_units(task.machine));
    return {1.0, serial, serial * std::ceil(parallel / units)};
}

Estimator::Estimator(const Space& space)
    : space_(&space), task_(space.task), objective_(task_->objective),
      levels_(task_->machine.levels.size()), macs_(static_cast<double>(macs_of(task_->problem))),
      units_(static_cast<double>(mac_units(task_->machine))), least_(least_steps(*task_)),
      least_steps_(least_.units), timeloop_(task_->counting == Counting::timeloop) {
    for (std::size_t i = 0; i < levels_; ++i) {
        fanout_[i] = 1.0;
        for (const Axis& axis : task_->machine.levels[i].fanout) {
            fanout_[i] *= static_cast<double>(axis.size);
        }
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_->machine.levels[i], o);
            const Channel* channel = channel_of(task_->machine.levels[i], o);
            read_pj_[i][index(o)] = store == nullptr ? 0.0 : store->read_pj_of(o);
            write_pj_[i][index(o)] = store == nullptr ? 0.0 : store->write_pj_of(o);
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
    ramps_ = ramps_matter(*task_);
    ramp_ = ramps_ ? task_->machine.pipeline_stages : 0.0;
    if (ramps_) {
        waits_.emplace(space);
    }
    list_choices();
    std::vector<std::size_t> all(combinations_.size());
    for (std::size_t c = 0; c < all.size(); ++c) {
        all[c] = c;
    }
    restrict_to(all);
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
                    const int bits = bits_at(task_->machine, i, o);
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

bool Estimator::fits_level(const double* product, std::size_t i) const {
    return std::all_of(fits_[i].begin(), fits_[i].end(), [&](const Fit& fit) {
        return fit.holds([&](std::size_t column) { return product[column]; });
    });
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
        least_cycles_ = unit_cycles(product);
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut && !pacers_.empty()) {
        limit_ = Limit::bandwidth;
        least_cycles_ = std::max(least_cycles_, least_pace(product, known));
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut && ramps_) {
        limit_ = Limit::ramps;
        least_cycles_ = std::max({least_cycles_, unit_cycles(product) + ramp_, waited_});
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut) {
        limit_ = Limit::none;
    } else if (limit_ == Limit::units) {
        limit_ = value(pj, least_.workload) > cut   ? Limit::workload
                 : value(pj, least_.dataflow) > cut ? Limit::dataflow
                                                    : Limit::units;
    }
    return bound;
}

// Among the blocks at which the tile may move first, the one with the fewest words: the others are
// upper bounds of the same count, or do not apply and are endless.
std::size_t Estimator::least_variant(const Link& link, const Active& some,
                                     const double* product) const {
    std::size_t best = some.variants[0];
    double least = product[link.received + best] + product[link.sent + best];
    for (std::size_t n = 1; n < some.count; ++n) {
        const std::size_t v = some.variants[n];
        const double words = product[link.received + v] + product[link.sent + v];
        if (words < least) {
            least = words;
            best = v;
        }
    }
    return best;
}

void Estimator::choose(const double* product) {
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        for (const std::uint32_t k : meant_choices_[l]) {
            const std::size_t v = least_variant(space_->links[l], choices_[l][k], product);
            chosen_[l][k] = {v, pj_[l][v]};
        }
    }
}

double Estimator::order_bound(const double* product, double cut) {
    choose(product);
    double least = kNone;
    for (const std::size_t c : meant_) {
        least = std::min(least, with_floors([&](std::size_t l) { return chosen(l, c).pj; }));
        if (value(least, least_cycles_) <= cut) {
            break;
        }
    }
    return value(least, least_cycles_);
}

double Estimator::cycles_under(std::size_t combination, const double* product) const {
    if (pacers_.empty()) {
        return product[space_->steps];
    }
    std::array<std::size_t, kMaxLinks> variants{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        variants[l] = chosen(l, combination).variant;
    }
    return std::max(product[space_->steps], pace(variants, product, Known::all));
}

// Do all instances take as many sums? Of several lanes one alone gets those that return.
bool Estimator::even_lanes(const double* product) const {
    return pacers_.empty() || std::all_of(sums_.begin(), sums_.end(), [&](std::size_t l) {
               return product[space_->links[l].lanes] <= 1.0;
           });
}

double Estimator::energy_pj(std::size_t combination) const {
    double pj = base_pj_;
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        pj += chosen(l, combination).pj;
    }
    return pj;
}

std::vector<std::pair<double, std::size_t>> Estimator::good_orders(const double* product,
                                                                   double cut) {
    choose(product);
    std::vector<std::pair<double, std::size_t>> good;
    double most = cut;
    const bool sure = exact_ && !ramps_ && even_lanes(product) && !task_->constraints.limited();
    for (const std::size_t c : meant_) {
        const double pj = energy_pj(c);
        if (value(pj, least_cycles_) > most) {
            continue;
        }
        const double v = value(pj, std::max(cycles_under(c, product), least_cycles_));
        if (v > most) {
            continue;
        }
        if (sure) {
            good.clear();
            most = std::nextafter(v, 0.0);
        }
        good.push_back({v, c});
    }
    std::stable_sort(good.begin(), good.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return good;
}

} // namespace eyeroof::mapper
