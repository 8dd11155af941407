// A scaling study as an answer.
#pragma once

#include "analysis/scale/scale.hpp"
#include "report/answer/answer.hpp"
#include "report/draw/chart.hpp"

namespace eyeroof::report {

// `details`: text has steps, memory, and messages of every count; always where there is one count.
Answer scale_answer(const analysis::ScaleResult& result, bool details = false);

// Samples per second against devices: every bound and the prediction.
Chart scale_chart(const analysis::ScaleResult& result);

} // namespace eyeroof::report
