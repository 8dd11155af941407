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

// Are energies those of model::cost_of(), and cycles where all instances have as much to do?
bool values_are_costs(const Task& task, const BandwidthCycles& bandwidth_cycles) {
    bool exact = task.counting != Counting::timeloop && task.problem.produced != Operand::input &&
                 (task.factors == Factors::perfect || bandwidth_cycles.unlimited());
    for (const Level& level : task.machine.levels) {
        for (const Channel& channel : level.channels) {
            exact = exact && !channel.forwards;
        }
    }
    for (const LevelConstraint& rule : task.constraints.levels) {
        exact = exact && rule.order.empty(); // its order may cost more than those looked at
    }
    return exact;
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
    : space_(&space), task_(space.task), products_(space), fits_(space), orders_(space),
      bandwidth_cycles_(space), objective_(task_->objective), levels_(task_->machine.levels.size()),
      macs_(static_cast<double>(macs_of(task_->problem))), least_(least_steps(*task_)),
      least_steps_(least_.units), timeloop_(task_->counting == Counting::timeloop) {
    made_words_ = static_cast<double>(
        tile_elements(task_->problem, task_->problem.produced, task_->problem.bounds));
    list_energies();
    list_leaks();
    list_sums();
    list_terms();
    exact_ = values_are_costs(*task_, bandwidth_cycles_);
    ramps_ = ramps_matter(*task_);
    ramp_ = ramps_ ? task_->machine.pipeline_stages : 0.0;
    if (ramps_) {
        stalls_.emplace(space);
    }
    for (std::size_t l = 0; l < space.links.size(); ++l) {
        chosen_.emplace_back(orders_.choices(l).size());
    }
    restrict_to(std::vector<std::size_t>(orders_.meant()));
}

void Estimator::list_energies() {
    const Operand made = task_->problem.produced;
    for (std::size_t i = 0; i < levels_; ++i) {
        const Store* sums = store_of(task_->machine.levels[i], made);
        update_pj_[i] = sums == nullptr ? 0.0 : sums->update_pj_of(made);
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_->machine.levels[i], o);
            const Channel* channel = channel_of(task_->machine.levels[i], o);
            read_pj_[i][index(o)] = store == nullptr ? 0.0 : store->read_pj_of(o);
            write_pj_[i][index(o)] = store == nullptr ? 0.0 : store->write_pj_of(o);
            const bool hops = channel != nullptr && !timeloop_;
            hop_pj_[i][index(o)] = hops ? channel->hop_pj : 0.0;
        }
    }
}

void Estimator::list_sums() {
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        if (space_->links[l].produced) {
            sums_.push_back(l);
        }
    }
    for (std::size_t i = 0; i + 2 < sums_.size() && !timeloop_; ++i) {
        double lanes = 1.0; // at most
        for (std::size_t g = 0; g < kGroups && !space_->groups[g].nodes.empty(); ++g) {
            lanes *= space_->cost_factor(g, 0)[space_->links[sums_[i]].lanes];
        }
        sums_bounded_ = sums_bounded_ && lanes <= 1.0;
    }
}

void Estimator::restrict_to(const std::vector<std::size_t>& combinations) {
    orders_.restrict_to(combinations);
    if (stalls_) {
        stalls_->clear_candidates();
        for (const std::size_t c : combinations) {
            stalls_->add_candidates(orders_.combinations()[c]);
        }
    }
}

// ---- values -------------------------------------------------------------------------------------

double Estimator::value(const Estimate& whole) const {
    return task_->constraints.allow(whole.energy_pj, whole.cycles, kLimitSlack)
               ? objective_.value(whole.energy_pj, whole.cycles)
               : kNone;
}

double Estimator::value(double switching_pj, double cycles) const {
    return value({switching_pj + std::max(leak_rate_ * cycles, least_leak_pj_), cycles});
}

// Sum over links, each level's links together at least at their lower bound. energy(l) -> pJ of a
// link.
template <class Energy> double Estimator::with_lower_bounds(Energy energy) const {
    std::array<double, kMaxLevels + 1> into{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        into[link.produced && !sums_bounded_ ? levels_ : link.child] += energy(l);
    }
    double pj = base_pj_ + into[levels_];
    for (std::size_t i = 0; i < levels_; ++i) {
        pj += std::max(into[i], lower_bounds_[i]);
    }
    return pj;
}

