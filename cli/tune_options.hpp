// The options of `eyeroof tune`, and what `eyeroof-dev tune-compare` shares with it.
// Filled by CLI11; read by tune.cpp and dev/tune_compare.cpp.
#pragma once

#include "analysis/tune/tuner.hpp"
#include "cli/command.hpp"
#include "cli/scenario_options.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

namespace tuning = analysis::tune;

struct TuneCommand {
    std::string network, layers, target = "cpu", machine;
    std::vector<std::string> dims, transfer;
    std::string log, compiler, flags, nvrtc, strategy = "learned", features = "all";
    std::string loss = "regression", trees = "auto", time = "median";
    std::size_t trials = 128, batch = 16;
    std::uint64_t seed = 1, machine_seed = 1;
    int threads = 1, cpu = -1, gpu = 0;
    double epsilon = 0.05, diversity = 0.3, uncertainty = 0.0, noise = 0.05;
    double repeat_s = 0.25, limit_s = 20.0, time_limit_s = 0.0;
    std::size_t again = 5;
    bool residual = true, details = false, end_to_end = false;
    OutputOptions output;
};

// NETWORK, --layers, --dim, --trials, and --seed.
void add_tune_network(CLI::App& app, TuneCommand& options);
// What a synthetic target is made of: --kernel-threads, --noise, and --machine-seed.
void add_tune_synthetic(CLI::App& app, TuneCommand& options);
// Boosted trees: --loss and --trees.
void add_tune_trees(CLI::App& app, TuneCommand& options);
// All other options of `tune`: how candidates are measured and chosen.
void add_tune_flags(CLI::App& app, TuneCommand& options);

tuning::StrategyOptions strategy_of(const TuneCommand& options);
tuning::TuneOptions tune_options(const TuneCommand& options);
// Logs as one. Errors: those of every file.
Result<std::vector<tuning::TrialLine>> load_logs(Context& context,
                                                 const std::vector<std::string>& files);
// The network as the program of --end-to-end runs it. Errors: those of net_plan().
Result<tuning::NetPlan> whole_network(Context& context, const TuneCommand& options);
// The network's layers that --layers names. Error "no-layers": none.
Result<model::Network> chosen_layers(Context& context, const TuneCommand& options);

} // namespace eyeroof::cli
