// The layers of a network YAML: cells with expressions worked out, derived values (`let`), blocks
// that are used again and again.
#pragma once

#include "formats/expression.hpp"
#include "hwdb/yaml.hpp"
#include "model/workload/layer.hpp"

#include <vector>

namespace eyeroof::formats {

// A file of a few lines can ask for no more than this. A block uses the blocks above it only, so
// none can use itself.
inline constexpr std::size_t kMostLayers = 100'000;

// `values`: the parameters'; `let` adds to them in the order of the file. Findings are reported at
// the nodes of `root`: "expression", "not-a-number", "unknown-block", "too-many-layers", and those
// of the layers themselves.
std::vector<model::Layer> read_layers(const hwdb::Node& root, Variables values);

} // namespace eyeroof::formats
