// What a session asks of the engines, and the command line that draws it.
#include "analysis/scenario/fields.hpp"
#include "base/shell.hpp"
#include "report/session/session.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

std::string each(const char* option, const std::vector<std::string>& values) {
    std::string words;
    for (const std::string& value : values) {
        words += fmt::format(" {} {}", option, shell_quoted(value));
    }
    return words;
}

std::string range(const char* option, const std::optional<LogRange>& range) {
    return range ? fmt::format(" {} {}:{}", option, range->min, range->max) : "";
}

// The scenario's fields as options, but for the network and the machine.
std::string options_of(const analysis::Scenario& scenario) {
    const analysis::Scenario usual;
    std::string line;
    for (const analysis::ScenarioField& field : analysis::scenario_fields()) {
        const auto values = field.get(scenario);
        const bool named = field.name == "network" || field.name == "on";
        if (named || values == field.get(usual)) {
            continue;
        }
        line += field.kind == analysis::FieldKind::flag ? " --" + field.name
                                                        : each(("--" + field.name).c_str(), values);
    }
    return line;
}

std::string inputs(const Session& session) {
    const std::string& network = session.scenario.network;
    std::string line = network.empty() ? "" : " " + shell_quoted(network);
    line += each("--on", session.machines) + each("--profile", session.profiles) +
            each("--ceilings", session.ceilings);
    if (!session.assignments.empty()) {
        line += " --assign " + shell_quoted(session.assignments);
    }
    return line + options_of(session.scenario);
}

std::string points(const ViewState& view) {
    std::string line;
    if (!view.filter.empty()) {
        line += " --filter " + shell_quoted(view.filter);
    }
    if (view.top) {
        line += fmt::format(" --top {}", *view.top);
    }
    if (view.top_share) {
        line += fmt::format(" --top-share {}", 100.0 * *view.top_share);
    }
    line += std::string(view.predicted ? "" : " --hide predicted") +
            (view.measured ? "" : " --hide measured");
    return line + each("--select", {view.selection.begin(), view.selection.end()});
}

std::string picture(const ViewState& view) {
    std::string line;
    if (!view.level.empty()) {
        line += " --level " + shell_quoted(view.level);
    }
    if (view.roofs) {
        line += view.roofs->empty() ? " --roof none"
                                    : each("--roof", {view.roofs->begin(), view.roofs->end()});
    }
    line += range("--x-range", view.x) + range("--y-range", view.y);
    for (const auto& [word, by] : kColourBy) {
        if (by == view.colour_by && by != ColourBy::automatic) {
            line += std::string(" --color-by ") + word;
        }
    }
    line += view.zones ? " --zones" : "";
    return line + (view.labels ? "" : " --no-labels") +
           (view.theme == Theme::dark ? " --theme dark" : "");
}

} // namespace

analysis::Scenario scenario_on(const Session& session, std::size_t machine) {
    analysis::Scenario scenario = session.scenario;
    scenario.machine =
        machine < session.machines.size() ? session.machines[machine] : std::string();
    if (machine > 0) {
        scenario.changes.clear();
    }
    return scenario;
}

std::string cli_command(const Session& session) {
    // no option takes the text of a mapping, or a list of points
    const ViewState& view = session.view;
    if (!session.mappings.empty() || !view.hidden.empty() || !view.only.empty() ||
        !view.hidden_machines.empty() || !view.hidden_series.empty()) {
        return "eyeroof roofline --session - -o roofline.svg <<'END OF SESSION'\n" +
               write_session(session) + "END OF SESSION";
    }
    return "eyeroof roofline" + inputs(session) + points(session.view) + picture(session.view) +
           " -o roofline.svg";
}

} // namespace eyeroof::report
