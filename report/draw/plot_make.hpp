// The plot of machines, their reports and measurements, built in the same way for all views.
#pragma once

#include "profiles/matching.hpp"
#include "profiles/points.hpp"
#include "report/draw/plot_input.hpp"
#include "report/draw/plot_profile.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// The machine of the plot that a measurement was most likely taken on: the one whose id or name has
// the words of the device's name, or else the first; empty without machines.
std::string machine_of(const PlotInput& input, const profiles::RunInfo& run);

// Gives each later copy of a machine, changed or not, an id and a name of its own, so that results
// can distinguish them. Call it before they are examined.
void make_distinct(std::vector<model::Machine>& machines);

// What was measured, and what is needed to read it.
struct Measured {
    std::vector<profiles::Profile> profiles; // one a file
    std::vector<profiles::Profile> ceilings; // only run and ceilings count
    std::vector<profiles::ManualAssignment> assignments;
    std::vector<profiles::MetricFamily> families;
    // Beside the profiles: what each is called. Runs of one machine then stay apart: the first is
    // laid over the report, the others are points of their own, each run a series. Empty: the runs
    // of a machine are pooled into one.
    std::vector<std::string> runs = {};
};

// Every measurement goes to the machine that it was most likely taken on. There its ceilings become
// roofs, and it is laid over the machine's report, which learns what was measured of its layers;
// launches of no layer become points of their own, as often as one step launches them. Reports
// belong to the machines by id; a machine without one shows its roofs alone; measurements without a
// machine make one named "measured". Errors: "no-roofs" for measurements without any roof; those of
// lay_profile and add_profile. Warnings stay beside the plot.
Result<PlotInput> make_plot(std::string title, const std::vector<model::Machine>& machines,
                            std::vector<analysis::Report>& reports, const Measured& measured);

} // namespace eyeroof::report
