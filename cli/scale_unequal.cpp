#include "cli/scale_unequal.hpp"

#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "analysis/scale/heterogeneous.hpp"
#include "analysis/what_if/parameters.hpp"
#include "cli/answer.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/scale/split_answer.hpp"

#include <fmt/format.h>

#include <map>

namespace eyeroof::cli {

namespace {

// A machine as the scenario runs it; its changes are the first's.
Result<model::Machine> machine_of(Context& context, const std::string& name, bool first,
                                  const analysis::Scenario& scenario) {
    auto machine = load_machine(context, name);
    if (machine && first && !scenario.changes.empty()) {
        machine = analysis::changed(*machine, scenario.changes);
    }
    if (machine && analysis::settles(scenario, *machine)) {
        machine = analysis::settled_machine(*std::move(machine));
    }
    return machine;
}

// Each under the name that the answer gives it: a machine named twice is two devices.
Result<std::vector<analysis::HeterogeneousDevice>> devices_of(Context& context,
                                                              const std::vector<std::string>& names,
                                                              const analysis::Scenario& scenario) {
    Diagnostics all;
    std::vector<analysis::HeterogeneousDevice> devices;
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
    const auto question = analysis::resolve(options.scenario, folders_of(context));
    const auto devices = devices_of(context, options.machines, options.scenario);
    Diagnostics all = question.diagnostics();
    all.append(devices.diagnostics());
    analysis::HeterogeneousOptions wanted;
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
    wanted.software = analysis::software_of(*question);
    const auto graph = analysis::lower(*question);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    const auto split = analysis::split_network(*graph, *devices, wanted);
    if (!split) {
        return context.fail(split.diagnostics());
    }
    report::Answer answer = report::split_answer(*split);
    answer.question = analysis::scenario_words(*question);
    return write_answer(context, answer, options.output);
}

} // namespace eyeroof::cli
