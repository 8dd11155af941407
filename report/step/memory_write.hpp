// Memory over a step as text, JSON and a picture. Computes nothing but sums that it prints.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/step/streaming.hpp"

#include <optional>
#include <string>

namespace eyeroof::report {

// Of a report that has memory.
struct MemoryReport {
    const analysis::Report& report;
    Count limit = 0;                    // bytes for tensors
    std::optional<Count> largest_batch; // samples; 0: not one batch fits
    // Where one operand streams: the report's memory is that of the streaming step.
    std::optional<analysis::step::Operand> operand = {};
    analysis::step::Streamed streamed = {};
    double link_bytes_per_s = 0.0;

    const analysis::step::Graph& graph() const { return report.program; }
    const analysis::step::Memory& memory() const { return *report.memory; }
    bool fits() const { return memory().peak <= limit; }
};

std::string memory_text(const MemoryReport& report);
std::string memory_json(const MemoryReport& report); // eyeroof/memory/1
std::string memory_csv(const MemoryReport& report);  // the curve, one operator a line
std::string memory_svg(const MemoryReport& report);

} // namespace eyeroof::report
