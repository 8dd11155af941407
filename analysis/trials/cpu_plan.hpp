// One candidate of the template "cpu-blocked/1": how a processor computes a workload, and the space
// of all of them.
// Made from a point of the space; read by the generator, the closed form and the features.
#pragma once

#include "analysis/trials/cpu_machine.hpp"
#include "analysis/trials/space.hpp"
#include "analysis/trials/workload.hpp"

#include <array>
#include <string>

namespace eyeroof::analysis::tune {

inline constexpr const char* kCpuTemplate = "cpu-blocked/1";

enum class Axis : std::uint8_t { rows, cols, depth };

// A register tile of tile_rows pixels by tile_vectors vectors of `length` values; around it tiles
// of a block, and blocks in one of six orders. Packed operands are copied once into panels in the
// order in which tiles read them.
struct CpuPlan {
    Count tile_rows = 1, tile_vectors = 1, length = 4;
    Count block_rows = 1, block_cols = 1, block_depth = 1;          // what blocks span, whole tiles
    std::array<Axis, 3> order{Axis::rows, Axis::cols, Axis::depth}; // of blocks, outermost first
    bool pack_rows = false;   // the input, by pixels (of convolutions: im2col)
    bool pack_cols = false;   // the weights
    bool rows_inside = false; // tiles of a block: the rows' loop is the inner one
    bool taps_inside = false; // channels outside, taps inside (else taps outside)
    Count unroll = 1;         // of the innermost loop
    Count prefetch = 0;       // steps that the weights are fetched ahead; 0: not
    Count threads = 1;
    bool threads_on_cols = false; // what threads share: pixels or output channels

    Count tile_cols() const { return tile_vectors * length; }
    bool operator==(const CpuPlan&) const = default;
};

// Rules, by name: "registers" (tile_rows x tile_vectors accumulators, a row of weights and one
// input fit), "block" (blocks hold at least a tile). More than `threads` 1 adds knobs for them.
// Sizes that do not divide are served by remainders, so no rule asks them to.
Space cpu_space(const Workload& work, const CpuMachine& machine, int threads = 1);

CpuPlan cpu_plan(const Space& space, const Point& point);

// "6x2x16, blocks 96x256x128 ncm, packed AB, …": for people.
std::string plan_text(const CpuPlan& plan);

} // namespace eyeroof::analysis::tune
