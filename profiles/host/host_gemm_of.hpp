// The Eigen product for one instruction set. Included in a source file that renames Eigen's
// namespace, so that code compiled for a wide instruction set is never shared with the rest.
#pragma once

#include "profiles/host/host_gemm.hpp"

#include <Eigen/Core>

namespace eyeroof::profiles {

template <int kIsa> struct HostGemmOf {
    template <class Number>
    static void product(const Number* a, const Number* b, Number* c, std::ptrdiff_t m,
                        std::ptrdiff_t n, std::ptrdiff_t k, std::ptrdiff_t first,
                        std::ptrdiff_t last) {
        using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
        const Eigen::Map<const Matrix> left(a, m, k);
        const Eigen::Map<const Matrix> right(b, k, n);
        Eigen::Map<Matrix> result(c, m, n);
        result.middleCols(first, last - first).noalias() =
            left * right.middleCols(first, last - first);
    }
    static HostGemm make() { return {product<float>, product<double>}; }
};

} // namespace eyeroof::profiles
