// The report as CSV: the columns of the layer CSV, then what was found for each layer. Computes
// nothing; times are of one execution of the layer, as in the report.
#pragma once

#include "analysis/exam/report.hpp"
#include "formats/layer_csv.hpp"

#include <string>

namespace eyeroof::report {

// Header and one row a layer; adds the columns time_s, low_s, high_s (empty where no error is
// known), limiter, step6_bound_s; where a profile was laid over the report measured_s, compared_s
// (the prediction it is held against), unexplained_s, remaining_s, executions, disagreements; with
// measured ceilings measured_roof_s, measured_roof. With `input`, the table that the layers were
// read from, its columns and rows are repeated as they stand in the file; rows whose layers a
// filter left out are left out.
std::string to_csv(const analysis::Report& report, const formats::LayerTable* input = nullptr);

} // namespace eyeroof::report
