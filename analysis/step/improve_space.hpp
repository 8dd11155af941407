// The optimizations that a network and a machine allow, and all their combinations. Simulates no
// step.
#pragma once

#include "analysis/step/improve.hpp"

namespace eyeroof::analysis::step {

struct Facts {
    const Question& question;
    const model::Gpu& gpu;
    const ImproveOptions& options;
    Count now_peak = 0; // bytes, of the step as it is
    bool training = false;
    bool attention = false; // that writes out attention
    bool padding = false;   // some product is quicker on longer operands
};

// The choices of each change; the first of each makes none.
struct Space {
    std::vector<bool> capture{false}, fuse{false}, attention{false}, in_place{false};
    std::vector<Freeing> freeing{Freeing::none};
    std::vector<Count> batch{1};
    std::vector<std::optional<model::DataType>> type{std::nullopt}, weights{std::nullopt};
    std::vector<bool> padded{false};
    std::vector<Pruning> pruning{Pruning::none};
};

// What is not offered joins `excluded` with its reason.
Space space_of(const Facts& facts, std::vector<Excluded>& excluded);

// Those that differ in what frees memory stand next to each other: they share a simulation.
std::vector<Combination> combinations_of(const Space& space);

// What has to be done before pruned weights are there.
std::vector<Excluded> schedules_of(const Space& space, const ImproveOptions& options);

} // namespace eyeroof::analysis::step
