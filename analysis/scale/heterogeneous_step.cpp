// A training step over devices that differ: one step divided, and microbatches in a pipeline.
#include "analysis/program/memory.hpp"
#include "analysis/scale/heterogeneous_parts.hpp"
#include "analysis/scale/heterogeneous_training.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace eyeroof::analysis {

namespace {

// What a step's tasks are, on which devices, and how long each operator takes there.
struct StepParts {
    std::vector<StepTask> tasks;
    std::vector<std::vector<double>> op_s; // device x operator
    TaskGraph schedule;
    StepUnits units;
    std::vector<step::Memory> memory; // of the whole step on each device
    std::vector<std::vector<Count>> workspaces;
};

// The chain of a whole step: all microbatches, and the update. As many microbatches as there are
// devices are kept at most, since no stage runs more forwards ahead than there are stages.
HeterogeneousChain chain_of_step(const StepParts& parts, std::size_t microbatches,
                                 const HeterogeneousLink& link) {
    const auto times = static_cast<double>(microbatches);
    const auto kept = static_cast<double>(std::min(microbatches, parts.op_s.size()));
    const std::size_t n = parts.units.first.size();
    HeterogeneousChain chain;
    for (std::size_t u = 0; u < n; ++u) {
        chain.held_bytes.push_back(parts.units.resident[u] + kept * parts.units.kept[u]);
        chain.entry_bytes.push_back(u > 0 ? kept * parts.units.saved_cut[u - 1] : 0.0);
        if (u > 0) {
            const double shared = parts.units.update_cut[u - 1];
            chain.cut_s.push_back(times * (link.seconds(parts.units.activation_cut[u - 1]) +
                                           link.seconds(parts.units.gradient_cut[u - 1])) +
                                  (shared > 0.0 ? link.seconds(shared) : 0.0));
        }
    }
    for (std::size_t d = 0; d < parts.op_s.size(); ++d) {
        std::vector<double>& row = chain.layer_s.emplace_back();
        for (const StageTimes& own : parts.units.times[d]) {
            row.push_back(times * (own.forward_s + own.backward_s) + own.update_s);
        }
        std::vector<double>& live = chain.live_bytes.emplace_back(n, 0.0);
        for (std::size_t t = 0; t < parts.tasks.size(); ++t) {
            const step::OperatorId op = parts.tasks[t].op;
            const step::Bytes& at = parts.memory[d].at[op];
            const auto bytes = static_cast<double>(
                at[static_cast<std::size_t>(step::Role::gradient)] + at[step::kWorkspace]);
            live[parts.units.unit[t]] = std::max(live[parts.units.unit[t]], bytes);
        }
        chain.capacity_bytes.push_back(parts.schedule.capacity_bytes[d]);
    }
    return chain;
}

// The most that is on a device beside weights and states while a task runs: from the first task
// there that uses a tensor to the last, in the order in which tasks are issued.
double live_on(const step::Graph& graph, const StepParts& parts, const Schedule& schedule,
               std::size_t device) {
    std::vector<std::pair<std::size_t, std::size_t>> use(graph.tensors.size(),
                                                         {parts.tasks.size(), 0});
    std::vector<double> change(parts.tasks.size() + 1, 0.0);
    for (std::size_t t = 0; t < parts.tasks.size(); ++t) {
        if (schedule.device[t] != device) {
            continue;
        }
        const StepTask& task = parts.tasks[t];
        for (const auto* ids : {&task.reads, &task.writes}) {
            for (const step::TensorId id : *ids) {
                use[id] = {std::min(use[id].first, t), t};
            }
        }
        const std::uint32_t layer = graph.operators[task.op].layer;
        const auto& workspaces = parts.workspaces[device];
        const double beside =
            layer < workspaces.size() ? static_cast<double>(workspaces[layer]) : 0.0;
        change[t] += beside;
        change[t + 1] -= beside;
    }
    for (std::size_t id = 0; id < use.size(); ++id) {
        const step::Tensor& tensor = graph.tensors[id];
        if (use[id].first <= use[id].second && tensor.role != step::Role::weight &&
            tensor.role != step::Role::state && tensor.role != step::Role::optimizer) {
            change[use[id].first] += static_cast<double>(tensor.bytes);
            change[use[id].second + 1] -= static_cast<double>(tensor.bytes);
        }
    }
    double now = 0.0;
    double most = 0.0;
    for (const double by : change) {
        now += by;
        most = std::max(most, now);
    }
    return most;
}

Result<StepParts> parts_of_step(const step::Graph& graph,
                                const std::vector<HeterogeneousDevice>& devices,
                                const HeterogeneousOptions& options,
                                const SecondsOf& link_seconds) {
    auto op_s = operator_times(graph, devices, options.software);
    if (!op_s) {
        return op_s.diagnostics();
    }
    StepParts parts;
    parts.tasks = tasks_of_step(graph);
    parts.op_s = *std::move(op_s);
    parts.schedule = schedule_of_step(graph, parts.tasks, parts.op_s, link_seconds);
    parts.units = units_of_step(graph, parts.tasks, parts.op_s);
    for (const HeterogeneousDevice& device : devices) {
        parts.workspaces.push_back(step::workspaces_of(graph, device.gpu, options.software));
        parts.memory.push_back(step::memory_of(graph, parts.workspaces.back()));
        parts.schedule.capacity_bytes.push_back(room_of(device));
    }
    return parts;
}

std::string name_of(const step::Graph& graph, const StepTask& task) {
    const std::string own = graph.name_of(graph.operators[task.op]);
    return task.share < 1.0 ? own + ", " + graph.name_of(graph.tensors[task.reads.front()]) : own;
}

void describe_shares(const step::Graph& graph, const std::vector<HeterogeneousDevice>& devices,
                     const StepParts& parts, HeterogeneousAnswer& answer) {
    const auto times = static_cast<double>(answer.microbatches);
    for (std::size_t d = 0; d < devices.size(); ++d) {
        HeterogeneousDeviceShare share;
        share.device = devices[d].id;
        share.capacity_bytes = parts.schedule.capacity_bytes[d];
        share.whole_bytes = static_cast<double>(parts.memory[d].peak);
        share.holds_all = share.capacity_bytes <= 0.0 || share.whole_bytes <= share.capacity_bytes;
        for (const StageTimes& own : parts.units.times[d]) {
            share.alone_s += own.forward_s + own.backward_s + own.update_s;
            share.alone_step_s += times * (own.forward_s + own.backward_s) + own.update_s;
        }
        std::set<std::size_t> groups;
        for (std::size_t t = 0; t < parts.tasks.size(); ++t) {
            if (answer.best.device[t] == d) {
                ++share.operators;
                share.busy_s += parts.schedule.task_s[t][d];
                groups.insert(parts.schedule.group[t]);
            }
        }
        for (const std::size_t group : groups) {
            share.held_bytes += parts.schedule.held_bytes[group];
        }
        share.live_bytes = live_on(graph, parts, answer.best, d);
        answer.devices.push_back(share);
    }
}

// Each tensor once to every other device that reads it.
double sent_bytes(const step::Graph& graph, const StepParts& parts, const Schedule& schedule) {
    std::vector<std::size_t> home(graph.tensors.size(), kMostHeterogeneousDevices);
    std::set<std::pair<step::TensorId, std::size_t>> sent;
    double bytes = 0.0;
    for (std::size_t t = 0; t < parts.tasks.size(); ++t) {
        const std::size_t here = schedule.device[t];
        for (const step::TensorId id : parts.tasks[t].reads) {
            if (home[id] != kMostHeterogeneousDevices && home[id] != here &&
                sent.emplace(id, here).second) {
                bytes += static_cast<double>(graph.tensors[id].bytes);
            }
        }
        for (const step::TensorId id : parts.tasks[t].writes) {
            home[id] = here;
        }
    }
    return bytes;
}

// All that is kept is more than all devices have: no search is needed.
bool exceeds_all(const TaskGraph& schedule) {
    double room = 0.0;
    for (const double bytes : schedule.capacity_bytes) {
        if (bytes <= 0.0) {
            return false;
        }
        room += bytes;
    }
    return std::accumulate(schedule.held_bytes.begin(), schedule.held_bytes.end(), 0.0) > room;
}

Result<HeterogeneousAnswer> fits_nowhere(const step::Graph& graph, const StepParts& parts,
                                         const HeterogeneousAnswer& answer) {
    double room = 0.0;
    for (const double bytes : parts.schedule.capacity_bytes) {
        room += bytes;
    }
    return Result<HeterogeneousAnswer>::failure(
        "fits-nowhere",
        fmt::format("{}: weights and optimizer states of {} {}; all devices have {} for tensors",
                    graph.id, format_si(static_cast<double>(parts.memory.front().resident), "B"),
                    answer.best.none ? "fit in no division over the devices"
                                     : "were not fitted into the memories",
                    format_si(room, "B")),
        "another device, --optimizer sgd, or a shorter --dtype take less of each");
}

} // namespace

