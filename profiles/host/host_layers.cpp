#include "profiles/host/host_layers.hpp"

#include "profiles/host/host_gemm.hpp"
#include "profiles/host/host_loops.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <memory>

namespace eyeroof::profiles {

namespace {

using Index = std::ptrdiff_t;

// Values that are neither equal nor denormal; the same every time. Fewer after a stop: no one
// computes with them then.
template <class Number> std::vector<Number> tensor(Index size, const std::stop_token& stop) {
    constexpr Index kPiece = Index{1} << 16;
    std::vector<Number> values;
    values.reserve(static_cast<std::size_t>(size));
    std::uint32_t state = 12345;
    for (Index i = 0; i < size && (i % kPiece != 0 || !stop.stop_requested()); ++i) {
        state = state * 1664525U + 1013904223U;
        values.push_back(static_cast<Number>(state >> 8U) / static_cast<Number>(1U << 24U) -
                         Number(0.5));
    }
    return values;
}

struct Part {
    Index first, last;
};
Part part_of(Index size, int thread, int threads) {
    return {size * thread / threads, size * (thread + 1) / threads};
}

template <class Number> struct Product { std::vector<Number> a, b, c; };

template <class Number>
HostLayer gemm_layer(Index m, Index n, Index k, const std::string& precision, int threads,
                     const std::stop_token& stop) {
    auto data = std::make_shared<Product<Number>>(Product<Number>{
        tensor<Number>(m * k, stop), tensor<Number>(k * n, stop), tensor<Number>(m * n, stop)});
    HostLayer layer;
    layer.name = fmt::format("gemm {}x{}x{} {}", m, n, k, precision);
    layer.op = {"gemm", {{m, k}, {k, n}}, {precision == "fp64" ? "double" : "float"}, {}};
    layer.precision = precision;
    layer.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    layer.bytes = static_cast<double>(sizeof(Number)) * static_cast<double>(m * k + k * n + m * n);
    layer.work = [data, m, n, k, threads](int thread, std::size_t repeats) {
        const Part part = part_of(n, thread, threads);
        for (std::size_t i = 0; i < repeats; ++i) {
            if constexpr (sizeof(Number) == sizeof(double)) {
                host_gemm().fp64(data->a.data(), data->b.data(), data->c.data(), m, n, k,
                                 part.first, part.last);
            } else {
                host_gemm().fp32(data->a.data(), data->b.data(), data->c.data(), m, n, k,
                                 part.first, part.last);
            }
        }
    };
    return layer;
}

struct Convolution {
    std::vector<float> input, weight, patches, output;
};

// Weights as a k x (c r s) matrix times the patches; each thread unfolds and multiplies its
// columns.
HostLayer conv_layer(const model::ConvShape& shape, int threads, const std::stop_token& stop) {
    const Index depth = shape.c * shape.r * shape.s;
    const Index columns = shape.n * shape.p() * shape.q();
    const Index input = shape.n * shape.c * shape.h * shape.w;
    auto data = std::make_shared<Convolution>(
        Convolution{tensor<float>(input, stop), tensor<float>(shape.k * depth, stop),
                    tensor<float>(depth * columns, stop), tensor<float>(shape.k * columns, stop)});
    HostLayer layer;
    layer.name = fmt::format("conv {}x{}x{}x{} {}x{}x{} fp32", shape.n, shape.c, shape.h, shape.w,
                             shape.k, shape.r, shape.s);
    const auto pair = [](const model::Extent2& e) { return fmt::format("[{}, {}]", e.h, e.w); };
    layer.op = {"conv2d",
                {{shape.n, shape.c, shape.h, shape.w}, {shape.k, shape.c, shape.r, shape.s}},
                {"float", "float"},
                {"", "", "", pair(shape.stride), pair(shape.pad), pair(shape.dilation), "1"}};
    layer.precision = "fp32";
    layer.flops = 2.0 * static_cast<double>(shape.k) * static_cast<double>(depth) *
                  static_cast<double>(columns);
    layer.bytes = 4.0 * static_cast<double>(input + shape.k * depth + shape.k * columns);
    layer.work = [data, shape, depth, columns, threads](int thread, std::size_t repeats) {
        const Part part = part_of(columns, thread, threads);
        for (std::size_t i = 0; i < repeats; ++i) {
            im2col(shape, data->input.data(), data->patches.data(), part.first, part.last);
            host_gemm().fp32(data->weight.data(), data->patches.data(), data->output.data(),
                             shape.k, columns, depth, part.first, part.last);
        }
    };
    return layer;
}

// a = b + 2 c: two operations an element; the elements per thread are a multiple of the unrolling.
HostLayer add_layer(Index per_thread, int threads, const std::stop_token& stop) {
    auto data = std::make_shared<Product<double>>(Product<double>{
        tensor<double>(per_thread * threads, stop), tensor<double>(per_thread * threads, stop),
        tensor<double>(per_thread * threads, stop)});
    const auto elements = static_cast<double>(per_thread * threads);
    HostLayer layer;
    layer.name = fmt::format("scaled add {} fp64", per_thread * threads);
    layer.op = {"add", {{per_thread * threads}, {per_thread * threads}}, {"double", "double"}, {}};
    layer.precision = "fp64";
    layer.flops = 2.0 * elements;
    layer.bytes = 24.0 * elements;
    layer.work = [data, per_thread](int thread, std::size_t repeats) {
        const Index at = per_thread * thread;
        for (std::size_t i = 0; i < repeats; ++i) {
            host_loops().triad(data->a.data() + at, data->b.data() + at, data->c.data() + at, 2.0,
                               static_cast<std::size_t>(per_thread));
        }
    };
    return layer;
}

} // namespace

std::vector<HostLayer> host_layers(int threads, std::size_t largest_cache_bytes,
                                   const std::stop_token& stop) {
    constexpr std::size_t kBlock = 128; // doubles: one round of the widest loop, unrolled
    const std::size_t elements = 2 * largest_cache_bytes / sizeof(double);
    const std::size_t per_thread =
        elements / static_cast<std::size_t>(threads) / kBlock * kBlock + kBlock;
    model::ConvShape conv{4, 64, 56, 56, 64, 3, 3};
    conv.pad = {1, 1};
    model::ConvShape pointwise{4, 256, 28, 28, 128, 1, 1};
    std::vector<HostLayer> layers;
    layers.push_back(gemm_layer<float>(200, 200, 200, "fp32", threads, stop));
    layers.push_back(gemm_layer<double>(200, 200, 200, "fp64", threads, stop));
    layers.push_back(gemm_layer<float>(2000, 2000, 2000, "fp32", threads, stop));
    layers.push_back(gemm_layer<double>(2000, 2000, 2000, "fp64", threads, stop));
    layers.push_back(gemm_layer<float>(1000, 16, 2048, "fp32", threads, stop));
    layers.push_back(gemm_layer<float>(4096, 2 * threads, 4096, "fp32", threads, stop));
    layers.push_back(conv_layer(conv, threads, stop));
    layers.push_back(conv_layer(pointwise, threads, stop));
    layers.push_back(add_layer(static_cast<Index>(per_thread), threads, stop));
    return layers;
}

} // namespace eyeroof::profiles
