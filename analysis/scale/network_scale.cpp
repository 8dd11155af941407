// Data parallel training of any network: points, and the steps above the device.
#include "analysis/exam/words.hpp"
#include "analysis/program/own_memory.hpp"
#include "analysis/scale/message.hpp"
#include "analysis/scale/scale.hpp"
#include "base/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

using model::Fabric;
using model::FabricLevel;

Fabric without_latency(const Fabric& fabric) {
    Fabric ideal = fabric;
    ideal.protocols.clear();
    ideal.chunk_bytes = 1.0;
    for (FabricLevel& level : ideal.levels) {
        level.latency_s = {0.0};
        level.overhead_s = 0.0;
        level.reduced_base_s = 0.0;
    }
    return ideal;
}

Fabric nearest_everywhere(const Fabric& fabric) {
    Fabric ideal = without_latency(fabric);
    double devices = 1.0; // in a unit
    double port = 0.0;
    for (const FabricLevel& level : ideal.levels) { // the best that any level gives a device
        const double unit = level.bytes_per_s * level.share * static_cast<double>(level.ports);
        port = std::max(port, unit / devices);
        devices *= static_cast<double>(std::max<Count>(level.size, 1));
    }
    Count inside = 1;
    for (FabricLevel& level : ideal.levels) {
        level.topology = model::Topology::switched;
        level.dims.clear();
        level.oversubscription = 1.0;
        level.reduced_share *= level.bytes_per_s / port;
        level.bytes_per_s = port;
        level.share = 1.0;
        level.ports = inside;
        inside *= std::max<Count>(level.size, 1);
    }
    return ideal;
}

std::vector<ScaleStep> falling(std::vector<ScaleStep> steps) {
    for (std::size_t i = steps.size(); i-- > 1;) {
        ScaleStep& before = steps[i - 1];
        before.samples_per_s = std::max(before.samples_per_s, steps[i].samples_per_s);
        steps[i].lost = 1.0 - steps[i].samples_per_s / before.samples_per_s;
    }
    return steps;
}

namespace {

// Times of one device by its batch, each examined once.
class Device {
  public:
    Device(const Question& question, const ScaleOptions& options, std::stop_token stop)
        : question_(question), options_(options), stop_(std::move(stop)) {}

    Result<DeviceWork> work(Count batch) {
        const auto report = at(batch);
        if (!report) {
            return report.diagnostics();
        }
        DeviceWork work = works_.at(batch);
        work.forward_s *= longer_;
        work.update_s *= longer_;
        for (GradientWork& gradient : work.gradients) {
            gradient.backward_s *= longer_;
        }
        return work;
    }

    // All kernels take so much longer than the model says.
    void set_longer(double times) { longer_ = times; }

    Result<DeviceMemory> memory(Count batch, double devices) {
        const auto report = at(batch);
        if (!report) {
            return report.diagnostics();
        }
        DeviceMemory memory = training_memory(**report, options_.data.zero, devices);
        if (memory.capacity <= 0.0) {
            memory.capacity = static_cast<double>(step::own_capacity(question_.machine));
        }
        return memory;
    }

    bool divides_all() const { return options_.data.zero >= 3; }
    double at_peak_s(Count batch) const { return at_peak_s_.at(batch); }
    double step_s(Count batch) const { return longer_ * reports_.at(batch).total.time_s; }
    // Ends of the step's interval over the step; none where they are not known or it was measured.
    std::optional<std::pair<double, double>> band(Count batch) const {
        const Total& total = reports_.at(batch).total;
        if (!total.low_s || !total.high_s || total.time_s <= 0.0) {
            return std::nullopt;
        }
        return longer_ != 1.0
                   ? std::pair(1.0, 1.0)
                   : std::pair(*total.low_s / total.time_s, *total.high_s / total.time_s);
    }

  private:
    Result<const Report*> at(Count batch) {
        if (const auto known = reports_.find(batch); known != reports_.end()) {
            return &known->second;
        }
        Question question = question_;
        question.scenario.batch = batch;
        auto report = run(question, stop_);
        if (!report) {
            return report.diagnostics();
        }
        at_peak_s_[batch] = seconds_at_peak(*report);
        works_[batch] = device_work(*report);
        return &(reports_[batch] = *std::move(report));
    }

