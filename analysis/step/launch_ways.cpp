#include "analysis/step/launch_ways.hpp"

#include "analysis/step/packing.hpp"

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

} // namespace eyeroof::analysis::step
