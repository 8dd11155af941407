// Memory over a step as an answer.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/step/streaming.hpp"
#include "report/answer/answer.hpp"

#include <optional>

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

// Its picture draws the report, which outlives it. CSV has the curve, one operator a line.
Answer memory_answer(const MemoryReport& report);

} // namespace eyeroof::report
