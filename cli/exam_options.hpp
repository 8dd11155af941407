// What `eyeroof exam` is asked beside the scenario, and the command's parts: one machine, several
// side by side, the cores of a package, zeros, SCALE-Sim's counting.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/sparse/levels_reader.hpp"
#include "cli/measurements.hpp"
#include "cli/scenario_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::cli {

// Of a package of cores, what its file or machine does not say.
struct CoresOptions {
    bool asked = false;
    std::string hop, link, memory;
    std::optional<std::size_t> parts;

    bool given() const {
        return asked || parts || !hop.empty() || !link.empty() || !memory.empty();
    }
};

// Area and power of an accelerator's chip by component.
struct ChipOptions {
    bool asked = false;
    std::optional<double> process;
    std::string areas;

    bool given() const { return asked || process || !areas.empty(); }
};

struct ExamOptions {
    ScenarioOptions scenario;
    bool require_proof = false;
    std::string fail_if;
    std::string compat;
    std::string steps = "auto";
    bool details = false;
    bool advice = false;
    CoresOptions cores;
    ChipOptions chip;
    std::vector<std::string> tuned;
    std::vector<std::string> ranks; // traces of further ranks; after take_ranks() of all
    MeasurementFiles measured;
    OutputOptions output;
};

void add_chip_options(CLI::App& app, ChipOptions& options);
void add_cores_options(CLI::App& app, CoresOptions& options);

// `--compat scalesim`: its compute cycles, beside eyeroof's own.
Exit exam_scalesim(Context& context, const ExamOptions& options,
                   const analysis::Scenario& scenario);
// With more than one --on: a table of all.
Exit exam_side_by_side(Context& context, const ExamOptions& options,
                       const analysis::Scenario& scenario, const std::string& command);
// `--cores`, and packages of unequal cores: the network on one, some and all of them.
bool is_package(const Context& context, const std::string& machine);
Exit exam_cores(Context& context, const ExamOptions& options, const analysis::Scenario& scenario);
// On machines that skip zeros and are described in no other way, and `--density curve`. Nothing
// where the machine is one that every exam takes; run_with_density() examines it with the zeros of
// `levels`, which are set where a file of them is named.
std::optional<Exit> exam_zeros(Context& context, const ExamOptions& options,
                               const analysis::Scenario& scenario,
                               std::optional<analysis::SparseLevels>& levels);
Result<analysis::Report> run_with_density(Context& context, const analysis::Question& question,
                                          std::optional<analysis::SparseLevels> levels);
// `--chip`: in the place of the report, its chip by component.
Exit exam_chip(Context& context, const ExamOptions& options, const analysis::Question& question,
               const analysis::Report& report);
// Area and power of the whole chip, where its process is known; what is wrong goes to stderr.
void add_chip_figures(Context& context, const model::Machine& machine, analysis::Report& report);

} // namespace eyeroof::cli
