#include "profiles/gpu/kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace eyeroof::gpu {

// Not anonymous: nvcc names an anonymous namespace after the path of the file, so that builds in two
// folders would differ.
inline namespace kernels {

constexpr float kNever = 1.2345e30F; // a sum that does not occur keeps the loads alive

__device__ float sum4(float4 v) {
    return v.x + v.y + v.z + v.w;
}

// Not merged, moved or dropped by the compiler, unlike plain loads of the same place.
__device__ float4 load_past_l1(const float4* from) {
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}
__device__ float4 load_through_l1(const float4* from) {
    float4 v;
    asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}

__global__ void read_kernel(const float4* data, std::size_t count, int rounds, float* sink) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    float sum = 0.0F;
    for (int round = 0; round < rounds; ++round) {
        std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
        for (; i + 3 * stride < count; i += 4 * stride) {
            const float4 a = load_past_l1(data + i);
            const float4 b = load_past_l1(data + i + stride);
            const float4 c = load_past_l1(data + i + 2 * stride);
            const float4 d = load_past_l1(data + i + 3 * stride);
            sum += sum4(a) + sum4(b) + sum4(c) + sum4(d);
        }
        for (; i < count; i += stride) {
            sum += sum4(load_past_l1(data + i));
        }
    }
    if (sum == kNever) {
        *sink = sum;
    }
}

__global__ void copy_kernel(const float4* from, float4* to, std::size_t count) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        to[i] = from[i];
    }
}

__global__ void write_kernel(float4* to, std::size_t count) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    const auto value = static_cast<float>(threadIdx.x);
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        to[i] = make_float4(value, value, value, value);
    }
}

__global__ void l1_kernel(const float4* data, int rounds, float* sink) {
    constexpr int kCount = static_cast<int>(kL1Bytes / sizeof(float4));
    const float4* own = data + static_cast<std::size_t>(blockIdx.x) * kCount;
    float sum = 0.0F;
    for (int round = 0; round < rounds; ++round) {
        for (int i = static_cast<int>(threadIdx.x); i < kCount; i += static_cast<int>(blockDim.x)) {
            sum += sum4(load_through_l1(own + i));
        }
    }
    if (sum == kNever) {
        *sink = sum;
    }
}

__global__ void shared_kernel(int rounds, float* sink) {
    __shared__ float4 room[1024];
    room[threadIdx.x] = make_float4(1.0F, 2.0F, 3.0F, static_cast<float>(threadIdx.x));
    __syncthreads();
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(room + threadIdx.x));
    float4 sum = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
#pragma unroll 8
    for (int round = 0; round < rounds; ++round) {
        float4 v; // volatile: else one load serves several rounds, ten times what an H100 can
        asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                     : "r"(at));
        sum.x += v.x; // one addition for 16 bytes: the pipes for arithmetic must not be the limit
    }
    if (sum.x == kNever) {
        *sink = sum.x;
    }
}

// x <- x m + a converges, so that no chain overflows.
template <class Number> __device__ Number mul_add(Number x, Number m, Number a) {
    return x * m + a;
}
template <> __device__ __half2 mul_add(__half2 x, __half2 m, __half2 a) {
    return __hfma2(x, m, a);
}

template <class Number>
__device__ void chains(Number (&x)[kFmaChains], Number m, Number a, int rounds) {
#pragma unroll 16
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int chain = 0; chain < kFmaChains; ++chain) {
            x[chain] = mul_add(x[chain], m, a);
        }
    }
}

template <class Number> __global__ void fma_kernel(int rounds, Number* sink) {
    Number x[kFmaChains];
    for (int chain = 0; chain < kFmaChains; ++chain) {
        x[chain] = static_cast<Number>(threadIdx.x + chain);
    }
    chains(x, static_cast<Number>(0.999), static_cast<Number>(0.001), rounds);
    Number sum = 0;
    for (int chain = 0; chain < kFmaChains; ++chain) {
        sum += x[chain];
    }
    if (sum == static_cast<Number>(kNever)) {
        *sink = sum;
    }
}

