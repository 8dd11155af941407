// Does a network fit a GPU, and with which largest batch?
// Called by `eyeroof exam`, `eyeroof memory` and `eyeroof upgrade`, which therefore say the same.
// Knows no time.
#pragma once

#include "model/network.hpp"
#include "study/step/memory.hpp"

#include <optional>
#include <stop_token>

namespace eyeroof::study::step {

// A network whose memory is asked for.
struct FitQuestion {
    model::Network network;             // at its own batch
    std::optional<read::Wiring> wiring; // nothing: a chain
    GraphOptions options;               // options.batch: what the network was multiplied by before
    bool workspaces = true;
};

struct Fit {
    model::Count peak = 0;  // bytes, at the batch asked for
    model::Count limit = 0; // bytes that the device has for tensors
    // Multiple of the network's batch; 0: not even 1. Nothing where it was not searched for: more
    // than 20,000 operators, or a stop.
    std::optional<model::Count> largest_batch;
    bool chain = false; // without a graph every layer reads the one before it

    bool fits() const { return peak <= limit; }
    bool operator==(const Fit&) const = default;
};

// Memory of a step of the network at `batch` times its own. Errors: those of make_graph and
// with_batch.
model::Result<Memory> memory_at(const FitQuestion& question, const model::Gpu& gpu,
                                model::Count batch);

// Largest multiple of the network's batch that fits the limit, at most 2^20.
std::optional<model::Count> largest_fitting_batch(const FitQuestion& question,
                                                  const model::Gpu& gpu, model::Count limit,
                                                  const std::stop_token& stop = {});

// With the network at `batch` times its own. Errors: those of make_graph and with_batch.
model::Result<Fit> fit_of(const FitQuestion& question, const model::Gpu& gpu, model::Count batch,
                          const std::stop_token& stop = {});

} // namespace eyeroof::study::step
