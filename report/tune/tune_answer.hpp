// Results of tuning as an answer, eyeroof/tune/1. CSV has every trial: its cost, and the best so
// far.
#pragma once

#include "analysis/trials/tuned.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// details: people see the size of each space, the closed form's own choice, how soon the search
// came near its best, and the bounds of the best.
Answer tune_answer(const analysis::tune::TuneResult& result, bool details);

} // namespace eyeroof::report
