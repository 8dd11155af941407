#include "analysis/tune/gpu_source.hpp"

#include <fmt/format.h>

namespace eyeroof::analysis::tune {

namespace {

constexpr const char* kCopies = R"cuda(
struct Args {
    const float* in; const float* w; float* out; const int* pixel;
    int rows, cols, depth, total, taps_w, step_r, step_s, unused;
};
#ifndef EYEROOF_EMULATED
extern __shared__ __align__(16) float eyeroof_shared[];
#endif
#define ROW_LOADS (BLOCK_M * BLOCK_K / VECTOR_IN)
#define COL_LOADS (BLOCK_K * BLOCK_N / VECTOR_W)
#define ROW_TURNS ((ROW_LOADS + THREADS - 1) / THREADS)
#define COL_TURNS ((COL_LOADS + THREADS - 1) / THREADS)
template <int N> struct __align__(4 * N) Floats { float at[N]; };

// Where the k-th term of the sum is read, behind a pixel's beginning.
__device__ __forceinline__ int term(const Args& a, int k) {
#if PRODUCT
    return k;
#else
    const int tap = k / a.depth;
    return tap / a.taps_w * a.step_r + tap % a.taps_w * a.step_s + (k - tap * a.depth);
#endif
}

struct Place { const float* from; bool there; };

__device__ __forceinline__ Place row_load(const Args& a, int m0, int k0, int base, int i) {
    const int row = i / (BLOCK_K / VECTOR_IN), k = i % (BLOCK_K / VECTOR_IN) * VECTOR_IN;
    const bool there = i < ROW_LOADS && m0 + row < a.rows && k0 + k < a.total;
#if TAPS_UNIFORM
    const int offset = base + k;
#else
    const int offset = term(a, k0 + k);
#endif
    return {there ? a.in + a.pixel[m0 + row] + offset : a.in, there};
}
__device__ __forceinline__ float* row_slot(float* stage, int i) {
    return stage + i / (BLOCK_K / VECTOR_IN) * ROW_FLOATS + i % (BLOCK_K / VECTOR_IN) * VECTOR_IN;
}
__device__ __forceinline__ Place col_load(const Args& a, int n0, int k0, int i) {
    const int k = i / (BLOCK_N / VECTOR_W), n = i % (BLOCK_N / VECTOR_W) * VECTOR_W;
    const bool there = i < COL_LOADS && k0 + k < a.total && n0 + n < a.cols;
    return {there ? a.w + (long long)(k0 + k) * a.cols + n0 + n : a.w, there};
}
__device__ __forceinline__ float* col_slot(float* stage, int i) {
    return stage + BLOCK_M * ROW_FLOATS + i / (BLOCK_N / VECTOR_W) * BLOCK_N
           + i % (BLOCK_N / VECTOR_W) * VECTOR_W;
}

template <int N> __device__ __forceinline__ Floats<N> fetched(Place place) {
    Floats<N> value;
#pragma unroll
    for (int v = 0; v < N; ++v) value.at[v] = 0.0f;
    if (place.there) value = *reinterpret_cast<const Floats<N>*>(place.from);
    return value;
}

#if ASYNC
template <int N> __device__ __forceinline__ void copy(float* to, Place place) {
#ifdef EYEROOF_EMULATED
    *reinterpret_cast<Floats<N>*>(to) = fetched<N>(place);
#else
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n"
                 :: "r"(at), "l"(place.from), "n"(4 * N), "r"(place.there ? 4 * N : 0));
#endif
}
__device__ __forceinline__ void commit() {
#ifndef EYEROOF_EMULATED
    asm volatile("cp.async.commit_group;\n");
#endif
}
__device__ __forceinline__ void await() { // all but the last STAGES - 2 slices have come
#ifndef EYEROOF_EMULATED
    asm volatile("cp.async.wait_group %0;\n" :: "n"(STAGES - 2));
#endif
}
__device__ __forceinline__ void bring(const Args& a, float* stage, int m0, int n0, int k0) {
    const int base = term(a, k0); (void)base;
#pragma unroll
    for (int turn = 0; turn < ROW_TURNS; ++turn) {
        const int i = (int)threadIdx.x + turn * THREADS;
        if (ROW_LOADS % THREADS == 0 || i < ROW_LOADS) copy<VECTOR_IN>(row_slot(stage, i), row_load(a, m0, k0, base, i));
    }
#pragma unroll
    for (int turn = 0; turn < COL_TURNS; ++turn) {
        const int i = (int)threadIdx.x + turn * THREADS;
        if (COL_LOADS % THREADS == 0 || i < COL_LOADS) copy<VECTOR_W>(col_slot(stage, i), col_load(a, n0, k0, i));
    }
}
#else
struct Moved { Floats<VECTOR_IN> row[ROW_TURNS]; Floats<VECTOR_W> col[COL_TURNS]; };
__device__ __forceinline__ void fetch(const Args& a, Moved& moved, int m0, int n0, int k0) {
    const int base = term(a, k0); (void)base;
#pragma unroll
    for (int turn = 0; turn < ROW_TURNS; ++turn)
        moved.row[turn] = fetched<VECTOR_IN>(row_load(a, m0, k0, base, (int)threadIdx.x + turn * THREADS));
#pragma unroll
    for (int turn = 0; turn < COL_TURNS; ++turn)
        moved.col[turn] = fetched<VECTOR_W>(col_load(a, n0, k0, (int)threadIdx.x + turn * THREADS));
}
__device__ __forceinline__ void store(float* stage, const Moved& moved) {
#pragma unroll
    for (int turn = 0; turn < ROW_TURNS; ++turn) {
        const int i = (int)threadIdx.x + turn * THREADS;
        if (ROW_LOADS % THREADS == 0 || i < ROW_LOADS)
            *reinterpret_cast<Floats<VECTOR_IN>*>(row_slot(stage, i)) = moved.row[turn];
    }
#pragma unroll
    for (int turn = 0; turn < COL_TURNS; ++turn) {
        const int i = (int)threadIdx.x + turn * THREADS;
        if (COL_LOADS % THREADS == 0 || i < COL_LOADS)
            *reinterpret_cast<Floats<VECTOR_W>*>(col_slot(stage, i)) = moved.col[turn];
    }
}
#endif
)cuda";

