#include "analysis/upgrade/purchase.hpp"

#include "analysis/upgrade/amounts.hpp"
#include "analysis/upgrade/purchase_flips.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/date.hpp"
#include "model/machine/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr double kHourSeconds = 3600.0;
constexpr double kHoursPerDay = 24.0;
constexpr double kWattsPerKilowatt = 1000.0;
constexpr double kJoulesOfKwh = 3.6e6;

double hours_per_year(const UpgradePrices& prices) {
    return kMonthsPerYear * prices.hours_per_month * prices.utilization;
}

// Work of a year in thousands: of samples, or of hours of the old GPU where several networks run.
double thousands_per_year(const Upgrade& u, double count, const UpgradePrices& prices) {
    const double hours = count * hours_per_year(prices);
    return (u.members.empty() ? hours * kHourSeconds * static_cast<double>(u.from_batch) / u.from_s
                              : hours) /
           1000.0;
}

double samples_per_day(double batch, double step_s, double devices, const UpgradePrices& prices) {
    return batch / step_s * devices * kHourSeconds * kHoursPerDay * prices.utilization;
}

// Devices that are there, or as many of them as the job's deadline needs.
double old_devices(const Upgrade& u, const PurchaseTerms& terms, const UpgradePrices& prices) {
    const double count = terms.count.value_or(1);
    if (!terms.samples || !terms.deadline_days || !u.members.empty()) {
        return count;
    }
    const double one = samples_per_day(static_cast<double>(u.from_batch), u.from_s, 1.0, prices);
    const double need = *terms.samples / (one * *terms.deadline_days);
    return std::max(count, terms.count ? std::ceil(need - 1e-9) : need);
}

// Devices for the same work.
double new_devices(const Upgrade& u, const PurchaseTerms& terms, double old_count) {
    const double same = old_count / u.speedup.value;
    return terms.count ? std::max(1.0, std::ceil(same - 1e-9)) : same;
}

void fill_option(const Upgrade& u, const model::Machine& machine, bool old_side, double work,
                 const PurchaseTerms& terms, const UpgradePrices& prices, PurchaseOption& option) {
    const double hours = hours_per_year(prices);
    const double hour_usd = old_side ? u.money.from_usd_per_hour : u.money.to_usd_per_hour;
    option.usd_per_year = option.devices * hours * hour_usd;
    option.usd_per_1000 = option.usd_per_year / work;
    if (const auto limit = board_watts(machine)) {
        option.watts_at_most = *limit * prices.pue;
    }
    if (const auto watts = old_side ? u.watts.from : u.watts.to) {
        option.kwh_per_year = option.devices * hours * *watts * prices.pue / kWattsPerKilowatt;
        option.kg_co2_per_year = *option.kwh_per_year * terms.kg_co2_per_kwh;
        option.joules_per_1000 = *option.kwh_per_year * kJoulesOfKwh / work;
    }
    if (u.sample_tokens) { // 1,000 samples are 1,000 x so many tokens
        const double millions = work * *u.sample_tokens / 1000.0; // of tokens a year
        if (option.joules_per_1000) {
            option.joules_per_mtoken = *option.joules_per_1000 * work / millions;
        }
        if (u.money.priced) {
            option.usd_per_mtoken = option.usd_per_year / millions;
        }
    }
    if (terms.samples && u.members.empty()) {
        const auto batch = static_cast<double>(old_side ? u.from_batch : u.to_batch);
        option.job_days = *terms.samples / samples_per_day(batch, old_side ? u.from_s : u.to_s,
                                                           option.devices, prices);
    }
}

