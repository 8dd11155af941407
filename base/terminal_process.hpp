// Runs one program as a child: in a group of its own, ended with its parent, signals passed on
// once.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof {

struct ChildCommand {
    std::vector<std::string> words;                               // program and arguments
    std::vector<std::pair<std::string, std::string>> environment; // set beside the caller's own
    bool empty_stdin = false;                                     // /dev/null instead of ours
};

// What happens when the caller wants to stop: the signal, then SIGTERM, then SIGKILL, each to the
// whole group.
struct StopPlan {
    std::function<int()> signal = {};          // the signal to pass on; SIGINT without
    std::function<bool()> has_results = {};    // then the program gets time to finish them
    std::chrono::milliseconds step{50};        // from one signal to the next
    std::chrono::milliseconds long_step{3000}; // where there are results
};

struct ChildEnd {
    bool started = false;
    std::string why = {};   // it did not start
    int status = 0;         // exit status, or 128 + the signal that ended it
    bool cancelled = false; // by the caller, or from the terminal that the child had
};

// Waits for the program's end. The terminal goes to the child while it runs, and comes back.
ChildEnd run_in_terminal(const ChildCommand& command, const std::stop_token& stop,
                         const StopPlan& plan);

} // namespace eyeroof
