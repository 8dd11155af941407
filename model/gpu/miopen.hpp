// Convolutions on AMD's GPUs: an implicit product in tiles of MIOpen's kernels, or Winograd.
#pragma once

#include "model/gpu/conv.hpp"

namespace eyeroof::model {

// clang-format off
// The least over tiles, splits of k and, on vector lanes, Winograd F(2x2,3x3), of
//   body = (compute^p + dram^p)^(1/p) + split + layout
//   compute = cost(direction) a J w,  w = 2 tm tn (ceil(k/splits) + ramp_k) / (e rate) + ramp_cycles / clock
//   e = peak_share I / (I + half_intensity),  I = tm tn / (tm + tn)
//   J = share ceil(j) + (1 - share) max(j, 1),  j = CTAs / CUs,  share = whole_waves
//   a = 1 + unaligned_cost where 16 bytes of reduced channels are not whole
//   layout = 2 direction_layout passes over input and output, and layout_s, with channels first
// Winograd multiplies 2.25 times less on the vector lanes at winograd_share of their peak.
// clang-format on
// Source: own; sizes of tiles, solvers, and layouts after ROCm/MIOpen@2d1fd99 (find-db: names of
// the quickest solvers): NHWC kernels serve channels-first tensors between two transposes.
ConvTime miopen_time(const Gpu& gpu, DataType type, const ConvTerms& terms, const ConvShape& shape,
                     Direction direction, double element_bytes, bool channels_first);

} // namespace eyeroof::model
