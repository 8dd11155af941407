#include "profiles/host/host_gemm_of.hpp"

namespace eyeroof::profiles {

const HostGemm& host_gemm_base() {
    static const HostGemm gemm = HostGemmOf<0>::make();
    return gemm;
}

void im2col(const model::ConvShape& shape, const float* input, float* patches, std::ptrdiff_t first,
            std::ptrdiff_t last) {
    const std::ptrdiff_t rows = shape.c * shape.r * shape.s;
    const std::ptrdiff_t pixels = shape.p() * shape.q();
    for (std::ptrdiff_t column = first; column < last; ++column) {
        const std::ptrdiff_t image = column / pixels;
        const std::ptrdiff_t top = column % pixels / shape.q() * shape.stride.h - shape.pad.h;
        const std::ptrdiff_t left = column % shape.q() * shape.stride.w - shape.pad.w;
        float* out = patches + column * rows;
        for (std::ptrdiff_t c = 0; c < shape.c; ++c) {
            const float* plane = input + (image * shape.c + c) * shape.h * shape.w;
            for (std::ptrdiff_t i = 0; i < shape.r; ++i) {
                const std::ptrdiff_t y = top + i * shape.dilation.h;
                for (std::ptrdiff_t j = 0; j < shape.s; ++j, ++out) {
                    const std::ptrdiff_t x = left + j * shape.dilation.w;
                    const bool inside = y >= 0 && y < shape.h && x >= 0 && x < shape.w;
                    *out = inside ? plane[y * shape.w + x] : 0.0F;
                }
            }
        }
    }
}

} // namespace eyeroof::profiles
