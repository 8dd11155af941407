// Fits the power of a board to rows of measured calls.
#pragma once

#include "model/gpu/library_cells.hpp"

#include <vector>

namespace eyeroof::analysis {

struct PowerPoint {
    const model::CallParts* parts = nullptr;
    double time_s = 0.0; // measured
    double share = 0.0;  // mean power over the board's limit
};

// LibraryCell::watts: the mean of |ln(predicted / measured)| is least, near a quarter of the limit
// for a waiting device and three tenths for each part. Equal digits when repeated.
std::vector<double> fit_power(const std::vector<PowerPoint>& points);

} // namespace eyeroof::analysis
