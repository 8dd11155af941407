#include "model/accelerator/topology.hpp"

#include "model/accelerator/accelerator.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace eyeroof::model {

namespace {

constexpr std::array<std::pair<WireShape, std::string_view>, 5> kWireShapes = {
    {{WireShape::bus, "bus"},
     {WireShape::crossbar, "crossbar"},
     {WireShape::ring, "ring"},
     {WireShape::tree, "tree"},
     {WireShape::mesh, "mesh"}}};

// Mean of min(k, n + 1 - k) over k = 1 … n: the way round that is shorter.
double mean_ring_links(double n) {
    const bool odd = static_cast<std::int64_t>(n) % 2 == 1;
    const double half = odd ? (n + 1.0) / 2.0 : n / 2.0;
    return odd ? half * half / n : half * (half + 1.0) / n;
}

} // namespace

std::string_view wire_shape_name(WireShape topology) {
    for (const auto& [value, name] : kWireShapes) {
        if (value == topology) {
            return name;
        }
    }
    return {};
}

WireFigures wire_figures(WireShape topology, Count x, Count y) {
    const double n = static_cast<double>(x * y);
    const double half = static_cast<double>((x * y + 1) / 2); // of the receivers, on one side
    WireFigures figures;
    switch (topology) {
    case WireShape::bus:
    case WireShape::crossbar:
        break;
    case WireShape::ring:
        figures.own_rate = n / half;
        figures.own_links = mean_ring_links(n);
        break;
    case WireShape::tree:
        if (n > 1.0) {
            figures.own_rate = n / half;
            figures.own_links = static_cast<double>(std::bit_width(std::uint64_t(x * y - 1)));
            figures.shared_links = (2.0 * n - 2.0) / n;
        }
        break;
    case WireShape::mesh:
        figures.own_links =
            1.0 + (static_cast<double>(x) - 1.0) / 2.0 + (static_cast<double>(y) - 1.0) / 2.0;
        break;
    }
    return figures;
}

void follow_wires(const Level& level, Channel& channel) {
    if (!channel.wires) {
        return;
    }
    // Axes after the first two stand behind the second.
    Count x = 1;
    Count y = 1;
    for (std::size_t a = 0; a < level.fanout.size(); ++a) {
        (a == 0 ? x : y) *= level.fanout[a].size;
    }
    const Wires& wires = *channel.wires;
    const WireFigures figures = wire_figures(wires.topology, x, y);
    const bool own = channel.cast == Cast::unicast;
    channel.down_bytes_per_cycle = wires.link_bytes_per_cycle * (own ? figures.own_rate : 1.0);
    channel.up_bytes_per_cycle =
        wires.link_bytes_per_cycle * (channel.reduces ? 1.0 : figures.own_rate);
    channel.half_duplex = wires.topology == WireShape::bus;
    channel.hop_pj = wires.link_pj * (own ? figures.own_links : figures.shared_links);
    channel.adds_at_once = channel.reduces && (wires.topology == WireShape::tree ||
                                               wires.topology == WireShape::crossbar ||
                                               wires.topology == WireShape::bus);
}

} // namespace eyeroof::model