constexpr const char* kBody = R"cuda(
#define LANES_N (WARP_N / THREAD_N)
#define WARPS_N (BLOCK_N / WARP_N)
#define ROW_OF(i) (SPREAD ? lane_m + (i) * (WARP_M / THREAD_M) : lane_m * THREAD_M + (i))
#define COL_OF(j) (SPREAD ? lane_n + (j) * LANES_N : lane_n * THREAD_N + (j))

struct Sums { float at[THREAD_M][THREAD_N]; };

__device__ __forceinline__ void add(const float* stage, Sums& sums) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int lane_m = lane / LANES_N, lane_n = lane % LANES_N;
    const float* rows = stage + warp / WARPS_N * WARP_M * ROW_FLOATS;
    const float* cols = stage + BLOCK_M * ROW_FLOATS + warp % WARPS_N * WARP_N;
#pragma unroll UNROLL
    for (int k = 0; k < BLOCK_K; ++k) {
        float x[THREAD_M], y[THREAD_N];
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) x[i] = rows[ROW_OF(i) * ROW_FLOATS + k];
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) y[j] = cols[k * BLOCK_N + COL_OF(j)];
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) sums.at[i][j] += x[i] * y[j];
    }
}

__device__ __forceinline__ void write(const Args& a, const Sums& sums, int m0, int n0) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int lane_m = lane / LANES_N, lane_n = lane % LANES_N;
    const int m = m0 + warp / WARPS_N * WARP_M, n = n0 + warp % WARPS_N * WARP_N;
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j)
            if (m + ROW_OF(i) < a.rows && n + COL_OF(j) < a.cols) {
                float* to = a.out + (long long)(m + ROW_OF(i)) * a.cols + n + COL_OF(j);
#if SPLIT_K > 1
                atomicAdd(to, sums.at[i][j]);
#else
                *to = sums.at[i][j];
#endif
            }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_CTAS) eyeroof_kernel(Args a) {
    const int tiles_m = (a.rows + BLOCK_M - 1) / BLOCK_M, tiles_n = (a.cols + BLOCK_N - 1) / BLOCK_N;
    const int group = (int)blockIdx.x / (GROUP * tiles_n), first = group * GROUP;
    const int together = tiles_m - first < GROUP ? tiles_m - first : GROUP;
    const int inside = (int)blockIdx.x % (GROUP * tiles_n);
    const int m0 = (first + inside % together) * BLOCK_M, n0 = inside / together * BLOCK_N;
    const int slices = (a.total + BLOCK_K - 1) / BLOCK_K, share = (slices + SPLIT_K - 1) / SPLIT_K;
    const int begin = (int)blockIdx.y * share, end = begin + share < slices ? begin + share : slices;
    Sums sums;
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i)
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) sums.at[i][j] = 0.0f;
#if STAGES == 1
    for (int t = begin; t < end; ++t) {
        Moved moved;
        fetch(a, moved, m0, n0, t * BLOCK_K);
        __syncthreads();
        store(eyeroof_shared, moved);
        __syncthreads();
        add(eyeroof_shared, sums);
    }
