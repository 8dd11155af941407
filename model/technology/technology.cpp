#include "model/technology/technology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

double between(double share, double first, double second) {
    return std::exp((1.0 - share) * std::log(first) + share * std::log(second));
}

} // namespace

Result<ProcessNode> node_of(const Technology& technology, double nm) {
    const auto& nodes = technology.nodes;
    const auto after = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const ProcessNode& node) { return node.nm <= nm; });
    if (after != nodes.end() && after->nm == nm) {
        return *after;
    }
    if (after == nodes.end() || after == nodes.begin()) {
        return Result<ProcessNode>::failure(
            "no-node", fmt::format("no process of {:g} nm is known", nm),
            fmt::format("from {:g} to {:g} nm", nodes.back().nm, nodes.front().nm));
    }
    const ProcessNode& large = *(after - 1);
    const double share = std::log(large.nm / nm) / std::log(large.nm / after->nm);
    return ProcessNode{
        nm,
        between(share, large.sram_cell_um2, after->sram_cell_um2),
        between(share, large.gate_um2, after->gate_um2),
        between(share, large.supply_v, after->supply_v),
        {fmt::format("between {:g} and {:g} nm", large.nm, after->nm), Confidence::derived}};
}

double energy_scale(const ReferenceCircuits& reference, const ProcessNode& node) {
    const double volts = node.supply_v / reference.supply_v;
    return node.nm / reference.nm * volts * volts;
}

} // namespace eyeroof::model
