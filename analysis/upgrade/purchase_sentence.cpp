#include "analysis/upgrade/amounts.hpp"
#include "analysis/upgrade/purchase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

std::string many(double devices, const std::string& gpu) {
    return devices == std::floor(devices) ? fmt::format("{:.0f} {}", devices, gpu)
                                          : fmt::format("{:.2f} {}", devices, gpu);
}

std::string cost_words(const PurchaseAnswer& a) {
    if (!a.saved_share) {
        return in_dollars(a.then.usd_per_year) + " per year instead of nothing";
    }
    const double share = 100.0 * *a.saved_share;
    return share >= 0.0      ? fmt::format("{:.0f} % lower cost per year", share)
           : share >= -100.0 ? fmt::format("{:.0f} % higher cost per year", -share)
                             : fmt::format("{:.1f}x the cost per year", 1.0 - share / 100.0);
}

// By the prices of the answer.
std::string sentence_of(const Purchase& purchase) {
    const PurchaseAnswer& a = purchase.answers.at(purchase.best);
    const Upgrade& u = a.upgrade;
    const std::string now = many(a.now.devices, a.now.gpu);
    const std::string then = many(a.then.devices, a.then.gpu);
    const std::string gain = fmt::format("{:.2f}x as fast ({:.2f}x to {:.2f}x)", u.speedup.value,
                                         u.speedup.low, u.speedup.high);
    const std::string who =
        purchase.terms.count
            ? fmt::format("{} {} the work of {}", then, a.then.devices == 1.0 ? "does" : "do", now)
            : fmt::format("{} is {}", a.then.gpu, gain);
    const std::string likely = chance_text(a.likely) + " likely";
    switch (u.verdict) {
    case UpgradeVerdict::does_not_fit:
        return "Cannot be compared: " + u.unfit + ".";
    case UpgradeVerdict::unpriced:
        return who + "; name the prices to judge.";
    case UpgradeVerdict::equal:
        return fmt::format("Equal: {} and {} do the same work at the same cost.", now, then);
    default:
        break;
    }
    if (!u.money.priced || u.threshold_basis == "given") { // by a threshold, not by prices
        return fmt::format("{}: {}, {:.2f}x is needed; {} to reach it.",
                           u.verdict == UpgradeVerdict::pays_off   ? "Pays off"
                           : u.verdict == UpgradeVerdict::does_not ? "Does not pay off"
                                                                   : "Undecided",
                           a.then.gpu + " is " + gain, a.needed, likely);
    }
    const std::string cost = cost_words(a);
    std::string more =
        !a.payback_months ? ""
        : *a.payback_months <= kMonthsPerYear * purchase.prices.years
            ? fmt::format(", pays back in {:.0f} months", *a.payback_months)
            : fmt::format(", does not pay back within {:g} years", purchase.prices.years);
    if (a.then.job_days) {
        more += fmt::format(", the job takes {:.3g} days", *a.then.job_days);
    }
    if (!a.over_budget.empty()) {
        return fmt::format("Over the budget: {}, {}, but {}.", who, cost, a.over_budget);
    }
    if (u.verdict == UpgradeVerdict::pays_off) {
        return purchase.terms.count
                   ? fmt::format("Replace {} by {}: the same work, {}{}; {} to cost less.", now,
                                 then, cost, more, likely)
                   : fmt::format("Replace it: {}, {} for the same work{}; {} to cost less.", who,
                                 cost, more, likely);
    }
    if (u.verdict == UpgradeVerdict::does_not) {
        return fmt::format("Keep {}: {}, {}{}; {} to cost less.",
                           purchase.terms.count ? now : "the " + a.now.gpu, who, cost, more,
                           likely);
    }
    const bool cheaper = a.saved_share.value_or(-1.0) >= 0.0;
    return fmt::format("Undecided: {}, {}{}{} {} to cost less.", who, cost, more,
                       cheaper ? ", but only" : ";", likely);
}

std::string launch_words(const Upgrade& u) {
    const auto all = [&](auto launches) {
        return u.members.empty() ? launches(u) : std::ranges::all_of(u.members, launches);
    };
    const bool from =
        all([](const Upgrade& one) { return one.from_step.only_launches(one.from_model_s); });
    const bool to =
        all([](const Upgrade& one) { return one.to_step.only_launches(one.to_model_s); });
    const Upgrade& first = u.members.empty() ? u : u.members.front();
    if (from && to) {
        return fmt::format("CPU launch overhead takes the whole step on both GPUs, so their "
                           "hosts ({} and {}) are compared, not the GPUs. ",
                           first.from_step.host, first.to_step.host);
    }
    return from || to
               ? fmt::format("CPU launch overhead takes the whole step on {}, so its host "
                             "({}) is compared, not the GPU. ",
                             from ? u.from : u.to, from ? first.from_step.host : first.to_step.host)
               : "";
}

} // namespace

std::string chance_text(double chance) {
    return chance > 0.99   ? "over 99 %"
           : chance < 0.01 ? "under 1 %"
                           : fmt::format("{:.0f} %", 100.0 * chance);
}

std::string purchase_sentence(const Purchase& purchase) {
    const PurchaseAnswer& a = purchase.answers.at(purchase.best);
    const PriceWords words = price_words(a);
    return launch_words(a.upgrade) + words.before + sentence_of(purchase) + words.after;
}

} // namespace eyeroof::analysis
