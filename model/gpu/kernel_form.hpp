// How the library's kernel does a layer, as figures: what a prediction assumes, and what a profiler
// can hold against the grid and the names of the kernels that ran.
// Made with every prediction; written by the reports and drawn by the mapping's picture.
#pragma once

#include "model/gpu/matmul.hpp"
#include "model/workload/layer.hpp"

#include <optional>
#include <string>

namespace eyeroof::model {

struct KernelChoice;

struct KernelForm {
    // "product", "implicit GEMM", "Winograd F(4x4) non-fused", …, "fused"; "elements" streams.
    std::string algorithm;
    std::optional<KernelMapping> mapping; // none: elements stream through all SMs
    // What the tiles cover, where they are tiles of the layer's own result.
    std::optional<Product> product;
    std::optional<Waves> waves; // of that product's CTAs over the SMs
    bool from_l2 = false;       // elements: L2 still holds most of them
    std::string served;         // served_text(), where the time is by such constants

    // "CTA 128x128, split 4", "streamed, from L2", "vllm 0.24.0, FLASHINFER".
    std::string text() const;
    bool operator==(const KernelForm&) const = default;
};

KernelForm form_of(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel);

} // namespace eyeroof::model
