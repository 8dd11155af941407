// The `graph` of a network YAML: in which order its layers run, and who reads whose output; blocks
// that repeat are written once and unrolled here. Called by the reader of network YAML.
// Knows the layers' names and counts, not their shapes: whether those agree is seen where the graph
// is built.
#pragma once

#include "hwdb/yaml.hpp"
#include "model/layer.hpp"
#include "study/formats/expression.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::study::read {

// A file of a few lines can ask for no more steps than this.
inline constexpr std::size_t kMostGraphSteps = 1'000'000;

// run: one execution of a layer. view: a part of what it reads, or several tensors taken as one,
// at no cost. state: a tensor that is there before the run and after it (a cache).
enum class WiringKind { run, view, state };

// What a step may read beside earlier steps: what the network is given ("input"), and what is there
// anyway and takes no memory of its own ("constant": masks, positions).
inline constexpr std::size_t kNetworkInput = static_cast<std::size_t>(-1);
inline constexpr std::size_t kConstant = static_cast<std::size_t>(-2);

struct WiringStep {
    WiringKind kind = WiringKind::run;
    std::size_t layer = 0;                 // of a run: index into the network's layers
    std::vector<std::size_t> reads;        // earlier steps, kNetworkInput or kConstant
    std::optional<model::Count> elements;  // of a view or a state
    std::optional<std::size_t> weights_of; // index of the layer whose weights it shares
    bool expands = false;                  // a view with more elements: repeated, or padded
    bool output = false;                   // of the network: nobody need read it
    std::uint32_t place = 0;               // index into Wiring::places

    bool operator==(const WiringStep&) const = default;
};

struct Wiring {
    std::vector<WiringStep> steps;
    std::vector<model::SourceLocation> places; // of the steps as they were written
    std::vector<std::string> names;            // beside places: of views and states

    bool operator==(const Wiring&) const = default;
};

// Nothing where the file has no `graph`. Findings are reported at the nodes of `root`:
// "unknown-layer", "unknown-tensor", "graph-cycle", "read-before-made", "run-count" where a layer
// runs more or less often than its count says, "too-many-steps", "expression". `values`: those of
// the layers' expressions. Layers that `when` leaves out are left out here too: what they would
// have read takes the place of what they would have made.
std::optional<Wiring> read_wiring(const hwdb::Node& root, const std::vector<model::Layer>& layers,
                                  const Variables& values);

// The `graph` of a network YAML, unrolled: every step by a name of its own. Reads back as the same
// wiring, with other places. To stand behind write_network_yaml().
std::string write_wiring(const Wiring& wiring, const std::vector<model::Layer>& layers);

} // namespace eyeroof::study::read
