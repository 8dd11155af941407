// Results of cross-validation as text, JSON, CSV, and Markdown. Fits nothing.
#pragma once

#include "analysis/cross_validate/cross_validate.hpp"
#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

std::string cross_validation_text(const analysis::CrossValidation& result);
std::string
cross_validation_json(const analysis::CrossValidation& result); // eyeroof/cross-validation/1
std::string cross_validation_csv(const analysis::CrossValidation& result);

// Mean left-out error over the GPUs, by leave-out, operator, type, and direction.
using FormerErrors = std::map<std::string, double>;
// From the CSV of an earlier run. Errors: "no-column", "bad-number", those of the CSV.
Result<FormerErrors> former_errors(std::string_view csv, const std::string& file);

// The page of errors: means, every leave-out beside the former figures, GPUs, which limits bind,
// and, if computed, the effect of each term.
std::string cross_validation_markdown(const analysis::CrossValidation& result,
                                      const FormerErrors& former = {});
std::string cross_rows_csv(const analysis::CrossValidation& result);

// docs/leaderboard.csv. `figure` is "held out" or "<leave_out> left out"; `version` the program's.
std::string leaderboard_csv(const analysis::CrossValidation& result, const std::string& leave_out,
                            const std::string& version);

} // namespace eyeroof::report
