// A session: which network on which machines, with which measurements and options, seen how.
// Saved and opened by the window; drawn by the command line. YAML, "eyeroof: session/1".
// Knows no window. Paths are kept relative to the session's file.
#pragma once

#include "model/base/result.hpp"
#include "study/draw/view_state.hpp"
#include "study/exam/run.hpp"
#include "study/search/mapping_edit.hpp"
#include "study/upgrade/question.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::study {

struct Session {
    std::string network;               // a name of the catalog or a path; empty: none
    std::vector<std::string> machines; // the same
    std::vector<std::string> profiles; // of the first machine
    std::vector<std::string> ceilings; // measured; of the first machine
    std::string assignments;           // of kernels to layers by hand: a file; empty: none
    std::vector<std::string> trials;   // logs of tuning
    std::optional<std::int64_t> batch;
    std::string data_type;                            // instead of the layers' own; empty: theirs
    MappingPolicy mapping = MappingPolicy::automatic; // automatic, dataflow or best
    LaunchMode launch = LaunchMode::stream;
    std::string phase = "inference";   // or the optimizer of a training step
    std::vector<std::string> set;      // what-if: "dram-bandwidth=1.2 TB/s", of the first machine
    std::vector<MappingEdit> mappings; // that were edited, on the first machine
    std::optional<UpgradeQuestion> upgrade; // of the view that asks whether another GPU pays
    ViewState view;

    bool operator==(const Session&) const = default;
};

// `folder`: where the session will lie; absolute paths below it are written relative to it.
std::string write_session(const Session& session, const std::filesystem::path& folder = {});
// Relative paths that exist beside the file become absolute. Errors: the strict reader's own.
model::Result<Session> parse_session(std::string text, const std::string& file);
model::Result<Session> load_session(const std::filesystem::path& file);

// What run() is asked for the session's network on its machines: the same for window and command
// line.
StudyOptions study_options(const Session& session);

// Nodes that a search looks at where nobody says how many.
std::uint64_t usual_search_nodes(MappingPolicy policy);

// The command line that draws what the session shows, all of it: what has no option of its own (an
// edited mapping) follows in a here-document.
std::string cli_command(const Session& session);

} // namespace eyeroof::study
