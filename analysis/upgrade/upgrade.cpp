#include "analysis/upgrade/upgrade.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/own_memory.hpp"
#include "analysis/scale/transformer.hpp"
#include "analysis/upgrade/assumptions.hpp"
#include "analysis/upgrade/missing_operators.hpp"
#include "analysis/upgrade/posterior.hpp"
#include "analysis/upgrade/tokens.hpp"
#include "analysis/upgrade/verdict.hpp"
#include "base/units.hpp"
#include "model/accelerator/type_rate.hpp"
#include "model/machine/board.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

namespace {

constexpr double kSigmasOf80 = 2.0 * 1.2816; // low … high in standard deviations
constexpr double kGpuVariance = 0.25;        // of a layer's error, shared by all on the GPU
constexpr double kClassVariance = 0.25;      // and by its class of operator
// ln 3: of an operator whose time has no upper bound, and of an accelerator, whose arrays and
// memories alone are modeled.
constexpr double kOpenSigma = 1.1;
constexpr double kSecondsPerHour = 3600.0;
constexpr double kJoulesPerKwh = 3.6e6;

double sigma_of(const LayerReport& layer) {
    if (!layer.low_s || !layer.high_s || *layer.low_s <= 0.0) {
        return 0.0;
    }
    return std::isfinite(*layer.high_s) ? std::log(*layer.high_s / *layer.low_s) / kSigmasOf80
                                        : kOpenSigma;
}

bool is_modeled_alone(const Report& report) {
    return report.machine.kind == "accelerator";
}

// Seconds of one execution in the network: the kernel, and the GPU idle before it.
double in_step_s(const LayerReport& layer) {
    return layer.time_s + layer.wait_s;
}

// Relative standard deviation of a report's total time; see upgrade().
double sigma_of(const Report& report) {
    if (is_modeled_alone(report)) {
        return kOpenSigma;
    }
    std::map<model::Op, double> common;
    double whole = 0.0;
    double variance = 0.0;
    for (const LayerReport& layer : report.layers) {
        const double share =
            layer.time_s * static_cast<double>(layer.layer.count) / report.total.time_s;
        const double sigma = share * sigma_of(layer);
        whole += sigma * std::sqrt(kGpuVariance);
        common[layer.layer.op] += sigma * std::sqrt(kClassVariance);
        variance += sigma * sigma * (1.0 - kGpuVariance - kClassVariance);
    }
    for (const auto& [op, sigma] : common) {
        variance += sigma * sigma;
    }
    return std::sqrt(variance + whole * whole);
}

bool waits(const LayerReport& layer) {
    return layer.wait_s > layer.time_s;
}

std::string limiter_of(const LayerReport& layer) {
    return waits(layer) ? "launch" : layer.limiter;
}

bool held_by_launch(const LayerReport& layer) {
    return waits(layer) || layer.limit == model::Limit::launch;
}

bool is_bound(const LayerReport& layer) {
    return !waits(layer) &&
           (layer.limit == model::Limit::arithmetic || layer.limit == model::Limit::outer_memory ||
            layer.limit == model::Limit::on_chip);
}

struct GpuPair { // nullptr: no GPU
    const model::Gpu *from = nullptr, *to = nullptr;
};

// How much more of what a limiter names the new machine has; nothing for other limiters.
std::optional<double> ratio_of(model::Limit limit, const LayerReport& a, const LayerReport& b,
                               const Report& from, const Report& to, const GpuPair& gpus) {
    if (limit == model::Limit::outer_memory) {
        return to.machine.outer_bytes_per_s / from.machine.outer_bytes_per_s;
    }
    if (gpus.from == nullptr || gpus.to == nullptr) {
        return std::nullopt;
    }
    if (limit == model::Limit::on_chip) {
        return model::l2_bandwidth(*gpus.to) / model::l2_bandwidth(*gpus.from);
    }
    const double old_peak = gpus.from->rate(a.layer.types.input).flops_per_s;
    const double new_peak = gpus.to->rate(b.layer.types.input).flops_per_s;
    return limit == model::Limit::arithmetic && old_peak > 0.0 ? std::optional(new_peak / old_peak)
                                                               : std::nullopt;
}

std::string why_not_more(const LayerReport& a, const LayerReport& b, const Report& from,
                         const Report& to, const GpuPair& gpus) {
    if (held_by_launch(a) || held_by_launch(b)) {
        return "the kernel's start takes most of it: higher peaks shorten little";
    }
    if (!is_bound(a)) {
        return fmt::format("bound by {} on the old GPU, not by its peak or its memory", a.limiter);
    }
    const auto ratio = ratio_of(a.limit, a, b, from, to, gpus);
    const std::string amount = ratio ? fmt::format("; the new GPU has {:.2f}x of it", *ratio) : "";
    if (a.limit == b.limit) {
        return fmt::format("bound by {} on both{}", a.limiter, amount);
    }
    return fmt::format("from {}{}, to {}", a.limiter, amount, b.limiter);
}

void add_layers(const Report& from, const Report& to, const GpuPair& gpus, Upgrade& u) {
    LayersByName twins = layers_by_name(to);
    for (const LayerReport& a : from.layers) {
        const auto twin = twins.next(a.layer.name);
        if (!twin) {
            continue; // a pass between layouts that the other GPU does not need
        }
        const LayerReport& b = to.layers[*twin];
        const double share = in_step_s(a) * static_cast<double>(a.layer.count) / from.total.time_s;
        u.bound_share += is_bound(a) ? share : 0.0;
        u.layers.push_back({a.layer.name, std::string(model::op_name(a.layer.op)), a.layer.count,
                            in_step_s(a), in_step_s(b), limiter_of(a), limiter_of(b),
                            in_step_s(a) / in_step_s(b), share, why_not_more(a, b, from, to, gpus),
                            ""});
    }
}

std::string price_source(const model::Machine& machine, const std::string& field, bool given,
                         const std::string& table = {}) {
    const auto* known = find_provenance(machine.provenance, "prices." + field);
    return !table.empty() ? table : given ? "given" : known != nullptr ? known->source : "";
}

double power_usd_per_hour(const std::optional<double>& watts, const UpgradePrices& prices) {
    return watts.value_or(0.0) * prices.pue * kSecondsPerHour / kJoulesPerKwh *
           prices.power_usd_per_kwh;
}

// An owned GPU: power + host / hours + (what is paid or forgone once) / hours of its years.
HourCost owned_hour(const std::optional<double>& watts, const UpgradePrices& prices,
                    double once_usd) {
    const double hours = prices.hours_per_month * prices.utilization;
    const double running = power_usd_per_hour(watts, prices) + prices.host_usd_per_month / hours;
    return {running + once_usd / (kMonthsPerYear * prices.years * hours), running};
}

std::optional<HourCost> old_hour(const model::Machine& machine, const UpgradePrices& prices,
                                 const BoardWatts& watts) {
    const model::GpuPrice& price = model::price_of(machine);
    if (prices.from_owned) {
        return owned_hour(watts.from, prices, prices.from_resale_usd.value_or(0.0));
    }
    const auto rent = prices.from_usd_per_hour ? prices.from_usd_per_hour : price.usd_per_hour_low;
    return rent ? std::optional(HourCost{*rent, *rent}) : std::nullopt;
}

std::optional<HourCost> new_hour(const model::Machine& machine, const UpgradePrices& prices,
                                 const BoardWatts& watts) {
    const model::GpuPrice& price = model::price_of(machine);
    if (is_bought(prices)) {
        const auto buy = prices.to_buy_usd ? prices.to_buy_usd : price.buy_usd;
        return buy ? std::optional(owned_hour(watts.to, prices, *buy)) : std::nullopt;
    }
    const auto rent = prices.to_usd_per_hour ? prices.to_usd_per_hour : price.usd_per_hour_low;
    return rent ? std::optional(HourCost{*rent, *rent}) : std::nullopt;
}

void add_purchase(const model::Machine& to, const UpgradePrices& prices, double old_running_usd,
                  Upgrade& u) {
    UpgradeMoney& m = u.money;
    const auto buy = prices.to_buy_usd ? prices.to_buy_usd : model::price_of(to).buy_usd;
    if (!buy) {
        return;
    }
    // An hour of the new card does speed-up hours of the old one's work.
    const double power_usd = power_usd_per_hour(u.watts.to, prices);
    const double saved_per_hour = old_running_usd * u.speedup.value - power_usd;
    const double outlay = *buy - prices.from_resale_usd.value_or(0.0);
    const double hours = prices.hours_per_month * prices.utilization;
    const double months = kMonthsPerYear * prices.years;
    m.outlay_usd = outlay;
    m.work_usd_per_month = old_running_usd * hours;
    m.power_usd_per_month = power_usd * hours;
    m.host_usd_per_month = prices.host_usd_per_month;
    m.years = prices.years;
    m.owned_usd_per_hour = (outlay / months + prices.host_usd_per_month) / hours + power_usd;
    const double saved_per_month = saved_per_hour * hours - prices.host_usd_per_month;
    if (saved_per_month > 0.0) {
        m.break_even_months = std::max(0.0, outlay / saved_per_month);
    }
    if (saved_per_hour > 0.0) {
        m.break_even_utilization = std::max(0.0, outlay / months + prices.host_usd_per_month) /
                                   (saved_per_hour * prices.hours_per_month);
    }
}

// Per hour where both have a price; the break-even of a purchase against running the old card on.
void add_money(const model::Machine& old_machine, const model::Machine& new_machine,
               const UpgradePrices& prices, Upgrade& u) {
    UpgradeMoney& m = u.money;
    const std::string hourly = "usd_per_hour_low";
    m.from_owned = prices.from_owned;
    m.to_bought = is_bought(prices);
    m.from_price_source =
        prices.from_owned ? "owned: power, host and resale"
                          : price_source(old_machine, hourly, prices.from_usd_per_hour.has_value(),
                                         prices.from_source);
    m.to_price_source = m.to_bought
                            ? ""
                            : price_source(new_machine, hourly, prices.to_usd_per_hour.has_value(),
                                           prices.to_source);
    m.buy_source = prices.to_buy_usd || model::price_of(new_machine).buy_usd
                       ? price_source(new_machine, "buy_usd", prices.to_buy_usd.has_value())
                       : "";
    m.utilization = prices.utilization;
    const auto joules = [](const std::optional<double>& watts, double seconds) {
        return watts ? std::optional(*watts * seconds) : std::nullopt;
    };
    m.from_joules = joules(u.watts.from, u.from_s);
    m.to_joules = joules(u.watts.to, u.to_s);
    if (const auto hours = hour_costs(old_machine, new_machine, prices, u.watts)) {
        m.priced = true;
        m.from_usd_per_hour = hours->from.usd;
        m.to_usd_per_hour = hours->to.usd;
        m.from_running_usd_per_hour = hours->from.running_usd;
        m.to_running_usd_per_hour = hours->to.running_usd;
        m.break_even_speedup = hours->to.usd / hours->from.usd;
        m.from_usd_per_run = hours->from.usd * u.from_s / kSecondsPerHour;
        m.to_usd_per_run = hours->to.usd * u.to_s / kSecondsPerHour;
    }
    if (const auto a = old_hour(old_machine, prices, u.watts)) {
        add_purchase(new_machine, prices, a->running_usd, u);
    }
}

// Speed-up that the prices, or the user, ask for, and the chance that it is missed or reached
// against the verdict.
void judge(const UpgradeOptions& options, Upgrade& u) {
    u.threshold = options.threshold ? *options.threshold
                  : u.money.priced  ? u.money.break_even_speedup
                                    : 1.0;
    u.threshold_basis = options.threshold ? "given"
                        : u.money.priced  ? "ratio of the hourly costs"
                                          : "any gain";
    const double distance = std::log(u.speedup.value / u.threshold);
    u.probability_wrong = chance_of_wrong(distance, u.sigma, u.error.families);
    if (!u.unfit.empty()) {
        u.verdict = UpgradeVerdict::does_not_fit;
    } else if (!options.threshold && !u.money.priced) {
        u.verdict = UpgradeVerdict::unpriced;
    } else {
        u.verdict = verdict_of(distance, u.sigma, u.error.families, options.confidence);
    }
}

void set_speedup(Upgrade& u) {
    const double spread = std::exp(u.sigma * student_90(u.error.families));
    u.speedup.low = u.speedup.value / spread;
    u.speedup.high = u.speedup.value * spread;
}

// Untold where a machine has no memory of its own.
void add_memory(const Report& before, const Report& after, const model::Machine& from,
                const model::Machine& to, Upgrade& u) {
    const auto old_bytes = static_cast<double>(step::own_capacity(from));
    const auto new_bytes = static_cast<double>(step::own_capacity(to));
    if (!before.memory || !after.memory || step::own_bytes(from) <= 0.0 ||
        step::own_bytes(to) <= 0.0) {
        return;
    }
    u.memory = {memory_need(*before.memory), memory_need(*after.memory), old_bytes, new_bytes};
    const auto has = [](double bytes, const std::string& gpu) {
        return fmt::format("{} has {}", gpu, format_si(bytes, "B"));
    };
    if (u.memory.from_fits() && u.memory.to_fits()) {
        return;
    }
    const double need = std::max(u.memory.from_fits() ? 0.0 : u.memory.from_need.total(),
                                 u.memory.to_fits() ? 0.0 : u.memory.to_need.total());
    u.unfit = fmt::format("{} needs {}; {}{}{}", u.network, format_si(need, "B"),
                          u.memory.from_fits() ? "" : has(u.memory.from_bytes, u.from),
                          u.memory.from_fits() || u.memory.to_fits() ? "" : ", ",
                          u.memory.to_fits() ? "" : has(u.memory.to_bytes, u.to));
    u.notes.push_back(u.unfit + ": times are of a run that would fit");
}

// Of a board whose limit is known.
std::optional<double> mean_watts(const model::Machine& machine, const Report& report) {
    return board_watts(machine) ? std::optional(report.total.energy_j / report.total.time_s)
                                : std::nullopt;
}

StepSide step_side(const Report& report, const std::string& host) {
    return {report.total.host_s, report.total.device_s, host, is_modeled_alone(report)};
}

// Samples a second on the new GPU over those on the old one, whose batches may differ.
double speedup_of_items(const Report& before, const Report& after) {
    return before.total.time_s / after.total.time_s * static_cast<double>(after.batch) /
           static_cast<double>(before.batch);
}

void add_notes(const model::Network& network, const Report& before, const UpgradeOptions& options,
               Upgrade& u) {
    if (options.measured) {
        u.notes.push_back(fmt::format(
            "the old GPU's times are measured ({}); idle {:.1f} % and operators without a cost "
            "{:.1f} % of the step stay as they are",
            options.measured->what, 100.0 * options.measured->idle_s / options.measured->step_s,
            100.0 * options.measured->unknown_s / options.measured->step_s));
    }
    if (std::string note = missing_operators(before.program); !note.empty()) {
        u.notes.push_back(std::move(note));
    }
    if (u.bound_share < 0.5) {
        u.notes.push_back(fmt::format("only {:.0f} % of the time is bound by arithmetic or memory "
                                      "on {}: the rest gains little from higher peaks",
                                      100.0 * u.bound_share, u.from));
    }
    if (!u.error.beats_sheets() && u.error.families > 0) {
        u.notes.push_back(fmt::format(
            "no better than knowing the two data sheets: on {} families of {} left out, mean error "
            "{:.0f} %, by the ratio of bandwidths {:.0f} %, by the median gain {:.0f} %",
            u.error.families, u.kind, 100.0 * u.error.mape, 100.0 * u.error.sheet_mape,
            100.0 * u.error.guess_mape));
    }
    if (!options.from.training && u.sample_tokens.value_or(0.0) > 1.0 && transformer_of(network)) {
        u.notes.push_back(
            fmt::format("a sample is a prompt of {:g} tokens without an answer: --phase "
                        "serving costs requests with output tokens",
                        *u.sample_tokens));
    }
    const bool small = before.batch == 1 && u.from_step.host_s > u.from_step.device_s;
    if (small) {
        u.notes.emplace_back(
            "CPU launch overhead bounds it at this batch: --sweep-batch 1,8,64 shows from which "
            "batch on the GPU does");
    }
}

// What whole networks showed, and published speedups, are of such devices alone.
bool is_graphics(const model::Gpu* gpu) {
    return gpu != nullptr && gpu->arch != model::GpuArch::host;
}

// Whether old and new side ask the same: GPU, software, batch, and host.
bool is_same(const model::Machine& from, const model::Machine& to, const UpgradeOptions& options) {
    return from == to && options.from == options.to && options.from_issue == options.to_issue;
}

void note_open_intervals(const Report& report, const std::string& machine, Upgrade& u) {
    double open_s = 0.0;
    for (const LayerReport& layer : report.layers) {
        if (layer.high_s && !std::isfinite(*layer.high_s)) {
            open_s += layer.time_s * static_cast<double>(layer.layer.count);
        }
    }
    if (open_s > 0.0) {
        u.notes.push_back(fmt::format("{:.0f} % of the time on {} are operators without an upper "
                                      "bound: counted within a factor of 3; measure the throughput "
                                      "there and give --measured-old or --measured-new",
                                      100.0 * open_s / report.total.device_s, machine));
    }
}

} // namespace

