// The time of a layer of experts: tokens sorted by expert, products of a group each, and back.
#pragma once

#include "model/gpu/fused.hpp"
#include "model/gpu/gpu.hpp"
#include "model/gpu/software.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model {

// Every expert's tokens are padded to whole tiles of 16 to 128 rows, the least that holds the mean:
//   compute = uneven x 6 x padded tokens x n k / (peak_share peak), no less than a wave of tiles of
//             the first product, which is 2 k wide
//   dram    = weights of the experts that have tokens + tokens in and out, at dram_share bandwidth;
//             what L2 keeps of them between calls runs at L2's
//   body    = (compute^p + dram^p)^(1/p) + routing_passes over the routed tokens + routing_s
//             + expert_s x busy experts
// FlashInfer's fp8 kernels on Hopper take flashinfer_cost times compute and dram.
FusedTime grouped_time(const Gpu& gpu, DataType type, const GroupedTerms& terms, const Layer& layer,
                       ExpertKernel kernel = ExpertKernel::usual);

} // namespace eyeroof::model
