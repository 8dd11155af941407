#include "analysis/upgrade/best_fleet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace eyeroof::analysis {

namespace {

constexpr double kSlack = 1e-9; // of a demand, for rounding

// A plan of one workload, or of the first few together.
struct Choice {
    double cost = 0.0, power = 0.0;
    std::vector<int> counts;           // of one workload
    std::vector<std::size_t> chosen{}; // of several: a choice of each
};

bool beats(const Choice& a, const Choice& b) {
    return a.cost <= b.cost && a.power <= b.power;
}

// Those that no other beats, cheapest first.
std::vector<Choice> front_of(std::vector<Choice> all) {
    std::ranges::sort(all, [](const Choice& a, const Choice& b) {
        return a.cost != b.cost ? a.cost < b.cost : a.power < b.power;
    });
    std::vector<Choice> front;
    for (Choice& choice : all) {
        if (front.empty() || choice.power < front.back().power) {
            front.push_back(std::move(choice));
        }
    }
    return front;
}

// The plans of one workload that no other beats in cost and power; without a power limit the
// cheapest alone.
class Workload {
  public:
    Workload(const FleetProblem& problem, std::size_t i)
        : problem_(problem), rate_(problem.rate[i]), demand_(problem.demand[i]) {
        for (std::size_t j = 0; j < problem.types.size(); ++j) {
            if (rate_[j] > 0.0) {
                order_.push_back(j);
            }
        }
        std::ranges::sort(order_, {},
                          [&](std::size_t j) { return problem.types[j].cost / rate_[j]; });
        least_cost_.assign(order_.size() + 1, std::numeric_limits<double>::infinity());
        least_power_ = least_cost_;
        for (std::size_t k = order_.size(); k-- > 0;) {
            const FleetType& type = problem.types[order_[k]];
            least_cost_[k] = std::min(least_cost_[k + 1], type.cost / rate_[order_[k]]);
            least_power_[k] = std::min(least_power_[k + 1], type.power / rate_[order_[k]]);
        }
    }

    std::vector<Choice> front() {
        Choice none;
        none.counts.assign(problem_.types.size(), 0);
        if (demand_ <= 0.0) {
            return {none};
        }
        visit(0, none, demand_);
        return front_of(std::move(found_));
    }

    // Of the cost, below which no plan of this workload is.
    double bound() const { return order_.empty() ? 0.0 : std::max(0.0, demand_) * least_cost_[0]; }
    bool whole() const { return nodes_ <= kFleetNodes; }

  private:
    bool is_beaten(double cost, double power) const {
        return std::ranges::any_of(found_, [&](const Choice& other) {
            return other.cost <= cost && (!problem_.power || other.power <= power);
        });
    }

    void keep(const Choice& choice) {
        std::erase_if(found_, [&](const Choice& other) {
            return problem_.power ? beats(choice, other) : choice.cost <= other.cost;
        });
        found_.push_back(choice);
    }

    // The types from the k-th on for what is left of the demand, most devices of the k-th first.
    void visit(std::size_t k, Choice& partial, double left) {
        if (left <= kSlack * demand_) {
            if (!is_beaten(partial.cost, partial.power)) {
                keep(partial);
            }
            return;
        }
        if (k == order_.size() || ++nodes_ > kFleetNodes) {
            return;
        }
        const std::size_t j = order_[k];
        const FleetType& type = problem_.types[j];
        const Choice before = partial;
        for (int n = static_cast<int>(std::ceil(left / rate_[j] - kSlack)); n >= 0; --n) {
            partial.counts[j] = n;
            partial.cost = before.cost + n * type.cost;
            partial.power = before.power + n * type.power;
            const double rest = std::max(0.0, left - n * rate_[j]);
            const double more_cost = rest > kSlack * demand_ ? rest * least_cost_[k + 1] : 0.0;
            const double more_power = rest > kSlack * demand_ ? rest * least_power_[k + 1] : 0.0;
            if (!is_beaten(partial.cost + more_cost, partial.power + more_power)) {
                visit(k + 1, partial, rest);
            }
        }
        partial = before;
    }

    const FleetProblem& problem_;
    const std::vector<double>& rate_;
    double demand_;
    std::vector<std::size_t> order_;
    std::vector<double> least_cost_, least_power_; // for a unit of work, by the types from k on
    std::vector<Choice> found_;
    int nodes_ = 0;
};

// Sums of the choices so far with those of one more workload, within the limits.
std::vector<Choice> combined(const std::vector<Choice>& so_far, const std::vector<Choice>& next,
                             const FleetProblem& problem) {
    constexpr double kRounding = 1.0 + 1e-12;
    std::vector<Choice> all;
    for (const Choice& a : so_far) {
        for (std::size_t i = 0; i < next.size(); ++i) {
            Choice sum{a.cost + next[i].cost, a.power + next[i].power, {}, a.chosen};
            sum.chosen.push_back(i);
            const bool within = sum.cost <= kRounding * problem.budget.value_or(sum.cost) &&
                                sum.power <= kRounding * problem.power.value_or(sum.power);
            if (within) {
                all.push_back(std::move(sum));
            }
        }
    }
    return front_of(std::move(all));
}

} // namespace

std::optional<FleetPlan> best_fleet(const FleetProblem& problem) {
    std::vector<std::vector<Choice>> fronts;
    std::vector<Choice> sums = {Choice{}};
    double bound = 0.0;
    bool whole = true;
    for (std::size_t i = 0; i < problem.demand.size(); ++i) {
        Workload workload(problem, i);
        fronts.push_back(workload.front());
        bound += workload.whole() && !problem.power && !fronts.back().empty()
                     ? fronts.back().front().cost
                     : workload.bound();
        whole = whole && workload.whole();
        sums = combined(sums, fronts.back(), problem);
    }
    if (sums.empty()) {
        return std::nullopt;
    }
    const Choice& best = sums.front();
    FleetPlan plan;
    plan.cost = best.cost;
    plan.power = best.power;
    plan.gap = whole || !(best.cost > 0.0) ? 0.0 : std::max(0.0, 1.0 - bound / best.cost);
    for (std::size_t i = 0; i < fronts.size(); ++i) {
        plan.counts.push_back(fronts[i][best.chosen[i]].counts);
    }
    return plan;
}

} // namespace eyeroof::analysis
