#include "analysis/search/map_network.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "base/pattern.hpp"
#include "mapper/reported.hpp"
#include "model/eyexam/examine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

Result<std::optional<Dataflow>> dataflow_of(const Accelerator& accelerator,
                                            const MapOptions& options) {
    using Answer = Result<std::optional<Dataflow>>;
    if (options.free_dataflow) {
        return Answer(std::nullopt);
    }
    if (!options.dataflow) {
        return Answer(accelerator.dataflows.empty() ? std::optional<Dataflow>()
                                                    : std::optional(accelerator.dataflows.front()));
    }
    for (const Dataflow& dataflow : accelerator.dataflows) {
        if (dataflow.kind == *options.dataflow) {
            return Answer(std::optional(dataflow));
        }
    }
    return Answer::failure("unsupported",
                           fmt::format("the machine does not support the dataflow {}",
                                       dataflow_name(*options.dataflow)),
                           "`eyeroof hw show MACHINE` lists its dataflows");
}

// Pooling has a nest without multiply-accumulates. No exam lays it on the array beside others, so
// it is mapped only where nothing else is.
void without_pooling(std::vector<Layer>& layers) {
    const auto multiplies = [](const Layer& layer) {
        const auto work = work_of(layer);
        return !work || work->macs > 0;
    };
    if (std::any_of(layers.begin(), layers.end(), multiplies)) {
        std::erase_if(layers, [&](const Layer& layer) {
            return std::holds_alternative<PoolShape>(layer.shape) && !multiplies(layer);
        });
    }
}

// The nests of the layers whose name holds a match, as exam chooses its layers.
Result<std::vector<MappedLayer>> matching_nests(const Network& network, const MapOptions& options) {
    std::vector<MappedLayer> nests;
    const auto wanted = Pattern::compile(options.layers.value_or(""));
    if (!wanted) {
        return Result<std::vector<MappedLayer>>(wanted.diagnostics());
    }
    std::vector<Layer> layers = network.layers;
    std::erase_if(layers, [&](const Layer& layer) { return !wanted->found_in(layer.name); });
    without_pooling(layers);
    Diagnostics found;
    for (const Layer& layer : layers) {
        const auto problems = nests_of(layer);
        if (!problems) {
            found.append(problems.diagnostics());
            continue;
        }
        for (const Problem& problem : *problems) {
            MappedLayer nest;
            nest.name = problem.name;
            nest.problem = problem;
            nest.count = layer.count;
            for (std::size_t i = 0; i < nests.size() && !nest.same_as; ++i) {
                if (!nests[i].same_as && same_nest(nest.problem, nests[i].problem)) {
                    nest.same_as = i;
                }
            }
            nests.push_back(std::move(nest));
        }
    }
    if (nests.empty() && !found.has_errors()) {
        found.error("no-layers", "no layer with multiply-accumulates matches",
                    network.layers.empty()
                        ? "the network has no layers"
                        : "the first one is named " + network.layers.front().name);
    }
    return found.has_errors() ? Result<std::vector<MappedLayer>>(std::move(found))
                              : Result<std::vector<MappedLayer>>(std::move(nests));
}

mapper::Task asked_task(const MappedLayer& nest, const Accelerator& accelerator,
                        const std::optional<Dataflow>& dataflow, const MapOptions& options) {
    mapper::Task task =
        task_of(nest.problem, accelerator, dataflow ? &*dataflow : nullptr, options.constraints);
    task.objective = options.objective;
    task.factors = options.factors;
    task.counting = options.counting;
    return task;
}

// What the dataflow's own mapping costs, if it keeps the rules of the search; 0: there is none.
double own_value(const mapper::Task& task, const std::optional<Dataflow>& dataflow) {
    const auto& all = task.machine.dataflows;
    const auto own = dataflow      ? own_mapping(task.problem, task.machine, *dataflow)
                     : all.empty() ? std::nullopt
                                   : own_mapping(task.problem, task.machine, all.front());
    auto cost = own ? cost_of(task.problem, task.machine, *own, task.counting)
                    : Result<MappingCost>::failure("no-mapping", "none known");
    if (!cost) {
        return 0.0;
    }
    const Latency latency = mapper::timed(task, *own, *cost);
    return mapper::satisfies_constraints(task, *own, *cost, latency)
               ? task.objective.value(cost->energy_pj, latency.total_cycles())
               : 0.0;
}

