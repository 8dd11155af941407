// Operators bound by memory on a GPU: element-wise functions, norms, softmax, pooling, embedding.
// Called by the GPU time model.
// Knows no launch mode's cost (that is in time.cpp).
#pragma once

#include "model/gpu/gpu.hpp"

#include <optional>

namespace eyeroof::model {

struct MemoryTime {
    double bytes = 0.0;    // moved, with the passes that the kernel repeats
    double resident = 0.0; // share of them that L2 serves
    double body_s = 0.0;
    double link_bytes_per_s = 0.0; // of copies over PCIe or between GPUs
};

// Bytes a second, one direction, of the link that a layer copies over (h2d and d2h: PCIe, peer: the
// GPUs' own link, else PCIe); nullopt for layers that copy over none, 0 where the machine has none.
std::optional<double> link_of(const Gpu& gpu, const Layer& layer);

// body = start + bytes ((1-r)/(share B) + r/(gain L2bw)) + row_s rows / SMs (row reductions), where
// r = min(1, resident_l2 L2 / footprint)^sharpness and bytes = compulsory + repeated readings of
// the input: softmax of rows over 1024 elements, norms. Source: own; fitted on NeuSight@6945927.
// Copies: 10 us + bytes once over 0.8 of the link (recalled: pinned memory, large copies).
MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work);

} // namespace eyeroof::model
