// The upgrade's verdict as text, JSON, CSV and Markdown.
#include "study/upgrade.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::study {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kShownLayers = 12;

std::vector<UpgradeLayer> longest(const Upgrade& u, std::size_t most) {
    std::vector<UpgradeLayer> layers = u.layers;
    std::stable_sort(layers.begin(), layers.end(), [](const auto& a, const auto& b) {
        return a.share_of_from > b.share_of_from;
    });
    layers.resize(std::min(layers.size(), most));
    return layers;
}

std::string headline(const Upgrade& u) {
    return fmt::format("{} from {} to {}: {:.2f} times faster ({:.2f} to {:.2f}), {}", u.network,
                       u.from, u.to, u.speedup.value, u.speedup.low, u.speedup.high,
                       verdict_name(u.verdict));
}

std::string reason(const Upgrade& u) {
    return fmt::format("threshold {:.2f} ({}), chance of being wrong {:.0f} %", u.threshold,
                       u.threshold_basis, 100.0 * u.probability_wrong);
}

std::string money_text(const Upgrade& u) {
    const UpgradeMoney& m = u.money;
    std::string text;
    if (m.priced) {
        text += fmt::format("  hour: ${:.2f} -> ${:.2f}; run: ${:.3g} -> ${:.3g}; breaks even at "
                            "{:.2f} times\n",
                            m.from_usd_per_hour, m.to_usd_per_hour, m.from_usd_per_run,
                            m.to_usd_per_run, m.break_even_speedup);
    }
    if (m.break_even_months) {
        text += fmt::format("  bought: breaks even after {:.1f} months of full use, or {:.0f} % "
                            "use over three years\n",
                            *m.break_even_months, 100.0 * *m.break_even_utilization);
    }
    return text + fmt::format("  energy at the power limits: {:.3g} J -> {:.3g} J a run\n",
                              m.from_joules, m.to_joules);
}

} // namespace

std::string upgrade_text(const Upgrade& u) {
    std::string text = headline(u) + "\n  " + reason(u) + "\n";
    text += fmt::format("  time of one run: {:.4g} s -> {:.4g} s\n", u.from_s, u.to_s);
    text += money_text(u);
    for (const std::string& note : u.notes) {
        text += "  " + note + "\n";
    }
    text += fmt::format("\n{:<24} {:>6} {:>6} {:>7}  {:<20} {:<20} {}\n", "layer", "count", "share",
                        "faster", "old limit", "new limit", "why not more");
    for (const UpgradeLayer& l : longest(u, kShownLayers)) {
        text +=
            fmt::format("{:<24} {:>6} {:>5.1f}% {:>6.2f}x  {:<20} {:<20} {}\n", l.name, l.count,
                        100.0 * l.share_of_from, l.speedup, l.from_limiter, l.to_limiter, l.why);
    }
    return text;
}

std::string upgrade_json(const Upgrade& u) {
    const UpgradeMoney& m = u.money;
    Json money = {{"priced", m.priced},
                  {"from_usd_per_hour", m.from_usd_per_hour},
                  {"to_usd_per_hour", m.to_usd_per_hour},
                  {"break_even_speedup", m.break_even_speedup},
                  {"from_usd_per_run", m.from_usd_per_run},
                  {"to_usd_per_run", m.to_usd_per_run},
                  {"from_joules", m.from_joules},
                  {"to_joules", m.to_joules}};
    money["break_even_months"] = m.break_even_months ? Json(*m.break_even_months) : Json(nullptr);
    money["break_even_utilization"] =
        m.break_even_utilization ? Json(*m.break_even_utilization) : Json(nullptr);
    Json json = {
        {"schema", "eyeroof/upgrade/1"},
        {"network", u.network},
        {"from", u.from},
        {"to", u.to},
        {"from_s", u.from_s},
        {"to_s", u.to_s},
        {"speedup", {{"value", u.speedup.value}, {"low", u.speedup.low}, {"high", u.speedup.high}}},
        {"verdict", std::string(verdict_name(u.verdict))},
        {"threshold", u.threshold},
        {"threshold_basis", u.threshold_basis},
        {"probability_wrong", u.probability_wrong},
        {"bound_share", u.bound_share},
        {"money", money},
        {"layers", Json::array()},
        {"notes", u.notes}};
    for (const UpgradeLayer& l : u.layers) {
        json["layers"].push_back({{"name", l.name},
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
    return json.dump(2) + "\n";
}

std::string upgrade_csv(const Upgrade& u) {
    std::string text = "layer,op,count,from_s,to_s,speedup,share_of_from,from_limiter,to_limiter\n";
    for (const UpgradeLayer& l : u.layers) {
        text +=
            fmt::format("\"{}\",{},{},{},{},{:.4f},{:.5f},{},{}\n", l.name, l.op, l.count, l.from_s,
                        l.to_s, l.speedup, l.share_of_from, l.from_limiter, l.to_limiter);
    }
    return text;
}

std::string upgrade_markdown(const Upgrade& u) {
    std::string text = fmt::format("**{}**\n\n{}\n\n", headline(u), reason(u));
    text += "| layer | share | speed-up | old limit | new limit | why not more |\n"
            "| --- | ---: | ---: | --- | --- | --- |\n";
    for (const UpgradeLayer& l : longest(u, kShownLayers)) {
        text +=
            fmt::format("| {} | {:.1f} % | {:.2f} | {} | {} | {} |\n", l.name,
                        100.0 * l.share_of_from, l.speedup, l.from_limiter, l.to_limiter, l.why);
    }
    return text;
}

} // namespace eyeroof::study
