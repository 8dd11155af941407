#include "cli/scenario_options.hpp"

#include "base/units.hpp"
#include "formats/any_machine.hpp"
#include "formats/catalog.hpp"
#include "formats/trace_gpu.hpp"
#include "formats/trace_network.hpp"
#include "hwdb/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

using analysis::FieldKind;
using analysis::ScenarioField;

// With the command's own default, where that is another than the scenario's.
std::string help_of(const ScenarioField& field, const analysis::Scenario& usual,
                    const ScenarioShape& shape) {
    std::string help = field.help;
    const std::vector<std::string> own = field.get(usual);
    const auto stated = shape.defaults.find(field.name);
    const std::string other = stated != shape.defaults.end() ? stated->second
                              : !own.empty() && own != field.get(analysis::Scenario{}) ? own.front()
                                                                                       : "";
    if (!other.empty() && help.ends_with(']')) {
        help.replace(help.rfind('['), std::string::npos, "[" + other + "]");
    }
    if (field.name == "network") {
        help = "Catalog name (eyeroof net list) or file: a network YAML, a CSV of layers, an ONNX "
               "model, a PyTorch profiler trace, or a file of Timeloop, AccelForge, SCALE-Sim, "
               "MAESTRO, or ZigZag";
    } else if (field.name == "on") {
        help = "Catalog name (eyeroof hw list) or file: a machine YAML, a machine of Timeloop, "
               "AccelForge, SCALE-Sim, MAESTRO, ZigZag, or Stream, or systolic:ROWSxCOLS; of a "
               "trace the GPU that it was taken on";
    }
    return help;
}

CLI::Option* option_of(CLI::App& app, const ScenarioField& field, ScenarioOptions& options,
                       const ScenarioShape& shape) {
    ScenarioOptions::Value& value = options.values[field.name];
    const std::string name = field.name == "network" ? "NETWORK" : "--" + field.name;
    if (field.kind == FieldKind::flag) {
        return app.add_flag(name, value.flag, field.help);
    }
    CLI::Option* option = app.add_option(name, value.texts, help_of(field, options.usual, shape));
    option->type_name(field.value)->allow_extra_args(false);
    const bool machines = field.name == "on" && shape.several_machines;
    if (field.kind != FieldKind::list && !machines) {
        option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    }
    if (machines) {
        option->description(option->get_description() + "; given more than once, side by side");
    }
    return option;
}

// Texts of an option on the command line; those of a flag are "1".
std::vector<std::string> texts_of(const ScenarioOptions::Value& value, FieldKind kind) {
    return kind != FieldKind::flag ? value.texts
           : value.flag            ? std::vector<std::string>{"1"}
                                   : std::vector<std::string>{};
}

Diagnostics take(const ScenarioField& field, std::vector<std::string> texts,
                 analysis::Scenario& scenario) {
    if (field.kind == FieldKind::list) {
        std::vector<std::string> all = field.get(scenario);
        all.insert(all.end(), texts.begin(), texts.end());
        texts = std::move(all);
    } else if (texts.size() > 1) {
        texts.resize(1); // several machines: the first
    }
    return field.set(scenario, texts);
}

} // namespace

bool ScenarioOptions::given(const std::string& field) const {
    const auto found = values.find(field);
    return found != values.end() && found->second.option->count() > 0;
}

void add_scenario(CLI::App& app, ScenarioOptions& options, const ScenarioShape& shape) {
    for (const ScenarioField& field : analysis::scenario_fields()) {
        const bool left_out = std::ranges::find(shape.without, field.name) != shape.without.end();
        if (left_out || (field.name == "network" && !shape.network)) {
            continue;
        }
        ScenarioOptions::Value& value = options.values[field.name];
        value.option = option_of(app, field, options, shape);
        const_cast<CLI::Option*>(value.option)->group(std::string(field_group_title(field.group)));
    }
    app.add_option("--scenario", options.document,
                   "Repeat the question of an answer or scenario file: a JSON answer of eyeroof, "
                   "or a file with a scenario; - reads standard input; options change it")
        ->type_name("FILE")
        ->group(std::string(field_group_title(analysis::FieldGroup::what)));
    app.add_option("--threads", options.usual.threads,
                   "Threads to use; the answer does not depend on it [all]")
        ->check(CLI::Range(0, 4096))
        ->type_name("N");
}

bool is_machine(const Context& context, const std::string& name) {
    const bool path = name.find('/') != std::string::npos || name.ends_with(".yaml");
    return !name.empty() && !path && hwdb::find_machine(name, context.machine_dirs()).ok();
}

