// Whether another GPU pays off for a network: speedup per layer and in total, money, a verdict.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/upgrade/evidence.hpp"
#include "analysis/upgrade/memory_need.hpp"
#include "base/result.hpp"
#include "model/gpu/transfer.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

inline constexpr double kMonthsPerYear = 12.0;

struct UpgradePrices { // nullopt: the machine's own, where it has one
    std::optional<double> from_usd_per_hour, to_usd_per_hour;
    std::string from_source, to_source; // of those an hour; empty: the user's own
    std::optional<double> from_resale_usd, to_buy_usd;
    bool from_owned = false;       // the old GPU is paid for: it costs power, no rent
    std::optional<bool> to_bought; // nullopt: where a purchase price is given and no hourly one
    double hours_per_month = 730.0;
    double utilization = 0.7;        // share of the month that the GPU works; assumed
    double power_usd_per_kwh = 0.12; // assumed, 2026
    double pue = 1.4;                // power of the building over that of its computers; assumed
    double host_usd_per_month = 0.0; // of an owned GPU: its share of server, space and people
    double years = 3.0;              // after which a bought GPU is written off

    bool operator==(const UpgradePrices&) const = default;
};

// A verdict is given where the chance of being wrong is at most 1 less this.
inline constexpr double kUsualConfidence = 0.8;

struct TimedLayer {
    std::string name;
    double seconds = 0.0;  // of one run
    std::string category;  // "GEMM", "norm", …; empty: other
    bool inferred = false; // something of its shape is assumed

    bool operator==(const TimedLayer&) const = default;
};

// What was measured of a step on the old GPU, which narrows the prediction of the new one.
struct MeasuredStep {
    std::vector<TimedLayer> layers; // in the network's order
    double step_s = 0.0;            // from the first kernel or copy to the end of the last
    double idle_s = 0.0;            // of it, nothing running: it stays as it is
    double unknown_s = 0.0;         // of operators without a cost: it stays as it is
    std::string what;               // "ProfilerStep#6 of trace.json.gz"

    bool operator==(const MeasuredStep&) const = default;
};

struct UpgradeOptions {
    Scenario from, to; // of either side; their training is the same
    model::HostIssue from_issue, to_issue;
    std::string from_host, to_host;       // whose constants those are
    std::optional<double> threshold;      // speed-up that must be passed; else what the prices need
    double confidence = kUsualConfidence; // below it the verdict is "undecided"
    UpgradePrices prices;
    model::Transfer transfer; // how far predicted speed-ups hold for whole networks
    std::optional<std::chrono::sys_days> today; // older prices are warned of
    bool assumptions = true;                    // also what the answer would be without them
    std::optional<model::GraphEdges> edges;     // which layer reads which; nothing: a chain
    std::shared_ptr<const Evidence> evidence;   // published speed-ups; nullptr: the model alone
    // Samples a second of the user's own run, on either side: stronger than any prediction.
    std::optional<double> from_rate, to_rate;
    std::optional<MeasuredStep> measured; // of the old side, by a trace

    bool operator==(const UpgradeOptions&) const = default;
};

// unpriced: neither prices nor a threshold say what would pay off. equal: both sides are the same.
// does_not_fit: the network needs more memory than one of the GPUs has.
enum class UpgradeVerdict { pays_off, does_not, undecided, unpriced, equal, does_not_fit };
std::string_view verdict_name(UpgradeVerdict verdict);

struct Interval {
    double value = 0.0, low = 0.0, high = 0.0; // nominal 80 %

    bool operator==(const Interval&) const = default;
};

// Kernels of one category, the old side measured.
struct UpgradeCategory {
    std::string name;     // "all" is of every one
    double from_s = 0.0;  // measured, of all runs
    Interval to_s;        // given what the old GPU measured
    Interval speedup;     // from_s / to_s
    Interval predicted_s; // of the new GPU, without the measurement

    bool operator==(const UpgradeCategory&) const = default;
};

