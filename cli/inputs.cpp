// The machine, the network and the constraints that a command line names, in eyeroof's own files or
// in those of the field.
#include "cli/exam_options.hpp"
#include "hwdb/text_file.hpp"
#include "study/formats/any_machine.hpp"
#include "study/formats/catalog.hpp"

#include <filesystem>

namespace eyeroof::cli {

namespace {

using study::read::TimeloopKind;

// The text of a regular file of Timeloop's that holds this kind.
std::optional<std::string> timeloop_text(const std::string& name, TimeloopKind kind) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(name, ignored)) {
        return std::nullopt;
    }
    auto text = hwdb::read_text_file(name);
    return text && study::read::timeloop_has(*text, kind) ? std::optional(*std::move(text))
                                                          : std::nullopt;
}

} // namespace

void add_energies(CLI::App& app, std::string& file) {
    app.add_option("--energies", file,
                   "Accelergy's table of energies (ERT) for a Timeloop architecture")
        ->type_name("FILE");
}

model::Result<model::Machine> load_machine(Context& context, const std::string& name,
                                           const std::string& energies) {
    return study::read::load_any_machine(name, context.machine_dirs(), energies);
}

namespace {

// What the catalog takes: the name with the sizes behind it.
model::Result<std::string> reference_of(const std::string& name,
                                        const std::vector<std::string>& sizes) {
    std::string reference = name;
    for (const std::string& size : sizes) {
        const auto equals = size.find('=');
        const bool given = name.rfind('=') != std::string::npos && &size == &sizes.front();
        reference += (given || &size != &sizes.front() ? "," : ":") + size;
        if (equals == 0 || equals == std::string::npos) {
            return model::Result<std::string>::failure(
                "bad-parameter", "'" + size + "' does not give a size", "as in --dim batch=8");
        }
    }
    return reference;
}

} // namespace

model::Result<model::Network> load_workload(Context& context, const std::string& name,
                                            const std::vector<std::string>& sizes) {
    const auto reference = reference_of(name, sizes);
    return reference ? study::read::load_network(*reference, context.network_dirs())
                     : model::Result<model::Network>(reference.diagnostics());
}

model::Result<study::read::WiredNetwork>
load_wired_workload(Context& context, const std::string& name,
                    const std::vector<std::string>& sizes) {
    const auto reference = reference_of(name, sizes);
    return reference ? study::read::load_wired_network(*reference, context.network_dirs())
                     : model::Result<study::read::WiredNetwork>(reference.diagnostics());
}

void add_dims(CLI::App& app, std::vector<std::string>& sizes) {
    app.add_option("--dim", sizes,
                   "Size that a model leaves open, or parameter of a network (repeatable)")
        ->type_name("NAME=SIZE")
        ->allow_extra_args(false);
}

study::read::TimeloopNames workload_names(const std::string& name) {
    if (auto text = timeloop_text(name, TimeloopKind::problem)) {
        const auto problem = study::read::parse_timeloop_problem(*std::move(text), name);
        if (problem) {
            return problem->names;
        }
    }
    return study::read::cnn_layer_names();
}

model::Result<study::read::PlacedConstraints>
load_constraints(const std::string& file, const std::string& machine_name,
                 const model::Machine& machine, const study::read::TimeloopNames& names) {
    using Answer = model::Result<study::read::PlacedConstraints>;
    const auto* accelerator = std::get_if<model::Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Answer(study::read::PlacedConstraints{});
    }
    Answer placed(study::read::PlacedConstraints{});
    if (auto text = timeloop_text(machine_name, TimeloopKind::architecture)) {
        placed = study::read::parse_timeloop_constraints(*std::move(text), machine_name,
                                                         *accelerator, names);
    }
    if (file.empty()) {
        return placed;
    }
    auto text = hwdb::read_text_file(file);
    if (!placed || !text) {
        model::Diagnostics all = placed.diagnostics();
        all.append(text.diagnostics());
        return Answer(std::move(all));
    }
    if (!study::read::timeloop_has(*text, TimeloopKind::constraints) &&
        !study::read::timeloop_has(*text, TimeloopKind::architecture)) {
        return Answer::failure("no-constraints", "the file holds no constraints",
                               "it has mapspace_constraints, architecture_constraints or mapspace",
                               {file, 1, 1});
    }
    return study::read::parse_timeloop_constraints(*std::move(text), file, *accelerator, names,
                                                   *std::move(placed));
}

} // namespace eyeroof::cli
