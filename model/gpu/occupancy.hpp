// How many CTAs an SM holds at once, and how busy their independent sums can keep its pipe: step 5.
#pragma once

#include "model/gpu/matmul.hpp"

#include <string_view>

namespace eyeroof::model {

struct Occupancy {
    int ctas = 1;                  // held at once; 0: not even one fits
    std::string_view by = "slots"; // what holds no more: "registers", "shared memory", "slots"
    double busy = 1.0;             // share of the pipe's cycles, at most, with `ctas` of them
};

// CTAs of a tile whose operands have `in_bytes` an element; `in_turn`: those there are for one SM.
//   registers      an fp32 sum a result and slice, and as much again for addresses and fragments
//   shared memory  two stages of (tm + tn) x 32 (tensor) or 8 (vector) elements of k a slice
//   slots          a thread for every 128 sums (tensor) or 64 (vector), 32 to 256 a slice
//   busy           min(1, sums in flight x k of an instruction / (rate x latency)): a sum waits for
//                  its own last instruction. k and latency: 16 and 16 cycles of tensor cores, 1 and
//                  4 of vector lanes (6 before Volta), the shortest that microbenchmarks report, so
//                  that no kernel can beat the bound.
// What the description does not tell (0) limits nothing.
Occupancy occupancy_of(const Gpu& gpu, DataType type, const CtaTile& tile, double in_bytes,
                       double in_turn);

// The same in two parts: what a tile needs, and how busy a number of its CTAs keeps the pipe.
struct TileNeeds {
    int ctas = 1;
    std::string_view by = "slots";
    double fit = 0.0;    // CTAs held at once, not rounded to an int
    double one = 0.0;    // sums of a CTA x k of an instruction
    double filled = 0.0; // what fills the pipe
};
TileNeeds tile_needs(const Gpu& gpu, DataType type, const CtaTile& tile, double in_bytes);
Occupancy occupancy_with(const TileNeeds& needs, double in_turn);

} // namespace eyeroof::model
