// The gain of shape changes on a GPU, found by examining the changed shapes. Every gain is two runs
// of the time model, none is a rule of thumb.
#pragma once

#include "analysis/scenario/question.hpp"
#include "base/result.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

enum class AdviceKind {
    align,      // pad m, n or k (channels of convolutions) to what tensor cores load at once
    batch,      // the smallest batch whose FLOP per byte reaches the GPU's ridge
    fill_waves, // a size near by whose tiles fill whole waves of SMs
    fuse        // one kernel instead of a chain of elementwise ones, or an epilogue
};
std::string_view advice_name(AdviceKind kind);

struct Advice {
    AdviceKind kind = AdviceKind::align;
    std::string layer;     // the first one of a chain
    std::string dimension; // "k", "n", "m", "batch"; of a chain, its layers
    Count from = 0;        // of the dimension; of a chain, kernels
    Count to = 0;
    double now_s = 0.0;   // one execution as it is
    double then_s = 0.0;  // one execution as advised, with the larger shape's own work
    double gain = 1.0;    // useful work per second, advised over present
    double saved_s = 0.0; // over all executions in the network; 0 where the work changes (batch)
    bool gradients_only = false; // the forward pass gains nothing; gain is of its two gradients
    std::string text;            // one sentence
    double old_gain = 0.0;       // of padding with a library before cuBLAS 11; 0: none other

    bool operator==(const Advice&) const = default;
};

struct AdviceOptions {
    double least_gain = 1.02; // what is worth saying
    std::size_t most = 20;    // largest savings first

    bool operator==(const AdviceOptions&) const = default;
};

// Equal layers are advised on once. Gains are of kernels.
// Align: k of products is the contiguous dimension of both operands forward, n of the gradients;
// the dimension is padded to 16 bytes, and to 64 fp16 elements where that wins more.
// Batch: of layers with weights that memory bounds; m or n in multiples of the present one.
// Waves: m and n within a quarter of the present size, on tile borders.
// Fuse: neighboring layers with equal element counts, as one kernel that reads each outside tensor
// once; an elementwise layer after a GEMM or convolution as its epilogue.
// Errors: "not-a-gpu", "cancelled"; those of run().
Result<std::vector<Advice>> advise(const Question& question, const AdviceOptions& options = {},
                                   const std::stop_token& stop = {});

} // namespace eyeroof::analysis
