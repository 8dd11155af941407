#include "analysis/scale/heterogeneous.hpp"

#include "analysis/program/memory.hpp"
#include "analysis/scale/heterogeneous_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace eyeroof::analysis {

namespace {

bool is_weight(const step::Tensor& tensor) {
    return tensor.role == step::Role::weight || tensor.role == step::Role::state;
}

// Bytes that an operator reads of each other operator's results.
std::map<std::size_t, double> inputs_of(const step::Graph& graph, std::size_t op) {
    std::map<std::size_t, double> inputs;
    std::set<step::TensorId> seen;
    for (const step::TensorId id : graph.reads_of(graph.operators[op])) {
        const step::Tensor& tensor = graph.tensors[id];
        if (tensor.producer != step::kNone && tensor.producer < op && seen.insert(id).second) {
            inputs[tensor.producer] += static_cast<double>(tensor.bytes);
        }
    }
    return inputs;
}

double weights_of(const step::Graph& graph, std::size_t op) {
    double bytes = 0.0;
    std::set<step::TensorId> seen;
    for (const step::TensorId id : graph.reads_of(graph.operators[op])) {
        if (is_weight(graph.tensors[id]) && seen.insert(id).second) {
            bytes += static_cast<double>(graph.tensors[id].bytes);
        }
    }
    return bytes;
}

// Bytes that are made before each cut of the operators' order and read behind it, each tensor once.
std::vector<double> cut_bytes(const step::Graph& graph) {
    const std::size_t n = graph.operators.size();
    std::vector<std::size_t> last_read(graph.tensors.size(), 0);
    for (std::size_t op = 0; op < n; ++op) {
        for (const step::TensorId id : graph.reads_of(graph.operators[op])) {
            last_read[id] = op;
        }
    }
    std::vector<double> change(n + 1, 0.0);
    for (std::size_t id = 0; id < graph.tensors.size(); ++id) {
        const step::Tensor& tensor = graph.tensors[id];
        if (tensor.producer != step::kNone && last_read[id] > tensor.producer) {
            change[tensor.producer] += static_cast<double>(tensor.bytes);
            change[last_read[id]] -= static_cast<double>(tensor.bytes);
        }
    }
    std::vector<double> cuts;
    double live = 0.0;
    for (std::size_t op = 0; op + 1 < n; ++op) {
        live += change[op];
        cuts.push_back(std::max(live, 0.0));
    }
    return cuts;
}

// What is there while each operator runs, beside what stays.
std::vector<double> live_of(const step::Memory& memory) {
    std::vector<double> live;
    for (const step::Bytes& at : memory.at) {
        double bytes = static_cast<double>(step::total_of(at));
        for (const step::Role stays :
             {step::Role::weight, step::Role::optimizer, step::Role::state}) {
            bytes -= static_cast<double>(at[static_cast<std::size_t>(stays)]);
        }
        live.push_back(bytes);
    }
    return live;
}

struct Parts {
    TaskGraph tasks;
    HeterogeneousChain chain;
    std::vector<double> peaks; // of the whole network on each device, bytes
    std::vector<double> cuts;  // bytes
};

Result<Parts> parts_of(const step::Graph& graph, const std::vector<HeterogeneousDevice>& devices,
                       const HeterogeneousOptions& options, const HeterogeneousLink& link) {
    const std::size_t n = graph.operators.size();
    auto op_s = operator_times(graph, devices, options.software);
    if (!op_s) {
        return op_s.diagnostics();
    }
    Parts parts;
    parts.chain.layer_s = *std::move(op_s);
    parts.tasks.task_s.assign(n, {});
    for (const std::vector<double>& row : parts.chain.layer_s) {
        for (std::size_t op = 0; op < n; ++op) {
            parts.tasks.task_s[op].push_back(row[op]);
        }
    }
    for (const HeterogeneousDevice& device : devices) {
        const step::Memory memory =
            step::memory_of(graph, step::workspaces_of(graph, device.gpu, options.software));
        parts.peaks.push_back(static_cast<double>(memory.peak));
        parts.chain.live_bytes.push_back(live_of(memory));
        parts.chain.capacity_bytes.push_back(room_of(device));
    }
    for (std::size_t op = 0; op < n; ++op) {
        parts.chain.held_bytes.push_back(weights_of(graph, op));
        for (const auto& [from, bytes] : inputs_of(graph, op)) {
            parts.tasks.edges.push_back({from, op, link.seconds(bytes)});
        }
    }
    parts.cuts = cut_bytes(graph);
    for (const double bytes : parts.cuts) {
        parts.chain.cut_s.push_back(link.seconds(bytes));
    }
    return parts;
}

void describe_devices(const step::Graph& graph, const std::vector<HeterogeneousDevice>& devices,
                      const Parts& parts, HeterogeneousAnswer& answer) {
    for (std::size_t d = 0; d < devices.size(); ++d) {
        HeterogeneousDeviceShare share;
        share.device = devices[d].id;
        share.capacity_bytes = parts.chain.capacity_bytes[d];
        share.whole_bytes = parts.peaks[d];
        share.holds_all = share.capacity_bytes <= 0.0 || share.whole_bytes <= share.capacity_bytes;
        for (std::size_t op = 0; op < graph.operators.size(); ++op) {
            share.alone_s += parts.tasks.task_s[op][d];
            if (answer.best.device[op] == d) {
                ++share.operators;
                share.busy_s += parts.tasks.task_s[op][d];
                share.held_bytes += parts.chain.held_bytes[op];
                share.live_bytes = std::max(share.live_bytes, parts.chain.live_bytes[d][op]);
            }
        }
        answer.devices.push_back(share);
    }
    for (std::size_t op = 0; op < graph.operators.size(); ++op) {
        for (const auto& [from, bytes] : inputs_of(graph, op)) {
            answer.sent_bytes += answer.best.device[from] != answer.best.device[op] ? bytes : 0.0;
        }
    }
}

// Everything on one device is a schedule too, and may be better than the list's.
Schedule no_worse_than_alone(Schedule schedule, const TaskGraph& tasks) {
    for (std::size_t d = 0; d < tasks.devices(); ++d) {
        double alone_s = 0.0;
        for (const auto& task : tasks.task_s) {
            alone_s += task[d];
        }
        if (alone_s < schedule.time_s) {
            schedule.time_s = alone_s;
            std::fill(schedule.device.begin(), schedule.device.end(), d);
        }
    }
    schedule.proved = schedule.proved || schedule.time_s <= schedule.bound_s * (1.0 + 1e-12);
    return schedule;
}

} // namespace

