// The answer over several candidates as figures and tables, for JSON, its schema, CSV, and
// Markdown.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// eyeroof/upgrade/1. CSV has the candidates as rows where there are several, a number of GPUs, or a
// service; else the layers; of a sweep its points. `details`: pages have the longest layers, too.
Answer purchase_answer(const analysis::Purchase& purchase, bool details = false);

} // namespace eyeroof::report
