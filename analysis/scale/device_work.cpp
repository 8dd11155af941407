// What one device computes and keeps in a training step of a network.
#include "analysis/exam/report_figures.hpp"
#include "analysis/program/footprint.hpp"
#include "analysis/scale/scale.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

// Seconds that each operator adds to the step.
std::vector<double> seconds_of(const Report& report) {
    std::vector<double> seconds;
    double ended_s = 0.0;
    for (std::size_t i = 0; i < report.program.operators.size(); ++i) {
        if (report.timeline.spans.empty()) { // an accelerator runs one layer after the other
            seconds.push_back(report.layers[report.program.operators[i].layer].time_s);
            continue;
        }
        const double end_s = report.timeline.spans[i].end_s;
        seconds.push_back(std::max(end_s - ended_s, 0.0));
        ended_s = std::max(ended_s, end_s);
    }
    return seconds;
}

// The last operator before the updates that writes each tensor.
std::vector<step::OperatorId> last_writers(const step::Graph& program) {
    std::vector<step::OperatorId> last(program.tensors.size(), step::kNone);
    for (step::OperatorId i = 0; i < program.operators.size(); ++i) {
        const step::Operator& op = program.operators[i];
        for (const step::TensorId t : program.writes_of(op)) {
            last[t] = op.kind == model::Issued::update ? last[t] : i;
        }
    }
    return last;
}

// The layer of a gradient that is part of a fused group is gone: the group's own stands for it.
model::DataType weight_type_of(const step::Graph& program, const step::Tensor& gradient,
                               step::OperatorId writer) {
    const bool fused = gradient.layer == step::kNone;
    const std::uint32_t group = writer == step::kNone ? 0 : program.operators[writer].layer;
    return program.layers[fused ? group : gradient.layer].types.weight;
}

} // namespace

DeviceWork device_work(const Report& training) {
    const step::Graph& program = training.program;
    const std::vector<step::OperatorId> last = last_writers(program);
    std::vector<double> ready(program.operators.size(), 0.0); // bytes
    double unwritten = 0.0; // of sums that hand gradients on: ready with the first
    double elements = 0.0;
    double weights = 0.0;
    for (step::TensorId t = 0; t < program.tensors.size(); ++t) {
        const step::Tensor& tensor = program.tensors[t];
        if (tensor.role == step::Role::weight_gradient) {
            const auto bytes = static_cast<double>(tensor.bytes);
            const model::DataType type = weight_type_of(program, tensor, last[t]);
            const double own =
                bytes /
                step::precision_of(training.scenario.states, type, program.optimizer).gradient;
            elements += own;
            weights += own * model::bytes_per_element(type);
            (last[t] == step::kNone ? unwritten : ready[last[t]]) += bytes;
        }
    }
    DeviceWork work;
    const std::vector<double> seconds = seconds_of(training);
    double since_s = 0.0;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        switch (program.operators[i].kind) {
        case model::Issued::forward:
            work.forward_s += seconds[i];
            break;
        case model::Issued::update:
            work.update_s += seconds[i];
            break;
        case model::Issued::gradient:
            since_s += seconds[i];
            if (ready[i] > 0.0) {
                work.gradients.push_back({since_s, ready[i] + unwritten});
                since_s = unwritten = 0.0;
            }
        }
    }
    if (since_s > 0.0 || unwritten > 0.0) {
        work.gradients.push_back({since_s, unwritten});
    }
    if (elements > 0.0) {
        work.gradient_bytes = work.bytes() / elements;
        work.weight_bytes = weights / elements;
    }
    // Copies and the host's last calls, behind all kernels.
    work.update_s += std::max(training.timeline.end_s, 0.0);
    return work;
}

DeviceMemory training_memory(const Report& training, int zero, double devices) {
    DeviceMemory memory;
    if (training.fit) {
        memory.capacity = static_cast<double>(training.fit->limit_bytes);
    }
    if (!training.memory || training.memory->at.empty()) {
        return memory;
    }
    // What the operators need beside the tensors that stay: most while one of them runs.
    const auto passing = [](const step::Bytes& at) {
        Count bytes = step::total_of(at);
        for (const step::Role stays :
             {step::Role::weight, step::Role::weight_gradient, step::Role::optimizer}) {
            bytes -= at[static_cast<std::size_t>(stays)];
        }
        return bytes;
    };
    const auto& at = training.memory->at;
    const bool alone = devices == 1.0; // nothing is sent: the step of the exam, at its peak
    const step::Bytes& most =
        alone ? training.memory->at_peak
              : *std::max_element(at.begin(), at.end(),
                                  [&](const step::Bytes& a, const step::Bytes& b) {
                                      return passing(a) < passing(b);
                                  });
    const auto held = [&](step::Role role) {
        return static_cast<double>(most[static_cast<std::size_t>(role)]);
    };
    memory.weights = held(step::Role::weight) / (zero >= 3 ? devices : 1.0);
    memory.gradients =
        alone ? held(step::Role::weight_gradient)
              : static_cast<double>(training.memory->gradients) / (zero >= 2 ? devices : 1.0);
    memory.optimizer = held(step::Role::optimizer) / (zero >= 1 ? devices : 1.0);
    memory.buffers = static_cast<double>(most[step::kWorkspace]);
    memory.activations = static_cast<double>(passing(most)) - memory.buffers;
    return memory;
}

double seconds_at_peak(const Report& training) {
    double seconds = 0.0;
    for (const LayerReport& layer : training.layers) {
        if (layer.kind == model::Issued::update || !model::multiplies(layer.layer.op)) {
            continue;
        }
        // Step 3 is above the units' rate where an algorithm multiplies less than the layer does.
        const double units =
            std::max(units_of(training.machine, layer), layer.steps[2].macs_per_cycle);
        const double rate = units * training.machine.clock_hz;
        const double macs =
            static_cast<double>(layer.layer.count) * static_cast<double>(layer.macs);
        seconds += rate > 0.0 ? macs / rate : 0.0;
    }
    return seconds;
}

} // namespace eyeroof::analysis
