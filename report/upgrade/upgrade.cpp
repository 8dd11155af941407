// The upgrade's verdict as text.
#include "report/upgrade/upgrade.hpp"

#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

constexpr std::size_t kShownLayers = 12;

std::vector<analysis::UpgradeLayer> longest(const analysis::Upgrade& u, std::size_t most) {
    std::vector<analysis::UpgradeLayer> layers = u.layers;
    std::stable_sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) {
        return a.share_of_from > b.share_of_from;
    });
    layers.resize(std::min(layers.size(), most));
    return layers;
}

std::string headline(const analysis::Upgrade& u) {
    return fmt::format("{} from {} to {}: {:.2f}x as fast ({:.2f}x to {:.2f}x), {}", u.network,
                       u.from, u.to, u.speedup.value, u.speedup.low, u.speedup.high,
                       analysis::verdict_name(u.verdict));
}

std::string reason(const analysis::Upgrade& u) {
    if (u.verdict == analysis::UpgradeVerdict::unpriced) {
        return "no prices: give --from-per-hour and --to-per-hour, or --threshold";
    }
    if (!u.unfit.empty()) {
        return u.unfit;
    }
    if (!std::isfinite(u.threshold)) {
        return fmt::format("no speedup is enough ({})", u.threshold_basis);
    }
    return fmt::format("threshold {:.2f} ({}), chance of being wrong {}", u.threshold,
                       u.threshold_basis, analysis::chance_text(u.probability_wrong));
}

std::string steps_text(const analysis::Upgrade& u) {
    if (u.from_step.device_s <= 0.0) {
        return "";
    }
    const auto side = [](const analysis::StepSide& s) {
        const std::string device = format_si(s.device_s, "s");
        if (s.host_s <= 0.0) { // one layer alone, whose call is in its time, or kernels alone
            return device + ", no CPU launch overhead";
        }
        return fmt::format("kernels {}, CPU launch overhead {}{}", device, format_si(s.host_s, "s"),
                           s.host.empty() ? "" : " on " + s.host);
    };
    std::string text =
        fmt::format("  {}: {}\n  {}: {}\n", u.from, side(u.from_step), u.to, side(u.to_step));
    return text;
}

// How far such predictions lay off, and, apart from it, that few families were measured.
std::string error_text(const analysis::Upgrade& u) {
    constexpr int kFewFamilies = 5;
    if (u.error.families == 0) {
        return "";
    }
    std::string text = fmt::format("  Mean error on families of {} that were held out: {:.0f} % "
                                   "(median baseline: {:.0f} %).\n",
                                   u.kind, 100.0 * u.error.mape, 100.0 * u.error.guess_mape);
    if (u.error.families < kFewFamilies) {
        text +=
            fmt::format("  Only {} families of {} were measured; the interval accounts for it.\n",
                        u.error.families, u.kind);
    }
    return text;
}

std::string money_text(const analysis::Upgrade& u) {
    const analysis::UpgradeMoney& m = u.money;
    std::string text;
    if (m.priced) {
        text += fmt::format(
            "  hour: ${:.2f} -> ${:.2f}; run: ${:.3g} -> ${:.3g}; breaks even {}\n",
            m.from_usd_per_hour, m.to_usd_per_hour, m.from_usd_per_run, m.to_usd_per_run,
            std::isfinite(m.break_even_speedup) ? fmt::format("at {:.2f}x", m.break_even_speedup)
                                                : "at no speedup");
    }
    if (m.break_even_months) {
        text += fmt::format("  bought: breaks even after {:.1f} months at {:.0f} % use, or at "
                            "{:.0f} % use over {:g} years\n",
                            *m.break_even_months, 100.0 * m.utilization,
                            100.0 * *m.break_even_utilization, m.years);
    }
    if (m.owned_usd_per_hour && m.host_usd_per_month > 0.0) {
        text += fmt::format(
            "  owned: ${:.2f} per hour of use, including ${:.0f} per month for the host\n",
            *m.owned_usd_per_hour, m.host_usd_per_month);
    }
    for (const auto& [what, source] : {std::pair{u.from.c_str(), &m.from_price_source},
                                       {u.to.c_str(), &m.to_price_source},
                                       {"purchase", &m.buy_source}}) {
        text += source->empty() ? "" : fmt::format("  price, {}: {}\n", what, *source);
    }
    const auto joules = [](const std::optional<double>& amount) {
        return amount ? format_si(*amount, "J") : std::string("unknown");
    };
    text += fmt::format("  energy: {} -> {} per run\n", joules(m.from_joules), joules(m.to_joules));
    if (m.to_joules && u.to_model_s > 0.0 && u.to_s > 0.0 && u.to_s != u.to_model_s) {
        text += fmt::format("    {} on {} by the model alone, as in exam\n", // else it is exam's
                            joules(*m.to_joules * u.to_model_s / u.to_s), u.to);
    }
    return text;
}

std::string need_text(const analysis::MemoryNeed& need, double bytes) {
    return fmt::format("{} of {} ({})", format_si(need.total(), "B"), format_si(bytes, "B"),
                       need.total() <= bytes ? "fits" : "does not fit");
}

