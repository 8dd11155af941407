// What a session asks of the engines, and the command line that draws it.
#include "study/app/session.hpp"
#include "study/exam/launch_names.hpp"
#include "study/text/shell.hpp"

#include <fmt/format.h>

namespace eyeroof::study {

namespace {

constexpr std::uint64_t kNodesOfBest = 1'500'000;

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

std::string inputs(const Session& session) {
    std::string line = session.network.empty() ? "" : " " + shell_quoted(session.network);
    line += each("--on", session.machines) + each("--profile", session.profiles) +
            each("--ceilings", session.ceilings);
    if (!session.assignments.empty()) {
        line += " --assign " + shell_quoted(session.assignments);
    }
    if (session.batch) {
        line += fmt::format(" --batch {}", *session.batch);
    }
    if (!session.data_type.empty()) {
        line += " --dtype " + session.data_type;
    }
    if (session.mapping != MappingPolicy::automatic) {
        line += session.mapping == MappingPolicy::best ? " --mapping best" : " --mapping dataflow";
    }
    if (session.phase != "inference") {
        line += " --phase training --optimizer " + session.phase;
    }
    if (session.launch != LaunchMode::stream) {
        line += " --launch " + std::string(launch_name(session.launch));
    }
    return line + each("--set", session.set);
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
    if (view.colour_by != ColourBy::automatic) {
        line +=
            view.colour_by == ColourBy::machine ? " --colour-by machine" : " --colour-by limiter";
    }
    return line + (view.labels ? "" : " --no-labels") +
           (view.theme == Theme::dark ? " --theme dark" : "");
}

} // namespace

std::uint64_t usual_search_nodes(MappingPolicy policy) {
    return policy == MappingPolicy::best ? kNodesOfBest : StudyOptions{}.search_nodes;
}

StudyOptions study_options(const Session& session) {
    StudyOptions options;
    options.batch = session.batch;
    options.data_type = model::data_type_from_name(session.data_type);
    options.policy = session.mapping;
    options.launch = session.launch;
    if (session.phase != "inference") {
        options.training = TrainingOptions{session.phase};
    }
    options.search_nodes = usual_search_nodes(session.mapping);
    return options;
}

std::string cli_command(const Session& session) {
    // no option takes the text of a mapping, or a list of points
    const ViewState& view = session.view;
    if (!session.mappings.empty() || !view.hidden.empty() || !view.only.empty() ||
        !view.hidden_machines.empty()) {
        return "eyeroof roofline --session - -o roofline.svg <<'END OF SESSION'\n" +
               write_session(session) + "END OF SESSION";
    }
    return "eyeroof roofline" + inputs(session) + points(session.view) + picture(session.view) +
           " -o roofline.svg";
}

} // namespace eyeroof::study
