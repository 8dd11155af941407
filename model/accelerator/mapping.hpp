// A mapping: how a problem's loops are tiled, ordered, spread over the array and kept in memories.
// Made by the dataflow presets, the mapper or a file; consumed by the cost model.
//
// Reads like the machine: levels[i] belongs to accelerator.levels[i], outermost first. Its temporal
// loops step through the tiles that are sent to the level below; its spatial loops spread that tile
// over the fan-out below it. Bounds are trip counts. Tiles may be ceil-sized: walking from the
// innermost loop outwards, the tile of a dimension is the product of the trip counts so far, and
// the last trip of a loop may be partial; the product over all levels must reach the problem's
// bound, and no loop may have a trip that is entirely empty.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/counting.hpp"
#include "model/workload/problem.hpp"

#include <string>
#include <vector>

namespace eyeroof::model {

struct TemporalLoop {
    Dim dim = Dim::N;
    Count bound = 1;

    bool operator==(const TemporalLoop&) const = default;
};

struct SpatialLoop {
    Dim dim = Dim::N;
    Count bound = 1;
    std::uint8_t axis = 0; // index into the level's fanout

    bool operator==(const SpatialLoop&) const = default;
};

struct LevelMapping {
    OperandSet keeps; // subset of what the level's stores can hold; the rest passes by
    std::vector<TemporalLoop> temporal; // outer to inner
    std::vector<SpatialLoop> spatial;   // outer to inner, below the temporal loops

    bool operator==(const LevelMapping&) const = default;
};

struct Mapping {
    std::vector<LevelMapping> levels; // same order and number as Accelerator::levels
    ConvForm form = ConvForm::gather; // what P and Q walk over: outputs, or inputs (scatter)

    bool operator==(const Mapping&) const = default;
};

// Tile extents that live below the temporal loops of `level` and inwards … level = 0 gives the
// whole problem. Extents are clipped to the problem's bounds. tile_below(m, p, i): what one
// instance of level i works on between two trips of the loops above it.
Extents tile_at(const Mapping& mapping, const Problem& problem, std::size_t level);

// Every violated rule: wrong number of levels, a loop below 1, an axis over its size, a dimension
// not covered, an empty trip, a kept operand without a store, a tile over its store's capacity (in
// the words that `counting` says a tile holds).
Diagnostics validate(const Mapping& mapping, const Problem& problem, const Accelerator& machine,
                     Counting counting = Counting::eyeroof);

// A readable loop nest, one line per level.
std::string to_text(const Mapping& mapping, const Accelerator& machine);

} // namespace eyeroof::model
