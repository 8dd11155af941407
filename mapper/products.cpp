#include "mapper/products.hpp"

namespace eyeroof::mapper {

void Products::multiply_tiles(const Factors6& f, double* out) const {
    static_assert(kGroups == 6);
    for (std::size_t c = 0; c < tiles_; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

void Products::multiply_rest(const Factors6& f, double* out) const {
    for (std::size_t c = tiles_; c < cost_factors_; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c] * f[5][c];
    }
}

void Products::multiply_others(const Factors6& factors, std::size_t apart, double* out) const {
    std::array<const double*, kGroups - 1> f{};
    std::size_t n = 0;
    for (std::size_t g = 0; g < kGroups; ++g) {
        if (g != apart) {
            f[n++] = factors[g];
        }
    }
    for (std::size_t c = 0; c < cost_factors_; ++c) {
        out[c] = f[0][c] * f[1][c] * f[2][c] * f[3][c] * f[4][c];
    }
}

void Products::complete_tiles(const double* others, const double* last, double* out) const {
    for (std::size_t c = 0; c < tiles_; ++c) {
        out[c] = others[c] * last[c];
    }
}

void Products::complete_rest(const double* others, const double* last, double* out) const {
    for (std::size_t c = tiles_; c < cost_factors_; ++c) {
        out[c] = others[c] * last[c];
    }
}

} // namespace eyeroof::mapper
