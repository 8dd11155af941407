#include "analysis/upgrade/upgrade.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/assumptions.hpp"
#include "analysis/upgrade/missing_operators.hpp"
#include "analysis/upgrade/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

namespace {

constexpr double kSigmasOf80 = 2.0 * 1.2816; // low … high in standard deviations
constexpr double kGpuVariance = 0.25;        // of a layer's error, shared by all on the GPU
constexpr double kClassVariance = 0.25;      // and by its class of operator
constexpr double kMonthsOfYear = 12.0;
constexpr double kSecondsPerHour = 3600.0;
constexpr double kJoulesPerKwh = 3.6e6;

double sigma_of(const LayerReport& layer) {
    if (!layer.low_s || !layer.high_s || *layer.low_s <= 0.0) {
        return 0.0;
    }
    return std::log(*layer.high_s / *layer.low_s) / kSigmasOf80;
}

// Seconds of one execution in the network: the kernel, and the GPU idle before it.
double in_step_s(const LayerReport& layer) {
    return layer.time_s + layer.wait_s;
}

// Relative standard deviation of a report's total time; see upgrade().
double sigma_of(const Report& report) {
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

// How much more of what a limiter names the new GPU has; nothing for other limiters.
std::optional<double> ratio_of(model::Limit limit, const LayerReport& a, const LayerReport& b,
                               const model::Gpu& from, const model::Gpu& to) {
    if (limit == model::Limit::outer_memory) {
        return to.dram_bytes_per_s / from.dram_bytes_per_s;
    }
    if (limit == model::Limit::on_chip) {
        return model::l2_bandwidth(to) / model::l2_bandwidth(from);
    }
    const double old_peak = from.rate(a.layer.types.input).flops_per_s;
    const double new_peak = to.rate(b.layer.types.input).flops_per_s;
    return limit == model::Limit::arithmetic && old_peak > 0.0 ? std::optional(new_peak / old_peak)
                                                               : std::nullopt;
}

std::string why_not_more(const LayerReport& a, const LayerReport& b, const model::Gpu& from,
                         const model::Gpu& to) {
    if (held_by_launch(a) || held_by_launch(b)) {
        return "the kernel's start takes most of it: higher peaks shorten little";
    }
    if (!is_bound(a)) {
        return fmt::format("held by {} on the old GPU, not by its peak or its memory", a.limiter);
    }
    const auto ratio = ratio_of(a.limit, a, b, from, to);
    const std::string amount =
        ratio ? fmt::format(", of which the new GPU has {:.2f} times as much", *ratio) : "";
    if (a.limit == b.limit) {
        return fmt::format("bound by {} on both{}", a.limiter, amount);
    }
    return fmt::format("from {}{}, to {}", a.limiter, amount, b.limiter);
}

void add_layers(const Report& from, const Report& to, const model::Gpu& old_gpu,
                const model::Gpu& new_gpu, Upgrade& u) {
    for (const LayerReport& a : from.layers) {
        const auto twin = std::find_if(to.layers.begin(), to.layers.end(), [&](const auto& other) {
            return other.layer.name == a.layer.name;
        });
        if (twin == to.layers.end()) {
            continue; // a pass between layouts that the other GPU does not need
        }
        const LayerReport& b = *twin;
        const double share = in_step_s(a) * static_cast<double>(a.layer.count) / from.total.time_s;
        u.bound_share += is_bound(a) ? share : 0.0;
        u.layers.push_back({a.layer.name, std::string(model::op_name(a.layer.op)), a.layer.count,
                            in_step_s(a), in_step_s(b), limiter_of(a), limiter_of(b),
                            in_step_s(a) / in_step_s(b), share,
                            why_not_more(a, b, old_gpu, new_gpu), ""});
    }
}

std::string price_source(const model::Machine& machine, const std::string& field, bool given) {
    const auto* known = find_provenance(machine.provenance, "prices." + field);
    return given ? "given" : known != nullptr ? known->source : "";
}

// Per hour where both have a rate; the break-even of a purchase against running the old card on.
void add_money(const model::Machine& old_machine, const model::Machine& new_machine,
               const UpgradePrices& prices, Upgrade& u) {
    const auto& from = std::get<model::Gpu>(old_machine.kind);
    const auto& to = std::get<model::Gpu>(new_machine.kind);
    const auto rate = [](const std::optional<double>& given, const model::GpuPrice& own) {
        return given ? given : own.usd_per_hour_low;
    };
    const auto a = rate(prices.from_usd_per_hour, from.price);
    const auto b = rate(prices.to_usd_per_hour, to.price);
    UpgradeMoney& m = u.money;
    const std::string hourly = "usd_per_hour_low";
    m.from_price_source = price_source(old_machine, hourly, prices.from_usd_per_hour.has_value());
    m.to_price_source = price_source(new_machine, hourly, prices.to_usd_per_hour.has_value());
    m.buy_source = price_source(new_machine, "buy_usd", prices.to_buy_usd.has_value());
    m.utilization = prices.utilization;
    m.from_joules = from.tdp_w * u.from_s;
    m.to_joules = to.tdp_w * u.to_s;
    if (a && b && *a > 0.0 && *b > 0.0) {
        m.priced = true;
        m.from_usd_per_hour = *a;
        m.to_usd_per_hour = *b;
        m.break_even_speedup = *b / *a;
        m.from_usd_per_run = *a * u.from_s / kSecondsPerHour;
        m.to_usd_per_run = *b * u.to_s / kSecondsPerHour;
    }
    const auto buy = prices.to_buy_usd ? prices.to_buy_usd : to.price.buy_usd;
    if (buy && a) {
        // An hour of the new card does speed-up hours of the old one's work.
        const double power_usd =
            to.tdp_w * kSecondsPerHour / kJoulesPerKwh * prices.power_usd_per_kwh;
        const double saved_per_hour = *a * u.speedup.value - power_usd;
        const double outlay = *buy - prices.from_resale_usd.value_or(0.0);
        const double hours = prices.hours_per_month * prices.utilization;
        m.outlay_usd = outlay;
        m.work_usd_per_month = *a * hours;
        m.power_usd_per_month = power_usd * hours;
        m.host_usd_per_month = prices.host_usd_per_month;
        m.years = prices.years;
        const double months = kMonthsOfYear * prices.years;
        m.owned_usd_per_hour = (outlay / months + prices.host_usd_per_month) / hours + power_usd;
        const double saved_per_month = saved_per_hour * hours - prices.host_usd_per_month;
        if (saved_per_month > 0.0) {
            m.break_even_months = outlay / saved_per_month;
        }
        if (saved_per_hour > 0.0) {
            m.break_even_utilization = (outlay / months + prices.host_usd_per_month) /
                                       (saved_per_hour * prices.hours_per_month);
        }
    }
}

void judge(const UpgradeOptions& options, Upgrade& u) {
    u.threshold = options.threshold ? *options.threshold
                  : u.money.priced  ? u.money.break_even_speedup
                                    : 1.0;
    u.threshold_basis = options.threshold ? "given"
                        : u.money.priced  ? "ratio of the hourly prices"
                                          : "any gain";
    const double distance = std::log(u.speedup.value / u.threshold);
    u.probability_wrong = chance_of_wrong(distance, u.sigma, u.error.families);
    if (!options.threshold && !u.money.priced) {
        u.verdict = UpgradeVerdict::unpriced;
    } else if (u.probability_wrong > 1.0 - options.confidence) {
        u.verdict = UpgradeVerdict::too_close;
    } else {
        u.verdict = distance > 0.0 ? UpgradeVerdict::pays_off : UpgradeVerdict::does_not;
    }
}

void set_speedup(Upgrade& u) {
    const double spread = std::exp(u.sigma * student_90(u.error.families));
    u.speedup.low = u.speedup.value / spread;
    u.speedup.high = u.speedup.value * spread;
}

// Untold where a machine has no memory of its own.
void add_memory(const Report& before, const Report& after, Upgrade& u) {
    if (!before.fit || !after.fit) {
        return;
    }
    u.memory = {memory_need(*before.memory), memory_need(*after.memory),
                static_cast<double>(before.fit->limit_bytes),
                static_cast<double>(after.fit->limit_bytes)};
    if (!u.memory.from_fits() || !u.memory.to_fits()) {
        u.notes.push_back(
            fmt::format("does not fit the memory of {}: times are of a run that would",
                        u.memory.to_fits()     ? u.from
                        : u.memory.from_fits() ? u.to
                                               : u.from + " and " + u.to));
    }
}

// Items a second on the new GPU over those on the old one, whose batches may differ.
double speedup_of_items(const Report& before, const Report& after) {
    return before.total.time_s / after.total.time_s * static_cast<double>(after.batch) /
           static_cast<double>(before.batch);
}

void add_notes(const Report& before, const UpgradeOptions& options, Upgrade& u) {
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
            "{:.0f} %, by the ratio of bandwidths {:.0f} %, by the usual gain {:.0f} %",
            u.error.families, u.kind, 100.0 * u.error.mape, 100.0 * u.error.sheet_mape,
            100.0 * u.error.guess_mape));
    }
    const bool small = before.batch == 1 && u.from_step.host_s > u.from_step.device_s;
    if (small) {
        u.notes.emplace_back(
            "the host bounds it at this batch: --sweep-batch 1,8,64 shows where the "
            "GPU begins to");
    }
}

} // namespace

