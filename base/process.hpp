// Runs a program with a time limit and captures its output; no process remains afterwards.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof {

// When all that runs for a layer is to have ended; nothing: no such moment.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;

// What is left of a limit before the deadline; not below 0.
double seconds_left(double limit_s, const Deadline& deadline);
// Whether there is one, and it is over.
bool is_over(const Deadline& deadline);

struct ProcessEnd {
    bool started = false;
    std::string why; // it did not start
    bool timed_out = false;
    bool stopped = false; // asked to, meanwhile
    int status = -1;      // exit status
    int signal = 0;       // that ended it
    std::string output;   // stdout and stderr, the first 64 KiB
    double seconds = 0.0;

    bool ok() const { return started && !timed_out && !stopped && signal == 0 && status == 0; }
};

// In a process group of its own, which is killed at the limit and with this process however that
// ends, with an empty stdin, in `folder`, which it also has for its temporary files.
ProcessEnd run_captured(const std::vector<std::string>& words, const std::filesystem::path& folder,
                        double limit_s, const std::stop_token& stop);

// The same for a function of this program, in a process of its own that has this one's memory as it
// is now: `body` writes to the file it is given, and what it returns is the exit status. It must
// not wait for other threads of this program; they are not there. Ends with this process.
ProcessEnd run_forked(const std::function<int(int)>& body, double limit_s,
                      const std::stop_token& stop);

// "SIGSEGV", or "signal 99".
std::string signal_text(int signal);

} // namespace eyeroof
