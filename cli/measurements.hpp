// Measurements that a command lays over its predictions: profiles, ceilings, assignments by hand.
// Shared by exam, roofline and import.
// Knows no format and no plot.
#pragma once

#include "analysis/exam/report.hpp"
#include "cli/command.hpp"
#include "model/machine/machine.hpp"
#include "profiles/matching.hpp"
#include "profiles/metric_family.hpp"

#include <string>
#include <vector>

namespace eyeroof::cli {

struct MeasurementFiles {
    std::vector<std::string> profiles;
    std::vector<std::string> ceilings;
    std::string assignments;

    bool none() const { return profiles.empty() && ceilings.empty(); }
};

struct Measurements {
    std::vector<profiles::Profile> profiles; // one a file
    std::vector<profiles::Profile> ceilings; // one a file; only run and ceilings count
    std::vector<profiles::ManualAssignment> assignments;
    std::vector<profiles::MetricFamily> families; // empty where there are no metric files

    const profiles::MetricFamily* family_of(const profiles::Profile& profile) const;
};

// --profile, --ceilings and --assign.
void add_measurement_options(CLI::App& app, MeasurementFiles& files);

// Errors: those of every file, together. Warnings of the readers stand beside the value.
Result<Measurements> load_measurements(const Context& context, const MeasurementFiles& files);

// The ceilings, and all profiles as one, laid over the report. Gives the launches that belong to no
// layer.
Result<profiles::Profile> lay_over(analysis::Report& report, const model::Machine& machine,
                                   const Measurements& measured);

} // namespace eyeroof::cli