double Estimator::relaxed(const double* product, Known known, double cut) {
    tabulate(product, known);
    const double pj = with_lower_bounds([&](std::size_t l) { return least_pj_[l]; });
    limit_ = Limit::units;
    least_cycles_ = least_steps_;
    double bound = value(pj, least_cycles_);
    if (bound <= cut) {
        limit_ = Limit::steps;
        least_cycles_ = unit_cycles(product);
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut && !bandwidth_cycles_.unlimited()) {
        limit_ = Limit::bandwidth;
        least_cycles_ = std::max(least_cycles_, least_bandwidth_cycles(product, known));
        bound = value(pj, least_cycles_);
    }
    if (bound <= cut && ramps_) {
        limit_ = Limit::ramps;
        least_cycles_ = std::max({least_cycles_, unit_cycles(product) + ramp_, stalled_cycles_});
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
std::size_t Estimator::least_variant(const Link& link, const Variants& some,
                                     const double* product) const {
    std::size_t best = some.at[0];
    double least = product[link.received + best] + product[link.sent + best];
    for (std::size_t n = 1; n < some.count; ++n) {
        const std::size_t v = some.at[n];
        const double words = product[link.received + v] + product[link.sent + v];
        if (words < least) {
            least = words;
            best = v;
        }
    }
    return best;
}

double Estimator::least_bandwidth_cycles(const double* product, Known known) {
    const MovedWords words = bandwidth_cycles_.least_words(orders_, product, known);
    if (stalls_) {
        double instances = 1.0;
        for (std::size_t i = 0; i < stalls_->edge(); ++i) {
            instances *= bandwidth_cycles_.fanout(i, product, known);
        }
        stalled_cycles_ = stalls_->least_cycles(words.crossing(stalls_->edge()),
                                                unit_cycles(product), ramp_, instances);
    }
    return bandwidth_cycles_.cycles(words, product, known);
}

Crossing Estimator::crossing(const std::vector<BlockOrder>& orders, std::size_t edge,
                             const double* product) const {
    std::array<std::size_t, kMaxLinks> variants{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        const Link& link = space_->links[l];
        variants[l] = least_variant(link, orders_.variants(link, orders), product);
    }
    const MovedWords words = bandwidth_cycles_.words(variants, product, Known::all);
    Crossing out = words.crossing(edge);
    out.bandwidth_cycles = bandwidth_cycles_.cycles(words, product, Known::all);
    return out;
}

void Estimator::choose(const double* product) {
    chosen_product_ = product;
    ++products_chosen_;
}

const Estimator::Chosen& Estimator::chosen(std::size_t link, std::size_t combination) {
    const std::uint32_t k = orders_.choice(combination, link);
    Chosen& chosen = chosen_[link][k];
    if (chosen.product != products_chosen_) {
        const std::size_t v =
            least_variant(space_->links[link], orders_.choices(link)[k], chosen_product_);
        chosen = {products_chosen_, v, pj_[link][v]};
    }
    return chosen;
}

double Estimator::order_bound(const double* product, double cut) {
    choose(product);
    double least = kNone;
    for (const std::size_t c : orders_.meant()) {
        least = std::min(least, with_lower_bounds([&](std::size_t l) { return chosen(l, c).pj; }));
        if (value(least, least_cycles_) <= cut) {
            break;
        }
    }
    return value(least, least_cycles_);
}

double Estimator::cycles_under(std::size_t combination, const double* product) {
    if (bandwidth_cycles_.unlimited()) {
        return product[space_->steps];
    }
    std::array<std::size_t, kMaxLinks> variants{};
    for (std::size_t l = 0; l < space_->links.size(); ++l) {
        variants[l] = chosen(l, combination).variant;
    }
    return std::max(product[space_->steps],
                    bandwidth_cycles_.cycles(bandwidth_cycles_.words(variants, product, Known::all),
                                             product, Known::all));
}

// Do all instances take as many sums? Of several lanes one alone gets those that return.
bool Estimator::even_lanes(const double* product) const {
    return bandwidth_cycles_.unlimited() ||
           std::all_of(sums_.begin(), sums_.end(),
                       [&](std::size_t l) { return product[space_->links[l].lanes] <= 1.0; });
}

double Estimator::energy_pj(std::size_t combination) {
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
    for (const std::size_t c : orders_.meant()) {
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
