#include "analysis/scale/data_parallel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace eyeroof::analysis {

namespace {

constexpr std::array<std::string_view, 5> kCompressions = {"none", "fp16", "int8", "onebit",
                                                           "topk"};

struct Sent {
    Collective kind = Collective::all_reduce;
    double bytes = 0.0;
    double passes = 0.0; // over the gradient in memory, to compress and expand it
};

// Largest values with their places are gathered, as different workers keep different ones; signs
// with a scale, and bytes, travel as they are.
Sent sent_of(double bytes, double members, double gradient_bytes, const DataParallelOptions& o) {
    const double elements = bytes / gradient_bytes;
    switch (o.compression) {
    case Compression::fp16:
        return {Collective::all_reduce, std::min(elements * 2.0, bytes),
                gradient_bytes > 2 ? 2.0 : 0.0};
    case Compression::int8:
        return {Collective::all_reduce, elements, 3.0};
    case Compression::onebit: // and the error that stays behind, read and written
        return {Collective::all_gather, members * elements / 8.0, 4.0};
    case Compression::topk:
        return {Collective::all_gather, members * elements * o.kept * 8.0, 5.0};
    case Compression::none:
        break;
    }
    return {Collective::all_reduce, bytes, 0.0};
}

struct Bucket {
    double ready_s = 0.0; // from the start of the backward pass
    double bytes = 0.0;
};

std::vector<Bucket> buckets_of(const DeviceWork& work, const DataParallelOptions& options) {
    std::vector<Bucket> buckets;
    double now = 0.0;
    Bucket open;
    for (const GradientWork& g : work.gradients) {
        now += g.backward_s;
        open.bytes += g.bytes;
        open.ready_s = now;
        if (open.bytes > 0.0 && open.bytes >= options.bucket_bytes) {
            buckets.push_back(open);
            open = {};
        }
    }
    if (open.bytes > 0.0) {
        buckets.push_back(open);
    }
    for (Bucket& b : buckets) {
        b.ready_s = options.overlap ? b.ready_s : now;
    }
    return buckets;
}

void add_volume(const CollectiveTime& time, DataParallelStep& step) {
    step.level_bytes.resize(time.level_bytes.size());
    step.level_messages.resize(time.level_bytes.size());
    for (std::size_t l = 0; l < time.level_bytes.size(); ++l) {
        step.level_bytes[l] += time.level_bytes[l];
        step.level_messages[l] += time.level_messages[l];
    }
}

double occupied_by(const model::Fabric& fabric, const Group& group) {
    double most = 0.0;
    for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
        most = group.counts[l] > 1 ? std::max(most, fabric.levels[l].occupies) : most;
    }
    return most;
}

} // namespace

double DeviceWork::backward_s() const {
    return std::accumulate(gradients.begin(), gradients.end(), 0.0,
                           [](double sum, const GradientWork& g) { return sum + g.backward_s; });
}

double DeviceWork::bytes() const {
    return std::accumulate(gradients.begin(), gradients.end(), 0.0,
                           [](double sum, const GradientWork& g) { return sum + g.bytes; });
}

std::optional<Compression> compression_from_name(std::string_view name) {
    const auto found = std::find(kCompressions.begin(), kCompressions.end(), name);
    return found == kCompressions.end()
               ? std::nullopt
               : std::optional(static_cast<Compression>(found - kCompressions.begin()));
}

std::vector<std::string> compression_names() {
    return {kCompressions.begin(), kCompressions.end()};
}

DataParallelStep synchronous_step(const DeviceWork& work, const model::Fabric& fabric,
                                  const Group& group, const DataParallelOptions& options) {
    DataParallelStep step;
    const auto members = static_cast<double>(group.size);
    const bool divided = options.zero > 0 && group.size > 1;
    const double update = divided ? work.update_s / members : work.update_s;
    step.compute_s = work.forward_s + work.backward_s() + update;
    step.time_s = step.compute_s;
    if (group.size <= 1) {
        return step;
    }
    double end = 0.0;
    double largest = 0.0;
    const double backward = work.backward_s();
    for (const Bucket& bucket : buckets_of(work, options)) {
        Sent sent = sent_of(bucket.bytes, members, work.gradient_bytes, options);
        if (divided && sent.kind == Collective::all_reduce) {
            sent.kind = Collective::reduce_scatter;
        }
        const CollectiveTime time =
            collective_time(fabric, group, sent.kind, sent.bytes, options.collective);
        if (options.memory_bytes_per_s > 0.0) {
            step.compression_s += sent.passes * bucket.bytes / options.memory_bytes_per_s;
        }
        end = std::max(bucket.ready_s, end) + time.time_s();
        step.communication_s += time.time_s();
        add_volume(time, step);
        ++step.buckets;
        if (sent.bytes > largest) {
            largest = sent.bytes;
            step.algorithm = std::string(algorithm_name(time.algorithm));
        }
    }
    double tail = std::max(end - backward, 0.0);
    if (divided) {
        const double weights = work.bytes() * work.weight_bytes / work.gradient_bytes;
        const auto gather =
            collective_time(fabric, group, Collective::all_gather, weights, options.collective);
        const double times = options.zero >= 3 ? 2.0 : 1.0;
        for (double i = 0.0; i < times; ++i) {
            add_volume(gather, step);
        }
        step.communication_s += times * gather.time_s();
        const double hidden = options.overlap && options.zero >= 3
                                  ? work.forward_s + std::max(backward - end, 0.0)
                              : options.overlap ? work.forward_s
                                                : 0.0;
        tail += std::max(times * gather.time_s() - hidden, 0.0);
    }
    step.exposed_s = tail;
    const double overlapped = step.communication_s - step.exposed_s;
    const double taken = occupied_by(fabric, group);
    step.slowed_s = overlapped * taken / (1.0 - taken);
    step.waiting_s = options.jitter * step.compute_s * std::sqrt(2.0 * std::log(members));
    step.time_s += step.exposed_s + step.compression_s + step.slowed_s + step.waiting_s;
    return step;
}

AsynchronousStep asynchronous_step(const DeviceWork& work, const model::Fabric& fabric,
                                   const Group& group, const DataParallelOptions& options) {
    Group one = group;
    const double bytes = sent_of(work.bytes(), 1.0, work.gradient_bytes, options).bytes;
    // All members through the servers: what a whole round of them takes.
    const auto round = collective_time(fabric, one, Collective::all_reduce, bytes,
                                       Algorithm::server, 0, options.collective.servers);
    const auto members = static_cast<double>(group.size);
    AsynchronousStep step;
    if (group.size <= 1) {
        step.updates_per_s = 1.0 / work.compute_s();
        return step;
    }
    const double own = round->latency_s +
                       2.0 * round->bandwidth_s /
                           std::max(members / static_cast<double>(options.collective.servers), 1.0);
    const double by_workers = members / (work.compute_s() + own);
    const double by_servers = members / round->bandwidth_s;
    step.updates_per_s = std::min(by_workers, by_servers);
    step.staleness = members - 1.0;
    step.server_bound = by_servers < by_workers;
    return step;
}

} // namespace eyeroof::analysis
