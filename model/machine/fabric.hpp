// What joins devices: levels from the nearest link to the widest network, and how messages pass.
// Made by hwdb from one YAML file; consumed by analysis/scale.
#pragma once

#include "base/checked.hpp"
#include "base/diagnostic.hpp"
#include "base/provenance.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// switched: any pair at the port's full bandwidth (NVSwitch, a fat tree's tier; its
// oversubscription is a number of its own). mesh: a link of its own between every two units, the
// port's bandwidth divided among them (xGMI). bus: one medium, used in turns (PCIe through the
// host). torus: links to the neighbours in every dimension. dragonfly: groups of units joined all
// to all by a few global links.
enum class Topology { switched, mesh, bus, torus, dragonfly };

// One of the ways in which a library sends: little latency and half of the bandwidth, or the other
// way round (NCCL's LL, LL128, Simple).
struct Protocol {
    std::string name;
    double base_s = 0.0; // of a collective, once
    double share = 1.0;  // of the bandwidth that carries payload

    bool operator==(const Protocol&) const = default;
};

// All-reduces of a serving framework, between devices that reach each other's memory.
struct DirectReduce {
    std::string name;              // the framework's
    double base_s = 0.0;           // a one-shot kernel with its barriers
    double two_shot_s = 0.0;       // a two-shot kernel with its barriers
    double share = 1.0;            // of the level's link that these kernels reach
    Count devices = 0;             // that they serve at most; 0: all of the level
    double staging_s_per_byte = 0; // added to the library's all-reduce: buffers not registered
    double call_s = 0.0;           // of the host, where no graph replays the call; 0: unknown
    double copy_s = 0.0;           // of the kernel that copies the array in such a call
    double copy_bytes_per_s = 0.0; // bytes of the array

    bool operator==(const DirectReduce&) const = default;
};

// Messages between pairs of a level's members, all at once (NCCL's send and receive).
struct PairTraffic {
    double share = 0.0;      // of a member's link that all its pairs together reach; 0: unknown
    double pair_share = 1.0; // that one pair reaches
    double base_s = 0.0;
    double partner_s = 0.0;         // for each partner after the first
    double long_s = 0.0;            // added to messages above `long_bytes`
    double long_bytes = 0.0;        // the longest message of the protocol for short ones
    double short_bytes_per_s = 1.0; // of that protocol, out of one member

    bool operator==(const PairTraffic&) const = default;
};

// A level joins `size` units: devices at the first level, groups of the level before elsewhere.
struct FabricLevel {
    std::string name;
    Topology topology = Topology::switched;
    Count size = 0;                  // units at most; 0, of the last level: as many as there are
    Count ports = 1;                 // of a unit
    double bytes_per_s = 1.0;        // of a port, one direction; of a link in a torus
    double share = 1.0;              // of it that long messages reach
    double oversubscription = 1.0;   // leaving bandwidth over that of the tier above
    double overhead_s = 0.0;         // of a message, while the sender does nothing else
    std::vector<double> latency_s;   // of a message, by protocol; or one for all
    bool reduces = false;            // the switch adds up what passes (NVLS, SHARP)
    double reduced_share = 0.0;      // of the bandwidth in such reductions; 0: `share`
    double reduced_base_s = 0.0;     // what such a reduction takes at least
    double occupies = 0.0;           // share of a device's arithmetic that its collectives take
    double watts = 0.0;              // of a port, link and switch, at work
    std::vector<Count> dims;         // of a torus
    double global_bytes_per_s = 0.0; // of a dragonfly, a unit's part of the links between groups
    std::vector<DirectReduce> direct;
    PairTraffic pairs;

    double latency(std::size_t protocol) const {
        return latency_s.empty()             ? 0.0
               : protocol < latency_s.size() ? latency_s[protocol]
                                             : latency_s.front();
    }
    bool operator==(const FabricLevel&) const = default;
};

// How a message of the outermost level passes through the software on both sides.
struct Transport {
    std::string name;
    double overhead_s = 0.0;             // of a message, both sides
    double copies = 0.0;                 // of the payload, both sides together
    double copy_bytes_per_s = 0.0;       // of one copy
    double wire_share = 1.0;             // of the link's bandwidth that the path reaches
    double piece_bytes = 0.0;            // copies and wire overlap piece by piece; 0: not at all
    double connection_bytes_per_s = 0.0; // that the protocol carries at most; 0: no limit

    bool operator==(const Transport&) const = default;
};

struct Fabric {
    std::string id;
    std::string name;
    std::string summary;
    std::vector<FabricLevel> levels;     // nearest first
    std::vector<Protocol> protocols;     // empty: one without base and loss
    std::vector<Transport> transports;   // the first is what is used; empty: the wire alone
    std::vector<std::string> algorithms; // that its library has; empty: all
    std::vector<std::string> usual_of;   // GPUs that it joins where no fabric is named
    double chunk_bytes = 524288.0;       // pieces in which pipelined trees send
    ProvenanceMap provenance;

    std::size_t protocol_count() const { return protocols.empty() ? 1 : protocols.size(); }
    Protocol protocol(std::size_t i) const { return protocols.empty() ? Protocol{} : protocols[i]; }
    // Devices that it joins at most; 0: no limit.
    Count capacity() const;
    bool operator==(const Fabric&) const = default;
};

inline constexpr Count kMaxDevices = 10'000'000;

// Every violated rule, at its field path in a fabric's file.
Diagnostics validate(const Fabric& fabric);

// What `units` of a level, all sending to a neighbour at once, can each send: of one unit, bytes/s
// (all its ports, share and oversubscription included).
double neighbour_bytes_per_s(const FabricLevel& level, Count units);
// The same where every unit sends to every other evenly (all-to-all).
//   torus: 8 links over the longest dimension, from its bisection; never above the ports.
double uniform_bytes_per_s(const FabricLevel& level, Count units);

} // namespace eyeroof::model
