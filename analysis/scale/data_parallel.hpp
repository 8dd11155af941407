// One step of data parallel training: every device has the whole network and a part of the batch.
#pragma once

#include "analysis/scale/collectives.hpp"
#include "base/checked.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// What a device does in a step, in the order of the backward pass.
struct GradientWork {
    double backward_s = 0.0; // until this gradient is ready, from the one before
    double bytes = 0.0;      // of the gradient, as it is sent

    bool operator==(const GradientWork&) const = default;
};

struct DeviceWork {
    double forward_s = 0.0;
    std::vector<GradientWork> gradients;
    double update_s = 0.0;
    double gradient_bytes = 4.0; // an element, before compression; on average
    double weight_bytes = 4.0;   // an element, as ZeRO gathers them; on average

    double backward_s() const;
    double bytes() const;
    double compute_s() const { return forward_s + backward_s() + update_s; }
    bool operator==(const DeviceWork&) const = default;
};

// How gradients are made smaller before they are sent.
enum class Compression { none, fp16, int8, onebit, topk };
std::optional<Compression> compression_from_name(std::string_view name);
std::vector<std::string> compression_names();

struct DataParallelOptions {
    int zero = 0;               // 0 … 3: nothing, optimizer, gradients, weights divided
    bool overlap = true;        // buckets leave while the backward pass goes on
    double bucket_bytes = 25e6; // gradients are gathered to so much before they are sent
    Compression compression = Compression::none;
    double kept = 0.01;              // of topk
    double memory_bytes_per_s = 0.0; // of the device, for compressing; 0: it costs nothing
    double jitter = 0.0;             // deviation of a worker's compute time over its mean
    CollectiveOptions collective;
};

// Where the time of a step goes; the parts add up to time_s.
struct DataParallelStep {
    double compute_s = 0.0;
    double compression_s = 0.0;
    double exposed_s = 0.0; // communication that no compute hides
    double slowed_s = 0.0;  // compute that shares the device with communication
    double waiting_s = 0.0; // for the slowest worker
    double time_s = 0.0;
    double communication_s = 0.0;    // all of it, hidden or not
    std::vector<double> level_bytes; // of all devices, by level
    std::vector<double> level_messages;
    std::string algorithm; // of the largest bucket
    std::size_t buckets = 0;
};

// Synchronous:
//   end_j = max(ready_j, end_{j-1}) + t_allreduce(bytes_j)
//   t = forward + max(backward, end_last) + update, + the slowest of p workers' lag
//   jitter * compute * sqrt(2 ln p)                       (mean maximum of p normal times)
// ZeRO 1 and 2 scatter the gradients and gather the weights, in their own type, after the update,
// which then is of one part; 3 gathers the weights forward and backward too, each hidden behind the
// layers before.
DataParallelStep synchronous_step(const DeviceWork& work, const model::Fabric& fabric,
                                  const Group& group, const DataParallelOptions& options);

// Asynchronous with parameter servers: workers do not wait.
//   updates/s = min(p / (compute + own exchange), servers' link / (bytes of an update))
// staleness: updates that others make while one is computed, p - 1 as long as workers are alike.
struct AsynchronousStep {
    double updates_per_s = 0.0;
    double staleness = 0.0;
    bool server_bound = false;
};
AsynchronousStep asynchronous_step(const DeviceWork& work, const model::Fabric& fabric,
                                   const Group& group, const DataParallelOptions& options);

} // namespace eyeroof::analysis
