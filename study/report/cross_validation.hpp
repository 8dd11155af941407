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
std::string cross_validation_markdown(const CrossValidation& result);
std::string cross_rows_csv(const CrossValidation& result);

} // namespace eyeroof::study
