// The result of a candidate's process, as the outcome of a trial.
#pragma once

#include "analysis/trials/search_task.hpp"
#include "base/process.hpp"

namespace eyeroof::analysis::tune {

enum class Statistic { median, least };

Outcome failed_outcome(std::string error, std::string detail);
std::string first_line(const std::string& text);

// Lines "times t1 t2 …" (seconds), or "KIND what" with the kinds of Outcome::error; other lines are
// left out. A signal is a "crash", the limit a "timeout", no line "failed".
Outcome outcome_of(const ProcessEnd& end, Statistic statistic);

} // namespace eyeroof::analysis::tune
