// Common inputs of both ways of dividing a network over unequal devices: the link between them,
// operator times, and memory capacity.
#pragma once

#include "analysis/scale/heterogeneous.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

// Seconds that a tensor takes from one device to another.
class HeterogeneousLink {
  public:
    HeterogeneousLink(const std::vector<HeterogeneousDevice>& devices,
                      const std::optional<model::Fabric>& fabric)
        : devices_(devices), fabric_(fabric) {}

    // Over a fabric's nearest level; through the host: out of one device and into the other, of the
    // two that take longest.
    double seconds(double bytes) const;
    std::string name() const { return fabric_ ? fabric_->name : "PCIe, through the host"; }

  private:
    const std::vector<HeterogeneousDevice>& devices_;
    const std::optional<model::Fabric>& fabric_;
};

// Device x operator, seconds.
Result<std::vector<std::vector<double>>>
operator_times(const step::Graph& graph, const std::vector<HeterogeneousDevice>& devices,
               const step::SoftwareOf& software);

double room_of(const HeterogeneousDevice& device); // bytes for tensors; 0: not known

// `answer` names the network and the link.
Result<HeterogeneousAnswer> split_step(const step::Graph& graph,
                                       const std::vector<HeterogeneousDevice>& devices,
                                       const HeterogeneousOptions& options,
                                       const HeterogeneousLink& link, HeterogeneousAnswer answer);

} // namespace eyeroof::analysis