std::string_view verdict_name(UpgradeVerdict verdict) {
    switch (verdict) {
    case UpgradeVerdict::pays_off:
        return "pays off";
    case UpgradeVerdict::does_not:
        return "does not pay off";
    case UpgradeVerdict::too_close:
        return "too close to call";
    case UpgradeVerdict::unpriced:
        return "name the prices to judge";
    }
    return "too close to call";
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
    question.wiring = options.wiring;
    question.machine = machine;
    question.host = old_side ? options.from_issue : options.to_issue;
    question.host_id = old_side ? options.from_host : options.to_host;
    return question;
}

Result<Upgrade> upgrade(const model::Network& network, const model::Machine& from,
                        const model::Machine& to, const UpgradeOptions& options) {
    const auto* old_gpu = std::get_if<model::Gpu>(&from.kind);
    const auto* new_gpu = std::get_if<model::Gpu>(&to.kind);
    if (old_gpu == nullptr || new_gpu == nullptr) {
        return Result<Upgrade>::failure("not-a-gpu", "an upgrade is judged between two GPUs",
                                        "`eyeroof hw list` names them");
    }
    auto before = run(side_of(network, from, options, true));
    auto after = run(side_of(network, to, options, false));
    if (!before || !after) {
        Diagnostics all = before.diagnostics();
        all.append(after.diagnostics());
        return all;
    }
    if (options.measured) {
        take_measured(*options.measured, *before, *after);
    }
    Upgrade u;
    u.measured = options.measured ? options.measured->what : "";
    u.network = network.name;
    u.from = from.id;
    u.to = to.id;
    u.run = run_text(network, options);
    u.from_s = before->total.time_s;
    u.to_s = after->total.time_s;
    u.from_step = {before->total.host_s, before->total.device_s, options.from_host};
    u.to_step = {after->total.host_s, after->total.device_s, options.to_host};
    u.kind = transfer_kind(network, options.from.training.has_value(), options.from.data_type,
                           options.to.data_type);
    u.error = options.transfer.kind(u.kind);
    u.speedup.value = speedup_of_items(*before, *after);
    u.operator_sigma = std::hypot(sigma_of(*before), sigma_of(*after));
    u.sigma = transferred_sigma(options.transfer, u.error, u.operator_sigma);
    add_layers(*before, *after, *old_gpu, *new_gpu, u);
    add_memory(*before, *after, u);
    conclude(from, to, options, u);
    if (options.assumptions && !options.measured) {
        u.assumptions = assumptions_of(network, from, to, options);
    }
    add_notes(*before, options, u);
    return u;
}

} // namespace eyeroof::analysis
