#include "report/search/achievable_write.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::report {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// How far the best mapping stays below a bound, as a share of the bound. What is closer than
// rounding is reached.
double open_share(const analysis::LayerAchievable& layer, std::size_t step) {
    constexpr double rounding = 1e-9;
    const double open =
        1.0 - layer.achievable.macs_per_cycle[step] / layer.bounds[step].macs_per_cycle;
    return open > rounding ? open : 0.0;
}

std::string layer_text(const analysis::LayerAchievable& layer, double units) {
    std::string text = layer.layer;
    if (!layer.equals.empty()) {
        text += fmt::format(" (and {} like it)", layer.equals.size());
    }
    text += fmt::format("\n{:<28}{:>14}{:>14}{:>9}{:>9}\n", "  step", "bound", "reached", "of all",
                        "open");
    for (std::size_t step = 0; step < layer.achievable.macs_per_cycle.size(); ++step) {
        const double reached = layer.achievable.macs_per_cycle[step];
        text += fmt::format("  {} {:<24}{:>14.6g}{:>14.6g}{:>9}{:>7.1f} %\n", step + 1,
                            kStepNames[step], layer.bounds[step].macs_per_cycle, reached,
                            reached <= units ? fmt::format("{:.1f} %", 100.0 * reached / units)
                                             : std::string("all"),
                            100.0 * open_share(layer, step));
    }
    return text + (layer.achievable.proved
                       ? ""
                       : "  not proved: the time limit came before the end of a search\n");
}

nlohmann::ordered_json layer_json(const analysis::LayerAchievable& layer) {
    nlohmann::ordered_json json;
    json["layer"] = layer.layer;
    json["equals"] = layer.equals;
    json["proved"] = layer.achievable.proved;
    json["steps"] = nlohmann::ordered_json::array();
    for (std::size_t step = 0; step < layer.achievable.macs_per_cycle.size(); ++step) {
        json["steps"].push_back({{"step", step + 1},
                                 {"name", kStepNames[step]},
                                 {"bound_macs_per_cycle", layer.bounds[step].macs_per_cycle},
                                 {"reached_macs_per_cycle", layer.achievable.macs_per_cycle[step]},
                                 {"open", open_share(layer, step)}});
    }
    return json;
}

} // namespace

std::string achievable_to_text(const analysis::AchievableReport& report) {
    std::string text =
        fmt::format("{} on {}: MAC/cycle: bound of each step, and the best mapping's ({})\n",
                    report.network, report.machine, report.space);
    for (const analysis::LayerAchievable& layer : report.layers) {
        text += "\n" + layer_text(layer, report.units);
    }
    return text + (report.cancelled ? "\ncancelled: layers are missing\n" : "");
}

std::string achievable_to_json(const analysis::AchievableReport& report) {
    nlohmann::ordered_json json;
    json["schema"] = "eyeroof/reach/1";
    json["network"] = report.network;
    json["machine"] = report.machine;
    json["space"] = report.space;
    json["units"] = report.units;
    json["cancelled"] = report.cancelled;
    json["layers"] = nlohmann::ordered_json::array();
    for (const analysis::LayerAchievable& layer : report.layers) {
        json["layers"].push_back(layer_json(layer));
    }
    return json_document(json);
}

std::string achievable_to_csv(const analysis::AchievableReport& report) {
    std::string text = "layer,step,name,bound_macs_per_cycle,reached_macs_per_cycle,open,proved\n";
    for (const analysis::LayerAchievable& layer : report.layers) {
        for (std::size_t step = 0; step < layer.achievable.macs_per_cycle.size(); ++step) {
            text += fmt::format("{},{},{},{},{},{},{}\n", csv_quoted(layer.layer), step + 1,
                                kStepNames[step], layer.bounds[step].macs_per_cycle,
                                layer.achievable.macs_per_cycle[step], open_share(layer, step),
                                layer.achievable.proved);
        }
    }
    return text;
}

} // namespace eyeroof::report