std::optional<double> board_watts(const model::Machine& machine) {
    const double watts = model::tdp_of(machine);
    return watts > 0.0 ? std::optional(watts) : std::nullopt;
}

std::optional<HourCosts> hour_costs(const model::Machine& from, const model::Machine& to,
                                    const UpgradePrices& prices, const BoardWatts& watts) {
    const auto a = old_hour(from, prices, watts);
    const auto b = new_hour(to, prices, watts);
    return a && b && (a->usd > 0.0 || b->usd > 0.0) ? std::optional(HourCosts{*a, *b})
                                                    : std::nullopt;
}

bool is_bought(const UpgradePrices& prices) {
    return prices.to_bought.value_or(prices.to_buy_usd && !prices.to_usd_per_hour);
}

std::string_view verdict_name(UpgradeVerdict verdict) {
    switch (verdict) {
    case UpgradeVerdict::pays_off:
        return "pays off";
    case UpgradeVerdict::does_not:
        return "does not pay off";
    case UpgradeVerdict::undecided:
        return "undecided";
    case UpgradeVerdict::unpriced:
        return "name the prices to judge";
    case UpgradeVerdict::equal:
        return "equal";
    case UpgradeVerdict::does_not_fit:
        return "does not fit";
    }
    return "undecided";
}

