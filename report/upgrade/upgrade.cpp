// The upgrade's verdict as text, JSON, CSV and Markdown.
#include "report/upgrade/upgrade.hpp"

#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
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
    text += fmt::format("  energy at the power limit: {} -> {} per run\n",
                        format_si(m.from_joules, "J"), format_si(m.to_joules, "J"));
    if (u.to_model_s > 0.0 && u.to_s > 0.0 && u.to_s != u.to_model_s) { // else it is exam's
        text += fmt::format("    {} on {} by the model alone, as in exam\n",
                            format_si(m.to_joules * u.to_model_s / u.to_s, "J"), u.to);
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

Json need_json(const analysis::MemoryNeed& n, double bytes) {
    return {{"weights_bytes", n.weights},
            {"activations_bytes", n.activations},
            {"gradients_bytes", n.gradients},
            {"optimizer_bytes", n.optimizer},
            {"workspace_bytes", n.workspace},
            {"total_bytes", n.total()},
            {"gpu_bytes", bytes},
            {"fits", n.total() <= bytes}};
}

Json interval_json(const analysis::Interval& i) {
    return {{"value", i.value}, {"low", i.low}, {"high", i.high}};
}

Json step_json(const analysis::StepSide& s) {
    return {{"host_s", s.host_s}, {"device_s", s.device_s}, {"host", s.host}};
}

Json error_json(const analysis::Upgrade& u) {
    return {{"kind", u.kind},
            {"families", u.error.families},
            {"rows", u.error.rows},
            {"mape", u.error.mape},
            {"bandwidth_ratio_mape", u.error.sheet_mape},
            {"median_guess_mape", u.error.guess_mape},
            {"better_than_data_sheets", u.error.beats_sheets()}};
}

Json assumptions_json(const analysis::Upgrade& u) {
    Json all = Json::array();
    for (const analysis::Assumption& a : u.assumptions) {
        all.push_back({{"assumed", a.what}, {"instead", a.instead}, {"speedup", a.speedup}});
    }
    return all;
}

void add_more_json(const analysis::Upgrade& u, Json& json) {
    if (u.memory.from_need.total() > 0.0) {
        json["memory"] = {{"from", need_json(u.memory.from_need, u.memory.from_bytes)},
                          {"to", need_json(u.memory.to_need, u.memory.to_bytes)}};
    }
    json["sweep"] = Json::array();
    for (const analysis::SweepPoint& p : u.sweep) {
        json["sweep"].push_back({{"batch", p.batch},
                                 {"from_dtype", p.from_dtype},
                                 {"to_dtype", p.to_dtype},
                                 {"from_s", p.from_s},
                                 {"to_s", p.to_s},
                                 {"speedup", interval_json(p.speedup)},
                                 {"verdict", std::string(analysis::verdict_name(p.verdict))},
                                 {"probability_wrong", p.probability_wrong},
                                 {"from_fits", p.from_fits},
                                 {"to_fits", p.to_fits}});
    }
    json["networks"] = Json::array();
    for (std::size_t i = 0; i < u.members.size(); ++i) {
        const analysis::Upgrade& m = u.members[i];
        json["networks"].push_back({{"network", m.network},
                                    {"share_of_from", u.weights[i]},
                                    {"from_s", m.from_s},
                                    {"to_s", m.to_s},
                                    {"speedup", interval_json(m.speedup)},
                                    {"verdict", std::string(analysis::verdict_name(m.verdict))}});
    }
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

std::string upgrade_json(const analysis::Upgrade& u) {
    const analysis::UpgradeMoney& m = u.money;
    Json money = {{"priced", m.priced},
                  {"from_usd_per_hour", m.from_usd_per_hour},
                  {"to_usd_per_hour", m.to_usd_per_hour},
                  {"break_even_speedup", m.break_even_speedup},
                  {"from_usd_per_run", m.from_usd_per_run},
                  {"to_usd_per_run", m.to_usd_per_run},
                  {"from_joules", m.from_joules},
                  {"to_joules", m.to_joules},
                  {"from_price_source", m.from_price_source},
                  {"to_price_source", m.to_price_source},
                  {"buy_source", m.buy_source},
                  {"utilization", m.utilization}};
    money["break_even_months"] = m.break_even_months ? Json(*m.break_even_months) : Json(nullptr);
    money["break_even_utilization"] =
        m.break_even_utilization ? Json(*m.break_even_utilization) : Json(nullptr);
    money["owned_usd_per_hour"] =
        m.owned_usd_per_hour ? Json(*m.owned_usd_per_hour) : Json(nullptr);
    Json json = {
        {"schema", "eyeroof/upgrade/1"},
        {"network", u.network},
        {"from", u.from},
        {"to", u.to},
        {"from_s", u.from_s},
        {"to_s", u.to_s},
        {"speedup", {{"value", u.speedup.value}, {"low", u.speedup.low}, {"high", u.speedup.high}}},
        {"run", u.run},
        {"steps", {{"from", step_json(u.from_step)}, {"to", step_json(u.to_step)}}},
        {"whole_networks", error_json(u)},
        {"assumptions", assumptions_json(u)},
        {"verdict", std::string(analysis::verdict_name(u.verdict))},
        {"threshold", u.threshold},
        {"threshold_basis", u.threshold_basis},
        {"probability_wrong", u.probability_wrong},
        {"bound_share", u.bound_share},
        {"money", money},
        {"layers", Json::array()},
        {"notes", u.notes}};
    add_more_json(u, json);
    for (const analysis::UpgradeCategory& row : u.categories) {
        json["categories"].push_back({{"name", row.name},
                                      {"from_s", row.from_s},
                                      {"to_s", interval_json(row.to_s)},
                                      {"speedup", interval_json(row.speedup)},
                                      {"predicted_s", interval_json(row.predicted_s)}});
    }
    for (const analysis::UpgradeLayer& l : u.layers) {
        json["layers"].push_back({{"name", l.name},
                                  {"network", l.network.empty() ? u.network : l.network},
                                  {"op", l.op},
                                  {"count", l.count},
                                  {"from_s", l.from_s},
                                  {"to_s", l.to_s},
                                  {"speedup", l.speedup},
                                  {"share_of_from", l.share_of_from},
                                  {"from_limiter", l.from_limiter},
                                  {"to_limiter", l.to_limiter},
                                  {"why_not_more", l.why}});
    }
    return json_document(json);
}

std::string upgrade_csv(const analysis::Upgrade& u) {
    if (!u.sweep.empty()) {
        std::string sweep = "batch,from_dtype,to_dtype,from_s,to_s,speedup,low,high,verdict,"
                            "probability_wrong,from_fits,to_fits\n";
        for (const analysis::SweepPoint& p : u.sweep) {
            sweep += fmt::format("{},{},{},{},{},{:.4f},{:.4f},{:.4f},{},{:.4f},{},{}\n", p.batch,
                                 p.from_dtype, p.to_dtype, p.from_s, p.to_s, p.speedup.value,
                                 p.speedup.low, p.speedup.high, analysis::verdict_name(p.verdict),
                                 p.probability_wrong, p.from_fits, p.to_fits);
        }
        return sweep;
    }
    std::string text = "layer,op,count,from_s,to_s,speedup,share_of_from,from_limiter,to_limiter\n";
    for (const analysis::UpgradeLayer& l : u.layers) {
        text += fmt::format("{},{},{},{},{},{:.4f},{:.5f},{},{}\n", csv_quoted(layer_name(l)), l.op,
                            l.count, l.from_s, l.to_s, l.speedup, l.share_of_from,
                            csv_quoted(l.from_limiter), csv_quoted(l.to_limiter));
    }
    return text;
}

std::string upgrade_markdown(const analysis::Upgrade& u) {
    std::string text = fmt::format("**{}**\n\n{}\n\n", headline(u), reason(u));
    for (std::size_t i = 0; i < u.members.size(); ++i) {
        const analysis::Upgrade& m = u.members[i];
        text += fmt::format("- {:.0f} % of the old time: {}, {:.2f} ({:.2f} to {:.2f})\n",
                            100.0 * u.weights[i], m.network, m.speedup.value, m.speedup.low,
                            m.speedup.high);
    }
    if (!u.sweep.empty()) {
        text += "| batch | old type | new type | speedup | 80 % interval | verdict |\n| ---: | --- "
                "| --- | ---: | --- | --- |\n";
        for (const analysis::SweepPoint& p : u.sweep) {
            text +=
                fmt::format("| {} | {} | {} | {:.2f} | {:.2f} to {:.2f} | {} |\n", p.batch,
                            dtype_or_own(p.from_dtype), dtype_or_own(p.to_dtype), p.speedup.value,
                            p.speedup.low, p.speedup.high, analysis::verdict_name(p.verdict));
        }
    }
    text += u.members.empty() && u.sweep.empty() ? "" : "\n";
    text += "| layer | share | speedup | old limit | new limit | limiting factor |\n| --- | ---: | "
            "---: | --- | --- | --- |\n";
    for (const analysis::UpgradeLayer& l : longest(u, kShownLayers)) {
        text +=
            fmt::format("| {} | {:.1f} % | {:.2f} | {} | {} | {} |\n", markdown_cell(layer_name(l)),
                        100.0 * l.share_of_from, l.speedup, l.from_limiter, l.to_limiter, l.why);
    }
    return text;
}

} // namespace eyeroof::report
