// Matrix product and im2col convolution with Eigen, on blocks of columns, one block a thread.
#pragma once

#include "model/workload/layer.hpp"

#include <cstddef>

namespace eyeroof::profiles {

// c[:, first … last) = a * b[:, first … last); column-major a (m x k), b (k x n), c (m x n).
struct HostGemm {
    void (*fp32)(const float* a, const float* b, float* c, std::ptrdiff_t m, std::ptrdiff_t n,
                 std::ptrdiff_t k, std::ptrdiff_t first, std::ptrdiff_t last);
    void (*fp64)(const double* a, const double* b, double* c, std::ptrdiff_t m, std::ptrdiff_t n,
                 std::ptrdiff_t k, std::ptrdiff_t first, std::ptrdiff_t last);
};
const HostGemm& host_gemm();

const HostGemm& host_gemm_base();
#ifdef EYEROOF_HOST_X86
const HostGemm& host_gemm_avx2();
#endif

// Column (image n, output row p, output column q) of the matrix that turns a convolution into a
// product: patches[(c * r + i) * s + j, column]. Groups must be 1. Columns first … last only.
void im2col(const model::ConvShape& shape, const float* input, float* patches, std::ptrdiff_t first,
            std::ptrdiff_t last);

} // namespace eyeroof::profiles
