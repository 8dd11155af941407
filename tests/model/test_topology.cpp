// Networks by topology: the closed forms beside every link of small networks, counted.
#include "model/accelerator/accelerator.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace test_model_topology {

using namespace eyeroof;
using namespace eyeroof::model;
using tests::near;

namespace {

using Link = std::pair<int, int>; // from node to node
using Route = std::vector<Link>;  // from the source to a receiver

// Ring: nodes 0 (the source) to n.
std::vector<Route> ring_routes(int n) {
    std::vector<Route> routes;
    for (int k = 1; k <= n; ++k) {
        Route route;
        const bool up = 2 * k <= n + 1;
        for (int at = 0; at != k;) {
            const int next = up ? at + 1 : (at + n) % (n + 1);
            route.push_back({at, next});
            at = next;
        }
        routes.push_back(route);
    }
    return routes;
}

// Binary tree of n leaves, a power of two: node 1 is the root, node i has 2i and 2i + 1 below.
std::vector<Route> tree_routes(int n) {
    std::vector<Route> routes;
    for (int leaf = n; leaf < 2 * n; ++leaf) {
        Route route;
        for (int at = leaf; at > 1; at /= 2) {
            route.push_back({at / 2, at});
        }
        routes.push_back(route);
    }
    return routes;
}

// Mesh of x by y routers, the source at a port of router 0: along x, then y.
std::vector<Route> mesh_routes(int x, int y) {
    std::vector<Route> routes;
    for (int row = 0; row < y; ++row) {
        for (int column = 0; column < x; ++column) {
            Route route = {{-1, 0}};
            for (int c = 0; c < column; ++c) {
                route.push_back({c, c + 1});
            }
            for (int r = 0; r < row; ++r) {
                route.push_back({r * x + column, (r + 1) * x + column});
            }
            routes.push_back(route);
        }
    }
    return routes;
}

void check(WireShape topology, Count x, Count y, const std::vector<Route>& routes) {
    CAPTURE(wire_shape_name(topology));
    CAPTURE(x);
    CAPTURE(y);
    const double n = static_cast<double>(routes.size());
    std::map<Link, double> load; // of one word for each receiver
    double links = 0.0;
    for (const Route& route : routes) {
        for (const Link& link : route) {
            load[link] += 1.0;
            links += 1.0;
        }
    }
    double most = 0.0;
    for (const auto& [link, words] : load) {
        most = std::max(most, words);
    }
    const WireFigures figures = wire_figures(topology, x, y);
    CHECK(figures.own_links == near(links / n));
    CHECK(figures.shared_links == near(static_cast<double>(load.size()) / n));
    CHECK(figures.own_rate == near(n / most)); // n words in as many cycles as its words take
}

} // namespace

TEST_CASE("links of a word and the most loaded link are those of every route counted") {
    for (int n = 2; n <= 9; ++n) {
        check(WireShape::ring, n, 1, ring_routes(n));
    }
    for (const int n : {2, 4, 8, 16}) {
        check(WireShape::tree, n, 1, tree_routes(n));
    }
    for (int x = 1; x <= 4; ++x) {
        for (int y = 1; y <= 4; ++y) {
            check(WireShape::mesh, x, y, mesh_routes(x, y));
        }
    }
}

TEST_CASE("one receiver is one link away, whatever the topology") {
    for (const WireShape t :
         {WireShape::bus, WireShape::crossbar, WireShape::ring, WireShape::tree, WireShape::mesh}) {
        CHECK(wire_figures(t, 1, 1) == WireFigures{});
    }
}

TEST_CASE("a channel follows its wires and the fan-out of its level") {
    Level level;
    level.fanout = {{"x", 4}, {"y", 3}};
    Channel channel;
    channel.cast = Cast::unicast;
    channel.reduces = false;
    channel.wires = Wires{WireShape::mesh, 8.0, 2.0};
    follow_wires(level, channel);
    CHECK(channel.down_bytes_per_cycle == 8.0);
    CHECK(channel.hop_pj == near(2.0 * (1.0 + 1.5 + 1.0)));
    channel.wires->topology = WireShape::ring;
    follow_wires(level, channel);
    CHECK(channel.down_bytes_per_cycle == 16.0);
    CHECK(channel.up_bytes_per_cycle == 16.0);
    CHECK(channel.hop_pj == near(2.0 * 42.0 / 12.0)); // 1 to 6 and back, twelve receivers
    channel.cast = Cast::multicast;
    channel.reduces = true;
    follow_wires(level, channel);
    CHECK(channel.down_bytes_per_cycle == 8.0);
    CHECK(channel.up_bytes_per_cycle == 8.0);
    CHECK(channel.hop_pj == 2.0);
    CHECK_FALSE(channel.adds_at_once); // from neighbor to neighbor
    channel.wires->topology = WireShape::tree;
    follow_wires(level, channel);
    CHECK(channel.adds_at_once);
    channel.wires->topology = WireShape::bus;
    follow_wires(level, channel);
    CHECK(channel.half_duplex);
    Channel plain;
    plain.hop_pj = 3.0;
    follow_wires(level, plain);
    CHECK(plain.hop_pj == 3.0);
}

} // namespace test_model_topology
