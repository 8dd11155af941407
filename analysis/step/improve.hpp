// Optimizations that make a step faster or smaller: single changes, combinations, and the Pareto
// front of both. Every gain is two simulations of the whole step; none is a rule of thumb.
// `eyeroof improve`.
#pragma once

#include "analysis/scenario/question.hpp"
#include "analysis/step/pruning.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis::step {

// What frees memory. In training activations: segments, recompute and offload on graphs that can be
// cut into stages, cheapest on any graph; they free the same tensors and exclude each other. In
// inference weights: stream, from the host for each use.
enum class Freeing { none, segments, recompute, cheapest, offload, stream };

struct Combination {
    bool capture = false;   // a CUDA graph
    bool fuse = false;      // compiled
    bool attention = false; // scores, softmax and values in one kernel
    bool in_place = false;  // relu over its input
    Freeing freeing = Freeing::none;
    Count batch = 1;                        // times the scenario's
    std::optional<model::DataType> type;    // of all layers
    std::optional<model::DataType> weights; // of products' weights alone, in inference
    bool padded = false;                    // products on longer operands where that is quicker
    Pruning pruning = Pruning::none;        // of products' weights, in inference

    bool operator==(const Combination&) const = default;
};
std::vector<std::string> remedies_of(const Combination& combination);

struct Outcome {
    Combination combination;
    double time_s = 0.0; // of a step
    double low_s = 0.0, high_s = 0.0;
    double item_s = 0.0; // of one batch of the scenario's size
    double gain = 1.0;   // of items a second, against now
    Count peak = 0;      // bytes
    bool fits = false;

    bool operator==(const Outcome&) const = default;
};

struct Excluded {
    std::string what, why;

    bool operator==(const Excluded&) const = default;
};

struct Improvement {
    Outcome now;
    std::vector<Outcome> alone; // one change each; what fits first, largest gain first
    std::vector<Outcome> all;   // every combination that runs, fitting or not
    std::vector<Outcome> front; // of all combinations that fit, by item time and peak; none of them
                                // dominated; quickest first
    std::vector<Excluded> excluded;
    std::vector<Excluded> schedules; // what pruning costs before it runs: name, schedule
    std::size_t tried = 0;
};

struct ImproveOptions {
    Count limit = 0;      // bytes for tensors
    bool together = true; // also combinations of changes
    std::vector<Count> batches = {1, 2, 4};
    std::optional<double> density;         // of blocks that pruning leaves; nothing: none offered
    std::optional<double> steps_per_epoch; // of retraining
};

// Every combination is the question with other fields; now is what run() says. Errors: those of
// run() for the network as it is; "not-a-gpu"; "cancelled". A variant that the machine does not run
// is not offered.
Result<Improvement> improve(const Question& question, const ImproveOptions& options,
                            std::stop_token stop = {}, const ProgressCallback& progress = {});

// Those that no other is at least as quick and as small as; quickest first.
std::vector<Outcome> front_of(std::vector<Outcome> outcomes);

} // namespace eyeroof::analysis::step
