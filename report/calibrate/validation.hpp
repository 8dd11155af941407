// Errors of predictions beside measured layer times as text, JSON and CSV. Predicts nothing.
#pragma once

#include "analysis/calibrate/validate.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string validation_text(const analysis::Validation& validation);
std::string validation_json(const analysis::Validation& validation); // eyeroof/validation/1
std::string validation_csv(const analysis::Validation& validation);

} // namespace eyeroof::report