#elif ASYNC
    for (int s = 0; s < STAGES - 1; ++s) {
        if (begin + s < end) bring(a, eyeroof_shared + s * STAGE_FLOATS, m0, n0, (begin + s) * BLOCK_K);
        commit();
    }
    for (int t = begin; t < end; ++t) {
        await();
        __syncthreads();
        const int next = t + STAGES - 1;
        if (next < end) bring(a, eyeroof_shared + (next - begin) % STAGES * STAGE_FLOATS, m0, n0, next * BLOCK_K);
        commit();
        add(eyeroof_shared + (t - begin) % STAGES * STAGE_FLOATS, sums);
    }
#else
    Moved moved;
    for (int s = 0; s < STAGES - 1 && begin + s < end; ++s) {
        fetch(a, moved, m0, n0, (begin + s) * BLOCK_K);
        store(eyeroof_shared + s * STAGE_FLOATS, moved);
    }
    for (int t = begin; t < end; ++t) {
        __syncthreads();
        const int next = t + STAGES - 1;
        if (next < end) fetch(a, moved, m0, n0, next * BLOCK_K);
        add(eyeroof_shared + (t - begin) % STAGES * STAGE_FLOATS, sums);
        if (next < end) store(eyeroof_shared + (next - begin) % STAGES * STAGE_FLOATS, moved);
    }
#endif
    write(a, sums, m0, n0);
}
)cuda";

} // namespace

std::string gpu_source(const GpuPlan& plan) {
    std::string text;
    const auto define = [&](const char* name, Count value) {
        text += fmt::format("#define {} {}\n", name, value);
    };
    define("BLOCK_M", plan.block_m);
    define("BLOCK_N", plan.block_n);
    define("BLOCK_K", plan.block_k);
    define("WARP_M", plan.warp_m);
    define("WARP_N", plan.warp_n);
    define("THREAD_M", plan.thread_m);
    define("THREAD_N", plan.thread_n);
    define("STAGES", plan.stages);
    define("VECTOR_IN", plan.vector_in);
    define("VECTOR_W", plan.vector_w);
    define("SPLIT_K", plan.split_k);
    define("SPREAD", plan.spread ? 1 : 0);
    define("GROUP", plan.group);
    define("MIN_CTAS", plan.min_ctas);
    define("THREADS", plan.threads());
    define("ROW_FLOATS", plan.row_floats());
    define("STAGE_FLOATS", plan.stage_floats());
    define("PRODUCT", plan.product ? 1 : 0);
    define("TAPS_UNIFORM", plan.taps_uniform ? 1 : 0);
    define("ASYNC", plan.async ? 1 : 0);
    std::string body = kBody;
    constexpr std::string_view kUnroll = "UNROLL"; // compilers differ in macros within a pragma
    body.replace(body.find(kUnroll), kUnroll.size(), fmt::format("{}", plan.unroll));
    return text + kCopies + body;
}

GpuGrid gpu_grid(const GpuPlan& plan, Count rows, Count cols) {
    return {ceil_div(rows, plan.block_m) * ceil_div(cols, plan.block_n), plan.split_k};
}

Workload odd_workload(const Workload& work, const GpuPlan& plan) {
    Workload odd = work;
    odd.depth = plan.taps_uniform ? 3 * plan.block_k : 13 * plan.vector_in;
    odd.cols = 11 * plan.vector_w;
    odd.images = 1;
    odd.rows = odd.width = odd.out_w = 61;
    odd.height = odd.out_h = 1;
    if (work.convolution) {
        odd.out_h = 5;
        odd.out_w = 11;
        odd.height = work.dilation.h * (work.taps_h - 1) + 1 + 4 * work.stride.h - 2 * work.pad.h;
        odd.width = work.dilation.w * (work.taps_w - 1) + 1 + 10 * work.stride.w - 2 * work.pad.w;
        odd.pad = work.pad;
        if (odd.height < 1 || odd.width < 1) { // all frame: without one
            odd.height += 2 * work.pad.h;
            odd.width += 2 * work.pad.w;
            odd.pad = {0, 0};
        }
        odd.rows = odd.out_h * odd.out_w;
    }
    return odd;
}

} // namespace eyeroof::analysis::tune
