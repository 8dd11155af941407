// ZigZag's workloads as networks: the YAML list of layers (`loop_dims` and `loop_sizes`), and the
// older form keyed by layer (`loop_dim_size`), as YAML or as the Python file it was written in
// (`workload = {0: {…}}`).
//
//   - id: 0
//     name: first
//     operator_type: Conv
//     equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
//     dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
//     loop_dims: [B, K, C, OY, OX, FY, FX]
//     loop_sizes: [1, 64, 3, 112, 112, 7, 7]
//     operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
//
// What a dimension is follows from the tensors of the equation that it addresses; sums of ix and iy
// are windows. Without MACs: pooling (an equation whose W has no channels) and sums of tensors
// (`O=W+I`). Precisions of 4, 8, 16 and 32 bits become the layer's types. `padding` is kept where
// it is the same on both sides; operand sources, core allocations and mappings are passed over.
#pragma once

#include "model/workload/network.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats {

bool is_zigzag(std::string_view text);

// Errors: those of the strict YAML reader; "unsupported" with what and where; those of validate().
Result<model::Network> parse_zigzag(std::string text, const std::string& file);

} // namespace eyeroof::formats