struct UpgradeLayer {
    std::string name, op;
    Count count = 1;
    double from_s = 0.0, to_s = 0.0; // one execution
    std::string from_limiter, to_limiter;
    double speedup = 1.0;
    double share_of_from = 0.0; // of the network's time
    std::string why;            // why not more
    std::string network;        // of a fleet's layers

    bool operator==(const UpgradeLayer&) const = default;
};

// An hour at work of a rented GPU costs its rent; of an owned one power, its host's share, and the
// resale that keeping it forgoes, or the price that is written off.
struct UpgradeMoney {
    bool priced = false;
    bool from_owned = false, to_bought = false;
    double from_usd_per_hour = 0.0, to_usd_per_hour = 0.0;
    // The same without what is paid once: rent, or power and host.
    double from_running_usd_per_hour = 0.0, to_running_usd_per_hour = 0.0;
    double break_even_speedup = 1.0; // price ratio
    double from_usd_per_run = 0.0, to_usd_per_run = 0.0;
    std::string from_price_source, to_price_source, buy_source; // with their dates
    double utilization = 1.0;                                   // that the months are counted with
    // Of a purchase: a month of the old card's work at its price, times the speed-up, less the
    // power and the host's share is what a month saves; the outlay is the price less what the old
    // card brings.
    std::optional<double> outlay_usd;
    double work_usd_per_month = 0.0, power_usd_per_month = 0.0; // at that utilization
    std::optional<double> break_even_months;                    // at that utilization
    double host_usd_per_month = 0.0;                            // whether it works or not
    double years = 3.0;                                         // until it is written off
    std::optional<double> break_even_utilization;               // over these years
    // An hour of the bought GPU at work: (outlay / years + host) / hours at work + power.
    std::optional<double> owned_usd_per_hour;
    std::optional<double> from_joules, to_joules; // of one run, at BoardWatts

    bool operator==(const UpgradeMoney&) const = default;
};

struct UpgradeMemory {
    MemoryNeed from_need, to_need;           // data types may differ
    double from_bytes = 0.0, to_bytes = 0.0; // that the GPUs have for tensors
    bool from_fits() const { return from_need.total() <= from_bytes; }
    bool to_fits() const { return to_need.total() <= to_bytes; }

    bool operator==(const UpgradeMemory&) const = default;
};

struct SweepPoint { // of the same network, at another batch and other data types
    Count batch = 1;
    std::string from_dtype, to_dtype; // empty: the layers' own
    double from_s = 0.0, to_s = 0.0;
    Interval speedup;
    UpgradeVerdict verdict = UpgradeVerdict::undecided;
    double probability_wrong = 0.5;
    bool from_fits = true, to_fits = true;

    bool operator==(const SweepPoint&) const = default;
};

struct Assumption {       // and what it is worth
    std::string topic;    // "host"
    std::string what;     // "the new GPU stands in server-2x64"
    std::string instead;  // "on server-2x20"
    double speedup = 1.0; // then

    bool operator==(const Assumption&) const = default;
};

// A step by its parts, on one GPU.
struct StepSide {
    double host_s = 0.0, device_s = 0.0; // issues in sum, kernels in sum
    std::string host;
    bool by_dataflow = false; // of an accelerator: layers in the mapping of its dataflow

    // Whether launches take the whole step: then a faster GPU gains nothing.
    bool only_launches(double time_s) const {
        constexpr double nearly_all = 0.95;
        return host_s >= nearly_all * time_s && device_s < host_s;
    }

    bool operator==(const StepSide&) const = default;
};

// What a board draws at work, mean: the energy of a step as `exam` has it over the step's time,
// which is the board's limit but for kernels of measured power. nullopt: unknown, as of
// accelerators.
struct BoardWatts {
    std::optional<double> from, to;

    bool operator==(const BoardWatts&) const = default;
};

// A published speed-up that resembles the question.
struct NearEvidence {
    EvidenceRow row;
    double share = 0.0; // see Resemblance

    bool operator==(const NearEvidence&) const = default;
};

