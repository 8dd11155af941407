// A training step on heterogeneous devices: its operators as tasks of a schedule, and as stages of
// a pipeline.
#pragma once

#include "analysis/program/graph.hpp"
#include "analysis/scale/heterogeneous_chain.hpp"
#include "analysis/scale/split.hpp"

#include <functional>
#include <vector>

namespace eyeroof::analysis {

// An operator, or one weight's part of an update of many weights.
struct StepTask {
    step::OperatorId op = 0;
    double share = 1.0; // of the operator's time
    std::vector<step::TensorId> reads, writes;

    bool operator==(const StepTask&) const = default;
};
std::vector<StepTask> tasks_of_step(const step::Graph& graph);

using SecondsOf = std::function<double(double bytes)>; // of sending

// A weight and its optimizer states stay on one device, and what reads or writes them runs there;
// so do all that write into one tensor. Else every tensor goes where it is read: a weight's
// gradient may be computed away from the weight and is sent to its update. A task comes after those
// that wrote what it reads, and after those that read or wrote before what it writes over. op_s:
// device x operator.
TaskGraph schedule_of_step(const step::Graph& graph, const std::vector<StepTask>& tasks,
                           const std::vector<std::vector<double>>& op_s,
                           const SecondsOf& link_seconds);

// A stage's forward and backward operators of one microbatch, and its update once a step.
struct StageTimes {
    double forward_s = 0.0, backward_s = 0.0, update_s = 0.0;

    bool operator==(const StageTimes&) const = default;
};
// Seconds of a step in which every stage runs 1F1B over so many microbatches: at stage i of p first
// p - i forwards, then a backward and a forward in turn (PipeDream-Flush). Receiving is within the
// stages' own times.
double one_forward_one_backward(const std::vector<StageTimes>& stages, std::size_t microbatches);

// Forward operators in their order, each with its gradients and updates: what a stage is cut from.
struct StepUnits {
    std::vector<std::size_t> unit;              // of each task
    std::vector<step::OperatorId> first;        // each unit's forward operator
    std::vector<std::vector<StageTimes>> times; // device x unit, without receiving
    // Bytes over each cut: of a microbatch, and once a step for weights that both sides use.
    std::vector<double> activation_cut, gradient_cut, update_cut;
    std::vector<double> saved_cut; // of activation_cut: what gradients behind the cut read
    std::vector<double> resident;  // bytes of each: weights, their gradients, optimizer states
    std::vector<double> kept;      // bytes that a microbatch of each keeps for its gradients
};
StepUnits units_of_step(const step::Graph& graph, const std::vector<StepTask>& tasks,
                        const std::vector<std::vector<double>>& op_s);

// Stages over devices: of all sets of devices the one whose step ends first, each set divided so
// that its busiest stage is least busy (split_heterogeneous). `chain` is that of a whole step:
// times of all microbatches and the update.
struct StepPipeline {
    std::vector<HeterogeneousStage> stages; // empty: no division fits
    double step_s = 0.0;
    double bound_s = 0.0; // no pipeline's busiest stage is less busy

    bool operator==(const StepPipeline&) const = default;
};
StepPipeline best_pipeline(const HeterogeneousChain& chain, const StepUnits& units,
                           std::size_t microbatches, const SecondsOf& link_seconds);

} // namespace eyeroof::analysis
