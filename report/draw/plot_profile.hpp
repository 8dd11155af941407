// Measurements as points of a roofline plot.
#pragma once

#include "profiles/points.hpp"
#include "report/draw/plot_input.hpp"

#include <string>

namespace eyeroof::report {

// Adds the profile's points as measured on a machine of the plot. Levels are matched with the
// machine's by name, whatever their letter case. Points without operations or without bytes have no
// place, only rows in tables; they are counted in a warning ("no-place"). A point stands for all
// its launches: time and operations are of one launch on average, the count is that of the
// launches. Without a metric family only neutral counters and shapes give operations and bytes.
Result<Done> add_profile(PlotInput& input, const std::string& machine,
                         const profiles::Profile& profile,
                         const profiles::PointOptions& options = {},
                         const profiles::MetricFamily* family = nullptr);

// Adds the profile's measured ceilings as measured roofs, the highest of each level and precision,
// to the machine of this id, which is made when the plot has none.
void add_ceilings(PlotInput& input, const std::string& machine, const profiles::Profile& profile);

} // namespace eyeroof::report
