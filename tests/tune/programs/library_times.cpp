// What packaged libraries take for the layers that `eyeroof tune` is judged on: OpenBLAS for
// products, oneDNN for convolutions, fp32, on one thread, the least of many repeats. Not part of
// the build:
//   apt-get install libopenblas-dev libdnnl-dev
//   c++ -std=c++17 -O2 library_times.cpp -o library_times -lopenblas -ldnnl
//   OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 taskset -c 1 ./library_times gemm M N K
//   … ./library_times conv C HEIGHT WIDTH K R S STRIDE PAD
// oneDNN's weights are in its own format before the clock starts, its activations channels-last.
#include <cblas.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

template <class Run> void print_least(double flops, Run run) {
    using Clock = std::chrono::steady_clock;
    double least = 1e30;
    const auto start = Clock::now();
    for (int n = 0; n < 2000; ++n) {
        const auto begin = Clock::now();
        run();
        const auto end = Clock::now();
        least = std::min(least, std::chrono::duration<double>(end - begin).count());
        if (n > 20 && std::chrono::duration<double>(end - start).count() > 0.8) {
            break;
        }
    }
    std::printf("%.9g s  %.2f GFLOP/s\n", least, flops / least / 1e9);
}

void product(long m, long n, long k) {
    std::vector<float> a(static_cast<std::size_t>(m * k), 0.5F);
    std::vector<float> b(static_cast<std::size_t>(k * n), 0.25F);
    std::vector<float> c(static_cast<std::size_t>(m * n));
    print_least(2.0 * double(m) * double(n) * double(k), [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(m), int(n), int(k), 1.0F,
                    a.data(), int(k), b.data(), int(n), 0.0F, c.data(), int(n));
    });
}

void convolution(long c, long h, long w, long k, long r, long s, long stride, long pad) {
    using namespace dnnl;
    const engine cpu(engine::kind::cpu, 0);
    stream queue(cpu);
    const long p = (h + 2 * pad - r) / stride + 1, q = (w + 2 * pad - s) / stride + 1;
    const auto type = memory::data_type::f32;
    const memory::desc in({1, c, h, w}, type, memory::format_tag::nhwc);
    const memory::desc out({1, k, p, q}, type, memory::format_tag::nhwc);
    const memory::desc weights({k, c, r, s}, type, memory::format_tag::any);
    const convolution_forward::desc what(prop_kind::forward_inference,
                                         algorithm::convolution_direct, in, weights, out,
                                         {stride, stride}, {pad, pad}, {pad, pad});
    const convolution_forward::primitive_desc made(what, cpu);
    memory from(made.src_desc(), cpu), by(made.weights_desc(), cpu), to(made.dst_desc(), cpu);
    for (memory* one : {&from, &by}) {
        auto* values = static_cast<float*>(one->get_data_handle());
        std::fill(values, values + one->get_desc().get_size() / sizeof(float), 0.5F);
    }
    const convolution_forward kernel(made);
    print_least(2.0 * double(c * k * r * s) * double(p * q), [&] {
        kernel.execute(queue, {{DNNL_ARG_SRC, from}, {DNNL_ARG_WEIGHTS, by}, {DNNL_ARG_DST, to}});
        queue.wait();
    });
}

} // namespace

int main(int count, char** words) {
    std::vector<long> n;
    for (int i = 2; i < count; ++i) {
        n.push_back(std::atol(words[i]));
    }
    if (count == 5 && !std::strcmp(words[1], "gemm")) {
        product(n[0], n[1], n[2]);
        return 0;
    }
    if (count == 10 && !std::strcmp(words[1], "conv")) {
        convolution(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
        return 0;
    }
    return 2;
}
