// The kernels that find a GPU's ceilings, behind plain functions: reading, copying, multiply-add,
// nothing at all, and filling memory. Every function only enqueues on the stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace eyeroof::gpu {

// Blocks and threads of a launch; each function documents what it counts.
struct Grid {
    int blocks = 1;
    int threads = 256;
};

// Sum over `bytes` (a multiple of 16), each read once from wherever it lies, past L1.
void read_global(const void* data, std::size_t bytes, float* sink, Grid grid, cudaStream_t stream);
void copy_global(const void* from, void* to, std::size_t bytes, Grid grid, cudaStream_t stream);
void write_global(void* to, std::size_t bytes, Grid grid, cudaStream_t stream);

// `rounds` times over the same `bytes`, through L2 only.
void read_l2(const void* data, std::size_t bytes, int rounds, float* sink, Grid grid,
             cudaStream_t stream);
// Every block reads kL1Bytes of its own `rounds` times, through L1.
inline constexpr std::size_t kL1Bytes = 16 * 1024;
void read_l1(const void* data, int rounds, float* sink, Grid grid, cudaStream_t stream);
// Every thread reads 16 bytes of shared memory `rounds` times, without bank conflicts.
void read_shared(int rounds, float* sink, Grid grid, cudaStream_t stream);

// kFmaChains independent multiply-adds a round and thread; two values each for fp16.
inline constexpr int kFmaChains = 8;
void fma_fp32(int rounds, float* sink, Grid grid, cudaStream_t stream);
void fma_fp64(int rounds, double* sink, Grid grid, cudaStream_t stream);
void fma_fp16(int rounds, float* sink, Grid grid, cudaStream_t stream);

void nothing(cudaStream_t stream);

// Random numbers in (-0.5, 0.5), or bytes: equal numbers would draw less power than real ones.
enum class Fill { fp64, fp32, fp16, bf16, fp8_e4m3, int8 };
void fill_random(void* to, std::size_t count, Fill type, cudaStream_t stream);

} // namespace eyeroof::gpu
