// Reads the rules for zeros of a machine of levels from a sparse machine's file.
#pragma once

#include "hwdb/sourced.hpp"
#include "model/machine/machine.hpp"
#include "model/sparse/rules.hpp"

namespace eyeroof::analysis {

// A machine of levels and what it does about zeros.
struct SparseLevels {
    std::string reference;  // as the file names the machine: name or path
    model::Machine machine; // an accelerator
    model::sparse::Rules rules;
    double clock_hz = 1e9;

    const model::Accelerator& accelerator() const {
        return std::get<model::Accelerator>(machine.kind);
    }
    bool operator==(const SparseLevels&) const = default;
};

// `levels` and `units` of the file. Findings are reported at their nodes, those of
// model::sparse::validate too.
model::sparse::Rules read_sparse_rules(const hwdb::Sourced& root,
                                       const model::Accelerator& machine);

} // namespace eyeroof::analysis
