// The report for a terminal: the answer first, then a row for each layer, then the largest
// potential savings, then the seven steps of single layers.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/lines.hpp"
#include "report/exam/memory_fit.hpp"

#include <string>

namespace eyeroof::report {

// all: the seven steps of every layer, and every layer in the table. worst: the seven steps of the
// layers of the largest losses. automatic: of up to two layers.
enum class Ladders { automatic, all, worst };

struct TextStyle {
    bool colour = false;
    Ladders ladders = Ladders::automatic;
    bool details = false; // every step's reason, the mapping, and the traffic of each level
    std::size_t width = kTextColumns; // that many at least
};

// "Bound by DRAM link (step 6): 88 % of the time, 3 of 12 layers"; empty without layers.
std::string bottleneck_text(const analysis::Report& report);

// "Largest saving: 142 ms (50.9 %) in FC6 without its step 6 loss (DRAM link)"; empty without one.
std::string largest_saving_text(const analysis::Report& report);

std::string to_text(const analysis::Report& report, const TextStyle& style = {});

} // namespace eyeroof::report
