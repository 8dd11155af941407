// The tuned workload: a convolution or a GEMM as one sum of products over pixels, channels, and
// taps.
// Made of a layer; read by templates, targets and logs.
#pragma once

#include "base/result.hpp"
#include "model/workload/layer.hpp"
#include "model/workload/network.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

// out[x, j] = sum over c, r, s of in[pixel x at tap (r, s), c] * w[r, s, c, j] in fp32: `rows`
// pixels (of a product: rows of A), `cols` output channels (columns of B), `depth` input channels
// (the inner dimension), taps_h x taps_w taps (one for a product).
struct Workload {
    std::string name;
    bool convolution = false;
    Count rows = 1, cols = 1, depth = 1;
    Count taps_h = 1, taps_w = 1;
    // Of convolutions: images of height x width with `pad` around, in channels-last order.
    Count images = 1, height = 1, width = 1;
    model::Extent2 stride{1, 1}, pad{0, 0}, dilation{1, 1};
    Count out_h = 1, out_w = 1;

    Count taps() const { return taps_h * taps_w; }
    Count macs() const { return rows * cols * depth * taps(); }
    double flops() const { return 2.0 * static_cast<double>(macs()); }
    Count padded_h() const { return height + 2 * pad.h; }
    Count padded_w() const { return width + 2 * pad.w; }
    // The same sum, whatever it is called.
    bool same_shape(const Workload& other) const;
    bool operator==(const Workload&) const = default;
};

// Errors: the layer's own; "unsupported" for other operators, groups, gradients, batched products
// with weights of their own, and shapes above 2^31 elements or 2^40 MACs.
Result<Workload> workload_of(const model::Layer& layer);

// Those of a network that can be tuned, each shape once; warnings tell what is left out. Error
// "unsupported" when that is everything.
Result<std::vector<Workload>> workloads_of(const model::Network& network);

} // namespace eyeroof::analysis::tune
