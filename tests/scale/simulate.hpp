// Messages on links, one by one: what the closed forms of collectives are held against.
#pragma once

#include "analysis/scale/collectives.hpp"

#include <cstddef>
#include <vector>

namespace eyeroof::tests {

// A port sends or receives one message at a time, in the order in which they become ready.
struct SimPort {
    double free_s = 0.0;
    double busy_s = 0.0;
    double bytes = 0.0;
};

struct SimMessage {
    std::size_t out = 0, in = 0; // ports
    double bytes = 0.0;
    double bytes_per_s = 1.0;
    double overhead_s = 0.0, latency_s = 0.0;
    std::vector<std::size_t> after; // messages that must have arrived
    std::size_t level = 0;
};

struct SimResult {
    double time_s = 0.0;
    double bytes = 0.0;
    std::vector<double> level_bytes;
    double most_loaded = 0.0; // of the links: bytes over what its bandwidth carries in the time
};

class Simulation {
  public:
    // A switch that holds what its receiver cannot take yet: a sender waits for its own port alone.
    void hold() { holds_ = true; }
    std::size_t port() {
        ports_.push_back({});
        return ports_.size() - 1;
    }
    std::size_t send(SimMessage message) {
        messages_.push_back(std::move(message));
        return messages_.size() - 1;
    }
    SimResult run();

  private:
    std::vector<SimPort> ports_;
    std::vector<SimMessage> messages_;
    bool holds_ = false;
};

// n members on one level; or `inside` members in each of `outside` units, each with a port of its
// own to the outside.
struct SimSystem {
    std::size_t inside = 1, outside = 1;
    double inner_bytes_per_s = 1e9, outer_bytes_per_s = 1e9;
    double inner_latency_s = 0.0, outer_latency_s = 0.0;
    double overhead_s = 0.0;
    bool one_outer_port = false;   // of a unit; a single ring passes through it
    double chunk_bytes = 524288.0; // pieces of pipelined trees
    // In-switch: the outermost level's switch adds up, once for each piece on its way.
    bool reduces = false;
    double reduced_base_s = 0.0;
    std::size_t members() const { return inside * outside; }
};

model::Fabric fabric_of(const SimSystem& system);
SimResult simulate(const SimSystem& system, analysis::Collective kind,
                   analysis::Algorithm algorithm, double bytes, std::size_t servers = 1);

} // namespace eyeroof::tests
