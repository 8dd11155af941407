// Opens a file of any supported kind: the entry point of the explorer, of drag and drop, and of
// commands that take files of several kinds.
#pragma once

#include "analysis/trials/log.hpp"
#include "base/progress.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"
#include "profiles/matching.hpp"
#include "profiles/measurement.hpp"
#include "report/session/session.hpp"

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace eyeroof::report {

struct Ceilings { // `run` and `ceilings` are filled
    profiles::Profile measured;
};

using Assignments = std::vector<profiles::ManualAssignment>;

struct Trials { // of a search that was recorded
    std::vector<analysis::tune::TrialLine> lines;
};

using Opened = std::variant<Session, model::Machine, model::Network, profiles::Profile, Ceilings,
                            Assignments, Trials>;

// Errors: what kind_of_file says when nothing tells what the file is; else those of the reader of
// its kind, never those of another. `progress`: of measurements, which may be large.
Result<Opened> open_any(const std::string& path,
                        const std::vector<std::filesystem::path>& machine_folders,
                        const std::vector<std::filesystem::path>& network_folders,
                        const ProgressCallback& progress = {});

} // namespace eyeroof::report
