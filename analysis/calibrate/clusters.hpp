// Predicted beside published runs of many devices: training steps, servers, and collectives.
#pragma once

#include "analysis/calibrate/run_bands.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"
#include "model/gpu/library_cells.hpp"
#include "model/machine/engine.hpp"
#include "model/machine/fabric.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// A published figure and the run it is of. `cells` are the row's columns by name:
//   every metric       source (of the table; empty: the table), held_out
//   step_s             of training: devices, batch, length, tensor, pipeline, context, expert,
//                      order (of axes), interleave, microbatch (empty: the fastest that fits),
//                      recompute, zero, sequence, dtype, attention (newest, flash2, triton,
//                      written), software, library
//   tokens_per_s       the most of a server: engine, prompt, answer, tensor, dtype, memory_share,
//                      chunk
//   token_rate         of one request at a time: the same, and weight_type
//   tpot_s, ttft_s     mean of `users` who begin together: the same; of attention replicas and
//                      experts data, expert; with prompts on devices of their own prefill_groups,
//                      decode_groups, and their layout prefill_tensor, prefill_data,
//                      prefill_expert; running (most requests of a server at once), draft_tokens,
//                      acceptance, cache_type
//   time_s             of a collective: operation, devices, bytes, software
struct ClusterRow {
    std::string table, metric;
    double published = 0.0;
    std::map<std::string, std::string> cells;
    int line = 0;
    bool held_out = true; // false: a constant was chosen with this row in view

    bool operator==(const ClusterRow&) const = default;
};

struct ClusterResult {
    ClusterRow row;
    double predicted = 0.0, low = 0.0, high = 0.0; // eight published figures in ten lie between
    std::string model = {};                        // "32 blocks of 4096"; empty: none
    // Of a training step, bytes of the fullest device and those that it has; 0: not asked.
    double memory = 0.0, capacity = 0.0;
    std::string kind = {}; // whose interval the row belongs to, where the metric has several

    double ratio() const { return predicted / row.published; }
    bool operator==(const ClusterResult&) const = default;
};

struct ClusterFigures {
    std::string table, metric;
    int rows = 0;
    double error = 0.0, worst = 0.0, median = 1.0; // mean and most |ratio - 1|; ratio
    double within = 0.0;                           // share of rows within a factor of 1.5
    double inside = 0.0;                           // share inside low to high
    int too_large = 0; // rows that ran, and need more than the device's memory

    bool operator==(const ClusterFigures&) const = default;
};

struct ClusterValidation {
    std::vector<ClusterResult> rows;
    std::vector<ClusterFigures> groups; // by table and metric, in order of appearance
    ClusterFigures all;
    // Intervals by kind, fitted to the rows that are held out: training steps (of 16 bits, of 8 and
    // fewer, with experts), the most tokens of a server, one request at a time, and TPOT and TTFT
    // by engine. Left out: source, GPU, model, table, and of TPOT and TTFT the tokens of a prompt.
    std::vector<RunBand> bands;

    bool operator==(const ClusterValidation&) const = default;
};

struct ClusterSources {
    std::function<Result<model::Network>(const std::string&)> networks;
    std::function<Result<model::Machine>(const std::string&)> machines;
    std::function<Result<model::Fabric>(const std::string&)> fabrics;
    std::function<Result<model::Engine>(const std::string&)> engines;
    // Of a GPU, by its name in the catalog.
    std::function<Result<model::MachineKernels>(const model::Gpu&, const std::string&)> kernels;
};

// A table with the columns table, metric, published, fabric; held_out is yes (the default) or no.
// Errors, with their places: "missing-column", "bad-metric", "bad-number".
Result<std::vector<ClusterRow>> parse_clusters(const std::string& text, const std::string& file);

// Figures of groups count the rows that are held out alone. Errors: those of the networks, the
// machines, the fabrics, and of what predicts a row, with the row's line.
Result<ClusterValidation> validate_clusters(const std::vector<ClusterRow>& rows,
                                            const ClusterSources& sources,
                                            std::stop_token stop = {},
                                            const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