    const Question& question_;
    const ScaleOptions& options_;
    std::stop_token stop_;
    std::map<Count, Report> reports_;
    std::map<Count, DeviceWork> works_;
    std::map<Count, double> at_peak_s_;
    double longer_ = 1.0;
};

// The largest power of two of samples, at most `most`, that one device holds.
Result<Count> best_batch(Device& device, Count most, double devices) {
    Count batch = 1;
    while (batch * 2 <= most) {
        batch *= 2;
    }
    batch = std::max<Count>(batch, 1);
    for (; batch >= 1; batch /= 2) {
        const auto memory = device.memory(batch, devices);
        if (!memory) {
            return memory.diagnostics();
        }
        if (memory->fits()) {
            return batch;
        }
        if (batch == 1) {
            return Result<Count>::failure(
                "no-memory",
                fmt::format("one sample takes {:.1f} GB of a device's {:.1f} GB",
                            memory->total() / 1e9, memory->capacity / 1e9),
                device.divides_all()
                    ? "divide layers and matrices (--tensor, --pipeline), or take a device with "
                      "more memory"
                    : "divide the optimizer, gradients and weights (--zero 3), or take a device "
                      "with more memory");
        }
    }
    return Count{1};
}

std::string gigabytes(double bytes) {
    return bytes >= 1e9 ? fmt::format("{:.3g} GB", bytes / 1e9)
                        : fmt::format("{:.3g} MB", bytes / 1e6);
}

// Measured over predicted collectives, of rows that the fabrics' constants have not seen:
// tests/scale/test_published_collectives.cpp.
constexpr double kCommunicationLow = 0.80, kCommunicationHigh = 1.24;

struct Shared {
    const Fabric& fabric;
    const ScaleOptions& options;
    double baseline_s = 0.0; // of one sample, on one device
    Count baseline_batch = 1;
};

void describe_volume(const Fabric& fabric, const DataParallelStep& step, ScalePoint& point) {
    for (std::size_t l = 0; l < step.level_bytes.size(); ++l) {
        point.volumes.push_back(
            {fabric.levels[l].name, step.level_bytes[l], step.level_messages[l]});
    }
}

std::vector<ScaleStep> chain_of(const Shared& s, const DeviceWork& work, Count devices, Count batch,
                                const Group& group, const DataParallelStep& real) {
    const auto p = static_cast<double>(devices);
    const auto samples = static_cast<double>(batch);
    const double share = std::ceil(samples / p);
    std::vector<ScaleStep> chain;
    const auto add = [&](int number, std::string name, double samples_per_s, std::string reason) {
        chain.push_back({number, std::move(name), samples_per_s, 0.0, std::move(reason)});
    };
    add(7, "one device", p / s.baseline_s,
        devices == 1
            ? fmt::format("one by itself, a batch of {}", s.baseline_batch)
            : fmt::format("{}, each as fast as one alone with {}", counted(devices, "device"),
                          counted(s.baseline_batch, "sample")));
    add(8, "devices", samples / (share * s.baseline_s),
        share * p > samples
            ? fmt::format("a batch of {} does not divide by {}", batch, counted(devices, "device"))
            : std::string("samples divide evenly"));
    const double compute = real.compute_s;
    add(9, "batch per device", samples / compute,
        fmt::format("{:g} sample{} a device: {:.3g} ms a sample against {:.3g}", share,
                    share == 1.0 ? "" : "s", compute / share * 1e3, s.baseline_s * 1e3));
    if (devices == 1) { // nothing is sent
        return falling(std::move(chain));
    }
    DataParallelOptions calm = s.options.data;
    calm.jitter = 0.0;
    const auto at = [&](const Fabric& fabric) {
        return samples / synchronous_step(work, fabric, group, calm).time_s;
    };
    add(10, "link", at(nearest_everywhere(s.fabric)),
        fmt::format("{} of gradients a device, at its nearest link", gigabytes(work.bytes())));
    const std::size_t last = s.fabric.levels.size() - 1;
    std::size_t widest = 0;
    for (std::size_t l = 0; l <= last; ++l) {
        widest = group.counts[l] > 1 ? l : widest;
    }
    add(11, "topology", at(without_latency(s.fabric)),
        fmt::format("through {}", s.fabric.levels[widest].name));
    add(12, "messages", at(s.fabric),
        fmt::format("{} by {}: latency and overhead of each message",
                    counted(real.buckets, "bucket"),
                    real.algorithm.empty() ? "no algorithm" : real.algorithm));
    if (s.options.data.jitter > 0.0) {
        add(13, "waiting", samples / real.time_s, "for the slowest worker");
    }
    return falling(std::move(chain));
}

void fill_asynchronous(const Shared& s, const DeviceWork& work, const Group& group,
                       ScalePoint& point) {
    const AsynchronousStep step = asynchronous_step(work, s.fabric, group, s.options.data);
    point.strategy = fmt::format("data {} asynchronous", point.devices);
    point.staleness = step.staleness;
    point.samples_per_s = step.updates_per_s * point.batch_per_device;
    point.step_s = static_cast<double>(point.batch) / point.samples_per_s;
    point.collective = "server";
    point.parts.exposed_s = std::max(point.step_s - work.compute_s(), 0.0);
    point.notes.push_back(fmt::format("gradients are {:g} updates old when they arrive; the {} "
                                      "binds. Throughput is predicted, not "
                                      "what staleness costs in convergence",
                                      step.staleness,
                                      step.server_bound ? "servers' link" : "workers' compute"));
}

Result<ScalePoint> point_of(Device& device, const Shared& s, Count devices, Count batch) {
    const Count share = (batch + devices - 1) / devices;
    const auto work = device.work(share);
    const auto memory = device.memory(share, static_cast<double>(devices));
    if (!work || !memory) {
        Diagnostics all = work.diagnostics();
        all.append(memory.diagnostics());
        return all;
    }
    ScalePoint point;
    point.devices = devices;
    point.batch = batch;
    point.batch_per_device = static_cast<double>(share);
    point.memory = *memory;
    point.strategy = s.options.data.zero > 0
                         ? fmt::format("data {}, ZeRO {}", devices, s.options.data.zero)
                         : fmt::format("data {}", devices);
    const Group group = place_group(s.fabric, devices, 1, devices);
    DataParallelStep step = synchronous_step(*work, s.fabric, group, s.options.data);
    if (devices == 1) { // not the sum of its parts, which rounds
        step.compute_s = step.time_s = device.step_s(share);
    }
    point.collective = step.algorithm;
    point.step_s = step.time_s;
    point.samples_per_s = static_cast<double>(batch) / step.time_s;
    const double even = static_cast<double>(batch) / static_cast<double>(devices);
    // A smaller share may take less than its part of the baseline: then nothing is lost to it.
    const double part_s = static_cast<double>(share) * s.baseline_s;
    const double per_sample_s = std::min(part_s, step.compute_s) / static_cast<double>(share);
    point.parts.compute_s = even * per_sample_s;
    point.parts.idle_s = (static_cast<double>(share) - even) * per_sample_s;
    point.parts.small_batch_s = std::max(step.compute_s - part_s, 0.0);
    point.parts.exposed_s = step.exposed_s + step.compression_s + step.slowed_s;
    point.parts.waiting_s = step.waiting_s;
    describe_volume(s.fabric, step, point);
    point.steps = chain_of(s, *work, devices, batch, group, step);
    if (s.options.asynchronous) {
        fill_asynchronous(s, *work, group, point);
        point.steps.clear();
    }
    if (const auto band = device.band(share); band && !s.options.asynchronous) {
        const double computed = step.compute_s + step.compression_s + step.slowed_s;
        const double rest = step.exposed_s + step.waiting_s;
        point.low_s = computed * band->first + rest * kCommunicationLow;
        point.high_s = computed * band->second + rest * kCommunicationHigh;
    }
    const double useful_s = device.at_peak_s(share) / static_cast<double>(share);
    point.mfu = useful_s * point.samples_per_s / static_cast<double>(devices);
    if (!memory->fits()) {
        point.notes.push_back(fmt::format("does not fit: {} of {} per device",
                                          gigabytes(memory->total()), gigabytes(memory->capacity)));
    }
    return point;
}

Diagnostics check(const Fabric& fabric, const ScaleOptions& options) {
    Diagnostics found;
    const Count capacity = fabric.capacity();
    for (const Count devices : options.devices) {
        if (capacity > 0 && devices > capacity) {
            found.error(
                "too-many-devices",
                fmt::format("{} joins {} devices at most, not {}", fabric.id, capacity, devices),
                fmt::format("--devices {}", capacity));
            break;
        }
        if (options.batch && *options.batch < devices) {
            found.error(
                "too-small-batch",
                fmt::format("a batch of {} has no sample for each of {} devices", *options.batch,
                            devices),
                fmt::format("--batch {} or more, or at most {} devices", devices, *options.batch));
            break;
        }
    }
    return found;
}

Result<Shared> shared_of(Device& device, const Fabric& fabric, const ScaleOptions& options) {
    Count most = options.baseline_batch.value_or(
        options.batch ? *options.batch : options.batch_per_device.value_or(32));
    Shared shared{fabric, options};
    if (options.baseline_batch) {
        shared.baseline_batch = most;
    } else {
        most = std::min<Count>(most, 4096);
        const auto fitting = best_batch(device, most, static_cast<double>(options.devices.front()));
        if (!fitting) {
            return fitting.diagnostics();
        }
        shared.baseline_batch = *fitting;
    }
    const auto work = device.work(shared.baseline_batch);
    if (!work) {
        return work.diagnostics();
    }
    if (options.measured_samples_per_s > 0.0) {
        device.set_longer(static_cast<double>(shared.baseline_batch) /
                          options.measured_samples_per_s / device.step_s(shared.baseline_batch));
    }
    shared.baseline_s =
        device.step_s(shared.baseline_batch) / static_cast<double>(shared.baseline_batch);
    return shared;
}

// Which batch a device holds, where one that was asked for does not.
void say_what_fits(ScaleResult& result, Count fitting) {
    const auto large = std::find_if(result.points.begin(), result.points.end(),
                                    [](const ScalePoint& p) { return !p.memory.fits(); });
    const bool fitting_known =
        large != result.points.end() && large->batch_per_device > static_cast<double>(fitting);
    if (fitting_known) {
        result.notes.push_back(
            fmt::format("(!) more than a device's {}: {} a device fit (--batch-per-device {})",
                        gigabytes(large->memory.capacity), counted(fitting, "sample"), fitting));
    }
}

} // namespace