struct Upgrade {
    std::string network, from, to;
    std::string run; // "training step in fp16, sgd_momentum, batch 32 (eager)": what is compared
    std::string from_words, to_words;    // the scenario of either side, as `exam` states it
    std::optional<double> sample_tokens; // of a network that reads text
    // One run of the network. Speed-up: samples a second, so exactly from_s / to_s times the ratio
    // of the batches. Where evidence or a measurement moves it from the model's, to_s (and where it
    // was measured, from_s) moves with it.
    double from_s = 0.0, to_s = 0.0;
    Count from_batch = 1, to_batch = 1; // samples of a run
    Interval speedup;
    double model_speedup = 1.0;                  // of kernels and hosts alone
    double from_model_s = 0.0, to_model_s = 0.0; // the times of that, as `exam` gives them
    double transfer_ln = 0.0; // what whole networks show adds to ln(speed-up): see model::Transfer
    double evidence_ln = 0.0; // what published speed-ups add to ln(speed-up)
    std::vector<NearEvidence> nearest;
    std::optional<double> measured_from_rate, measured_to_rate; // samples a second, the user's
    std::optional<double> far_rate; // predicted, where the user's is more than three times off
    std::string unfit;              // what does not fit where; empty: everything fits
    StepSide from_step, to_step;
    std::string kind;          // "training mixed", of the transfer
    model::TransferKind error; // that the interval and the chance rest on
    std::vector<Assumption> assumptions;
    double threshold = 1.0;
    std::string threshold_basis; // "given", "price ratio", "any gain"
    UpgradeVerdict verdict = UpgradeVerdict::undecided;
    double probability_wrong = 0.5; // that the truth lies on the other side of the threshold
    double bound_share = 0.0; // of the time in layers that arithmetic or memory bound on `from`
    std::vector<UpgradeLayer> layers;
    UpgradeMoney money;
    BoardWatts watts; // of one old hour of work, of a fleet
    UpgradeMemory memory;
    double sigma = 0.0;          // standard deviation of ln(speedup)
    double operator_sigma = 0.0; // by the operators' errors alone
    bool of_hosts() const {      // hosts are compared, not the GPUs
        return from_step.only_launches(from_model_s) && to_step.only_launches(to_model_s);
    }
    std::vector<SweepPoint> sweep;
    std::vector<Upgrade> members; // of a fleet
    std::vector<double> weights;  // share of the old GPU's time that each member takes
    std::vector<std::string> notes;
    std::string measured; // what the old GPU's times are, where they were measured
    std::vector<UpgradeCategory> categories; // then; "all" first, the longest next

    bool operator==(const Upgrade&) const = default;
};

// Puts measured times into the old side's report, and into the new side's what they say of each
// layer: errors of one operator on two GPUs are partly the same, so that the error on the old GPU,
// of which all is known, says a part of the error on the new one (regression of jointly normal
// errors):
//   to_i = predicted_to_i * (measured_i / predicted_from_i)^w
//   w = c / (s_from^2 + r^2),  c = m s_to s_from + k r^2
// with s the model's error, r what a run adds, m and k their correlations (trace_error.hpp). With
// w = 1 that is the ratio of predictions, with w = 0 the prediction alone.
//   step_to = idle + unknown + (step - idle - unknown) * sum(n_i to_i) / sum(n_i measured_i)
// so that layers that overlap keep their share of the busy time. Layers that were not measured
// keep their predicted times and are in neither sum.
void take_measured(const MeasuredStep& measured, Report& before, Report& after);

// Kernel time of each category on the new GPU, given the trace and by the prediction alone:
//   var(ln to) = s_to^2 + r^2,  given the trace  var(ln to) - w c
// half of a variance is common to a category, the rest to each operator, and the reports are those
// that take_measured() has not changed.
std::vector<UpgradeCategory> measured_categories(const MeasuredStep& measured, const Report& before,
                                                 const Report& after);

// What the board draws at most; nullopt: not known, as of accelerators.
std::optional<double> board_watts(const model::Machine& machine);

// Whether the new GPU is bought rather than rented.
bool is_bought(const UpgradePrices& prices);