std::optional<double> HeterogeneousAnswer::pipeline_gain() const {
    std::optional<double> quickest;
    for (const HeterogeneousDeviceShare& device : devices) {
        const double alone_s = training ? device.alone_step_s : device.alone_s;
        if (device.holds_all) {
            quickest = std::min(quickest.value_or(alone_s), alone_s);
        }
    }
    return quickest && !stages.empty() ? std::optional(*quickest / pipeline_s) : std::nullopt;
}

namespace {

Result<HeterogeneousAnswer> split_inference(const step::Graph& graph,
                                            const std::vector<HeterogeneousDevice>& devices,
                                            const HeterogeneousOptions& options,
                                            const HeterogeneousLink& link,
                                            HeterogeneousAnswer answer) {
    const auto parts = parts_of(graph, devices, options, link);
    if (!parts) {
        return parts.diagnostics();
    }
    for (const step::Operator& op : graph.operators) {
        answer.operators.push_back(graph.name_of(op));
    }
    answer.tasks = answer.operators;
    answer.listed = list_schedule(parts->tasks);
    answer.best = no_worse_than_alone(exact_schedule(parts->tasks, options.nodes), parts->tasks);
    answer.stages = split_heterogeneous(parts->chain);
    answer.pipeline_s = answer.pipeline_bound_s = slowest_of(answer.stages);
    for (const HeterogeneousStage& stage : answer.stages) {
        answer.stage_bytes.push_back(stage.first > 0 ? parts->cuts[stage.first - 1] : 0.0);
    }
    describe_devices(graph, devices, *parts, answer);
    return answer;
}

} // namespace

Result<HeterogeneousAnswer> split_network(const step::Graph& graph,
                                          const std::vector<HeterogeneousDevice>& devices,
                                          const HeterogeneousOptions& options) {
    if (devices.size() < 2) {
        return Result<HeterogeneousAnswer>::failure("too-few-devices", "one device divides nothing",
                                                    "name two or more, as in --on A --on B");
    }
    if (devices.size() > kMostHeterogeneousDevices) {
        return Result<HeterogeneousAnswer>::failure(
            "too-many-devices", fmt::format("{} devices are too many", devices.size()),
            fmt::format("{} at most; many equal ones are `eyeroof scale`'s",
                        kMostHeterogeneousDevices));
    }
    const HeterogeneousLink link(devices, options.fabric);
    HeterogeneousAnswer answer;
    answer.network = graph.name;
    answer.run = step::run_words(graph.layers, graph.optimizer);
    answer.link = link.name();
    return graph.optimizer.empty()
               ? split_inference(graph, devices, options, link, std::move(answer))
               : split_step(graph, devices, options, link, std::move(answer));
}

} // namespace eyeroof::analysis
