// Tunes the layers of a network one after the other: target, log, transfer, search.
#pragma once

#include "analysis/trials/cpu_chain.hpp"
#include "analysis/trials/log.hpp"
#include "analysis/trials/tuned.hpp"
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

// A model from other trials: each group of one shape and machine on its own scale, its features by
// its own machine. Lines of other templates, failed ones alone, and those whose knobs are unknown
// are left out; none when nothing is left, or fewer than 16 trials are.
GlobalModel learn_global(const std::vector<TrialLine>& lines, unsigned features,
                         const TreeOptions& trees, std::string_view template_name);

// The options that make a search repeatable beside its seed: "learned, batch 16, features all, …".
std::string search_text(const StrategyOptions& options);

// `log`: nullptr: nothing is kept. Trials of the same search that it holds are not measured again.
// Errors: those of the session, of the log, and of the network; "cancelled" when nothing was found
// before a stop.
Result<TuneResult> tune_layers(const std::vector<Workload>& layers, const TuneOptions& options,
                               TrialLog* log, std::stop_token stop = {},
                               const ProgressCallback& progress = {});

} // namespace eyeroof::analysis::tune
