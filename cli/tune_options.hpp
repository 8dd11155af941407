// The command `tune`: its options, for the program that runs it and for `eyeroof`, which starts
// that one. Filled by CLI11; read by cli/tune/.
#pragma once

#include "cli/command.hpp"

#include <functional>
#include <string>
#include <vector>

namespace eyeroof::cli {

struct TuneCommand {
    std::string network, layers, target = "cpu", machine;
    std::vector<std::string> dims, transfer;
    std::string log, compiler, flags, nvrtc, strategy = "learned", features = "all";
    std::string loss = "regression", time = "median";
    std::size_t trials = 128, batch = 16;
    std::uint64_t seed = 1, machine_seed = 1;
    int threads = 1, cpu = -1, gpu = 0;
    double epsilon = 0.05, diversity = 0.3, uncertainty = 0.0, noise = 0.05;
    double repeat_s = 0.25, limit_s = 20.0, time_limit_s = 0.0;
    std::size_t again = 5;
    bool residual = true, details = false, end_to_end = false;
    OutputOptions output;
};

using TuneAction = std::function<Exit(Context&, const TuneCommand&)>;

// The command with all its options and its help.
void add_tune_command(Frame& frame, const TuneAction& action);

// NETWORK, --layers, --dim, --trials, and --seed.
void add_tune_network(CLI::App& app, TuneCommand& options);
// What a synthetic target is made of: --kernel-threads, --noise, and --machine-seed.
void add_tune_synthetic(CLI::App& app, TuneCommand& options);
// Boosted trees: --loss.
void add_tune_trees(CLI::App& app, TuneCommand& options);
// All other options of `tune`: how candidates are measured and chosen.
void add_tune_flags(CLI::App& app, TuneCommand& options);

} // namespace eyeroof::cli
