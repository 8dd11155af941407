// The measured part of a report as text: the step below seven, ceilings, unmatched kernels.
// Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// "+5.1 µs", "−0.2 µs".
std::string signed_time(double seconds);
// "+14 %" of the prediction.
std::string signed_share(double difference, double of);

// "step 6 average bandwidth: DRAM bytes 45 MB, 30 MB predicted (+50 %): +4.1 µs".
std::string disagreement_text(const analysis::Disagreement& disagreement);
// "step 6 DRAM bytes" of the one that accounts for most, or "nothing counted tells".
std::string main_disagreement(const analysis::LayerMeasurement& measured);

// Sentences on one layer: what was measured and how it was found; then one per disagreement, the
// rest, and the check of the counted operations.
std::vector<std::string> measured_lines(const analysis::LayerReport& layer);
// Sentences on the whole: share of the time that is matched, kernels without a layer, notes.
std::vector<std::string> measurement_lines(const analysis::Measurement& all);
// "2.94 TB/s, 88 % of 3.35 TB/s".
std::string ceiling_text(const analysis::CeilingRow& row);

// Blocks of the terminal's report, at most 100 columns wide; empty where nothing was measured.
std::string measured_ladder_rows(const analysis::Report& report, const analysis::LayerReport& layer,
                                 bool colour);
std::string measured_overview(const analysis::Report& report, bool colour);
std::string ceilings_table(const analysis::Report& report, bool colour);

} // namespace eyeroof::report
