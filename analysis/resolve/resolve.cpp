#include "analysis/resolve/resolve.hpp"

#include "analysis/what_if/parameters.hpp"
#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/layer_csv.hpp"
#include "formats/maestro.hpp"
#include "formats/mapping_yaml.hpp"
#include "hwdb/usual_host.hpp"
#include "model/accelerator/type_rate.hpp"
#include "model/gpu/serving_library.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using formats::TimeloopKind;

namespace {

// The text of a regular file of Timeloop's that holds this kind.
std::optional<std::string> timeloop_text(const std::string& name, TimeloopKind kind) {
    std::error_code ignored;
    if (name.ends_with(".csv") || !std::filesystem::is_regular_file(name, ignored)) {
        return std::nullopt;
    }
    auto text = read_text_file(name);
    return text && formats::timeloop_has(*text, kind) ? std::optional(*std::move(text))
                                                      : std::nullopt;
}

// What the catalog takes: the name with the sizes behind it.
Result<std::string> reference_of(const std::string& name, const std::vector<std::string>& sizes) {
    std::string reference = name;
    for (const std::string& size : sizes) {
        const auto equals = size.find('=');
        const bool given = name.rfind('=') != std::string::npos && &size == &sizes.front();
        reference += (given || &size != &sizes.front() ? "," : ":") + size;
        if (equals == 0 || equals == std::string::npos) {
            return Result<std::string>::failure("bad-parameter",
                                                "'" + size.substr(0, 40) + "' does not give a size",
                                                "as in --dim seq=512");
        }
    }
    return reference;
}

// Gives the question the scenario's machine.
Diagnostics add_machine(const DataFolders& folders, Question& question) {
    const Scenario& scenario = question.scenario;
    auto machine = formats::load_any_machine(scenario.machine, folders.machines, scenario.energies);
    auto* accelerator = machine ? std::get_if<model::Accelerator>(&machine->kind) : nullptr;
    if (accelerator != nullptr && scenario.data_type) {
        *accelerator = model::with_type(std::move(*accelerator), *scenario.data_type);
    }
    if (machine && !scenario.changes.empty()) {
        question.uncapped = uncapped(*machine, scenario.changes);
        machine = changed(*machine, scenario.changes);
    }
    if (machine) {
        question.machine = *std::move(machine);
    }
    return machine.diagnostics();
}

// The scenario with the library that its table of layers names, where it names none itself.
Scenario with_library(Scenario scenario, Diagnostics& found) {
    if (!scenario.library.empty() || !scenario.network.ends_with(".csv")) {
        return scenario;
    }
    if (const auto table = formats::load_layer_csv(scenario.network)) {
        auto library = formats::library_of(*table, scenario.network);
        found.append(library.diagnostics());
        scenario.library = library ? *std::move(library) : std::string();
    }
    return scenario;
}

// The mapping file, which needs to know the machine's levels.
Diagnostics add_mapping_file(Question& question) {
    Diagnostics found;
    const Scenario& s = question.scenario;
    if (s.policy != MappingPolicy::given) {
        return found;
    }
    const auto* accelerator = std::get_if<model::Accelerator>(&question.machine.kind);
    if (accelerator == nullptr) {
        found.error("usage", "--mapping FILE needs an accelerator",
                    "a GPU's library maps by itself; name an accelerator with --on");
        return found;
    }
    static const std::vector<std::string> policies = {"auto", "best", "dataflow"};
    std::error_code ignored;
    const std::string near = closest(s.mapping_file, policies);
    if (!std::filesystem::exists(s.mapping_file, ignored) && !near.empty()) {
        found.error("usage", fmt::format("--mapping: there is no file '{}'", s.mapping_file),
                    fmt::format("did you mean '{}'?", near));
        return found;
    }
    auto mapping = formats::load_mapping(s.mapping_file, *accelerator, workload_names(s.network));
    if (mapping) {
        question.mapping = *std::move(mapping);
    }
    return mapping.diagnostics();
}

// What a searched mapping must keep to: the constraints file, and what a Timeloop architecture
// says.
Diagnostics add_constraints(Question& question) {
    const Scenario& s = question.scenario;
    const bool searched = s.policy == MappingPolicy::best || s.policy == MappingPolicy::automatic;
    Diagnostics found;
    if (!searched) {
        if (!s.constraints_file.empty()) {
            found.error("usage", "--constraints are for searched mappings",
                        "use --mapping auto or --mapping best");
        }
        return found;
    }
    auto placed = load_constraints(s.constraints_file, s.machine, question.machine,
                                   workload_names(s.network));
    if (placed) {
        question.constraints = std::move(placed->rules);
        question.places = std::move(placed->places);
    }
    return placed.diagnostics();
}

} // namespace

