#include "cli/exam_study.hpp"

#include "hwdb/technology_reader.hpp"
#include "model/base/suggest.hpp"
#include "study/formats/mapping_yaml.hpp"
#include "study/silicon/chip_figures.hpp"
#include "study/step/fit.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/what_if/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace eyeroof::cli {

namespace {

model::Result<study::StudyOptions> study_options(const ExamOptions& options) {
    static const std::map<std::string, study::LaunchMode> launches = {
        {"eager", study::LaunchMode::eager},
        {"stream", study::LaunchMode::stream},
        {"kernel", study::LaunchMode::kernel},
        {"graph", study::LaunchMode::graph},
        {"compiled", study::LaunchMode::compiled}};
    study::StudyOptions wanted;
    wanted.policy = policy_named(options.mapping);
    set_effort(options.effort, options.mapping, wanted);
    wanted.factors = options.factors == "any" ? mapper::Factors::any : mapper::Factors::perfect;
    wanted.free_dataflow = frees_dataflow(options.dataflow);
    wanted.counting =
        options.counting == "timeloop" ? model::Counting::timeloop : model::Counting::eyeroof;
    wanted.launch = launches.at(options.launch);
    wanted.threads = options.threads;
    wanted.batch = options.batch;
    wanted.dataflow = dataflow_named(options.dataflow);
    if (!options.objective.empty()) {
        const auto objective = parse_objective(options.objective);
        if (!objective) {
            return model::Result<study::StudyOptions>(objective.diagnostics());
        }
        wanted.objective = *objective;
    }
    if (!options.dtype.empty()) {
        wanted.data_type = model::data_type_from_name(options.dtype);
    }
    wanted.operators = operators_of(options.phase);
    wanted.training = training_of(options.phase);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return model::Result<study::StudyOptions>(std::move(wanted));
}

// --mapping FILE, which needs to know the machine's levels.
model::Diagnostics add_mapping_file(const ExamOptions& options, const model::Machine& machine,
                                    study::StudyOptions& wanted) {
    static const std::vector<std::string> policies = {"auto", "best", "dataflow"};
    model::Diagnostics found;
    if (std::find(policies.begin(), policies.end(), options.mapping) != policies.end()) {
        return found;
    }
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        found.error("usage", "--mapping FILE needs an accelerator",
                    "a GPU's library maps by itself; name an accelerator with --on");
        return found;
    }
    std::error_code ignored;
    const std::string near = model::closest(options.mapping, policies);
    if (!std::filesystem::exists(options.mapping, ignored) && !near.empty()) {
        found.error("usage", fmt::format("--mapping: there is no file '{}'", options.mapping),
                    fmt::format("did you mean '{}'?", near));
        return found;
    }
    auto mapping =
        study::read::load_mapping(options.mapping, *accelerator, workload_names(options.network));
    if (!mapping) {
        return mapping.diagnostics();
    }
    wanted.policy = study::MappingPolicy::given;
    wanted.mapping = *std::move(mapping);
    return found;
}

// What a searched mapping must keep to: --constraints, and what a Timeloop architecture says
// itself.
model::Diagnostics add_constraints(const ExamOptions& options, const model::Machine& machine,
                                   study::StudyOptions& wanted) {
    using Policy = study::MappingPolicy;
    const bool searched = wanted.policy == Policy::best || wanted.policy == Policy::automatic;
    model::Diagnostics found;
    if (!searched) {
        if (!options.constraints.empty()) {
            found.error("usage", "--constraints are for searched mappings",
                        "use --mapping auto or --mapping best");
        }
        return found;
    }
    auto placed = load_constraints(options.constraints, options.machine, machine,
                                   workload_names(options.network));
    if (placed) {
        wanted.constraints = std::move(placed->rules);
        wanted.places = std::move(placed->places);
    }
    return placed.diagnostics();
}

} // namespace

model::Result<model::Machine> named_machine(Context& context, const ExamOptions& options) {
    auto machine = load_machine(context, options.machine, options.energies);
    if (machine && !options.set.empty()) {
        return study::changed(*machine, options.set);
    }
    return machine;
}

model::Result<study::StudyOptions> wanted_study(Context& context, const ExamOptions& options,
                                                const model::Machine& machine) {
    auto wanted = study_options(options);
    model::Diagnostics wrong = wanted.diagnostics();
    const auto host = study::host_issue(options.host, machine, context.machine_dirs());
    wrong.append(host.diagnostics());
    if (wanted) {
        wanted->host = host ? *host : model::HostIssue{};
        wrong.append(add_mapping_file(options, machine, *wanted));
        wrong.append(add_constraints(options, machine, *wanted));
    }
    if (wrong.has_errors()) {
        return wrong;
    }
    return wanted;
}

void add_chip_figures(Context& context, const model::Machine& machine, study::Report& report) {
    if (!std::holds_alternative<model::Accelerator>(machine.kind)) {
        return;
    }
    const auto technology = hwdb::load_technology(context.machine_dirs());
    if (technology) {
        context.report(study::add_chip(machine, *technology, report));
        return;
    }
    for (model::Diagnostic d : technology.diagnostics()) {
        model::Diagnostics said; // the examination does not need the file
        d.severity = model::Severity::warning;
        said.add(std::move(d));
        context.report(said);
    }
}

std::optional<study::MemoryFit> memory_of(Context& context, const ExamOptions& options,
                                          const study::read::WiredNetwork& wired,
                                          const model::Machine& machine) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu == nullptr || gpu->arch == model::GpuArch::host || gpu->dram_bytes <= 0.0 ||
        !options.layers.empty() || options.phase.operators == "products") {
        return std::nullopt;
    }
    study::StudyOptions typed;
    typed.data_type = model::data_type_from_name(options.dtype);
    const auto whole = study::prepared(wired.network, typed);
    if (!whole) {
        return std::nullopt;
    }
    study::step::FitQuestion question{*whole, wired.wiring, {}, true};
    question.options.training = training_of(options.phase);
    const auto fit = study::step::fit_of(question, *gpu, options.batch.value_or(1), context.stop());
    if (!fit) {
        return std::nullopt;
    }
    if (!fit->fits()) {
        model::Diagnostics said;
        said.warning("does-not-fit",
                     fmt::format("{} needs more memory than {} has: times are of a run that would "
                                 "fit",
                                 wired.network.name, machine.name),
                     "`eyeroof memory` tells what holds it");
        context.report(said);
    }
    return study::MemoryFit{fit->peak, fit->limit, fit->largest_batch, fit->chain};
}

} // namespace eyeroof::cli
