// What an examination on a GPU says of memory, in each format.
// Called by the writers of reports, and by the one of several machines.
// Computes nothing.
#pragma once

#include "model/base/checked.hpp"

#include <optional>
#include <string>

namespace eyeroof::study {

// Of the whole network at the batch examined; see study/step/fit.hpp, which finds it.
struct MemoryFit {
    model::Count peak_bytes = 0;
    model::Count limit_bytes = 0; // that the GPU has for tensors
    // As --batch takes it; 0: none fits. Nothing: not searched for.
    std::optional<model::Count> largest_batch;
    bool chain = false; // the network has no graph: every layer reads the one before it

    bool fits() const { return peak_bytes <= limit_bytes; }
    bool operator==(const MemoryFit&) const = default;
};

// "1.32 GB of 15.5 GB: fits, up to --batch 123"
std::string memory_fit_text(const MemoryFit& fit);

} // namespace eyeroof::study
