// One network on heterogeneous devices: a request or a training step divided over them, and many
// requests or microbatches in a pipeline of stages.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/scale/heterogeneous_chain.hpp"
#include "analysis/scale/split.hpp"
#include "base/result.hpp"
#include "model/gpu/gpu.hpp"
#include "model/machine/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct HeterogeneousDevice {
    std::string id; // unique in the result: "v100-sxm2-16gb", "v100-sxm2-16gb #2"
    model::Gpu gpu; // or a host processor
};

struct HeterogeneousOptions {
    step::SoftwareOf software = [](const model::Layer&) { return model::Software{}; };
    std::optional<model::Fabric> fabric; // nothing: each GPU's PCIe, through the host
    std::uint64_t nodes = 200'000;       // that the exact search looks at, at most
    std::size_t microbatches = 8;        // of a training step in a pipeline
};

struct HeterogeneousDeviceShare {
    std::string device;
    double alone_s = 0.0;      // everything on it
    double alone_step_s = 0.0; // in training: all microbatches, and the update
    std::size_t operators = 0; // of the divided request
    double busy_s = 0.0;       // with them
    double held_bytes = 0.0;   // weights of them, in training with the optimizer's states
    double live_bytes = 0.0;   // at most: activations and workspace while one of them runs
    double capacity_bytes = 0.0;
    double whole_bytes = 0.0; // the whole network's peak on it
    bool holds_all = true;    // that peak fits

    bool operator==(const HeterogeneousDeviceShare&) const = default;
};

struct HeterogeneousAnswer {
    std::string network, run, link;
    bool training = false;
    std::size_t microbatches = 0;       // of a pipeline's training step
    std::vector<std::string> tasks;     // names of what is placed on a device
    std::vector<std::string> operators; // names, in the order in which the stages cut them
    std::vector<HeterogeneousDeviceShare> devices;
    double sent_bytes = 0.0; // between devices, of the divided request
    Schedule listed, best;   // of one request: list scheduling, and the search from there
    std::vector<HeterogeneousStage>
        stages; // of a pipeline: over `operators`; empty: no division fits the memories
    std::vector<double> stage_bytes; // that each stage receives, in training of all microbatches
    double pipeline_s = 0.0;         // between two requests; a training step
    double pipeline_bound_s = 0.0;   // no pipeline is quicker

    // Requests a second, or training steps, over those of the quickest device alone that holds the
    // network; nothing where none does.
    std::optional<double> pipeline_gain() const;
};

// A tensor that another device reads is sent once for each operator that
// reads it there, at a time that is the slowest pair's; a device keeps the weights of what it runs
// beside the activations and workspaces that are live while it runs (step/memory.hpp; one request
// at a time), within what step::capacity_of leaves to tensors. Errors: "too-few-devices",
// "too-many-devices" (kMostHeterogeneousDevices); those of the time model.
Result<HeterogeneousAnswer> split_network(const step::Graph& graph,
                                          const std::vector<HeterogeneousDevice>& devices,
                                          const HeterogeneousOptions& options);

} // namespace eyeroof::analysis
