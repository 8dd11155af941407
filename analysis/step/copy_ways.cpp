#include "analysis/step/copy_ways.hpp"

#include "base/json.hpp"
#include "base/units.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::analysis::step {

namespace {

CopyWay way_of(std::string name, const Graph& graph, const Timeline& line) {
    CopyWay way;
    way.name = std::move(name);
    way.step_s = line.time_s;
    way.low_s = line.low_s;
    way.high_s = line.high_s;
    for (const CopySpan& copy : line.copies) {
        way.moved += static_cast<double>(graph.tensors[copy.tensor].bytes);
    }
    return way;
}

Count weights_of(const Graph& graph) {
    Count bytes = 0;
    for (const Tensor& tensor : graph.tensors) {
        bytes += tensor.role == Role::weight ? tensor.bytes : 0;
    }
    return bytes;
}

} // namespace

std::vector<CopyWay> copy_ways(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                               const TimelineOptions& options) {
    TimelineOptions wanted = options;
    wanted.copies = Copies::none;
    wanted.pageable = false;
    std::vector<CopyWay> ways = {
        way_of("nothing moves", graph, simulate(graph, costs, gpu, wanted))};
    if (gpu.pcie_bytes_per_s <= 0.0) {
        return ways;
    }
    const Count weights = weights_of(graph);
    for (const Copies copies : {Copies::batch, Copies::all}) {
        for (const bool pageable : {false, true}) {
            wanted.copies = copies;
            wanted.pageable = pageable;
            ways.push_back(
                way_of(fmt::format("{}, {}",
                                   copies == Copies::batch ? "weights once, batches each step"
                                                           : "everything each step",
                                   pageable ? "pageable" : "pinned"),
                       graph, simulate(graph, costs, gpu, wanted)));
            if (copies == Copies::batch) {
                ways.back().first_s = copy_seconds(gpu, weights, pageable);
            }
        }
    }
    return ways;
}

CopyWay host_alone(const Graph& graph, const Costs& costs, const model::Gpu& host,
                   const TimelineOptions& options) {
    TimelineOptions wanted = options;
    wanted.copies = Copies::none;
    wanted.host = host.issue;
    CopyWay way = way_of("host alone", graph, simulate(graph, costs, host, wanted));
    way.alone = true;
    return way;
}

std::string copy_ways_text(const CopyWays& found) {
    const auto s = [](double seconds) { return format_si(seconds, "s"); };
    std::string text = fmt::format("{} on {}, {}: ways to copy its data\n\n", found.network,
                                   found.machine, found.training ? "training" : "inference");
    const bool many = found.steps > 1.0;
    const bool beside = !found.ways.empty() && found.ways.front().alone;
    text += fmt::format("{:<44} {:>9} {:>9}", "way", "step", "moved");
    text += many ? fmt::format(" {:>14}", fmt::format("{:.0f} steps", found.steps)) : "";
    text += beside ? fmt::format(" {:>14}\n", "host / this") : "\n";
    for (const CopyWay& way : found.ways) {
        const std::string name = way.alone ? found.against + " alone" : way.name;
        text += fmt::format("{:<44} {:>9} {:>9}", name, s(way.step_s),
                            way.moved > 0.0 ? format_si(way.moved, "B") : "-");
        text += many ? fmt::format(" {:>14}", s(way.run_s(found.steps))) : "";
        text += beside ? fmt::format(" {:>14.2f}\n",
                                     found.ways.front().run_s(found.steps) / way.run_s(found.steps))
                       : "\n";
    }
    text += "\nAll times exclude loading and decoding of the data.\n";
    return text;
}

std::string copy_ways_json(const CopyWays& found) {
    using Json = nlohmann::ordered_json;
    Json json = {
        {"schema", "eyeroof/copies/1"}, {"network", found.network},
        {"machine", found.machine},     {"phase", found.training ? "training" : "inference"},
        {"steps", found.steps},         {"ways", Json::array()}};
    for (const CopyWay& way : found.ways) {
        json["ways"].push_back({{"way", way.alone ? found.against + " alone" : way.name},
                                {"host_alone", way.alone},
                                {"step_s", way.step_s},
                                {"low_s", way.low_s},
                                {"high_s", way.high_s},
                                {"first_s", way.first_s},
                                {"moved_bytes", way.moved},
                                {"run_s", way.run_s(found.steps)}});
    }
    return json_document(json);
}

} // namespace eyeroof::analysis::step
