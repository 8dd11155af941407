// From the step of one device to many: the time of a training step on 8 to 10,000 devices.
#pragma once

#include "analysis/exam/run.hpp"
#include "analysis/scale/data_parallel.hpp"
#include "analysis/scale/plan.hpp"
#include "base/progress.hpp"
#include "base/result.hpp"
#include "model/machine/fabric.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// A constraint above the device. Steps 1 to 7 are the device's own chain; these continue it:
//   8 devices          what a whole number of devices leaves idle: samples, layers, stages (bubble)
//   9 batch per device kernels of a part of the batch, or of a product, run slower: the device's
//                      steps 3 and 4 again
//   10 link            what must be sent, at the bandwidth of each device's own nearest link
//   11 topology        the levels as they are: wider ones, shared ports, oversubscription
//   12 messages        latency, overhead of each message, copies
//   13 waiting         for the slowest worker
struct ScaleStep {
    int number = 7;
    std::string name;
    double samples_per_s = 0.0; // no constraint up to this one allows more
    double lost = 0.0;          // share of what the step before allowed
    std::string reason;

    bool operator==(const ScaleStep&) const = default;
};

// Lifts each step to those behind it, which a baseline with small kernels may lie below, and says
// what each loses.
std::vector<ScaleStep> falling(std::vector<ScaleStep> steps);

struct ScaleVolume {
    std::string level;
    double bytes = 0.0;    // of one training step, over all links of the level
    double messages = 0.0; // as many

    bool operator==(const ScaleVolume&) const = default;
};

// Bytes on the device that has most.
struct DeviceMemory {
    double weights = 0.0, gradients = 0.0, optimizer = 0.0, activations = 0.0, buffers = 0.0;
    double capacity = 0.0;
    double total() const { return weights + gradients + optimizer + activations + buffers; }
    bool fits() const { return capacity <= 0.0 || total() <= capacity; }
    bool operator==(const DeviceMemory&) const = default;
};

struct ScaleParts {             // of one step; they add up to its time
    double compute_s = 0.0;     // what one device would take for its share at its best
    double small_batch_s = 0.0; // on top, as its part is smaller
    double idle_s = 0.0;        // shares that are not even; the pipeline's bubble
    double recompute_s = 0.0;
    double exposed_s = 0.0; // communication
    double waiting_s = 0.0;

    bool operator==(const ScaleParts&) const = default;
};

struct ScalePoint {
    Count devices = 1;
    std::string strategy;
    std::optional<Plan> plan; // of a divided decoder
    Count batch = 1;          // samples of a step
    double batch_per_device = 1.0;
    double step_s = 0.0;
    // Interval of step_s: eight measured steps in ten lie between. None where the device's error is
    // not known.
    std::optional<double> low_s, high_s;
    double samples_per_s = 0.0;
    double speedup = 1.0; // over one device at its best batch
    double efficiency = 1.0;
    // Model FLOP utilization: what the model's own multiply-accumulates, forward and backward, take
    // at the peak of the arithmetic that runs them over the step's time. At most 1.
    double mfu = 0.0;
    ScaleParts parts;
    DeviceMemory memory;
    std::vector<ScaleVolume> volumes;
    std::vector<ScaleStep> steps;
    std::string collective; // that carries most bytes
    double staleness = 0.0; // updates; asynchronous only
    // At most: the devices' board power; nullopt: unknown, as of accelerators.
    std::optional<double> watts;
    std::optional<double> usd_per_hour;
    std::vector<std::string> notes;

    bool operator==(const ScalePoint&) const = default;
};

// What its devices draw at most and cost, as far as it is known.
void add_board(const model::Machine& machine, ScalePoint& point);

struct ScaleResult {
    std::string network, gpu, fabric;
    std::string unit = "samples";
    double baseline_samples_per_s = 0.0; // of one device
    double baseline_batch = 1.0;
    std::string baseline;
    double samples = 0.0; // of the whole run, for money and energy; 0: not asked
    std::vector<ScalePoint> points;
    // Largest count that fits and whose efficiency is at least 0.8; none where none does.
    std::optional<Count> pays_to;
    std::vector<std::string> notes;
};

struct ScaleOptions {
    std::vector<Count> devices;
    std::optional<Count> batch;            // of all devices: strong scaling
    std::optional<Count> batch_per_device; // weak scaling; without both: the baseline's
    std::optional<Count> baseline_batch;
    // Samples/s that one device was measured to do at the baseline's batch, with another software
    // than the model's: its kernels all take as much longer or shorter. 0: the model's.
    double measured_samples_per_s = 0.0;
    bool asynchronous = false;
    DataParallelOptions data;
    std::string transport;
    double samples = 0.0;
};

// "8..4096" by powers of two of the first, "8,24,96", or one number. Errors: "bad-devices".
Result<std::vector<Count>> parse_devices(const std::string& text);

// Data parallel training; the question's training is by sgd_momentum where it is none. Errors:
// those of run(); "not-a-gpu"; "too-many-devices" with the most that the fabric joins;
// "too-small-batch" with the nearest that works; "no-memory" where even one sample a device does
// not fit.
Result<ScaleResult> scale_data_parallel(const Question& question, const model::Fabric& fabric,
                                        const ScaleOptions& options, std::stop_token stop = {},
                                        const ProgressCallback& progress = {});

// What one device does in a training step: forward, gradients of weights in the order in which they
// are ready, each with the bytes that it has in memory, and the update.
DeviceWork device_work(const Report& training);

// Seconds that the multiply-accumulates of a training step's forward operators and gradients take
// at the peak of the type and pipe that runs each. Where an algorithm multiplies less than the
// layer does (Winograd), the peak is that of the layer's multiply-accumulates by this algorithm.
// Never more than the kernels' time.
double seconds_at_peak(const Report& training);

// Bytes of a training step's peak on one device, data parallel with ZeRO stage `zero` over
// `devices`: stages divide the optimizer's states, the gradients, and the weights. Gradients are
// sent from buffers that stay for the whole step, so all of them are counted beside the most that
// activations and workspaces take (PyTorch's DistributedDataParallel, Megatron-LM, Caffe). One
// device sends nothing: its memory is the step's own peak.
DeviceMemory training_memory(const Report& training, int zero, double devices);

// The fabric with every level as near as the first, and without latency; and with latency only
// taken away.
model::Fabric nearest_everywhere(const model::Fabric& fabric);
model::Fabric without_latency(const model::Fabric& fabric);

// Fills speed-up, efficiency, the largest count that pays, and what follows from a run's samples.
void conclude(ScaleResult& result);

} // namespace eyeroof::analysis
