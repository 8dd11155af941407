// Tunes the layers of a network one after the other: target, log, transfer, search.
#pragma once

#include "analysis/trials/cpu_chain.hpp"
#include "analysis/trials/log.hpp"
#include "analysis/tune/cpu_target.hpp"
#include "analysis/tune/end_to_end.hpp"
#include "analysis/tune/gpu_target.hpp"
#include "analysis/tune/model_target.hpp"
#include "analysis/tune/search.hpp"

namespace eyeroof::analysis::tune {

enum class TargetKind { cpu, gpu, model };
std::string_view target_name(TargetKind kind); // "cpu", "gpu", "model"

struct TuneOptions {
    SearchPlan plan;
    TargetKind target = TargetKind::cpu; // model: a synthetic target
    CpuOptions cpu;
    GpuOptions gpu;
    std::optional<GpuMachine>
        computed_gpu;               // the synthetic target is of this GPU; else of a processor
    Noise noise{0.05, 1};           // of the synthetic target
    std::uint64_t machine_seed = 1; // of the synthetic target
    int threads = 1;                // that kernels may use, at most
    std::size_t again = 5;          // best candidates that are measured together in the end
    std::string date;               // for the log, ISO 8601
    std::vector<TrialLine> transfer;
    std::optional<NetPlan> network; // run in the end; its works are the layers that are tuned
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
    Described what;       // the best is
    std::vector<std::pair<std::string, Count>> knobs; // of the best
    Described preferred;                              // the closed form's own first choice
    std::vector<std::pair<std::string, Count>> preferred_knobs;
    double seconds = 0.0; // the search took
    bool stopped = false, exhausted = false;
};

struct TuneResult {
    std::string machine;
    double clock_hz = 0.0; // of the bounds
    Toolchain toolchain;   // of what is compiled
    std::string target;
    std::string search; // strategy and its options, as in the log
    std::vector<Tuned> layers;
    std::optional<EndToEnd> network; // nothing where the search was stopped before
    bool stopped = false;
};

// A model from other trials: each group of one shape and machine on its own scale, its features by
// its own machine. Lines of other templates, failed ones alone, and those whose knobs are unknown
// are left out; none when nothing is left, or fewer than 16 trials are.
GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees, std::string_view template_name);

// What makes a search repeatable beside its seed: "learned, batch 16, features all, …".
std::string search_text(const StrategyOptions& options);

// `log`: nullptr: nothing is kept. Trials of the same search that it holds are not measured again.
// Errors: those of the session, of the log, and of the network; "cancelled" when nothing was found
// before a stop.
Result<TuneResult> tune_layers(const std::vector<Workload>& layers, const TuneOptions& options,
                               TrialLog* log, std::stop_token stop = {},
                               const ProgressCallback& progress = {});

} // namespace eyeroof::analysis::tune
