#include "analysis/upgrade/amounts.hpp"
#include "analysis/upgrade/purchase.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eyeroof::analysis {

namespace {

// One type of the mix: the GPUs that are there, or an answer's.
struct MixType {
    const PurchaseOption* option = nullptr;
    const PurchaseAnswer* answer = nullptr; // nullptr: what is there

    double fits() const { return answer == nullptr || answer->upgrade.unfit.empty() ? 1.0 : 0.0; }

    // Hours of the old GPU that one hour does of its i-th network.
    double rate(std::size_t i) const {
        if (answer == nullptr) {
            return 1.0;
        }
        const Upgrade& u = answer->upgrade;
        const Upgrade& one = u.members.empty() ? u : u.members[i];
        return one.unfit.empty() ? one.speedup.value : 0.0;
    }
};

// Those of known power where it is limited; the others are left out.
std::vector<MixType> types_of(const Purchase& purchase, FleetMix& mix) {
    std::vector<MixType> all = {{&purchase.answers.front().now, nullptr}};
    for (const PurchaseAnswer& a : purchase.answers) {
        all.push_back({&a.then, &a});
    }
    std::erase_if(all, [&](const MixType& type) {
        const bool unknown = purchase.terms.power_w && !type.option->watts_at_most;
        if (unknown) {
            mix.left_out.push_back(type.option->gpu);
        }
        return unknown;
    });
    return all;
}

// In the plan, but of unknown power.
std::vector<std::string> unknown_in(const FleetPlan& plan, const std::vector<MixType>& types) {
    std::vector<std::string> unknown;
    for (std::size_t j = 0; j < types.size(); ++j) {
        if (!types[j].option->watts_at_most &&
            std::ranges::any_of(plan.counts, [&](const auto& counts) { return counts[j] > 0; })) {
            unknown.push_back(types[j].option->gpu);
        }
    }
    return unknown;
}

} // namespace

std::optional<FleetMix> mix_of(const Purchase& purchase) {
    const Upgrade& first = purchase.answers.front().upgrade;
    const bool divided =
        std::ranges::any_of(purchase.answers, [](const auto& a) { return a.sharded.has_value(); });
    const bool asked = (first.members.size() > 1 && !divided) || purchase.terms.power_w;
    const bool priced =
        std::ranges::all_of(purchase.answers, [](const auto& a) { return a.upgrade.money.priced; });
    if (!asked || !priced || !purchase.terms.count) {
        return std::nullopt;
    }
    FleetProblem problem;
    FleetMix mix;
    const std::vector<MixType> types = types_of(purchase, mix);
    for (const MixType& type : types) {
        const PurchaseOption& option = *type.option;
        const double devices = divided ? option.devices : 1.0;
        problem.types.push_back({option.gpu, option.usd_per_year / option.devices * devices,
                                 option.watts_at_most.value_or(0.0) * devices});
        mix.gpus.push_back(option.gpu);
    }
    problem.budget = purchase.terms.budget_usd;
    problem.power = purchase.terms.power_w;
    const std::size_t networks = divided ? 1 : std::max<std::size_t>(1, first.members.size());
    for (std::size_t i = 0; i < networks; ++i) {
        const double share = first.members.empty() || divided ? 1.0 : first.weights[i];
        problem.demand.push_back(share * (divided ? 1.0 : purchase.answers.front().now.devices));
        problem.rate.emplace_back();
        for (const MixType& type : types) {
            problem.rate.back().push_back(divided ? type.fits() : type.rate(i));
        }
        mix.networks.push_back(first.members.empty() || divided ? first.network
                                                                : first.members[i].network);
    }
    if (!types.empty()) {
        mix.plan = best_fleet(problem);
    }
    for (std::size_t j = 0; divided && mix.plan && j < types.size(); ++j) {
        mix.plan->counts[0][j] *= static_cast<int>(types[j].option->devices);
    }
    if (mix.plan) {
        mix.unknown_power = unknown_in(*mix.plan, types);
    }
    return mix;
}

std::string mix_text(const FleetMix& mix) {
    const std::string left_out =
        mix.left_out.empty() ? ""
                             : fmt::format(" Left out under the power limit, as {} power is "
                                           "unknown: {}.",
                                           mix.left_out.size() == 1 ? "its" : "their",
                                           fmt::join(mix.left_out, ", "));
    if (!mix.plan) {
        return "No mix of these GPUs does the work within the limits." + left_out;
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
    return fmt::format(
        "Cheapest mix: {}. {} per year, {} ({}).{}", text, in_dollars(mix.plan->cost),
        mix.unknown_power.empty()
            ? format_si(mix.plan->power, "W")
            : fmt::format("unknown power of {}", fmt::join(mix.unknown_power, ", ")),
        mix.plan->gap > 0.0 ? fmt::format("optimality gap {:.1f} %", 100.0 * mix.plan->gap)
                            : "proven optimal",
        left_out);
}

} // namespace eyeroof::analysis
