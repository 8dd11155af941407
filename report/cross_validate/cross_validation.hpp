// Results of cross-validation as text, JSON, CSV, and Markdown. Fits nothing.
#pragma once

#include "analysis/cross_validate/cross_validate.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string cross_validation_text(const analysis::CrossValidation& result);
std::string
cross_validation_json(const analysis::CrossValidation& result); // eyeroof/cross-validation/1
std::string cross_validation_csv(const analysis::CrossValidation& result);
// The page of errors: means, GPUs, and, if computed, which parts bind and the effect of each
// term.
std::string cross_validation_markdown(const analysis::CrossValidation& result);
std::string cross_rows_csv(const analysis::CrossValidation& result);

// docs/leaderboard.csv. `figure` is "held out" or "<leave_out> left out"; `version` the program's.
std::string leaderboard_csv(const analysis::CrossValidation& result, const std::string& leave_out,
                            const std::string& version);

} // namespace eyeroof::report