std::string memory_text(const analysis::Upgrade& u) {
    const analysis::MemoryNeed& n = u.memory.from_need;
    if (n.total() <= 0.0) {
        return ""; // of a fleet: its members say it
    }
    std::string text =
        fmt::format("  memory: {} on {}, {} on {}\n", need_text(n, u.memory.from_bytes), u.from,
                    need_text(u.memory.to_need, u.memory.to_bytes), u.to);
    text += fmt::format("    weights {}, activations {}", format_si(n.weights, "B"),
                        format_si(n.activations, "B"));
    if (n.workspace > 0.0) {
        text += fmt::format(", workspace {}", format_si(n.workspace, "B"));
    }
    if (n.gradients + n.optimizer > 0.0) {
        text += fmt::format(", gradients {}, optimizer {}", format_si(n.gradients, "B"),
                            format_si(n.optimizer, "B"));
    }
    return text + "\n";
}

std::string dtype_or_own(const std::string& dtype) {
    return dtype.empty() ? "as given" : dtype;
}

std::string members_text(const analysis::Upgrade& u) {
    std::string text;
    for (std::size_t i = 0; i < u.members.size(); ++i) {
        const analysis::Upgrade& m = u.members[i];
        text += fmt::format(
            "  {:>4.0f} % of the old time: {:<20} {:.2f}x as fast ({:.2f}x to {:.2f}x)\n",
            100.0 * u.weights[i], m.network, m.speedup.value, m.speedup.low, m.speedup.high);
    }
    return text;
}

std::string layer_name(const analysis::UpgradeLayer& l) {
    return l.network.empty() ? l.name : l.network + "/" + l.name;
}

} // namespace

std::string upgrade_sweep_text(const analysis::Upgrade& u) {
    if (u.sweep.empty()) {
        return "";
    }
    std::string text =
        fmt::format("\n{:>7}  {:<9} {:<9} {:>11} {:>11} {:>7}  {:<15} {}\n", "batch", "old type",
                    "new type", "old", "new", "speedup", "80 % interval", "verdict");
    for (const analysis::SweepPoint& p : u.sweep) {
        text += fmt::format("{:>7}  {:<9} {:<9} {:>11} {:>11} {:>6.2f}x  {:<15} {}{}\n", p.batch,
                            dtype_or_own(p.from_dtype), dtype_or_own(p.to_dtype),
                            format_si(p.from_s, "s"), format_si(p.to_s, "s"), p.speedup.value,
                            fmt::format("{:.2f} to {:.2f}", p.speedup.low, p.speedup.high),
                            analysis::verdict_name(p.verdict),
                            !p.from_fits ? " (does not fit the old GPU)"
                            : !p.to_fits ? " (does not fit the new GPU)"
                                         : "");
    }
    return text;
}

std::string upgrade_categories_text(const analysis::Upgrade& u) {
    if (u.categories.empty()) {
        return {};
    }
    const auto span = [](const analysis::Interval& i, const char* unit) {
        return *unit == 'x' ? fmt::format("{:.2f}x ({:.2f} to {:.2f})", i.value, i.low, i.high)
                            : fmt::format("{} ({} to {})", format_si(i.value, unit),
                                          format_si(i.low, unit), format_si(i.high, unit));
    };
    std::string text = fmt::format("\nkernels on {}, given what {} measured, and by prediction "
                                   "alone (80 % intervals)\n",
                                   u.to, u.from);
    text += fmt::format("{:<16}{:>12}  {:<34}{:<26}{}\n", "category", "measured", "given the trace",
                        "speedup", "prediction alone");
    for (const analysis::UpgradeCategory& row : u.categories) {
        text +=
            fmt::format("{:<16}{:>12}  {:<34}{:<26}{}\n", row.name, format_si(row.from_s, "s"),
                        span(row.to_s, "s"), span(row.speedup, "x"), span(row.predicted_s, "s"));
    }
    return text;
}

std::string upgrade_text(const analysis::Upgrade& u) {
    std::string text = headline(u) + "\n  " + u.run + "\n  " + reason(u) + "\n" + members_text(u);
    text += fmt::format("  time of {}: {} -> {}\n",
                        u.members.empty() ? "one run" : "one old GPU-hour of work",
                        format_si(u.from_s, "s"), format_si(u.to_s, "s"));
    text += steps_text(u) + error_text(u) + money_text(u) + memory_text(u);
    for (const std::string& note : u.notes) {
        text += "  " + note + "\n";
    }
    text += upgrade_sweep_text(u) + upgrade_categories_text(u);
    if (u.layers.empty()) { // of a network that is divided
        return text;
    }
    text += fmt::format("\n{:<24} {:>6} {:>6} {:>7}  {:<20} {:<20} {}\n", "layer", "count", "share",
                        "speedup", "old limit", "new limit", "limiting factor");
    for (const analysis::UpgradeLayer& l : longest(u, kShownLayers)) {
        text += fmt::format("{:<24} {:>6} {:>5.1f}% {:>6.2f}x  {:<20} {:<20} {}\n", layer_name(l),
                            l.count, 100.0 * l.share_of_from, l.speedup, l.from_limiter,
                            l.to_limiter, l.why);
    }
    return text;
}

} // namespace eyeroof::report