namespace {

// A machine where a network is expected, which happens to those who write the two the other way
// round. nullopt: the name is no machine's, or a network's as well.
std::optional<Diagnostics> machine_as_network(const Context& context,
                                              const analysis::Scenario& scenario) {
    if (!is_machine(context, scenario.network) ||
        formats::load_network(scenario.network, folders_of(context).networks).ok()) {
        return std::nullopt;
    }
    Diagnostics found;
    found.error("usage", fmt::format("'{}' is a machine, not a network", scenario.network),
                fmt::format("as in eyeroof exam resnet50 --on {}", scenario.network));
    return found;
}

} // namespace

Result<analysis::Scenario> scenario_of(Context& context, ScenarioOptions& options) {
    using Answer = Result<analysis::Scenario>;
    analysis::Scenario scenario = options.usual;
    if (!options.document.empty()) {
        const auto text = context.document(options.document);
        if (!text) {
            return Answer(text.diagnostics());
        }
        auto read = analysis::parse_scenario(*text, options.document, scenario);
        if (!read) {
            return read;
        }
        scenario = *std::move(read);
    }
    Diagnostics found;
    for (const ScenarioField& field : analysis::scenario_fields()) {
        if (options.given(field.name)) {
            const ScenarioOptions::Value& value = options.values.at(field.name);
            found.append(take(field, texts_of(value, field.kind), scenario));
        }
    }
    if (scenario.machine.empty() && options.values.contains("on") && !scenario.network.empty() &&
        formats::is_trace_file(scenario.network)) {
        if (auto gpu = formats::gpu_of_trace(scenario.network, context.machine_dirs())) {
            scenario.machine = *std::move(gpu); // that it was taken on
        } else if (!options.given("on")) {
            found.append(gpu.diagnostics());
        }
    }
    if (options.given("on")) {
        options.machines = options.values.at("on").texts;
    } else if (options.machines.empty() && !scenario.machine.empty()) {
        options.machines = {scenario.machine};
    }
    if (auto swapped = machine_as_network(context, scenario)) {
        return *std::move(swapped);
    }
    context.remember(scenario);
    return found.has_errors() ? Answer(std::move(found)) : Answer(std::move(scenario));
}

Result<analysis::Question> question_of(Context& context, ScenarioOptions& options) {
    const auto scenario = scenario_of(context, options);
    if (!scenario) {
        return scenario.diagnostics();
    }
    auto absent = missing(options, *scenario);
    return absent.has_errors() ? Result<analysis::Question>(std::move(absent))
                               : analysis::resolve(*scenario, folders_of(context));
}

void add_sizes(CLI::App& app, std::vector<std::string>& sizes) {
    const analysis::ScenarioField& field = *analysis::find_field("dim");
    app.add_option("--dim", sizes, field.help)->type_name(field.value)->allow_extra_args(false);
}

void add_timing(CLI::App& app, std::string& timing) {
    add_choice(app, "--timing", timing, {"eager", "stream", "graph", "none"},
               "How times without a `launch` column were measured: eager framework calls, "
               "back-to-back launches, a node of a CUDA graph, or the kernel alone (none)");
}

Diagnostics missing(const ScenarioOptions& options, const analysis::Scenario& scenario) {
    Diagnostics found;
    if (scenario.network.empty() && options.values.contains("network")) {
        found.error("usage", "NETWORK is missing",
                    "a name in the catalog (eyeroof net list), or a file");
    }
    const std::string& network = scenario.network;
    const bool trace = network.ends_with(".json") || network.ends_with(".gz"); // names its machine
    if (std::error_code none;
        scenario.machine.empty() && trace && !std::filesystem::exists(network, none)) {
        found.error("file-not-found", "there is no such file", "check the path", {network, 0, 0});
    } else if (scenario.machine.empty() && options.values.contains("on")) {
        found.error(
            "usage", "--on MACHINE is missing",
            "a name in the catalog (eyeroof hw list) or a file, such as --on a100-sxm-40gb");
    }
    return found;
}

Result<std::optional<Count>> memory_limit(const std::string& text) {
    using Answer = Result<std::optional<Count>>;
    if (text.empty()) {
        return Answer(std::nullopt);
    }
    const auto bytes = parse_quantity(text, "B", "a memory");
    return bytes && *bytes >= 1.0 && *bytes < 1e18
               ? Answer(static_cast<Count>(*bytes))
               : Answer::failure("usage", "--memory " + text + " is not an amount of memory",
                                 "as in --memory 16GB or 24GiB");
}

analysis::DataFolders folders_of(const Context& context) {
    return {context.machine_dirs(), context.network_dirs()};
}

Result<model::Machine> load_machine(const Context& context, const std::string& name,
                                    const std::string& energies) {
    return formats::load_any_machine(name, context.machine_dirs(), energies);
}

} // namespace eyeroof::cli
