// Advice as text, Markdown and a member of the report's JSON.
#include "report/exam/advice.hpp"

#include "analysis/upgrade/advice.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

std::string saving(const analysis::Advice& a) {
    return a.saved_s > 0.0 ? fmt::format(" [saves {}]", format_si(a.saved_s, "s")) : "";
}

} // namespace

std::string advice_text(const std::vector<analysis::Advice>& advice) {
    std::string text = "\nadvice, each gain from examining the changed shape\n";
    for (const analysis::Advice& a : advice) {
        text += fmt::format("  {} ({}): {}{}\n", a.layer, analysis::advice_name(a.kind), a.text,
                            saving(a));
    }
    return advice.empty() ? "\nadvice: no change of shape wins 2 %\n" : text;
}

std::string advice_markdown(const std::vector<analysis::Advice>& advice) {
    std::string text = "\n## Advice\n\n";
    for (const analysis::Advice& a : advice) {
        text += fmt::format("- **{}** ({}): {}{}\n", a.layer, analysis::advice_name(a.kind), a.text,
                            saving(a));
    }
    return advice.empty() ? text + "No change of shape wins 2 %.\n" : text;
}

std::string with_advice(const std::string& report_json,
                        const std::vector<analysis::Advice>& advice) {
    auto json = nlohmann::ordered_json::parse(report_json);
    json["advice"] = nlohmann::ordered_json::array();
    for (const analysis::Advice& a : advice) {
        json["advice"].push_back({{"kind", std::string(analysis::advice_name(a.kind))},
                                  {"layer", a.layer},
                                  {"dimension", a.dimension},
                                  {"from", a.from},
                                  {"to", a.to},
                                  {"now_s", a.now_s},
                                  {"then_s", a.then_s},
                                  {"gain", a.gain},
                                  {"saved_s", a.saved_s},
                                  {"gradients_only", a.gradients_only},
                                  {"text", a.text}});
    }
    return json.dump(2) + "\n";
}

} // namespace eyeroof::report
