// What cross-validation found as text, JSON, CSV and Markdown.
// Called by cli.
// Fits nothing.
#pragma once

#include "study/calibrate/cross_validate.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string cross_validation_text(const CrossValidation& result);
std::string cross_validation_json(const CrossValidation& result); // eyeroof/cross-validation/1
std::string cross_validation_csv(const CrossValidation& result);
// The page of errors: means, GPUs, and where they are told of, which parts bind and what each term
// is worth.
std::string cross_validation_markdown(const CrossValidation& result);
std::string cross_rows_csv(const CrossValidation& result);

// docs/leaderboard.csv. `figure` is "held out" or "<leave_out> left out"; `version` the program's.
std::string leaderboard_csv(const CrossValidation& result, const std::string& leave_out,
                            const std::string& version);

} // namespace eyeroof::study
