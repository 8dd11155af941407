// Errors of predictions beside measured layer times as text, JSON and CSV.
// Called by cli.
// Predicts nothing.
#pragma once

#include "study/calibrate/validate.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string validation_text(const Validation& validation);
std::string validation_json(const Validation& validation); // eyeroof/validation/1
std::string validation_csv(const Validation& validation);

} // namespace eyeroof::study
