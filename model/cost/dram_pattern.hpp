// How a mapping accesses each tensor in a DRAM: from the tile that is transferred at a time and
// from the tensor's order in memory to different bursts and rows.
//
// Axes from the innermost outwards, each with `words` wanted positions that reach over `reach`:
//
//   span   = (reach - 1) * pitch + span inside       pitch = pitch inside * size of the axis inside
//   bursts = min(words * bursts inside, ceil(span / burst))         rows likewise
//
// A tile is fetched by its own bursts, each once, and each of its rows is activated once: tiles of
// other tensors lie in other banks meanwhile, of which a standard has more than there are tensors.
// Tiles that follow one another in memory and in time are one stream, as far as the innermost loops
// walk along the axis that ends the run. Tensors begin at a row; remainders count as whole tiles.
// Padding is not in memory: a tile takes what is stored of its windows, and what an access asks for
// is the mean over all tiles, each of which is transferred as often as any other.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

#include <vector>

namespace eyeroof::model {

struct TensorAccess {
    DramAccess access;          // of one tile, on average
    double run_bytes = 0.0;     // contiguous, on average over all runs
    double read_slowdown = 1.0; // against a stream of the same bytes
    double write_slowdown = 1.0;

    bool operator==(const TensorAccess&) const = default;
};

// One axis of a tensor in memory, and what a tile takes of it.
struct LaidAxis {
    Count words = 1; // wanted positions
    Count reach = 1; // from the first to the last of them
    Count size = 1;  // of the whole axis

    bool operator==(const LaidAxis&) const = default;
};

// Axes: outermost first.
DramAccess access_of(const std::vector<LaidAxis>& axes, int word_bits,
                     const DramStandard& standard);
// Contiguous bytes that the tile is made of.
double run_bytes_of(const std::vector<LaidAxis>& axes, int word_bits);

// Does the outermost memory's bandwidth depend on the mapping?
bool follows_mapping(const Accelerator& machine);
// The machine with such links at the rate of a stream, which no mapping exceeds.
Accelerator at_stream_rate(Accelerator machine);

// Of the operands on a channel of the outermost memory that follows the mapping; all 1 elsewhere.
PerOperand<TensorAccess> dram_pattern(const Problem& problem, const Accelerator& machine,
                                      const Mapping& mapping, const Channel& channel);

} // namespace eyeroof::model
