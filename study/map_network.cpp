#include "study/map_network.hpp"

#include "mapper/preset/preset.hpp"
#include "model/eyexam/examine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <regex>
#include <thread>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kExamLimit_s = 20.0;

bool has_energies(const Accelerator& accelerator) {
    return std::any_of(
        accelerator.levels.begin(), accelerator.levels.end(), [](const Level& level) {
            return std::any_of(level.stores.begin(), level.stores.end(), [](const Store& store) {
                return store.read_pj > 0.0 || store.write_pj > 0.0;
            });
        });
}

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
                                       dataflow_name(*options.dataflow)));
}

// What makes two nests the same to a search: everything but their names.
bool same_nest(Problem a, const Problem& b) {
    a.name = b.name;
    return a == b;
}

Result<std::vector<MappedLayer>> nests_of(const Network& network, const MapOptions& options) {
    std::vector<MappedLayer> nests;
    std::regex wanted;
    try {
        wanted = std::regex(options.layers.value_or(".*"));
    } catch (const std::regex_error&) {
        return Result<std::vector<MappedLayer>>::failure("bad-regex",
                                                         "this is no regular expression");
    }
    Diagnostics found;
    for (const Layer& layer : network.layers) {
        if (!std::regex_match(layer.name, wanted)) {
            continue;
        }
        const auto problems = problems_of(layer);
        if (!problems) {
            found.append(problems.diagnostics());
            continue;
        }
        for (const Problem& problem : *problems) {
            MappedLayer nest;
            nest.name = problem.name;
            nest.problem = problem;
            nest.problem.zeros[index(Operand::input)] = layer.input_zeros;
            nest.problem.zeros[index(Operand::output)] = layer.output_zeros;
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
        found.error("no-layers", "no layer with multiply-accumulates matches");
    }
    return found.has_errors() ? Result<std::vector<MappedLayer>>(std::move(found))
                              : Result<std::vector<MappedLayer>>(std::move(nests));
}

void map_one(MappedLayer& nest, const Accelerator& accelerator,
             const std::optional<Dataflow>& dataflow, const MapOptions& options, int threads,
             const std::stop_token& stop) {
    mapper::Task task;
    task.problem = nest.problem;
    task.machine = accelerator;
    task.constraints =
        mapper::constraints_of(accelerator, dataflow ? &*dataflow : nullptr, options.constraints);
    task.objective = options.objective;
    task.factors = options.factors;
    task.counting = options.counting;
    mapper::SearchOptions search = options.search;
    search.threads = threads;
    const auto preset = dataflow ? mapper::preset_mapping(nest.problem, accelerator, *dataflow)
                                 : Result<mapper::Preset>::failure("no-mapping", "no dataflow");
    if (preset) {
        task.known.push_back(preset->mapping);
    }
    auto found = mapper::search(task, search, stop);
    if (found) {
        nest.found = *std::move(found);
    } else {
        for (const Diagnostic& d : found.diagnostics()) {
            nest.failure += (nest.failure.empty() ? "" : "; ") + d.message;
        }
    }
    if (preset) {
        const auto cost = cost_of(nest.problem, accelerator, preset->mapping, options.counting);
        nest.preset_value = cost ? options.objective.value(cost->energy_pj, cost->cycles) : 0.0;
    }
}

} // namespace

Result<MapReport> map_network(const Network& network, const Machine& machine,
                              const MapOptions& options, std::stop_token stop,
                              const ProgressCallback& progress) {
    const auto* accelerator = std::get_if<Accelerator>(&machine.kind);
    if (accelerator == nullptr) {
        return Result<MapReport>::failure(
            "unsupported", machine.name + " is no accelerator: its mapping is fixed");
    }
    const auto dataflow = dataflow_of(*accelerator, options);
    auto nests = nests_of(network, options);
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
    std::vector<std::size_t> work;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        if (!report.layers[i].same_as) {
            work.push_back(i);
        }
    }
    int threads = options.search.threads > 0
                      ? options.search.threads
                      : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int layers_at_once = std::min(threads, static_cast<int>(work.size()));
    const int inside = std::max(1, threads / layers_at_once);
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> done{0};
    std::mutex mutex;
    const auto run = [&] {
        for (std::size_t w = next++; w < work.size(); w = next++) {
            map_one(report.layers[work[w]], *accelerator, *dataflow, options, inside, stop);
            const std::size_t finished = ++done;
            if (progress) {
                std::lock_guard lock(mutex);
                progress({static_cast<double>(finished) / static_cast<double>(work.size()),
                          fmt::format("mapped {} ({} of {})", report.layers[work[w]].name, finished,
                                      work.size()),
                          0.0, -1.0});
            }
        }
    };
    std::vector<std::thread> pool;
    for (int t = 1; t < layers_at_once; ++t) {
        pool.emplace_back(run);
    }
    run();
    for (std::thread& thread : pool) {
        thread.join();
    }
    if (stop.stop_requested()) {
        return Result<MapReport>::failure("cancelled", "cancelled");
    }
    for (MappedLayer& layer : report.layers) {
        const MappedLayer& source = layer.same_as ? report.layers[*layer.same_as] : layer;
        if (source.found) {
            const auto times = static_cast<double>(layer.count);
            report.energy_pj += times * source.found->cost.energy_pj;
            report.cycles += times * source.found->cost.cycles;
        }
    }
    return Result<MapReport>(std::move(report));
}

Result<mapper::SearchResult> best_mapping(const Problem& problem, const Accelerator& accelerator,
                                          const Dataflow& dataflow, Counting counting,
                                          std::stop_token stop) {
    mapper::Task task;
    task.problem = problem;
    task.machine = accelerator;
    task.constraints = mapper::constraints_of(accelerator, &dataflow);
    task.objective =
        has_energies(accelerator) ? mapper::Objective::edp() : mapper::Objective::latency();
    task.counting = counting;
    if (const auto preset = mapper::preset_mapping(problem, accelerator, dataflow)) {
        task.known.push_back(preset->mapping);
    }
    mapper::SearchOptions options;
    options.time_limit_s = kExamLimit_s;
    return mapper::search(task, options, std::move(stop));
}

} // namespace eyeroof::study
