// Runs a program for a limited time and keeps what it prints; nothing of it is left afterwards.
// Called by the processor target, for the compiler and for candidates.
// Knows neither.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::study::tune {

struct ProcessEnd {
    bool started = false;
    bool timed_out = false;
    bool stopped = false; // asked to, meanwhile
    int status = -1;      // exit status
    int signal = 0;       // that ended it
    std::string output;   // stdout and stderr, the first 64 KiB
    double seconds = 0.0;

    bool ok() const { return started && !timed_out && !stopped && signal == 0 && status == 0; }
};

// In a process group of its own, which is killed at the limit, with an empty stdin, in `folder`.
ProcessEnd run_process(const std::vector<std::string>& words, const std::filesystem::path& folder,
                       double limit_s, const std::stop_token& stop);

// "SIGSEGV", or "signal 99".
std::string signal_text(int signal);

} // namespace eyeroof::study::tune
