// A walk over every iteration of a small mapping that tracks what each instance of each level
// holds, to check the closed-form counts against. It shares no code with them: no products over
// axes, only loops, sets and flags. Called by tests/model/test_simulated.cpp.
#pragma once

#include "model/cost/cost.hpp"

namespace eyeroof::test {

struct SimulatedCost {
    Count macs = 0;
    Count compute_steps = 0;
    std::vector<model::PerOperand<model::Accesses>> levels;
    std::vector<model::EdgeTraffic> edges;
};

SimulatedCost simulate(const model::Problem& problem, const model::Accelerator& machine,
                       const model::Mapping& mapping);

} // namespace eyeroof::test
