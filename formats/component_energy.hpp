// Energies of components that a file names by their class and does not bill: AccelForge runs
// component models for these. Here they follow from the table of processes
// (model/technology/chip_parts.hpp), as `exam --chip` estimates a chip.
#pragma once

#include "model/technology/technology.hpp"

#include <optional>
#include <string>

namespace eyeroof::formats {

struct NamedComponent {
    std::string kind;           // "SmartBufferSRAM", "LPDDR4", "IntMAC"
    double bytes = 0.0;         // of a memory
    double multiplier_bits = 8; // of a MAC
    double adder_bits = 16;
    double nm = 0.0; // of the process; 0: 45
};

// pJ a bit that a memory reads or writes, or a MAC. Nothing for classes that are not known: what
// computes or converts in the analog domain, and what a file defines itself. A class that costs
// nothing (Dummy) is 0.
std::optional<double> estimated_pj(const model::Technology& technology,
                                   const NamedComponent& component);

} // namespace eyeroof::formats
