// Measurements that a command lays over its predictions: profiles, ceilings, assignments by hand.
// Shared by exam, roofline and import.
#pragma once

#include "analysis/exam/report.hpp"
#include "cli/command.hpp"
#include "formats/trace_network.hpp"
#include "model/machine/machine.hpp"
#include "profiles/matching.hpp"
#include "profiles/metric_family.hpp"

#include <optional>
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

// The trace that the scenario's network is, where it is one. Errors: the reader's.
Result<std::optional<formats::TraceNetwork>> trace_of(const analysis::Scenario& scenario);

// Whether its times are those of what the scenario asks: the sizes and types that ran, on that GPU.
bool is_its_own(const Context& context, const formats::TraceNetwork& trace,
                const analysis::Scenario& scenario);

// Of a trace, where no profile is named: its own times, for those of the machines that it was taken
// on. Nothing for other networks.
void add_own_times(const Context& context, analysis::Scenario scenario,
                   const std::vector<std::string>& machines, Measurements& measured);

// The ceilings, and all profiles as one, laid over the report. Gives the launches that belong to no
// layer.
Result<profiles::Profile> lay_over(analysis::Report& report, const model::Machine& machine,
                                   const Measurements& measured);

} // namespace eyeroof::cli
