#include "cli/what_would_help.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::cli {

namespace {

std::string gain_text(double speedup) {
    return speedup < analysis::kHelps ? "-" : fmt::format("{:.3f}x", speedup);
}

std::string next_text(const analysis::ParameterHelp& p) {
    return p.next ? fmt::format("{} ({})", *p.next, gain_text(p.with_next)) : "none tried";
}

// "step 6, average bandwidth: 12 ms, 1.31x"; empty where it saves nothing.
std::string step_text(const analysis::Helps& helps, std::size_t k) {
    const double speedup = helps.without[k] > 0.0 ? helps.time_s / helps.without[k] : 1.0;
    return speedup < analysis::kHelps
               ? std::string()
               : fmt::format("step {}, {}: {}, {:.3f}x", k + 1, model::kStepNames[k],
                             format_si(helps.without[k], "s"), speedup);
}

constexpr const char* kBasis = "under the exam's mappings, or better ones of a short search";

} // namespace

std::string helps_text(const analysis::Helps& helps) {
    std::string text =
        fmt::format("\nwhat would help, {} ({} as it is)\n", kBasis, format_si(helps.time_s, "s"));
    text += fmt::format("  {:<28} {:>14} {:>9} {:>9}  {}\n", "parameter (--set)", "now", "+10 %",
                        "x2", "next value that helps");
    for (const analysis::ParameterHelp& p : helps.parameters) {
        text += fmt::format("  {:<28} {:>14} {:>9} {:>9}  {}\n", p.key, p.now, gain_text(p.tenth),
                            gain_text(p.doubled), next_text(p));
    }
    text += "potential savings if one step were ideal\n";
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        const std::string line = step_text(helps, k);
        text += line.empty() ? "" : "  " + line + "\n";
    }
    return text;
}

std::string helps_markdown(const analysis::Helps& helps) {
    std::string text = fmt::format("\n## What would help\n\nSpeed-ups of the whole, {}.\n\n"
                                   "| parameter | now | +10 % | x2 | next value that helps |\n"
                                   "|---|--:|--:|--:|---|\n",
                                   kBasis);
    for (const analysis::ParameterHelp& p : helps.parameters) {
        text += fmt::format("| {} | {} | {} | {} | {} |\n", p.key, p.now, gain_text(p.tenth),
                            gain_text(p.doubled), next_text(p));
    }
    text += "\nPotential savings if one step were ideal:\n\n";
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        const std::string line = step_text(helps, k);
        text += line.empty() ? "" : "- " + line + "\n";
    }
    return text;
}

nlohmann::ordered_json helps_json(const analysis::Helps& helps) {
    auto parameters = nlohmann::ordered_json::array();
    for (const analysis::ParameterHelp& p : helps.parameters) {
        parameters.push_back({{"key", p.key},
                              {"name", p.name},
                              {"now", p.now},
                              {"speedup_tenth", p.tenth},
                              {"speedup_doubled", p.doubled}});
        if (p.next) {
            parameters.back()["next"] = *p.next;
            parameters.back()["speedup_next"] = p.with_next;
        }
    }
    auto steps = nlohmann::ordered_json::array();
    for (std::size_t k = 0; k < model::kSteps; ++k) {
        steps.push_back({{"step", k + 1}, {"time_without_s", helps.without[k]}});
    }
    return {{"time_s", helps.time_s},
            {"parameters", std::move(parameters)},
            {"steps", std::move(steps)}};
}

} // namespace eyeroof::cli
