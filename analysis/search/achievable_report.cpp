#include "analysis/search/achievable_report.hpp"

#include "analysis/search/layer_queue.hpp"
#include "mapper/space_name.hpp"
#include "model/eyexam/examine.hpp"

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kSearches = 3.0; // a layer's, which share its time

} // namespace

Result<AchievableReport> achievable_of(const Network& network, const Machine& machine,
                                       const MapOptions& options, std::stop_token stop,
                                       const ProgressCallback& progress) {
    auto tasks = layer_tasks(network, machine, options);
    if (!tasks) {
        return Result<AchievableReport>(tasks.diagnostics());
    }
    AchievableReport report;
    report.network = network.name;
    report.machine = machine.name;
    report.space = mapper::space_name(options.factors);
    report.units = static_cast<double>(mac_units(tasks->front().task.machine));
    LayerQueue queue(*std::move(tasks), options.search.time_limit_s, stop, progress);
    Diagnostics found;
    while (const LayerTask* layer = queue.next()) {
        mapper::SearchOptions search = options.search;
        search.time_limit_s = queue.share_s() / kSearches;
        const auto reach = mapper::achievable_bounds(layer->task, search, stop, queue.progress());
        if (queue.cancelled()) {
            break; // what is known of this layer is of no use
        }
        if (!reach) {
            found.append(of_layer(layer->layer, explain_conflicts(layer->task, reach.diagnostics(),
                                                                  options.places, stop)));
            continue;
        }
        report.layers.push_back({layer->layer, layer->equals,
                                 machine_chain(layer->task.problem, layer->task.machine,
                                               layer->dataflow, layer->task.counting),
                                 *reach});
    }
    report.cancelled = queue.cancelled();
    if (report.cancelled && report.layers.empty()) {
        return Result<AchievableReport>::failure("cancelled", "the search was cancelled");
    }
    return found.has_errors() ? Result<AchievableReport>(std::move(found))
                              : Result<AchievableReport>(std::move(report));
}

} // namespace eyeroof::analysis