// The least speed-up at which the candidate costs no more: count / floor(count x old hour / new
// hour) where devices are whole, else the ratio of the hours' costs. Of a divided network, whose
// GPUs come in numbers that a plan has: never where the affordable ones do not hold it; and where
// they do less than the work, what the GPUs of the plan over them would make up for.
double needed_speedup(const PurchaseAnswer& a, bool whole) {
    const Upgrade& u = a.upgrade;
    const double ratio = u.money.break_even_speedup;
    if (!whole || !u.money.priced) {
        return ratio;
    }
    const double affordable = std::floor(a.now.devices / ratio + 1e-9);
    const double fewest = a.sharded ? static_cast<double>(a.sharded->fewest_new) : 1.0;
    if (affordable < fewest) {
        return INFINITY;
    }
    const double plan = a.sharded ? u.speedup.value * a.then.devices / affordable : 0.0;
    return a.then.devices > affordable ? std::max(a.now.devices / affordable, plan)
                                       : a.now.devices / affordable;
}

double likelihood(double speedup, double needed, double sigma, int families) {
    if (!std::isfinite(needed)) {
        return 0.0;
    }
    const double distance = std::log(speedup / needed);
    const double wrong = chance_of_wrong(distance, sigma, families);
    return distance >= 0.0 ? 1.0 - wrong : wrong;
}

void judge(const PurchaseCandidate& candidate, const PurchaseTerms& terms, PurchaseAnswer& a) {
    Upgrade& u = a.upgrade;
    const bool judged = u.money.priced || candidate.options.threshold;
    a.needed = candidate.options.threshold.value_or(needed_speedup(a, terms.count.has_value()));
    a.likely = likelihood(u.speedup.value, a.needed, u.sigma, u.error.families);
    if (!judged) {
        return;
    }
    u.threshold = a.needed;
    u.threshold_basis = candidate.options.threshold ? "given"
                        : terms.count               ? "whole GPUs that cost no more"
                                                    : "ratio of the hourly costs";
    u.verdict = verdict_at(u, u.speedup.value, a.needed, candidate.options.confidence);
    u.probability_wrong = std::min(a.likely, 1.0 - a.likely);
}

void add_outlay(const PurchaseCandidate& candidate, const PurchaseTerms& terms, PurchaseAnswer& a) {
    const UpgradePrices& prices = candidate.options.prices;
    const auto price = buy_price(candidate.machine, prices);
    if (!a.then.bought || !price) {
        return;
    }
    const double brought = a.now.devices * prices.from_resale_usd.value_or(0.0);
    const double hours = prices.hours_per_month * prices.utilization;
    const double saved = hours * (a.now.devices * a.upgrade.money.from_running_usd_per_hour -
                                  a.then.devices * a.upgrade.money.to_running_usd_per_hour);
    a.outlay_usd = a.then.devices * *price - brought;
    if (saved > 0.0) {
        a.payback_months = std::max(0.0, *a.outlay_usd / saved);
    }
    if (terms.budget_usd && *a.outlay_usd > *terms.budget_usd) {
        const double bought = std::floor((*terms.budget_usd + brought) / *price);
        a.over_budget = fmt::format(
            "the budget of {} buys {:.0f}: {:.0f} % of the work", price_text(*terms.budget_usd),
            bought, 100.0 * std::min(1.0, bought * a.upgrade.speedup.value / a.now.devices));
    }
}

// Rents of the job where there is one, else of a year.
void hold_against_budget(const PurchaseCandidate& candidate, const PurchaseTerms& terms,
                         PurchaseAnswer& a) {
    if (!terms.budget_usd || a.then.bought || !a.upgrade.money.priced) {
        return;
    }
    const double hours =
        a.then.job_days ? *a.then.job_days * kHoursPerDay * candidate.options.prices.utilization
                        : hours_per_year(candidate.options.prices);
    const double each = hours * a.upgrade.money.to_usd_per_hour;
    if (each * a.then.devices <= *terms.budget_usd) {
        return;
    }
    const double share = *terms.budget_usd / each;
    const double paid = terms.count ? std::floor(share + 1e-9) : share;
    a.over_budget = fmt::format(
        "the budget of {} pays {:.{}f} for {}: {:.0f} % of the work", price_text(*terms.budget_usd),
        paid, terms.count ? 0 : 2, a.then.job_days ? "the job" : "a year",
        100.0 * std::min(1.0, paid * a.upgrade.speedup.value / a.now.devices));
}

