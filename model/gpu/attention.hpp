// The time of softmax(Q K^T) V as one kernel, the way FlashAttention 2 and 3 run it.
#pragma once

#include "model/gpu/fused.hpp"
#include "model/gpu/gpu.hpp"
#include "model/gpu/software.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model {

// Few queries after other tokens (generation): a cache of keys is read for them.
bool reads_cache(const Layer& layer);

// A CTA keeps a tile of queries (128 rows; 64 where there are no more) and walks the keys that they
// see in tiles of 128 (64 above 128 elements a head; fewer, in steps of 32, where no more are
// seen). A prompt of fewer than 128 tokens fills its tiles with the queries of heads that share
// keys where the library packs them; with each head's alone they run at apart_share. A key tile
// takes the CTA
//   ((4 tm tn k / (mma_share * FLOP a cycle and SM))^p + (score_cycles tm tn)^p)^(1/p)
// cycles: products on tensor cores beside exponentials and sums on the SM's other units, p between
// one after the other (1) and hidden (large). Causal tiles behind the diagonal are left out, the
// half tile on it is wasted. Where few queries leave SMs idle (generation), the queries that share
// keys are rows of one tile, keys are split among CTAs, and a second kernel joins the parts.
//   compute = waves of CTAs x (cta_cycles tm/128 or decode_cycles + tiles of a CTA x tile)
//   dram    = queries, keys, values, output / (dram_share bandwidth); what L2 keeps runs at L2's
//   body    = compute + dram + append_s [+ combine_s]: what moves is hardly hidden; one kernel more
//             writes new keys to the cache (encoders, which see both ways, have none)
// Kernels that train take training_cost times a tile, have no cache, and pack what they like.
// A gradient computes five products where the forward has two (scores again, dP, dV, dK, dQ).
// Source of the scheme: Dao, FlashAttention-2, arXiv:2307.08691, sections 3.1 to 3.3.
FusedTime attention_time(const Gpu& gpu, DataType type, const AttentionTerms& terms,
                         const Layer& layer, const Work& work,
                         HeadPacking heads = HeadPacking::usual,
                         AttentionKernel kernel = AttentionKernel::serving);

} // namespace eyeroof::model
