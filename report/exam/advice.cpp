// Advice as text, Markdown and a member of the report's JSON.
#include "report/exam/advice.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

namespace {

std::string saving(const analysis::Advice& a) {
    return a.saved_s > 0.0 ? fmt::format(" [saves {}]", format_si(a.saved_s, "s")) : "";
}

// Changes of the scenario that win something, largest gain first.
std::vector<const analysis::step::Outcome*> worth_saying(const analysis::WhatHelps& advice) {
    std::vector<const analysis::step::Outcome*> found;
    for (const analysis::step::Outcome& change : advice.changes) {
        if (change.gain >= analysis::kWorthSaying) {
            found.push_back(&change);
        }
    }
    return found;
}

std::string change_line(const analysis::step::Outcome& change) {
    return analysis::change_text(change) + (change.fits ? "" : ", does not fit");
}

} // namespace

std::string advice_text(const analysis::WhatHelps& advice) {
    std::string text;
    for (const auto* change : worth_saying(advice)) {
        text +=
            (text.empty() ? "\nwhat would help, the whole step examined with each change\n" : "") +
            fmt::format("  {}\n", change_line(*change));
    }
    if (advice.shapes.empty()) {
        return text + "\nadvice: no change of shape wins 2 %\n";
    }
    text += "\nadvice, each gain from examining the changed shape\n";
    for (const analysis::Advice& a : advice.shapes) {
        text += fmt::format("  {} ({}): {}{}\n", a.layer, analysis::advice_name(a.kind), a.text,
                            saving(a));
    }
    return text;
}

std::string advice_markdown(const analysis::WhatHelps& advice) {
    std::string text = "\n## Advice\n\n";
    for (const auto* change : worth_saying(advice)) {
        text += fmt::format("- {}\n", change_line(*change));
    }
    for (const analysis::Advice& a : advice.shapes) {
        text += fmt::format("- **{}** ({}): {}{}\n", a.layer, analysis::advice_name(a.kind), a.text,
                            saving(a));
    }
    return advice.shapes.empty() ? text + "\nNo change of shape wins 2 %.\n" : text;
}

nlohmann::ordered_json advice_json(const analysis::WhatHelps& advice) {
    nlohmann::ordered_json json;
    json["changes"] = nlohmann::ordered_json::array();
    for (const analysis::step::Outcome& change : advice.changes) {
        json["changes"].push_back({{"remedies", analysis::step::remedies_of(change.combination)},
                                   {"time_s", change.time_s},
                                   {"gain", change.gain},
                                   {"peak_bytes", change.peak},
                                   {"fits", change.fits}});
    }
    json["advice"] = nlohmann::ordered_json::array();
    for (const analysis::Advice& a : advice.shapes) {
        json["advice"].push_back(
            {{"kind", std::string(analysis::advice_name(a.kind))},
             {"layer", a.layer},
             {"dimension", a.dimension},
             {"from", a.from},
             {"to", a.to},
             {"now_s", a.now_s},
             {"then_s", a.then_s},
             {"gain", a.gain},
             {"saved_s", a.saved_s},
             {"gain_before_cublas_11",
              a.old_gain > 0.0 ? nlohmann::ordered_json(a.old_gain) : nlohmann::ordered_json()},
             {"gradients_only", a.gradients_only},
             {"text", a.text}});
    }
    return json;
}

} // namespace eyeroof::report