// What is not measured or not known of either side's times, power, and costs.
void note_unknowns(const model::Machine& from, const model::Machine& to,
                   const UpgradePrices& prices, Upgrade& u) {
    for (const model::Machine* machine : {&from, &to}) {
        if (std::holds_alternative<model::Accelerator>(machine->kind)) {
            u.notes.push_back(fmt::format(
                "the times of {} are not measured: its arrays and memories alone are modeled, in "
                "the mapping of its dataflow, with a standard deviation of a factor of 3 "
                "(--measured-old or --measured-new narrows it)",
                machine->id));
        }
        const bool owned = machine == &from ? prices.from_owned : is_bought(prices);
        if (!board_watts(*machine)) {
            u.notes.push_back(fmt::format("the power of {} is unknown{}", machine->id,
                                          owned ? ": its cost is without electricity" : ""));
        }
    }
}

// One network that does not fit one GPU over `count` of them, or the reason why not. The pair that
// takes most GPUs stays.
void divide_one(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                const FleetMember& member, std::optional<int> count, PurchaseAnswer& a,
                Upgrade& u) {
    if (u.unfit.empty()) {
        return;
    }
    const auto pair = sharded(member, question.from, candidate.machine, candidate.options,
                              candidate.fabrics, count);
    if (!pair) {
        u.unfit += "; divided over several: " + pair.diagnostics().begin()->message;
        return;
    }
    take_sharded(*pair, question.from, candidate.machine, u);
    if (!a.sharded || pair->fewest_new > a.sharded->fewest_new) {
        a.sharded = *pair;
    }
}

// All of a fleet over as many: those that there are, or that its largest network takes.
void divide(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
            PurchaseAnswer& a) {
    Upgrade& u = a.upgrade;
    if (u.unfit.empty()) {
        return;
    }
    if (u.members.empty()) {
        divide_one(question, candidate, question.fleet.front(), question.terms.count, a, u);
        conclude(question.from, candidate.machine, candidate.options, u);
        return;
    }
    std::optional<int> count = question.terms.count;
    for (std::size_t i = 0; i < u.members.size() && !question.terms.count; ++i) {
        Upgrade member = u.members[i];
        PurchaseAnswer alone;
        divide_one(question, candidate, question.fleet[i], {}, alone, member);
        count = std::max(count.value_or(1),
                         alone.sharded ? static_cast<int>(alone.sharded->from_devices) : 1);
    }
    std::vector<Upgrade> members = u.members;
    for (std::size_t i = 0; i < members.size(); ++i) {
        divide_one(question, candidate, question.fleet[i], count, a, members[i]);
    }
    u = fleet_of(members, u.weights, question.from, candidate.machine, candidate.options);
    if (a.sharded) {
        a.sharded->to_devices = std::max(
            a.sharded->fewest_new, static_cast<Count>(std::ceil(*count / u.speedup.value - 1e-9)));
    }
}

// Servers on both sides, where requests are asked for.
Diagnostics take_served(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                        PurchaseAnswer& a) {
    Diagnostics found;
    if (question.fleet.size() != 1) {
        found.error("usage", "a service is of one network", "run it once for each network");
        return found;
    }
    const FleetMember& member = question.fleet.front();
    const UpgradeOptions& options = candidate.options;
    if (options.from_rate || options.to_rate) {
        found.error("measured-rate", "a service takes no measured throughput",
                    "leave out --measured-old and --measured-new");
    }
    if (member.largest || member.from.value_or(options.from).batch ||
        member.to.value_or(options.to).batch) {
        found.error("usage", "the batch of a service is its requests at a time",
                    "--requests in place of --batch and --largest-batch");
    }
    if (found.has_errors()) {
        return found;
    }
    const ServedRequests& requests = *question.terms.served;
    auto pair = served(member, question.from, candidate.machine, options, candidate.fabrics,
                       question.terms.count, requests);
    if (!pair) {
        return pair.diagnostics();
    }
    take_sharded(*pair, question.from, candidate.machine, a.upgrade);
    a.upgrade.sample_tokens = static_cast<double>(requests.answer);
    a.upgrade.notes = {pair->from.plan, pair->to.plan};
    a.now.server = pair->from.server;
    a.then.server = pair->to.server;
    if (question.terms.count) { // whole servers
        a.sharded = *std::move(pair);
    }
    conclude(question.from, candidate.machine, candidate.options, a.upgrade);
    return {};
}

