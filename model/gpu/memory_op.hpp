// Operators bound by memory on a GPU: element-wise functions, norms, softmax, pooling, embedding.
// Called by the GPU time model.
// Knows no launch mode's cost (that is in time.cpp).
#pragma once

#include "model/gpu/gpu.hpp"

namespace eyeroof::model {

struct MemoryTime {
    double bytes = 0.0;    // moved, with the passes that the kernel repeats
    double resident = 0.0; // share of them that L2 serves
    double body_s = 0.0;
};

// body = start + bytes ((1-r)/(share B) + r/(gain B)) + row_s rows / SMs (row reductions), where
// r = min(1, resident_l2 L2 / footprint)^sharpness and bytes = compulsory + repeated readings of
// the input: softmax of rows over 1024 elements, norms. Source: own; fitted on NeuSight@6945927.
MemoryTime memory_time(const Gpu& gpu, const MemoryTerms& terms, const Layer& layer,
                       const Work& work);

} // namespace eyeroof::model
