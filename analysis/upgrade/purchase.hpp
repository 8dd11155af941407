// Whether to replace owned GPUs, and by which. One result over several candidates: devices for the
// same work, cost per year, energy, payback, probability of lower cost, and the changes that would
// reverse the verdict. A view of upgrade_fleet(), which compares one pair of GPUs.
#pragma once

#include "analysis/upgrade/best_fleet.hpp"
#include "analysis/upgrade/price_views.hpp"
#include "analysis/upgrade/sharded.hpp"
#include "analysis/upgrade/upgrade.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// What is asked beside networks and prices. Assumed where no source is named.
struct PurchaseTerms {
    std::optional<int> count;        // GPUs that are owned or rented now; nullopt: per GPU
    std::optional<double> age_years; // of owned GPUs: what of their price is not written off yet
    // For buying, less resale; for renting, of the job where there is one, else of a year.
    std::optional<double> budget_usd;
    std::optional<double> samples;       // of a job …
    std::optional<double> deadline_days; // … that must be done by then: sizes both sides
    double kg_co2_per_kwh = 0.4;         // of the power that is bought

    std::optional<double> power_w = {}; // that all GPUs may draw, at their board limits x PUE
    std::optional<ServedRequests> served = {}; // of decoders; nullopt: steps of the network

    bool operator==(const PurchaseTerms&) const = default;
};

struct PurchaseCandidate {
    model::Machine machine;
    UpgradeOptions options; // with surroundings, prices and what runs on it
    ShardFabrics fabrics = {};
    std::vector<PriceView> views = {}; // the first is in the options' prices; see with_rents()

    bool operator==(const PurchaseCandidate&) const = default;
};

struct PurchaseQuestion {
    model::Machine from;
    std::vector<FleetMember> fleet;
    std::vector<PurchaseCandidate> candidates;
    PurchaseTerms terms;
    // Networks that are answered beside the fleet: the same at other batches or in another phase.
    struct Beside {
        std::string what;
        std::vector<FleetMember> fleet;
    };
    std::vector<Beside> beside;
};

// One way to do the work: the GPUs that are there (devices: count, or 1), or a candidate.
struct PurchaseOption {
    std::string gpu;
    bool bought = false, owned = false;            // else rented
    double devices = 1.0;                          // whole where a count is given
    double usd_per_year = 0.0, usd_per_1000 = 0.0; // 0 where unpriced
    // Of a thousand units of work, and of a million tokens of networks that read text (of a service
    // output tokens). Joules at BoardWatts x PUE, as kwh_per_year. nullopt: the board's power is
    // unknown.
    std::optional<double> joules_per_1000, usd_per_mtoken, joules_per_mtoken;
    std::optional<double> kwh_per_year, kg_co2_per_year;
    std::optional<double> watts_at_most;     // of a device: its board's limit x PUE
    std::optional<double> job_days;          // until the samples of the terms are done
    std::optional<ServingPoint> server = {}; // of a service

    bool operator==(const PurchaseOption&) const = default;
};

struct Flip {                      // what would turn the verdict over
    std::string what;              // "batch: twice as large on the new GPU"
    std::optional<double> speedup; // then; nullopt: the speed-up stays
    std::string break_even;        // "below $9,100 for each GPU"
    bool flips = false;            // the verdict is another then
    double distance = 0.0;         // |ln| between now and break-even

    bool operator==(const Flip&) const = default;
};

struct BesideLine {
    std::string what, run;
    Interval speedup;
    std::string unfit;

    bool operator==(const BesideLine&) const = default;
};

// The same question at other prices.
struct PriceVerdict {
    PriceView view;
    double from_usd_per_hour = 0.0, to_usd_per_hour = 0.0; // of an hour at work
    double needed = 1.0, likely = 0.5;                     // see PurchaseAnswer
    std::optional<double> saved_share;
    UpgradeVerdict verdict = UpgradeVerdict::undecided;
    std::string over_budget;
    std::optional<int> age_days; // of the older price; nullopt: no date

    bool operator==(const PriceVerdict&) const = default;
};

struct PurchaseAnswer {
    Upgrade upgrade; // its threshold, verdict and chance are those of this question
    PurchaseOption now, then;
    std::optional<ShardedPair> sharded; // where one GPU does not hold the network
    double needed = 1.0;                // speed-up at which both cost the same
    double likely = 0.5;                // chance that the candidate costs no more
    // Of the cost a year; negative: costs more. Nothing where what is there costs nothing.
    std::optional<double> saved_share;
    std::optional<double> outlay_usd, payback_months;
    std::optional<double> book_value_usd; // of owned GPUs, not written off yet: not charged
    std::string over_budget;              // what the budget pays instead; empty: it is kept
    std::vector<PriceVerdict> by_price;   // under each price table; the first is this answer's
    std::vector<BesideLine> beside;
    std::vector<Flip> flips;

    bool operator==(const PurchaseAnswer&) const = default;
};

struct Unbought {       // what would help on the GPU that is there
    std::string change; // "fusion: 1.35 times as fast, 4.2 ms a step"
    double gain = 1.0, time_s = 0.0;

    bool operator==(const Unbought&) const = default;
};

// The cheapest mix of the GPUs of a question, each device for one of its networks.
struct FleetMix {
    std::vector<std::string> networks, gpus; // the rows and columns of the plan
    std::optional<FleetPlan> plan; // of a year, watts at most; nullopt: none keeps the limits
    std::vector<std::string> unknown_power = {}; // in the plan, but none of their power is counted
    std::vector<std::string> left_out = {};      // of unknown power, under a limit of it

    bool operator==(const FleetMix&) const = default;
};

struct Purchase {
    std::string sentence; // to quote
    std::string unit;     // of usd_per_1000: "1,000 samples", "1,000 hours of the old GPU's work"
    std::vector<PurchaseAnswer> answers; // as asked
    std::size_t best = 0;                // the one that the sentence is about
    std::optional<Unbought> unbought;    // of one network; filled by the command
    std::optional<FleetMix> mix;         // see mix_of()
    PurchaseTerms terms;
    UpgradePrices prices; // of the first candidate, for what they have in common

    bool operator==(const Purchase&) const = default;
};

// With the rents that are compared: one table of prices for all candidates that it has, the best of
// price_views() among those that have most of them.
PurchaseQuestion with_rents(PurchaseQuestion question);

// What the price tables say together, to stand before or after the sentence of the first; empty
// where there is one alone.
struct PriceWords {
    std::string before, after;
};
PriceWords price_words(const PurchaseAnswer& answer);
std::string verdict_word(const PriceVerdict& verdict); // "replace", "keep", "over budget", …

// Devices for the same work: count / speedup, rounded up where a count is given. Cost a year:
// devices x cost of an hour (UpgradeMoney) x hours at work. Likely: chance that the speed-up is at
// least `needed`, the least at which the candidate costs no more. Errors: those of upgrade_fleet();
// "no-candidates".
Result<Purchase> purchase(const PurchaseQuestion& question);

std::string purchase_sentence(const Purchase& purchase);

// Of several networks, or under a limit of power: the old GPUs and all candidates by their costs a
// year, their power limits, and the speed-up of each network. Machines of unknown power are left
// out under a limit of power. Where a network is divided over several GPUs, or served, one type
// does all of the work. nullopt where no number of GPUs is given or something has no price.
std::optional<FleetMix> mix_of(const Purchase& purchase);
std::string mix_text(const FleetMix& mix);
std::string chance_text(double chance); // "87 %", "over 99 %"

} // namespace eyeroof::analysis