Result<model::NetworkGraph> load_workload(const std::string& name,
                                          const std::vector<std::string>& sizes,
                                          const DataFolders& folders) {
    const auto reference = reference_of(name, sizes);
    return reference ? formats::load_wired_network(*reference, folders.networks)
                     : Result<model::NetworkGraph>(reference.diagnostics());
}

Result<NamedIssue> load_issue(const std::string& name, const model::Machine& machine,
                              const DataFolders& folders) {
    const auto* gpu = std::get_if<model::Gpu>(&machine.kind);
    if (gpu == nullptr) {
        return NamedIssue{};
    }
    if (gpu->arch == model::GpuArch::host) {
        return NamedIssue{gpu->issue, machine.id};
    }
    if (name.empty()) {
        const hwdb::NamedHost usual = hwdb::usual_host(*gpu, folders.machines, machine.id);
        return NamedIssue{usual.issue, usual.id};
    }
    const auto host = hwdb::load_host(name, folders.machines);
    return host ? Result<NamedIssue>(NamedIssue{host->issue, host->id})
                : Result<NamedIssue>(host.diagnostics());
}

Result<Question> resolve(const Scenario& scenario, model::NetworkGraph network,
                         const DataFolders& folders) {
    Question question;
    question.scenario = scenario;
    question.network = std::move(network.network);
    question.edges = std::move(network.edges);
    Diagnostics all = add_machine(folders, question);
    if (all.has_errors()) {
        return all;
    }
    const auto host = load_issue(scenario.host, question.machine, folders);
    all.append(host.diagnostics());
    if (host) {
        question.host = host->issue;
        question.host_id = host->id;
    }
    if (const std::string& library = question.scenario.library;
        !library.empty() && !model::is_known_library(library)) {
        all.error("unknown-library", fmt::format("unknown library \"{}\"", library),
                  "it knows " + model::known_libraries() +
                      ", with a version behind it, such as sglang-0.5",
                  {}, "library");
    }
    all.append(add_mapping_file(question));
    all.append(add_constraints(question));
    return all.has_errors() ? Result<Question>(std::move(all))
                            : Result<Question>(std::move(question), std::move(all));
}

Result<Question> resolve(const Scenario& scenario, const DataFolders& folders) {
    auto network = load_workload(scenario.network, scenario.sizes, folders);
    Diagnostics all = network.diagnostics();
    const Scenario with = with_library(scenario, all);
    auto question = resolve(with, network ? *std::move(network) : model::NetworkGraph{}, folders);
    all.append(question.diagnostics());
    return all.has_errors() ? Result<Question>(std::move(all))
                            : Result<Question>(*std::move(question), std::move(all));
}

formats::TimeloopNames workload_names(const std::string& name) {
    if (auto text = timeloop_text(name, TimeloopKind::problem)) {
        const auto problem = formats::parse_timeloop_problem(*std::move(text), name);
        if (problem) {
            return problem->names;
        }
    }
    return formats::cnn_layer_names();
}

Result<formats::PlacedConstraints> load_constraints(const std::string& file,
                                                    const std::string& machine_name,
                                                    const model::Machine& machine,
                                                    const formats::TimeloopNames& names) {
    using Answer = Result<formats::PlacedConstraints>;
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Answer(formats::PlacedConstraints{});
    }
    Answer placed(formats::PlacedConstraints{});
    if (auto text = timeloop_text(machine_name, TimeloopKind::architecture)) {
        placed = formats::parse_timeloop_constraints(*std::move(text), machine_name, *accelerator,
                                                     names);
    }
    if (file.empty()) {
        return placed;
    }
    auto text = read_text_file(file);
    if (!placed || !text) {
        Diagnostics all = placed.diagnostics();
        all.append(text.diagnostics());
        return Answer(std::move(all));
    }
    if (formats::is_maestro_dataflow(*text)) {
        auto rules = formats::parse_maestro_dataflow(*text, file, *accelerator);
        return rules
                   ? Answer(formats::PlacedConstraints{*std::move(rules), {}}, rules.diagnostics())
                   : Answer(rules.diagnostics());
    }
    if (!formats::timeloop_has(*text, TimeloopKind::constraints) &&
        !formats::timeloop_has(*text, TimeloopKind::architecture)) {
        return Answer::failure(
            "no-constraints", "the file holds no constraints",
            "it has mapspace_constraints, architecture_constraints or mapspace, or is "
            "a dataflow of MAESTRO",
            {file, 1, 1});
    }
    return formats::parse_timeloop_constraints(*std::move(text), file, *accelerator, names,
                                               *std::move(placed));
}

} // namespace eyeroof::analysis