__global__ void fma_half_kernel(int rounds, float* sink) {
    __half2 x[kFmaChains];
    for (int chain = 0; chain < kFmaChains; ++chain) {
        x[chain] = __float2half2_rn(static_cast<float>(threadIdx.x % 32 + chain));
    }
    chains(x, __float2half2_rn(0.99F), __float2half2_rn(0.01F), rounds);
    float sum = 0.0F;
    for (int chain = 0; chain < kFmaChains; ++chain) {
        sum += __low2float(x[chain]) + __high2float(x[chain]);
    }
    if (sum == kNever) {
        *sink = sum;
    }
}

__global__ void empty_kernel() {}

// Weyl sequence and a mixing step: the same numbers every time, no two alike nearby.
__device__ std::uint32_t random_bits(std::size_t i) {
    auto x = static_cast<std::uint32_t>(i * 0x9E3779B9U + 0x7F4A7C15U);
    x ^= x >> 16U;
    x *= 0x85EBCA6BU;
    x ^= x >> 13U;
    return x * 0xC2B2AE35U;
}
__device__ float random_number(std::size_t i) {
    return static_cast<float>(random_bits(i) >> 8U) * (1.0F / 16777216.0F) - 0.5F;
}

__global__ void fill_kernel(void* to, std::size_t count, Fill type) {
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += stride) {
        switch (type) {
        case Fill::fp64:
            static_cast<double*>(to)[i] = random_number(i);
            break;
        case Fill::fp32:
            static_cast<float*>(to)[i] = random_number(i);
            break;
        case Fill::fp16:
            static_cast<__half*>(to)[i] = __float2half(random_number(i));
            break;
        case Fill::bf16:
            static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16(random_number(i));
            break;
        case Fill::fp8_e4m3: { // sign, exponents of 2^-6 … 2^-1, any fraction
            const std::uint32_t bits = random_bits(i);
            static_cast<std::uint8_t*>(to)[i] = static_cast<std::uint8_t>(
                (bits & 0x80U) | ((1U + (bits >> 8U) % 6U) << 3U) | (bits >> 16U & 7U));
            break;
        }
        case Fill::int8:
            static_cast<std::int8_t*>(to)[i] = static_cast<std::int8_t>(random_bits(i) >> 24U);
            break;
        }
    }
}

std::size_t quads(std::size_t bytes) {
    return bytes / sizeof(float4);
}

} // namespace kernels

void read_global(const void* data, std::size_t bytes, float* sink, Grid grid, cudaStream_t stream) {
    read_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const float4*>(data),
                                                          quads(bytes), 1, sink);
}
void copy_global(const void* from, void* to, std::size_t bytes, Grid grid, cudaStream_t stream) {
    copy_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const float4*>(from),
                                                          static_cast<float4*>(to), quads(bytes));
}
void write_global(void* to, std::size_t bytes, Grid grid, cudaStream_t stream) {
    write_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<float4*>(to), quads(bytes));
}
void read_l2(const void* data, std::size_t bytes, int rounds, float* sink, Grid grid,
             cudaStream_t stream) {
    read_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const float4*>(data),
                                                          quads(bytes), rounds, sink);
}
void read_l1(const void* data, int rounds, float* sink, Grid grid, cudaStream_t stream) {
    l1_kernel<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const float4*>(data), rounds,
                                                        sink);
}
void read_shared(int rounds, float* sink, Grid grid, cudaStream_t stream) {
    shared_kernel<<<grid.blocks, grid.threads, 0, stream>>>(rounds, sink);
}
void fma_fp32(int rounds, float* sink, Grid grid, cudaStream_t stream) {
    fma_kernel<float><<<grid.blocks, grid.threads, 0, stream>>>(rounds, sink);
}
void fma_fp64(int rounds, double* sink, Grid grid, cudaStream_t stream) {
    fma_kernel<double><<<grid.blocks, grid.threads, 0, stream>>>(rounds, sink);
}
void fma_fp16(int rounds, float* sink, Grid grid, cudaStream_t stream) {
    fma_half_kernel<<<grid.blocks, grid.threads, 0, stream>>>(rounds, sink);
}
void nothing(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
}
void fill_random(void* to, std::size_t count, Fill type, cudaStream_t stream) {
    fill_kernel<<<1024, 256, 0, stream>>>(to, count, type);
}

} // namespace eyeroof::gpu
