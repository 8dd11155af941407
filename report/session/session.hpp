// A session: a scenario on several machines, its measurements, and the view. Paths are kept
// relative to the session's file. YAML, "eyeroof: session/2"; files of version 1 are read too.
// Saved and opened by the window; drawn by the command line.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "analysis/search/mapping_edit.hpp"
#include "analysis/upgrade/question.hpp"
#include "base/result.hpp"
#include "report/draw/view_state.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::report {

struct Session {
    // What is asked of each machine. Its network is a name of the catalog or a path (empty: none);
    // its machine and its changes are the first's.
    analysis::Scenario scenario;
    std::vector<std::string>
        machines; // names of the catalog, or paths; the first is the scenario's
    std::vector<std::string> profiles; // of the first machine
    std::vector<std::string> ceilings; // measured; of the first machine
    std::string assignments;           // of kernels to layers by hand: a file; empty: none
    std::vector<std::string> trials;   // logs of tuning
    std::vector<analysis::MappingEdit> mappings; // that were edited, on the first machine
    std::optional<analysis::UpgradeQuestion>
        upgrade; // of the view that asks whether another GPU pays
    ViewState view;

    bool operator==(const Session&) const = default;
};

// `folder`: where the session will lie; absolute paths below it are written relative to it.
std::string write_session(const Session& session, const std::filesystem::path& folder = {});
// Relative paths that exist beside the file become absolute. Errors: the strict reader's own.
Result<Session> parse_session(std::string text, const std::string& file);
Result<Session> load_session(const std::filesystem::path& file);

// The scenario on one of its machines: the changes are the first's.
analysis::Scenario scenario_on(const Session& session, std::size_t machine);

// The command line that draws what the session shows, all of it: what has no option of its own (an
// edited mapping) follows in a here-document.
std::string cli_command(const Session& session);

} // namespace eyeroof::report
