// Memory over a step as text, JSON and a picture.
// Called by `eyeroof memory`.
// Computes nothing but sums that it prints.
#pragma once

#include "study/exam/report.hpp"

#include <optional>
#include <string>

namespace eyeroof::study::step {

// Of a report that has memory.
struct MemoryReport {
    const Report& report;
    model::Count limit = 0;                    // bytes for tensors
    std::optional<model::Count> largest_batch; // samples; 0: not one batch fits

    const Graph& graph() const { return report.program; }
    const Memory& memory() const { return *report.memory; }
    bool fits() const { return memory().peak <= limit; }
};

std::string memory_text(const MemoryReport& report);
std::string memory_json(const MemoryReport& report); // eyeroof/memory/1
std::string memory_csv(const MemoryReport& report);  // the curve, one operator a line
std::string memory_svg(const MemoryReport& report);

} // namespace eyeroof::study::step
