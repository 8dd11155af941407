// Tunes the layers of a network one after the other: target, log, transfer, search.
// Called by `eyeroof tune`.
// Knows no command line and no format of answers.
#pragma once

#include "study/tune/cpu_chain.hpp"
#include "study/tune/cpu_target.hpp"
#include "study/tune/log.hpp"
#include "study/tune/model_target.hpp"
#include "study/tune/search.hpp"

namespace eyeroof::study::tune {

struct TuneOptions {
    SearchPlan plan;
    bool on_cpu = true; // false: the stand-in
    CpuOptions cpu;
    Noise noise{0.05, 1};           // of the stand-in
    std::uint64_t machine_seed = 1; // of the stand-in
    int threads = 1;                // that kernels may use, at most
    std::size_t again = 5;          // best candidates that are measured together in the end
    std::string date;               // for the log, ISO 8601
    std::vector<TrialLine> transfer;
};

// What one layer's search has found.
struct Tuned {
    Workload work;
    std::string template_name;
    Count space = 0;            // points
    std::optional<Count> valid; // that keep the rules
    std::vector<Trial> trials;
    std::size_t recalled = 0; // from the log
    std::optional<Trial> best;
    double again_s = 0.0; // least cost of the best when measured again beside the others
    CpuPlan plan;         // of the best
    CpuChain chain;
    double predicted_best_s = 0.0; // what the closed form says of its own first choice
    CpuPlan predicted_plan;
    double seconds = 0.0; // the search took
    bool stopped = false, exhausted = false;
};

struct TuneResult {
    CpuMachine machine;
    Toolchain toolchain; // of the processor target
    std::string target;
    std::string search; // strategy and its options, as in the log
    std::vector<Tuned> layers;
    bool stopped = false;
};

// A model from other trials: each group of one shape and machine on its own scale, its features by
// its own machine. Lines of other templates, failed ones alone, and those whose knobs are unknown
// are left out; none when nothing is left, or fewer than 16 trials are.
GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees);

// The machine that a line was measured on, as far as features need it.
CpuMachine machine_of(const TrialOrigin& origin);

// What makes a search repeatable beside its seed: "learned, batch 16, features all, …".
std::string search_text(const StrategyOptions& options);

// `log`: nullptr: nothing is kept. Trials of the same search that it holds are not measured again.
// Errors: those of the session and of the log; "cancelled" when nothing was found before a stop.
model::Result<TuneResult> tune_layers(const std::vector<Workload>& layers,
                                      const TuneOptions& options, TrialLog* log,
                                      std::stop_token stop = {},
                                      const model::ProgressCallback& progress = {});

} // namespace eyeroof::study::tune
