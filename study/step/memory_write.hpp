// Memory over a step as text, JSON and a picture.
// Called by `eyeroof memory`.
// Computes nothing but sums that it prints.
#pragma once

#include "study/step/memory.hpp"

#include <optional>
#include <string>

namespace eyeroof::study::step {

struct MemoryReport {
    const Graph& graph;
    const Memory& memory;
    std::string machine; // id
    bool training = false;
    model::Count limit = 0;                    // bytes for tensors
    std::optional<model::Count> largest_batch; // multiple of the network's own; 0: none fits

    bool fits() const { return memory.peak <= limit; }
};

std::string memory_text(const MemoryReport& report);
std::string memory_json(const MemoryReport& report); // eyeroof/memory/1
std::string memory_csv(const MemoryReport& report);  // the curve, one operator a line
std::string memory_svg(const MemoryReport& report);

} // namespace eyeroof::study::step
