// The memory figures of an exam on a GPU, in a line and as columns of JSON.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/answer/answer.hpp"

#include <string>

namespace eyeroof::report {

// "1.32 GB of 15.5 GB: fits, up to --batch 123"
std::string memory_fit_text(const analysis::MemoryFit& fit);
std::vector<Column<analysis::MemoryFit>> memory_fit_columns();

} // namespace eyeroof::report
