// The parameters of a machine for fusion: one on-chip buffer, the link beyond it, and the peak.
#pragma once

#include "base/result.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/layer.hpp"

#include <optional>
#include <string>

namespace eyeroof::analysis {

struct Chip {
    std::string id;
    std::string buffer;            // its name: "GLB", "L2"
    double buffer_bytes = 0.0;     // of all instances together
    double dram_bytes_per_s = 0.0; // both ways and all links at once; 0: no limit
    double macs_per_s = 0.0;
    std::optional<int> word_bits;                 // the machine's own; absent: the layers' types
    double mac_pj = 0.0, outer_pj_per_byte = 0.0; // 0: the machine names no energies
    // An accelerator that keeps nothing between layers, for what is compulsory of each.
    std::optional<model::Accelerator> alone = std::nullopt;

    bool operator==(const Chip&) const = default;
};

// An accelerator's largest level below the outermost one, all its stores and instances together; a
// GPU's L2. Errors: "no-buffer" when no store on the chip has a size;
// "unsupported-type".
Result<Chip> chip_of(const model::Machine& machine, model::DataType type);

} // namespace eyeroof::analysis
