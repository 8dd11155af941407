// Figures of samples that more than one room needs, each defined once.
#pragma once

#include <vector>

namespace eyeroof {

// The middle value, of an even number the mean of the two in the middle; `of_none` of no values.
double median(std::vector<double> values, double of_none = 0.0);

} // namespace eyeroof
