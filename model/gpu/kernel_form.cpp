#include "model/gpu/kernel_form.hpp"

#include "model/gpu/predict.hpp"

#include <fmt/format.h>

namespace eyeroof::model {

namespace {

constexpr const char* kProduct = "product";
constexpr const char* kFused = "fused"; // attention, experts

// The product that the kernel's tiles cover, where its shape is that of the layer.
std::optional<Product> product_of(const KernelChoice& kernel, const Layer& layer) {
    if (!kernel.products.empty()) {
        return kernel.products.back();
    }
    if (!kernel.conv || kernel.conv->algorithm != ConvAlgorithm::implicit_gemm) {
        return std::nullopt;
    }
    const auto& c = std::get<ConvShape>(layer.shape);
    const double n = static_cast<double>(c.n);
    const double groups = static_cast<double>(c.groups);
    const double in = static_cast<double>(c.c) / groups;
    const double out = static_cast<double>(c.k) / groups;
    const double taps = static_cast<double>(c.r * c.s);
    const double outputs = n * static_cast<double>(c.p() * c.q());
    switch (layer.direction) {
    case Direction::bwd_data:
        return Product{groups, n * static_cast<double>(c.h * c.w), in, out * taps, 2.0, 2.0};
    case Direction::bwd_weight:
        return Product{groups, out, in * taps, outputs, 2.0, 2.0};
    default:
        return Product{groups, outputs, out, in * taps, 2.0, 2.0};
    }
}

} // namespace

std::string KernelForm::text() const {
    if (!served.empty()) {
        return served;
    }
    if (!mapping) {
        return from_l2 ? "streamed, from L2" : "streamed";
    }
    const CtaTile& tile = mapping->tile;
    const bool fused = algorithm == kFused;
    std::string text = fmt::format("CTA {}x{}", tile.tm, tile.tn);
    text += tile.slices > 1 ? fmt::format(" sliced {}", tile.slices) : "";
    text += mapping->splits > 1 ? fmt::format(", {}split {}", fused ? "keys " : "", mapping->splits)
                                : "";
    return fused || algorithm == kProduct ? text : fmt::format("{}, {}", algorithm, text);
}

KernelForm form_of(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel) {
    KernelForm form;
    form.served = kernel.served ? served_text(*kernel.served) : "";
    if (kernel.kernel_class == KernelClass::memory) {
        form.algorithm = "elements";
        form.from_l2 = kernel.memory.resident > 0.5;
        return form;
    }
    if (kernel.fused) {
        form.algorithm = kFused;
        form.mapping = {{kernel.fused->tile_m, kernel.fused->tile_n, 1}, kernel.fused->splits};
        return form;
    }
    form.algorithm =
        kernel.conv ? std::string(conv_algorithm_name(kernel.conv->algorithm)) : kProduct;
    form.mapping = kernel.conv ? kernel.conv->product.mapping : kernel.matmul->mapping;
    form.product = product_of(kernel, layer);
    if (form.product) {
        form.waves = waves_of(*form.product, *form.mapping, gpu.sms);
    }
    return form;
}

} // namespace eyeroof::model
