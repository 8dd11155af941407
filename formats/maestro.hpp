// MAESTRO's files of layers (`.m`): networks of convolutions and matrix products. Their dataflows
// and accelerators are passed over.
// Called by the catalog of networks. Knows no display.
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
// depthwise; in NGCONV C and K are of one group. GEMM has M, N, K; BMM a batch B as well.
#pragma once

#include "model/workload/network.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats {

// Begins, comments apart, with Constant, Network or Accelerator and a name.
bool is_maestro(std::string_view text);

// Errors: "unsupported" for types of layers that are not modelled, "unknown-key", "bad-number",
// "syntax"; those of validate(layer); each with its line and column.
Result<model::Network> parse_maestro(std::string_view text, const std::string& file);

} // namespace eyeroof::formats
