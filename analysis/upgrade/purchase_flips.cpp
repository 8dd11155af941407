#include "analysis/upgrade/purchase_flips.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "analysis/upgrade/break_even.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "model/machine/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

void add_flip(std::string what, double now, double instead, std::string break_even,
              PurchaseAnswer& a) {
    a.flips.push_back({std::move(what), std::nullopt, std::move(break_even), true,
                       std::fabs(std::log(instead / now))});
}

// Prices at which both cost the same with the devices of the answer.
void add_price_flips(const PurchaseCandidate& candidate, PurchaseAnswer& a) {
    const UpgradeMoney& m = a.upgrade.money;
    const UpgradePrices& prices = candidate.options.prices;
    const double months_hours =
        kMonthsPerYear * prices.years * prices.hours_per_month * prices.utilization;
    const double new_hour = a.now.devices * m.from_usd_per_hour / a.then.devices;
    const double old_hour = a.then.devices * m.to_usd_per_hour / a.now.devices;
    const auto price = buy_price(candidate.machine, prices);
    if (a.then.bought && price && new_hour > m.to_running_usd_per_hour) { // else none is low enough
        const double instead = (new_hour - m.to_running_usd_per_hour) * months_hours;
        add_flip("price of " + a.then.gpu, *price, instead,
                 fmt::format("same cost at {} (now {})", price_text(instead), price_text(*price)),
                 a);
    } else if (!a.then.bought && new_hour > 0.0 && m.to_usd_per_hour > 0.0) {
        add_flip("rent of " + a.then.gpu + " per hour", m.to_usd_per_hour, new_hour,
                 fmt::format("same cost at {} (now {})", price_text(new_hour),
                             price_text(m.to_usd_per_hour)),
                 a);
    }
    if (!a.now.owned && old_hour > 0.0) {
        add_flip("rent of " + a.now.gpu + " per hour", m.from_usd_per_hour, old_hour,
                 fmt::format("same cost at {} (now {})", price_text(old_hour),
                             price_text(m.from_usd_per_hour)),
                 a);
    } else if (a.now.owned && old_hour > m.from_running_usd_per_hour) {
        const double instead = (old_hour - m.from_running_usd_per_hour) * months_hours;
        const double resale = prices.from_resale_usd.value_or(0.0);
        add_flip("resale of " + a.now.gpu, std::max(resale, 1.0), std::max(instead, 1.0),
                 fmt::format("same cost at {} (now {})", price_text(instead), price_text(resale)),
                 a);
    }
}

// Share of the time at work at which both cost the same, by bisection; rent depends on none.
void add_utilization_flip(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                          PurchaseAnswer& a) {
    if (!a.then.bought && !a.now.owned) {
        return;
    }
    const auto excess = [&](double share) {
        UpgradePrices at = candidate.options.prices;
        at.utilization = share;
        const auto hours = hour_costs(question.from, candidate.machine, at, a.upgrade.watts);
        return hours ? std::log(a.then.devices * hours->to.usd / (a.now.devices * hours->from.usd))
                     : 0.0;
    };
    double low = 0.01;
    double high = 1.0;
    const double now = candidate.options.prices.utilization;
    if (excess(low) * excess(high) >= 0.0) {
        return;
    }
    for (int i = 0; i < 60; ++i) {
        const double middle = std::sqrt(low * high);
        (excess(middle) * excess(low) > 0.0 ? low : high) = middle;
    }
    add_flip(
        "use", now, low,
        fmt::format("same cost at {:.0f} % of the hours (now {:.0f} %)", 100.0 * low, 100.0 * now),
        a);
}

// Those that turn the verdict first, the nearest of them before others.
void sort_flips(PurchaseAnswer& a) {
    std::stable_sort(a.flips.begin(), a.flips.end(), [](const Flip& x, const Flip& y) {
        return x.flips != y.flips ? x.flips : x.distance < y.distance;
    });
}

} // namespace

std::optional<double> buy_price(const model::Machine& machine, const UpgradePrices& prices) {
    return prices.to_buy_usd ? prices.to_buy_usd : model::price_of(machine).buy_usd;
}

UpgradeVerdict verdict_at(const Upgrade& u, double speedup, double needed, double confidence) {
    if (!u.unfit.empty()) {
        return UpgradeVerdict::does_not_fit;
    }
    if (!std::isfinite(needed)) {
        return UpgradeVerdict::does_not;
    }
    return verdict_of(std::log(speedup / needed), u.sigma, u.error.families, confidence);
}

void add_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
               PurchaseAnswer& a) {
    const Upgrade& u = a.upgrade;
    const double s = u.speedup.value;
    for (const Assumption& assumed : u.assumptions) {
        const auto verdict = verdict_at(u, assumed.speedup, a.needed, candidate.options.confidence);
        a.flips.push_back({assumed.topic + ": " + assumed.instead, assumed.speedup,
                           std::isfinite(a.needed) ? fmt::format("{:.2f}x needed", a.needed)
                                                   : "no speedup is enough",
                           verdict != u.verdict, std::fabs(std::log(assumed.speedup / s))});
    }
    if (u.money.priced && !candidate.options.threshold) { // else no price decides
        add_price_flips(candidate, a);
        add_utilization_flip(question, candidate, a);
    }
    sort_flips(a);
}

void add_run_flips(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                   PurchaseAnswer& a) {
    for (const auto& flips :
         {batch_flips(question, candidate, a), host_flips(question, candidate, a)}) {
        a.flips.insert(a.flips.end(), flips.begin(), flips.end());
    }
    sort_flips(a);
}

} // namespace eyeroof::analysis