// What follows from the answer's speed-up and the candidate's prices.
void settle(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
            PurchaseAnswer& a) {
    const UpgradePrices& prices = candidate.options.prices;
    PurchaseTerms terms = question.terms;
    if (a.sharded) { // what is there is a whole number of GPUs
        terms.count = static_cast<int>(a.sharded->from_devices);
    }
    a.now.gpu = question.from.id;
    a.then.gpu = candidate.machine.id;
    a.now.owned = prices.from_owned;
    a.then.bought = is_bought(prices);
    a.now.devices = a.sharded ? static_cast<double>(a.sharded->from_devices)
                              : old_devices(a.upgrade, terms, prices);
    a.then.devices = a.sharded ? static_cast<double>(a.sharded->to_devices)
                               : new_devices(a.upgrade, terms, a.now.devices);
    const double work = thousands_per_year(a.upgrade, a.now.devices, prices);
    fill_option(a.upgrade, question.from, true, work, terms, prices, a.now);
    fill_option(a.upgrade, candidate.machine, false, work, terms, prices, a.then);
    judge(candidate, terms, a);
    add_outlay(candidate, terms, a);
    hold_against_budget(candidate, terms, a);
    if (a.upgrade.money.priced && a.now.usd_per_year > 0.0) {
        a.saved_share = 1.0 - a.then.usd_per_year / a.now.usd_per_year;
    }
    if (const auto& paid = model::price_of(question.from).buy_usd;
        prices.from_owned && terms.age_years && paid) {
        a.book_value_usd =
            a.now.devices * *paid * std::max(0.0, 1.0 - *terms.age_years / prices.years);
    }
}

std::optional<int> age_of(const PriceView& view, const UpgradeOptions& options) {
    const auto day = date_in(view.date());
    return day && options.today ? std::optional(static_cast<int>((*options.today - *day).count()))
                                : std::nullopt;
}

PriceVerdict verdict_under(const PurchaseQuestion& question, PurchaseCandidate candidate,
                           const PriceView& view, const PurchaseAnswer& first) {
    candidate.options.prices = with_view(candidate.options.prices, view);
    PurchaseAnswer a;
    a.upgrade = first.upgrade;
    a.sharded = first.sharded;
    conclude(question.from, candidate.machine, candidate.options, a.upgrade);
    settle(question, candidate, a);
    const UpgradeMoney& money = a.upgrade.money;
    return {view,
            money.from_usd_per_hour,
            money.to_usd_per_hour,
            a.needed,
            a.likely,
            a.saved_share,
            a.upgrade.verdict,
            a.over_budget,
            age_of(view, candidate.options)};
}

void add_price_verdicts(const PurchaseQuestion& question, const PurchaseCandidate& candidate,
                        PurchaseAnswer& a) {
    for (const PriceView& view : candidate.views) {
        a.by_price.push_back(verdict_under(question, candidate, view, a));
    }
    if (a.by_price.empty()) {
        return;
    }
    const PriceVerdict& first = a.by_price.front();
    if (!first.age_days) {
        a.upgrade.notes.push_back("the prices of " + first.view.name() +
                                  " have no date: look them up");
    } else if (*first.age_days > kOldPriceDays) {
        a.upgrade.notes.push_back(fmt::format("the prices of {} are {} days old: look them up",
                                              first.view.name(), *first.age_days));
    }
}

