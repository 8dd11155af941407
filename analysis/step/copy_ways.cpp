#include "analysis/step/copy_ways.hpp"

#include <fmt/format.h>

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

} // namespace eyeroof::analysis::step
