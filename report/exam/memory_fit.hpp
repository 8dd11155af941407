// The memory figures of an exam on a GPU, in each format. Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>

namespace eyeroof::report {

// "1.32 GB of 15.5 GB: fits, up to --batch 123"
std::string memory_fit_text(const analysis::MemoryFit& fit);

} // namespace eyeroof::report