Result<PurchaseAnswer> answer(const PurchaseQuestion& question,
                              const PurchaseCandidate& candidate) {
    auto upgraded =
        upgrade_fleet(question.fleet, question.from, candidate.machine, candidate.options);
    if (!upgraded) {
        return upgraded.diagnostics();
    }
    PurchaseAnswer a;
    a.upgrade = *std::move(upgraded);
    if (question.terms.served) {
        auto failed = take_served(question, candidate, a);
        if (failed.has_errors()) {
            return failed;
        }
    } else {
        divide(question, candidate, a);
    }
    note_unknowns(question.from, candidate.machine, candidate.options.prices, a.upgrade);
    if (a.sharded && a.upgrade.members.empty() && question.terms.count &&
        a.sharded->from_devices != *question.terms.count) {
        a.upgrade.notes.push_back(fmt::format(
            "{} of {} {} are compared: {} hold the network together", a.sharded->from_devices,
            *question.terms.count, question.from.id, a.sharded->from.devices));
    }
    settle(question, candidate, a);
    add_price_verdicts(question, candidate, a);
    if (a.upgrade.unfit.empty()) { // else there is no verdict to change
        add_flips(question, candidate, a);
    }
    return a;
}

// Fits first, then what pays, then what may, then what costs least.
std::size_t best_of(const std::vector<PurchaseAnswer>& answers) {
    const auto rank = [](const PurchaseAnswer& a) {
        const UpgradeVerdict v = a.upgrade.verdict;
        return v == UpgradeVerdict::does_not_fit ? 4
               : !a.over_budget.empty()          ? 3
               : v == UpgradeVerdict::pays_off   ? 0
               : v == UpgradeVerdict::undecided  ? 1
                                                 : 2;
    };
    const auto best = std::min_element(
        answers.begin(), answers.end(), [&](const PurchaseAnswer& a, const PurchaseAnswer& b) {
            return rank(a) != rank(b) ? rank(a) < rank(b)
                                      : a.then.usd_per_year < b.then.usd_per_year;
        });
    return static_cast<std::size_t>(best - answers.begin());
}

Result<std::vector<BesideLine>> beside(const PurchaseQuestion& question,
                                       const PurchaseCandidate& candidate) {
    std::vector<BesideLine> lines;
    UpgradeOptions options = candidate.options;
    options.assumptions = false;
    for (const PurchaseQuestion::Beside& other : question.beside) {
        const auto u = upgrade_fleet(other.fleet, question.from, candidate.machine, options);
        if (!u) {
            return u.diagnostics();
        }
        lines.push_back({other.what, u->run, u->speedup, u->unfit});
    }
    return lines;
}

} // namespace

Result<Purchase> purchase(const PurchaseQuestion& question) {
    if (question.candidates.empty()) {
        return Result<Purchase>::failure("no-candidates", "no GPU to compare with is named",
                                         "as in --to a100-sxm-80gb");
    }
    Purchase all;
    all.terms = question.terms;
    all.prices = question.candidates.front().options.prices;
    for (const PurchaseCandidate& candidate : question.candidates) {
        auto a = answer(question, candidate);
        if (!a) {
            return a.diagnostics();
        }
        auto lines = beside(question, candidate);
        if (!lines) {
            return lines.diagnostics();
        }
        a->beside = *std::move(lines);
        all.answers.push_back(*std::move(a));
    }
    all.best = best_of(all.answers);
    if (question.candidates[all.best].options.assumptions) {
        add_run_flips(question, question.candidates[all.best], all.answers[all.best]);
    }
    if (const auto& pair = all.answers[all.best].sharded; pair && !all.terms.count) {
        all.terms.count = static_cast<int>(pair->from_devices);
    }
    all.unit = all.answers.front().upgrade.members.empty() ? "1,000 samples"
                                                           : "1,000 hours of the old GPU's work";
    all.mix = mix_of(all);
    all.sentence = purchase_sentence(all);
    return all;
}

} // namespace eyeroof::analysis
