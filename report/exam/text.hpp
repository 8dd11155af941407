// The report for a person at a terminal: where each layer's throughput goes, step by step.
// Called by cli and gui ("copy as text").
// Computes nothing; the caller says whether it may use color.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/exam/memory_fit.hpp"

#include <string>

namespace eyeroof::report {

// all: a seven-step ladder for every layer. worst: only for the layers of the worst losses.
// automatic: all up to a dozen layers.
enum class Ladders { automatic, all, worst };

struct TextStyle {
    bool colour = false;
    Ladders ladders = Ladders::automatic;
    bool details = false; // every step's reason, the mapping, and the traffic of each level
};

// At most 100 columns wide.
// `memory`: of a GPU, where it is known.
std::string to_text(const analysis::Report& report, const TextStyle& style = {});

} // namespace eyeroof::report
