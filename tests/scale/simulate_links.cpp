// Messages take their turns on ports; the fabric that a simulated system is.
#include "tests/scale/simulate.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace eyeroof::tests {

SimResult Simulation::run() {
    std::vector<std::size_t> waits(messages_.size());
    std::vector<double> ready(messages_.size(), 0.0);
    std::vector<std::vector<std::size_t>> next(messages_.size());
    using Event = std::pair<double, std::size_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
    for (std::size_t m = 0; m < messages_.size(); ++m) {
        waits[m] = messages_[m].after.size();
        for (const std::size_t before : messages_[m].after) {
            next[before].push_back(m);
        }
        if (waits[m] == 0) {
            queue.emplace(0.0, m);
        }
    }
    SimResult result;
    std::vector<double> rate(ports_.size(), 1e300);
    while (!queue.empty()) {
        const auto [at, m] = queue.top();
        queue.pop();
        const SimMessage& message = messages_[m];
        SimPort& out = ports_[message.out];
        SimPort& in = ports_[message.in];
        const double start = std::max({at, out.free_s, holds_ ? at : in.free_s});
        if (start > at) { // others that become ready before may go first
            queue.emplace(start, m);
            continue;
        }
        const double busy = message.overhead_s + message.bytes / message.bytes_per_s;
        const double received = std::max(start, in.free_s);
        out.free_s = start + busy;
        in.free_s = received + busy;
        for (SimPort* port : {&out, &in}) {
            port->busy_s += busy;
            port->bytes += message.bytes;
        }
        for (const std::size_t p : {message.out, message.in}) {
            rate[p] = std::min(rate[p], message.bytes_per_s);
        }
        result.bytes += message.bytes;
        result.level_bytes.resize(std::max(result.level_bytes.size(), message.level + 1));
        result.level_bytes[message.level] += message.bytes;
        const double arrival = received + busy + message.latency_s;
        result.time_s = std::max(result.time_s, arrival);
        for (const std::size_t follower : next[m]) {
            ready[follower] = std::max(ready[follower], arrival);
            if (--waits[follower] == 0) {
                queue.emplace(ready[follower], follower);
            }
        }
    }
    for (std::size_t p = 0; p < ports_.size(); ++p) {
        if (ports_[p].bytes > 0.0) {
            result.most_loaded =
                std::max(result.most_loaded, ports_[p].bytes / (rate[p] * result.time_s));
        }
    }
    return result;
}

model::Fabric fabric_of(const SimSystem& system) {
    model::Fabric fabric;
    model::FabricLevel inner;
    inner.name = "inner";
    inner.size = static_cast<Count>(system.inside);
    inner.bytes_per_s = system.inner_bytes_per_s;
    inner.latency_s = {system.inner_latency_s};
    inner.overhead_s = system.overhead_s;
    model::FabricLevel outer = inner;
    outer.name = "outer";
    outer.size = 0;
    outer.ports = system.one_outer_port ? 1 : static_cast<Count>(system.inside);
    outer.bytes_per_s = system.outer_bytes_per_s;
    outer.latency_s = {system.outer_latency_s};
    fabric.chunk_bytes = system.chunk_bytes;
    model::FabricLevel& switched = system.outside == 1 ? inner : outer;
    switched.reduces = system.reduces;
    switched.reduced_base_s = system.reduced_base_s;
    if (system.outside == 1) {
        inner.size = 0;
        fabric.levels = {inner};
    } else {
        fabric.levels = {inner, outer};
    }
    return fabric;
}

} // namespace eyeroof::tests
