#include "cli/scale_unequal.hpp"

#include "hwdb/fabric_reader.hpp"
#include "study/exam/words.hpp"
#include "study/program/lower.hpp"
#include "study/program/settled.hpp"
#include "study/scale/mixed.hpp"
#include "study/scale/mixed_write.hpp"
#include "study/what_if/knobs.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::cli {

namespace {

// A machine as the scenario runs it; its changes are the first's.
model::Result<model::Machine> machine_of(Context& context, const std::string& name, bool first,
                                         const study::Scenario& scenario) {
    auto machine = load_machine(context, name);
    if (machine && first && !scenario.changes.empty()) {
        machine = study::changed(*machine, scenario.changes);
    }
    if (machine && study::settles(scenario)) {
        machine = study::settled_machine(*std::move(machine));
    }
    return machine;
}

// Each under the name that the answer gives it: a machine named twice is two devices.
model::Result<std::vector<study::MixedDevice>> devices_of(Context& context,
                                                          const std::vector<std::string>& names,
                                                          const study::Scenario& scenario) {
    model::Diagnostics all;
    std::vector<study::MixedDevice> devices;
    std::map<std::string, int> seen;
    for (const std::string& name : names) {
        const auto machine = machine_of(context, name, &name == &names.front(), scenario);
        all.append(machine.diagnostics());
        if (!machine) {
            continue;
        }
        const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
        if (gpu == nullptr) {
            all.error("not-a-gpu",
                      machine->id + " is an accelerator; GPUs and host processors share a network",
                      "`eyeroof hw list` names them");
            continue;
        }
        const int number = ++seen[machine->id];
        devices.push_back(
            {number > 1 ? fmt::format("{} #{}", machine->id, number) : machine->id, *gpu});
    }
    if (all.has_errors()) {
        return all;
    }
    return {std::move(devices), std::move(all)};
}

} // namespace

Exit scale_unequal(Context& context, const UnequalOptions& options) {
    const std::string& format = options.output.format;
    if (format != "text" && format != "json") {
        return context.fail_usage("devices that differ are written as text or json",
                                  "choose --format text or --format json");
    }
    const auto question = study::resolve(options.scenario, folders_of(context));
    const auto devices = devices_of(context, options.machines, options.scenario);
    model::Diagnostics all = question.diagnostics();
    all.append(devices.diagnostics());
    study::MixedOptions wanted;
    wanted.nodes = options.scenario.search_nodes.value_or(wanted.nodes);
    wanted.microbatches = static_cast<std::size_t>(options.microbatches);
    if (!options.fabric.empty()) {
        auto fabric = hwdb::load_fabric(options.fabric, context.machine_dirs());
        all.append(fabric.diagnostics());
        wanted.fabric = fabric ? std::optional(*std::move(fabric)) : std::nullopt;
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    wanted.software = study::software_of(*question);
    const auto graph = study::lower(*question);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    const auto answer = study::split_network(*graph, *devices, wanted);
    if (!answer) {
        return context.fail(answer.diagnostics());
    }
    return context.write(format == "json" ? study::mixed_json(*answer)
                                          : with_words(study::scenario_words(*question),
                                                       study::mixed_text(*answer), format),
                         options.output.file);
}

} // namespace eyeroof::cli
