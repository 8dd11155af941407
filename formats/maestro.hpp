// MAESTRO's files (`.m`): networks of layers, whose dataflows and accelerators are passed over;
// accelerators; and dataflows alone, which are taken as constraints.
//
//   Constant Channels 64;
//   Network Small {
//     Layer first {
//       Type: CONV
//       Stride { X: 2, Y: 2 }
//       Dimensions { N: 1, K: Channels, C: 3, R: 7, S: 7, Y: 229, X: 229 }
//     }
//   }
//
// Y and X are the input's rows and columns, padding included, as MAESTRO counts them. DSCONV is
// depthwise; in NGCONV C and K are of one group. TRCONV is a transposed convolution: Y and X are
// its input, Stride or ExpansionSize how far it is spread. GEMM has M, N, K; BMM a batch B as well.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats {

// Begins, comments apart, with Constant, Network or Accelerator and a name, or with Dataflow.
bool is_maestro(std::string_view text);

// Errors: "unsupported" for types of layers that are not modelled, "unknown-key", "bad-number",
// "syntax"; those of validate(layer); each with its line and column.
Result<model::Network> parse_maestro(std::string_view text, const std::string& file);

// An accelerator: "NumPEs: 256", "L1Size", "L2Size", "NoC_BW", "NoC_NumHops", or num_pes and the
// like. Sizes are bytes, bandwidths words of one byte in a cycle; hops add no time.
bool is_maestro_hardware(std::string_view text);
Result<model::Machine> parse_maestro_hardware(std::string_view text, const std::string& file);

// A dataflow without layers: SpatialMap says which dimensions lie over the PEs, the directives
// above the first Cluster in which order the loops above the array run. Tile sizes are left to the
// search, as a warning says.
bool is_maestro_dataflow(std::string_view text);
Result<mapper::Constraints> parse_maestro_dataflow(std::string_view text, const std::string& file,
                                                   const model::Accelerator& machine);

} // namespace eyeroof::formats
