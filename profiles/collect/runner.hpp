// Runs a program under the injected collector, once for times and once for counters, and joins the
// two.
#pragma once

#include "base/progress.hpp"
#include "profiles/collect/fault.hpp"
#include "profiles/collect/request.hpp"

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::profiles {

struct RunnerOptions {
    std::vector<std::string> command; // program and arguments
    std::string inject_library;       // absolute path
    std::filesystem::path folder;     // of this user alone, for the outputs; the caller removes it
    bool counters = true;             // false: times only
    bool timing = true;
    CollectRequest request; // metrics, filter, window; mode and folder are filled in
    std::string date = {};
    std::function<int()> stop_signal = {}; // passed on when asked to stop; SIGINT without
};

// How the program ended, whatever was measured.
struct ProgramEnd {
    int status = 0; // of the first pass that failed: exit status, or 128 + signal; 127 not found
    bool cancelled = false;
};

// The profile of all processes, and warnings: the program's own failure, processes without CUDA,
// launches that could not be joined. Errors: "cannot-run"; "cancelled"; "unavailable" for every
// Fault, when a pass gave nothing; "unsafe-folder".
// The first pass has the caller's stdin, the second an empty one. Asked to stop, it passes the
// signal on once, then ends the program's group with SIGTERM and SIGKILL.
Result<Profile> profile_program(const RunnerOptions& options, std::stop_token stop = {},
                                const ProgressCallback& progress = {}, ProgramEnd* end = nullptr);

} // namespace eyeroof::profiles