Result<ScaleResult> scale_data_parallel(const Question& asked, const Fabric& wires,
                                        const ScaleOptions& given, std::stop_token stop,
                                        const ProgressCallback& progress) {
    ScaleOptions options = given;
    Question question = asked;
    question.scenario.training = question.scenario.training.value_or(TrainingOptions{});
    const model::Machine& machine = question.machine;
    const auto fabric = with_transport(wires, options.transport, options.data.bucket_bytes);
    Diagnostics found = fabric.diagnostics();
    found.append(check(wires, options));
    if (found.has_errors()) {
        return found;
    }
    if (const auto* gpu = std::get_if<model::Gpu>(&machine.kind)) {
        options.data.memory_bytes_per_s = gpu->dram_bytes_per_s;
    }
    if (options.devices == std::vector<Count>{1} && !options.baseline_batch) {
        // Its own batch is its best: the step of the exam, whether it fits or not.
        options.baseline_batch = options.batch ? options.batch : options.batch_per_device;
    }
    Device device(question, options, stop);
    const auto shared = shared_of(device, *fabric, options);
    if (!shared) {
        return shared.diagnostics();
    }
    ScaleResult result;
    result.network = question.network.name;
    result.gpu = machine.name;
    result.fabric = wires.name;
    result.samples = options.samples;
    result.baseline_samples_per_s = 1.0 / shared->baseline_s;
    result.baseline_batch = static_cast<double>(shared->baseline_batch);
    question.scenario.batch = shared->baseline_batch;
    result.baseline = scenario_words(question, false);
    if (options.measured_samples_per_s > 0.0) {
        result.baseline += fmt::format(", measured {:g} samples/s", options.measured_samples_per_s);
    }
    for (std::size_t i = 0; i < options.devices.size(); ++i) {
        const Count devices = options.devices[i];
        if (progress) {
            progress({static_cast<double>(i) / static_cast<double>(options.devices.size()),
                      fmt::format("{} devices", devices), 0.0, -1.0});
        }
        const Count each = options.batch_per_device.value_or(shared->baseline_batch);
        const Count batch = options.batch ? *options.batch : each * devices;
        auto point = point_of(device, *shared, devices, batch);
        if (!point) {
            return point.diagnostics();
        }
        add_board(machine, *point);
        result.points.push_back(*std::move(point));
    }
    conclude(result);
    say_what_fits(result, shared->baseline_batch);
    return result;
}

void conclude(ScaleResult& result) {
    for (ScalePoint& point : result.points) {
        point.speedup = point.samples_per_s / result.baseline_samples_per_s;
        point.efficiency = point.speedup / static_cast<double>(point.devices);
        if (point.efficiency >= 0.8 && point.memory.fits()) {
            result.pays_to = std::max(result.pays_to.value_or(0), point.devices);
        }
    }
}

} // namespace eyeroof::analysis
