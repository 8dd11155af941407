// What the cost models of sparse machines answer with: a chain of cycles that never falls, each
// link one constraint more, as the seven steps go for dense machines.
#pragma once

#include "base/checked.hpp"

#include <string>
#include <vector>

namespace eyeroof::model::sparse {

// Shares of words that are not zero, 0 … 1.
struct Densities {
    double input = 1.0;
    double weight = 1.0;
    double output = 1.0;

    bool operator==(const Densities&) const = default;
};

struct Link {
    int step = 1; // of Eyexam's seven
    std::string name;
    double cycles = 0.0; // at least, with this constraint and all before it
    std::string why;

    bool operator==(const Link&) const = default;
};

struct Cost {                  // of one execution of a layer
    Count macs = 0;            // dense
    double effectual = 0.0;    // MACs with neither operand zero
    double dense_cycles = 0.0; // of a dense machine with as many multipliers, spread the same way
    double dram_bytes = 0.0;
    double energy_j = 0.0, dense_energy_j = 0.0; // 0: the machine names no energies
    bool fits = true;                            // activations stay on the chip
    std::vector<Link> chain;                     // not empty; the last one is the layer's time

    double cycles() const { return chain.back().cycles; }
    bool operator==(const Cost&) const = default;
};

} // namespace eyeroof::model::sparse
