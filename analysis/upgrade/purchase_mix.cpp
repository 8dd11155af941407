#include "analysis/upgrade/purchase.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

FleetType fleet_type_of(const PurchaseOption& option, double hours) {
    return {option.gpu, option.usd_per_year / option.devices,
            option.kwh_per_year * 1000.0 / hours / option.devices};
}

// Hours of the old GPU that one hour of the answer's GPU does of its i-th network.
double rate_of(const PurchaseAnswer& a, std::size_t i) {
    const Upgrade& one = a.upgrade.members.empty() ? a.upgrade : a.upgrade.members[i];
    return one.unfit.empty() ? one.speedup.value : 0.0;
}

} // namespace

std::optional<FleetMix> mix_of(const Purchase& purchase, const UpgradePrices& prices) {
    const Upgrade& first = purchase.answers.front().upgrade;
    const bool asked = first.members.size() > 1 || purchase.terms.power_w;
    const bool whole = std::ranges::all_of(purchase.answers, [](const PurchaseAnswer& a) {
        return a.upgrade.money.priced && !a.sharded;
    });
    if (!asked || !whole || !purchase.terms.count) {
        return std::nullopt;
    }
    const double hours = 12.0 * prices.hours_per_month * prices.utilization;
    const std::size_t networks = std::max<std::size_t>(1, first.members.size());
    FleetProblem problem;
    problem.types = {fleet_type_of(purchase.answers.front().now, hours)};
    for (const PurchaseAnswer& a : purchase.answers) {
        problem.types.push_back(fleet_type_of(a.then, hours));
    }
    problem.budget = purchase.terms.budget_usd;
    problem.power = purchase.terms.power_w;
    FleetMix mix;
    for (std::size_t i = 0; i < networks; ++i) {
        const double share = first.members.empty() ? 1.0 : first.weights[i];
        problem.demand.push_back(share * purchase.answers.front().now.devices);
        problem.rate.push_back({1.0});
        for (const PurchaseAnswer& a : purchase.answers) {
            problem.rate.back().push_back(rate_of(a, i));
        }
        mix.networks.push_back(first.members.empty() ? first.network : first.members[i].network);
    }
    for (const FleetType& type : problem.types) {
        mix.gpus.push_back(type.name);
    }
    mix.plan = best_fleet(problem);
    return mix;
}

std::string mix_text(const FleetMix& mix) {
    if (!mix.plan) {
        return "No mix of these GPUs does the work within the limits.";
    }
    std::string text;
    for (std::size_t i = 0; i < mix.networks.size(); ++i) {
        std::string on;
        for (std::size_t j = 0; j < mix.gpus.size(); ++j) {
            if (const int count = mix.plan->counts[i][j]; count > 0) {
                on += (on.empty() ? "" : " and ") + fmt::format("{} {}", count, mix.gpus[j]);
            }
        }
        text += (text.empty() ? "" : "; ") + mix.networks[i] + " on " + on;
    }
    return fmt::format("Cheapest mix: {}. ${:.0f} per year, {} ({}).", text, mix.plan->cost,
                       format_si(mix.plan->power, "W"),
                       mix.plan->gap > 0.0
                           ? fmt::format("optimality gap {:.1f} %", 100.0 * mix.plan->gap)
                           : "proven optimal");
}

} // namespace eyeroof::analysis