// What an hour at work costs, and of that what is not paid once: see UpgradeMoney.
struct HourCost {
    double usd = 0.0, running_usd = 0.0;
};
struct HourCosts {
    HourCost from, to;
};
// Nothing where a price is missing, or nothing is paid on either side. An owned GPU without power
// and host costs 0: no speed-up is then enough (the ratio of the costs is infinite). One of unknown
// power is counted without it; a note of the answer says so.
std::optional<HourCosts> hour_costs(const model::Machine& from, const model::Machine& to,
                                    const UpgradePrices& prices, const BoardWatts& watts);

// The question of either side. Accelerators are mapped by their dataflow's own rules.
Question side_of(const model::Network& network, const model::Machine& machine,
                 const UpgradeOptions& options, bool old_side);

// Speed-up: samples a second on the new machine over those on the old one, of the steps that run()
// predicts. The interval: each layer's relative error has sigma ln(high/low) / 2.56; of its
// variance a quarter is taken as common to all layers on one GPU, a quarter to those of a class of
// operator, the rest as independent; the two GPUs as independent. Between two GPUs, what whole
// networks showed is added: see verdict.hpp, also for probability_wrong. Errors: those of run().
Result<Upgrade> upgrade(const model::Network& network, const model::Machine& from,
                        const model::Machine& to, const UpgradeOptions& options);

// Speed-up, money and verdict of an upgrade whose times, sigma and machines are known; called by
// upgrade and upgrade_fleet.
void conclude(const model::Machine& from, const model::Machine& to, const UpgradeOptions& options,
              Upgrade& upgrade);

struct FleetMember {
    model::Network network;
    double weight = 1.0; // share of the old GPU's time, up to a common factor
    std::optional<model::GraphEdges> edges = {}; // as UpgradeOptions has it
    std::optional<MeasuredStep> measured = {};
    std::optional<Scenario> from = {}, to = {}; // nullopt: those of the options
    bool largest = false; // at the largest batch, a power of two, that fits both GPUs

    bool operator==(const FleetMember&) const = default;
};

// Several networks that share a GPU, or one for itself: of an hour on the old one network i takes
// the share w_i, so the speed-up is 1 / sum(w_i / speedup_i). Times are those of one old hour; half
// of each member's variance is common, as above. Errors: of upgrade(); "no-networks".
Result<Upgrade> upgrade_fleet(const std::vector<FleetMember>& fleet, const model::Machine& from,
                              const model::Machine& to, const UpgradeOptions& options);

// The same of members that are known, with their shares of the old GPU's time, which add up to 1.
Upgrade fleet_of(const std::vector<Upgrade>& members, const std::vector<double>& shares,
                 const model::Machine& from, const model::Machine& to,
                 const UpgradeOptions& options);

// The largest batch up to kMostCommonBatch, the network's own times a power of two, whose step fits
// both GPUs; nullopt where not even its own does.
inline constexpr Count kMostCommonBatch = 1024;
std::optional<Count> largest_common_batch(const FleetMember& member, const model::Machine& from,
                                          const model::Machine& to, const UpgradeOptions& options);

struct DtypePair { // nullopt: the layers' own
    std::optional<model::DataType> from, to;

    bool operator==(const DtypePair&) const = default;
};

// One point a batch and pair of data types, in that order; of a fleet its members together. Errors:
// of upgrade() and upgrade_fleet().
Result<std::vector<SweepPoint>> sweep_upgrade(const std::vector<FleetMember>& fleet,
                                              const model::Machine& from, const model::Machine& to,
                                              const UpgradeOptions& options,
                                              const std::vector<Count>& batches,
                                              const std::vector<DtypePair>& dtypes);
Result<std::vector<SweepPoint>> sweep_upgrade(const model::Network& network,
                                              const model::Machine& from, const model::Machine& to,
                                              const UpgradeOptions& options,
                                              const std::vector<Count>& batches,
                                              const std::vector<DtypePair>& dtypes);

} // namespace eyeroof::analysis
