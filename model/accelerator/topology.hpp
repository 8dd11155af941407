// What a network gives by its topology: how many words leave the source at a time, over how many
// links a word travels, and where the links that limit it are. One source feeds n receivers and
// takes their sums back; every link carries `link` bytes a cycle each way.
//
//              words a cycle in links     links of a word
//              each own   one for all     each own                   one for all, by receiver
//   bus        1          1               1                          1
//   crossbar   1          1               1                          1
//   ring       n/ceil(n/2) 1              mean of min(k, n + 1 - k)  1
//   tree       n/ceil(n/2) 1              ceil(log2 n)               (2n - 2) / n
//   mesh       1          1               1 + (x - 1)/2 + (y - 1)/2  1
//
// A bus is one shared wire. A ring has n + 1 nodes and goes both ways. A tree is binary, its root
// the source. A mesh of x by y routers has the source at the port of a corner; words go along x,
// then y. The links next to the source are the most loaded ones in all five
// (tests/model/test_topology.cpp counts every link of small networks). Source: Dally and Towles,
// Principles and Practices of Interconnection Networks, 2004, chapters 3 to 5.
#pragma once

#include "model/workload/problem.hpp"

#include <optional>
#include <string_view>

namespace eyeroof::model {

struct Channel;
struct Level;

enum class WireShape { bus, crossbar, ring, tree, mesh };

std::string_view wire_shape_name(WireShape topology);

struct Wires {
    WireShape topology = WireShape::bus;
    double link_bytes_per_cycle = 0.0;
    double link_pj = 0.0; // of a word on one link

    bool operator==(const Wires&) const = default;
};

struct WireFigures {
    double own_rate = 1.0; // words of each receiver's own, in links
    double own_links = 1.0;
    double shared_links = 1.0; // of a word for all, by receiver

    bool operator==(const WireFigures&) const = default;
};

// Of a network to x times y receivers.
WireFigures wire_figures(WireShape topology, Count x, Count y);

// Sets the rates, the energy of a hop, and how sums are added from channel.wires and the level's
// fan-out. Channels without wires stay as they are.
void follow_wires(const Level& level, Channel& channel);

} // namespace eyeroof::model
