// The facade: examines a network on a machine and gives the report.
// Called by cli and gui; the only door to the engines.
// Knows no file format, no terminal and no window.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/base/progress.hpp"
#include "model/base/result.hpp"
#include "model/cost.hpp"
#include "model/gpu/step.hpp"
#include "model/machine/machine.hpp"
#include "model/mapping.hpp"
#include "model/network.hpp"
#include "study/exam/conflicts.hpp"
#include "study/exam/operators.hpp"
#include "study/exam/report.hpp"
#include "study/exam/training.hpp"

#include <optional>
#include <stop_token>
#include <string>

namespace eyeroof::study {

// dataflow: by the dataflow's own rules, without a search. best: the exact mapper's, under the
// rules that say which dimensions the dataflow spreads over which axis. automatic: whichever is the
// best mapping that the dataflow allows: for row-stationary machines the published rules leave one
// mapping, on all others the mapper searches. given: `StudyOptions::mapping`, for every layer that
// it fits. Without effect on GPUs.
enum class MappingPolicy { dataflow, best, automatic, given };
// compiled: chains of pointwise operators as one kernel (compiled.hpp), launched back to back.
enum class LaunchMode { eager, stream, kernel, graph, compiled };

struct StudyOptions {
    MappingPolicy policy = MappingPolicy::automatic;
    std::optional<model::DataflowKind> dataflow; // nullopt: the machine's first
    bool free_dataflow = false;                  // searches keep to no dataflow's rules
    std::optional<model::Mapping> mapping;
    std::vector<model::Mapping> nests; // given: one for each nest of a layer that has so many
    std::optional<mapper::Objective> objective; // of searches; nullopt: see natural_objective()
    mapper::Constraints constraints;            // of searches, on top of the dataflow's
    ConstraintPlaces places;                    // where those stand, for what is said of them
    mapper::Factors factors = mapper::Factors::perfect; // of searches
    // Effort of searches. Nodes of each, at most, are the same everywhere; seconds, for all
    // searches together, make the answer depend on how busy the machine is. 0: no limit.
    std::uint64_t search_nodes = 200'000;
    double search_limit_s = 0.0;
    model::Counting counting = model::Counting::eyeroof;
    std::optional<model::Count> batch;        // multiplies the network's own
    std::optional<std::string> layers;        // regular expression over layer names
    std::optional<model::DataType> data_type; // instead of the layers' own
    std::optional<TrainingOptions> training;  // a training step instead of the network's inference
    // nullopt: all on GPUs and in training, fused for inference on accelerators
    std::optional<Operators> operators;
    LaunchMode launch = LaunchMode::stream;
    model::HostIssue host; // of GPUs, in eager and stream mode; not known: textbook_host()
    int threads = 0;       // 0: as many as the machine has; the answer does not depend on it

    bool constrained() const { return constraints != mapper::Constraints{}; }
    bool operator==(const StudyOptions&) const = default;
};

// The network as the options want it: operators, batch, data type, training step, layers. Errors:
// those of run() that concern the network.
model::Result<model::Network> prepared(const model::Network& network, const StudyOptions& options);

// Errors: a layer's or machine's own; "no-layers" when the expression matches none; "bad-regex";
// "unsupported" for a dataflow that the machine does not have; "cancelled".
model::Result<Report> run(const model::Network& network, const model::Machine& machine,
                          const StudyOptions& options = {}, std::stop_token stop = {},
                          const model::ProgressCallback& progress = {});

} // namespace eyeroof::study
