// Common inputs of both ways of dividing a network over unequal devices: the link between them,
// operator times, and memory capacity.
#pragma once

#include "analysis/scale/mixed.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

// Seconds that a tensor takes from one device to another.
class MixedLink {
  public:
    MixedLink(const std::vector<MixedDevice>& devices, const std::optional<model::Fabric>& fabric)
        : devices_(devices), fabric_(fabric) {}

    // Over a fabric's nearest level; through the host: out of one device and into the other, of the
    // two that take longest.
    double seconds(double bytes) const;
    std::string name() const { return fabric_ ? fabric_->name : "PCIe, through the host"; }

  private:
    const std::vector<MixedDevice>& devices_;
    const std::optional<model::Fabric>& fabric_;
};

// Device x operator, seconds.
Result<std::vector<std::vector<double>>> operator_times(const step::Graph& graph,
                                                        const std::vector<MixedDevice>& devices,
                                                        const step::SoftwareOf& software);

double room_of(const MixedDevice& device); // bytes for tensors; 0: not known

// `answer` names the network and the link.
Result<MixedAnswer> split_step(const step::Graph& graph, const std::vector<MixedDevice>& devices,
                               const MixedOptions& options, const MixedLink& link,
                               MixedAnswer answer);

} // namespace eyeroof::analysis
