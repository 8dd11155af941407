// Layers of a chain on cores of several kinds: each layer on one core, with all cores at work on
// different images at once; or one image after the other, each layer on one core or its parts on
// many.
//
// Cores wait for no one but the layer before; what crosses between cores takes turns on one link,
// and what goes to and from outer memory on one memory that all share:
//   pipelined  interval = max(work of the fullest core, all crossings, all outer traffic)
//   parallel   a layer's parts end together, and its outer traffic with them; results cross once
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace eyeroof::model::cores {

struct OnKind {           // a layer, or some of its parts, on a core of one kind
    double seconds = 0.0; // infinite: does not run there
    double outer_bytes = 0.0;

    bool operator==(const OnKind&) const = default;
};

struct PlacedLayer {
    std::vector<OnKind> whole; // by kind
    std::vector<std::vector<OnKind>>
        parts;              // by kind: [n - 1] is n parts of all; empty: it has none
    double bytes_out = 0.0; // that the next layer reads

    bool operator==(const PlacedLayer&) const = default;
};

struct HeterogeneousCores {
    std::vector<std::size_t> counts; // of each kind, at least 1
    double link_bytes_per_s = 0.0;   // 0: no limit
    double link_s = 0.0;             // before the first byte of a crossing is there
    double outer_bytes_per_s = 0.0;  // 0: no limit

    bool operator==(const HeterogeneousCores&) const = default;
};

struct PipelinedPlacement {
    std::vector<std::size_t> core_of;              // by layer; cores are numbered kind by kind
    double interval_s = 0.0;                       // between two images
    double latency_s = 0.0;                        // of one image
    double bound_s = 0.0;                          // no placement has a smaller interval
    double link_busy_s = 0.0, memory_busy_s = 0.0; // of each interval
    bool proved = false;                           // interval_s is the least
    std::uint64_t nodes = 0;

    double gap() const { return interval_s > 0.0 ? (interval_s - bound_s) / interval_s : 0.0; }
    bool operator==(const PipelinedPlacement&) const = default;
};

// The least interval over all placements of layers on cores, and of those that have it the least
// latency: branch and bound over the layers, each on one of the cores in use or on a fresh one of
// each kind. After max_nodes the best so far, with the bound that holds for all: Lagrange's, over
// what kinds of cores and the memory have to do in all. Nothing where a layer runs nowhere.
std::optional<PipelinedPlacement> place_pipelined(const std::vector<PlacedLayer>& layers,
                                                  const HeterogeneousCores& cores,
                                                  std::uint64_t max_nodes);

struct ParallelLayer {
    std::optional<std::size_t> alone; // kind of the one core that has it all
    std::vector<std::size_t> parts;   // else: of each core
    double seconds = 0.0;
    double crossing_s = 0.0; // before it starts

    bool operator==(const ParallelLayer&) const = default;
};

struct ParallelPlacement {
    std::vector<ParallelLayer> layers;
    double latency_s = 0.0; // of one image; the next starts after it

    bool operator==(const ParallelPlacement&) const = default;
};

// The least time of one image: over all ways to deal out each layer's parts, and all choices of
// one core or many for each layer. Exact: the parts by thresholds on the slowest core, the choices
// by a dynamic program along the chain. Nothing where a layer runs nowhere.
std::optional<ParallelPlacement> place_parallel(const std::vector<PlacedLayer>& layers,
                                                const HeterogeneousCores& cores);

} // namespace eyeroof::model::cores