void conclude(const model::Machine& from, const model::Machine& to, const UpgradeOptions& options,
              Upgrade& u) {
    set_speedup(u);
    add_money(from, to, options.prices, u);
    judge(options, u);
    add_price_warnings(options, u);
}

Question side_of(const model::Network& network, const model::Machine& machine,
                 const UpgradeOptions& options, bool old_side) {
    Question question;
    question.scenario = old_side ? options.from : options.to;
    question.network = network;
    question.edges = options.edges;
    question.machine = machine;
    if (auto* accelerator = std::get_if<model::Accelerator>(&question.machine.kind)) {
        question.scenario.policy =
            MappingPolicy::dataflow; // many steps are asked for, each at once
        if (question.scenario.data_type) {
            *accelerator = model::with_type(std::move(*accelerator), *question.scenario.data_type);
        }
    }
    question.host = old_side ? options.from_issue : options.to_issue;
    question.host_id = old_side ? options.from_host : options.to_host;
    return question;
}

Result<Upgrade> upgrade(const model::Network& network, const model::Machine& from,
                        const model::Machine& to, const UpgradeOptions& options) {
    const auto* old_gpu = std::get_if<model::Gpu>(&from.kind);
    const auto* new_gpu = std::get_if<model::Gpu>(&to.kind);
    // Both examinations, and what a change of each part does, take 60 kB a layer: 512 MB together.
    constexpr std::size_t kMostLayers = 8000; // three for each layer that is trained
    const std::size_t each = options.from.training ? 3 : 1;
    if (network.layers.size() * each > kMostLayers) {
        return Result<Upgrade>::failure(
            "too-large",
            fmt::format("{} layers are more than the {} that are judged at once",
                        network.layers.size(), kMostLayers / each),
            "give equal layers once, with their number as `count`");
    }
    auto before = run(side_of(network, from, options, true));
    auto after = run(side_of(network, to, options, false));
    if (!before || !after) {
        Diagnostics all = before.diagnostics();
        all.append(after.diagnostics());
        return all;
    }
    const BoardWatts watts = {mean_watts(from, *before), mean_watts(to, *after)};
    std::vector<UpgradeCategory> categories;
    if (options.measured) {
        categories = measured_categories(*options.measured, *before, *after);
        take_measured(*options.measured, *before, *after);
    }
    Upgrade u;
    u.watts = watts;
    u.measured = options.measured ? options.measured->what : "";
    u.categories = std::move(categories);
    u.network = network.name;
    u.from = from.id;
    u.to = to.id;
    u.run = run_text(network, options);
    u.from_words = before->words;
    u.to_words = after->words;
    u.sample_tokens = tokens_of_sample(network);
    u.from_s = u.from_model_s = before->total.time_s;
    u.to_s = u.to_model_s = after->total.time_s;
    u.from_batch = before->batch;
    u.to_batch = after->batch;
    u.from_step = step_side(*before, options.from_host);
    u.to_step = step_side(*after, options.to_host);
    u.kind = transfer_kind(network, options.from.training.has_value(), options.from.data_type,
                           options.to.data_type);
    const bool measured_kinds = is_graphics(old_gpu) && is_graphics(new_gpu);
    u.error = measured_kinds ? options.transfer.kind(u.kind) : model::TransferKind{};
    u.model_speedup = u.speedup.value = speedup_of_items(*before, *after);
    u.operator_sigma = std::hypot(sigma_of(*before), sigma_of(*after));
    if (!is_same(from, to, options)) { // else there is nothing to be wrong about
        u.sigma = measured_kinds ? transferred_sigma(options.transfer, u.error, u.operator_sigma)
                                 : u.operator_sigma;
        weigh_evidence(options, network, from, to, measured_kinds, u);
    }
    add_layers(*before, *after, {old_gpu, new_gpu}, u);
    add_memory(*before, *after, from, to, u);
    conclude(from, to, options, u);
    if (options.assumptions && !options.measured && old_gpu != nullptr && new_gpu != nullptr) {
        u.assumptions = assumptions_of(network, from, to, options);
    }
    add_notes(network, *before, options, u);
    note_open_intervals(*before, from.id, u);
    note_open_intervals(*after, to.id, u);
    return u;
}

} // namespace eyeroof::analysis
