// The layers of a report as columns for programs, of JSON and CSV. Times are of one execution.
#pragma once

#include "analysis/exam/report.hpp"
#include "formats/layer_csv.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// The report must outlive the table, whose rows are made later. CSV begins with the columns of the
// layer CSV: with `input`, the table that the layers were read from, its columns and rows, also
// those that are no layer's; rows whose layers a filter left out are left out. Its last row, named
// "total", has the sums over the layers times their counts; the reader of layers skips it.
// `every`: also the columns of measurements that the report has not, for the schema.
AnswerTable layers_table(const analysis::Report& report, const formats::LayerTable* input = nullptr,
                         bool every = false);

} // namespace eyeroof::report