Result<HeterogeneousAnswer> split_step(const step::Graph& graph,
                                       const std::vector<HeterogeneousDevice>& devices,
                                       const HeterogeneousOptions& options,
                                       const HeterogeneousLink& link, HeterogeneousAnswer answer) {
    const SecondsOf seconds = [&](double bytes) { return link.seconds(bytes); };
    const auto parts = parts_of_step(graph, devices, options, seconds);
    if (!parts) {
        return parts.diagnostics();
    }
    answer.training = true;
    answer.microbatches = options.microbatches;
    answer.listed = list_schedule(parts->schedule);
    if (exceeds_all(parts->schedule)) {
        answer.best.none = true;
        return fits_nowhere(graph, *parts, answer);
    }
    answer.best = exact_schedule(parts->schedule, options.nodes);
    if (!answer.best.found()) {
        return fits_nowhere(graph, *parts, answer);
    }
    for (const StepTask& task : parts->tasks) {
        answer.tasks.push_back(name_of(graph, task));
    }
    for (const step::OperatorId op : parts->units.first) {
        answer.operators.push_back(graph.name_of(graph.operators[op]));
    }
    const StepPipeline pipeline = best_pipeline(chain_of_step(*parts, options.microbatches, link),
                                                parts->units, options.microbatches, seconds);
    answer.stages = pipeline.stages;
    answer.pipeline_s = pipeline.step_s;
    answer.pipeline_bound_s = pipeline.bound_s;
    const auto times = static_cast<double>(options.microbatches);
    for (const HeterogeneousStage& stage : answer.stages) {
        const std::size_t cut = stage.first - 1;
        answer.stage_bytes.push_back(stage.first == 0 ? 0.0
                                                      : times * (parts->units.activation_cut[cut] +
                                                                 parts->units.gradient_cut[cut]) +
                                                            parts->units.update_cut[cut]);
    }
    describe_shares(graph, devices, *parts, answer);
    answer.sent_bytes = sent_bytes(graph, *parts, answer.best);
    return answer;
}

} // namespace eyeroof::analysis
