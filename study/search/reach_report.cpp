#include "study/search/reach_report.hpp"

#include "model/eyexam/examine.hpp"
#include "study/search/layer_queue.hpp"
#include "study/text/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kSearches = 3.0; // a layer's, which share its time

// How far the best mapping stays below a bound, as a share of the bound. What is closer than
// rounding is reached.
double open_share(const LayerReach& layer, std::size_t step) {
    constexpr double rounding = 1e-9;
    const double open = 1.0 - layer.reach.macs_per_cycle[step] / layer.bounds[step].macs_per_cycle;
    return open > rounding ? open : 0.0;
}

std::string layer_text(const LayerReach& layer, double units) {
    std::string text = layer.layer;
    if (!layer.equals.empty()) {
        text += fmt::format(" (and {} like it)", layer.equals.size());
    }
    text += fmt::format("\n{:<28}{:>14}{:>14}{:>9}{:>9}\n", "  step", "bound", "reached", "of all",
                        "open");
    for (std::size_t step = 0; step < layer.reach.macs_per_cycle.size(); ++step) {
        const double reached = layer.reach.macs_per_cycle[step];
        text += fmt::format("  {} {:<24}{:>14.6g}{:>14.6g}{:>9}{:>7.1f} %\n", step + 1,
                            kStepNames[step], layer.bounds[step].macs_per_cycle, reached,
                            reached <= units ? fmt::format("{:.1f} %", 100.0 * reached / units)
                                             : std::string("all"),
                            100.0 * open_share(layer, step));
    }
    return text + (layer.reach.proved
                       ? ""
                       : "  not proved: the time limit came before the end of a search\n");
}

nlohmann::ordered_json layer_json(const LayerReach& layer) {
    nlohmann::ordered_json json;
    json["layer"] = layer.layer;
    json["equals"] = layer.equals;
    json["proved"] = layer.reach.proved;
    json["steps"] = nlohmann::ordered_json::array();
    for (std::size_t step = 0; step < layer.reach.macs_per_cycle.size(); ++step) {
        json["steps"].push_back({{"step", step + 1},
                                 {"name", kStepNames[step]},
                                 {"bound_macs_per_cycle", layer.bounds[step].macs_per_cycle},
                                 {"reached_macs_per_cycle", layer.reach.macs_per_cycle[step]},
                                 {"open", open_share(layer, step)}});
    }
    return json;
}

} // namespace

Result<ReachReport> reach_of(const Network& network, const Machine& machine,
                             const MapOptions& options, std::stop_token stop,
                             const ProgressCallback& progress) {
    auto tasks = layer_tasks(network, machine, options);
    if (!tasks) {
        return Result<ReachReport>(tasks.diagnostics());
    }
    ReachReport report;
    report.network = network.name;
    report.machine = machine.name;
    report.space = options.factors == mapper::Factors::any ? "any factors" : "perfect factors";
    report.units = static_cast<double>(mac_units(tasks->front().task.machine));
    LayerQueue queue(*std::move(tasks), options.search.time_limit_s, stop, progress);
    Diagnostics found;
    while (const LayerTask* layer = queue.next()) {
        mapper::SearchOptions search = options.search;
        search.time_limit_s = queue.share_s() / kSearches;
        const auto reach = mapper::reach(layer->task, search, stop, queue.progress());
        if (queue.cancelled()) {
            break; // what is known of this layer is of no use
        }
        if (!reach) {
            found.append(of_layer(layer->layer, explain_conflicts(layer->task, reach.diagnostics(),
                                                                  options.places, stop)));
            continue;
        }
        report.layers.push_back(
            {layer->layer, layer->equals,
             machine_chain(layer->task.problem, layer->task.machine, layer->dataflow), *reach});
    }
    report.cancelled = queue.cancelled();
    if (report.cancelled && report.layers.empty()) {
        return Result<ReachReport>::failure("cancelled", "the search was cancelled");
    }
    return found.has_errors() ? Result<ReachReport>(std::move(found))
                              : Result<ReachReport>(std::move(report));
}

std::string reach_to_text(const ReachReport& report) {
    std::string text =
        fmt::format("{} on {}: MAC/cycle that each step's bound allows, and that a mapping reaches "
                    "({})\n",
                    report.network, report.machine, report.space);
    for (const LayerReach& layer : report.layers) {
        text += "\n" + layer_text(layer, report.units);
    }
    return text + (report.cancelled ? "\ncancelled: layers are missing\n" : "");
}

std::string reach_to_json(const ReachReport& report) {
    nlohmann::ordered_json json;
    json["schema"] = "eyeroof/reach/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["space"] = report.space;
    json["units"] = report.units;
    json["cancelled"] = report.cancelled;
    json["layers"] = nlohmann::ordered_json::array();
    for (const LayerReach& layer : report.layers) {
        json["layers"].push_back(layer_json(layer));
    }
    return json.dump(2) + "\n";
}

std::string reach_to_csv(const ReachReport& report) {
    std::string text = "layer,step,name,bound_macs_per_cycle,reached_macs_per_cycle,open,proved\n";
    for (const LayerReach& layer : report.layers) {
        for (std::size_t step = 0; step < layer.reach.macs_per_cycle.size(); ++step) {
            text += fmt::format("{},{},{},{},{},{},{}\n", read::csv_quoted(layer.layer), step + 1,
                                kStepNames[step], layer.bounds[step].macs_per_cycle,
                                layer.reach.macs_per_cycle[step], open_share(layer, step),
                                layer.reach.proved);
        }
    }
    return text;
}

} // namespace eyeroof::study
