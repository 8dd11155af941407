#include "analysis/step/launch_ways.hpp"

#include "analysis/step/packing.hpp"
#include "base/json.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::analysis::step {

LaunchWays launch_ways(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                       const TimelineOptions& options, bool training) {
    using model::Launch;
    LaunchWays found;
    found.network = graph.id;
    found.operators = graph.operators.size();
    TimelineOptions wanted = options;
    wanted.copies = Copies::none;
    const std::pair<Launch, const char*> ways[] = {{Launch::eager, "launched by a framework"},
                                                   {Launch::stream, "launched back to back"},
                                                   {Launch::graph, "one captured graph"}};
    for (const auto& [launch, name] : ways) {
        wanted.launch = launch;
        found.ways.push_back({name, simulate(graph, costs, gpu, wanted).time_s,
                              launch == Launch::graph ? 1 : found.operators});
    }
    if (training) {
        return found;
    }
    const double launch_s =
        model::issue_seconds(options.host, Launch::stream, model::Issued::forward);
    const Persistent kernel = persistent(graph, costs, gpu, launch_s);
    found.ways.push_back({"one persistent kernel", kernel.time_s, 1});
    found.levels = kernel.levels;
    found.barriers_s = kernel.barriers_s;
    found.idle_s = kernel.idle_s;
    found.bound_s = kernel.time_s - launch_s - kernel.barriers_s - kernel.idle_s;
    return found;
}

std::string launch_ways_text(const LaunchWays& found) {
    const auto s = [](double seconds) { return format_si(seconds, "s"); };
    std::string text = fmt::format(
        "{} on {}: launch modes for {}\n\n{:<28} {:>9} {:>9} {:>12}\n", found.network,
        found.machine, counted(found.operators, "operator"), "mode", "step", "launches", "speedup");
    for (const LaunchWay& way : found.ways) {
        text += fmt::format("{:<28} {:>9} {:>9} {:>11.2f}x\n", way.name, s(way.step_s),
                            way.launches, found.ways.front().step_s / way.step_s);
    }
    return text + (found.levels == 0
                       ? std::string("\nGradients have no persistent kernel.\n")
                       : fmt::format(
                             "\npersistent kernel: {} levels, barriers {}, idle SMs {}, its "
                             "tiles alone {}\n",
                             found.levels, s(found.barriers_s), s(found.idle_s), s(found.bound_s)));
}

std::string launch_ways_json(const LaunchWays& found) {
    using Json = nlohmann::ordered_json;
    Json json = {{"schema", "eyeroof/launches/1"}, {"network", found.network},
                 {"machine", found.machine},       {"operators", found.operators},
                 {"levels", found.levels},         {"barriers_s", found.barriers_s},
                 {"idle_s", found.idle_s},         {"bound_s", found.bound_s},
                 {"ways", Json::array()}};
    for (const LaunchWay& way : found.ways) {
        json["ways"].push_back(
            {{"way", way.name}, {"step_s", way.step_s}, {"launches", way.launches}});
    }
    return json_document(json);
}

} // namespace eyeroof::analysis::step