void add_totals(MapReport& report) {
    for (MappedLayer& layer : report.layers) {
        const MappedLayer& source = layer.same_as ? report.layers[*layer.same_as] : layer;
        if (source.found) {
            const auto times = static_cast<double>(layer.count);
            report.energy_pj += times * source.found->cost.energy_pj;
            report.cycles += times * source.found->latency.total_cycles();
        }
    }
}

} // namespace

Result<MapReport> map_network(const Network& network, const Machine& machine,
                              const MapOptions& options, std::stop_token stop,
                              const ProgressCallback& progress) {
    const auto* accelerator = std::get_if<Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Result<MapReport>::failure(
            "unsupported", machine.name + " is no accelerator: its mapping is fixed",
            "`eyeroof exam` predicts it with the library's own mappings");
    }
    const auto dataflow = dataflow_of(*accelerator, options);
    auto nests = matching_nests(network, options);
    if (!dataflow || !nests) {
        return Result<MapReport>(dataflow ? nests.diagnostics() : dataflow.diagnostics());
    }
    MapReport report{network.name,
                     machine.name,
                     options.objective.name(),
                     std::string(mapper::strategy_name(options.search.strategy)),
                     static_cast<double>(mac_units(*accelerator)),
                     *std::move(nests),
                     0.0,
                     0.0};
    std::vector<std::size_t> unique;
    std::vector<mapper::Task> tasks;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        if (!report.layers[i].same_as) {
            unique.push_back(i);
            tasks.push_back(asked_task(report.layers[i], *accelerator, *dataflow, options));
        }
    }
    std::vector<SearchOutcome> found = search_nests(tasks, options.search, 0.0, stop, progress);
    report.cancelled = stop.stop_requested();
    if (report.cancelled &&
        std::none_of(found.begin(), found.end(), [](const SearchOutcome& o) { return o.ok(); })) {
        return Result<MapReport>::failure("cancelled", "the search was cancelled");
    }
    for (std::size_t u = 0; u < unique.size(); ++u) {
        MappedLayer& layer = report.layers[unique[u]];
        if (found[u]) {
            layer.found = *std::move(found[u]);
        } else if (report.cancelled) {
            layer.why = found[u].diagnostics();
        } else {
            layer.why = explain_conflicts(tasks[u], found[u].diagnostics(), options.places, stop);
        }
        layer.preset_value = own_value(tasks[u], *dataflow);
    }
    add_totals(report);
    return Result<MapReport>(std::move(report));
}

Result<std::vector<LayerTask>> layer_tasks(const Network& network, const Machine& machine,
                                           const MapOptions& options) {
    using Answer = Result<std::vector<LayerTask>>;
    const auto* accelerator = std::get_if<Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Answer::failure("unsupported",
                               machine.name + " is no accelerator: its mapping is fixed",
                               "`eyeroof exam` predicts it with the library's own mappings");
    }
    const auto dataflow = dataflow_of(*accelerator, options);
    const auto nests = matching_nests(network, options);
    if (!dataflow || !nests) {
        return Answer(dataflow ? nests.diagnostics() : dataflow.diagnostics());
    }
    const Dataflow rules = *dataflow ? **dataflow : unrestricted_dataflow(*accelerator);
    std::vector<LayerTask> tasks;
    std::vector<std::size_t> task_at(nests->size());
    for (std::size_t i = 0; i < nests->size(); ++i) {
        const MappedLayer& nest = (*nests)[i];
        if (nest.same_as) {
            tasks[task_at[*nest.same_as]].equals.push_back(nest.name);
            continue;
        }
        task_at[i] = tasks.size();
        tasks.push_back({nest.name, {}, asked_task(nest, *accelerator, *dataflow, options), rules});
    }
    return Answer(std::move(tasks));
}

} // namespace eyeroof::analysis
