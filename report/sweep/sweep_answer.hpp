// A sweep's points and their Pareto front as an answer.
#pragma once

#include "analysis/sweep/front.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// All points, or with `front` the points on the front of `aims` alone. The picture, where there are
// two aims, has all points and the front of the first two, both axes logarithmic.
Answer sweep_answer(const analysis::SweptTable& table, const std::string& title,
                    const std::vector<analysis::Aim>& aims, bool front);

} // namespace eyeroof::report
