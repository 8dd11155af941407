#include "cli/measurements.hpp"

#include "analysis/measured/lay_ceilings.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "analysis/measured/traced.hpp"
#include "cli/metric_files.hpp"
#include "formats/assignments.hpp"
#include "formats/ceilings.hpp"
#include "profiles/import/importer.hpp"

namespace eyeroof::cli {

const profiles::MetricFamily* Measurements::family_of(const profiles::Profile& profile) const {
    return profiles::family_of_profile(families, profile);
}

void add_measurement_options(CLI::App& app, MeasurementFiles& files) {
    app.add_option("--profile", files.profiles,
                   "Measurements of the first machine, in any format that import reads "
                   "(repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--assign", files.assignments, "Manual assignments of kernels to layers (YAML)")
        ->type_name("FILE");
    app.add_option("--ceilings", files.ceilings,
                   "Measured ceilings of the first machine, as measure --overlay or --save "
                   "writes them (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
}

Result<Measurements> load_measurements(const Context& context, const MeasurementFiles& files) {
    Measurements read;
    Diagnostics found;
    const auto take = [&](auto result, auto& into) {
        found.append(result.diagnostics());
        if (result) {
            into.push_back(*std::move(result));
        }
    };
    for (const std::string& file : files.profiles) {
        take(profiles::import_file(file), read.profiles);
    }
    for (const std::string& file : files.ceilings) {
        take(formats::load_ceilings(file), read.ceilings);
    }
    if (!files.assignments.empty()) {
        auto assignments = formats::load_assignments(files.assignments);
        found.append(assignments.diagnostics());
        if (assignments) {
            read.assignments = *std::move(assignments);
        }
    }
    if (!read.profiles.empty()) { // counters have names of a family of GPUs
        if (auto families = load_metric_files(context)) {
            read.families = *std::move(families);
        }
    }
    if (found.has_errors()) {
        return Result<Measurements>(std::move(found));
    }
    return {std::move(read), std::move(found)};
}

Result<std::optional<formats::TraceNetwork>> trace_of(const analysis::Scenario& scenario) {
    using Answer = Result<std::optional<formats::TraceNetwork>>;
    if (!formats::is_trace_file(scenario.network)) {
        return Answer(std::nullopt);
    }
    auto trace = formats::load_trace_network(scenario.network);
    return trace ? Answer(std::optional(*std::move(trace)), trace.diagnostics())
                 : Answer(trace.diagnostics());
}

bool is_its_own(const Context& context, const formats::TraceNetwork& trace,
                const analysis::Scenario& scenario) {
    return analysis::ran_as_asked(trace, scenario, context.machine_dirs());
}

void add_own_times(const Context& context, analysis::Scenario scenario,
                   const std::vector<std::string>& machines, Measurements& measured) {
    const auto trace = trace_of(scenario);
    for (const std::string& machine : machines) {
        scenario.machine = machine;
        if (trace && *trace && is_its_own(context, **trace, scenario)) {
            measured.profiles.push_back((*trace)->profile);
            return;
        }
    }
}

Result<profiles::Profile> lay_over(analysis::Report& report, const model::Machine& machine,
                                   const Measurements& measured) {
    using Rest = Result<profiles::Profile>;
    for (const profiles::Profile& ceilings : measured.ceilings) {
        analysis::lay_ceilings(report, machine, ceilings.ceilings);
    }
    if (measured.profiles.empty()) {
        return profiles::Profile{};
    }
    const auto all = profiles::merge(measured.profiles);
    if (!all) {
        return Rest(all.diagnostics());
    }
    const auto laid =
        analysis::lay_profile(report, *all, measured.family_of(*all), measured.assignments);
    Diagnostics notes = all.diagnostics();
    notes.append(laid.diagnostics());
    return laid ? Rest(profiles::keep_launches(*all, laid->unmatched), std::move(notes))
                : Rest(std::move(notes));
}

} // namespace eyeroof::cli
