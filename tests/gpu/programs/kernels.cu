// Three kernels whose operations and bytes are known: a product, an elementwise pass, a reduction.
// Profiled by tests/gpu/validate.sh with eyeroof and with Nsight Compute.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t code, const char* call) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
        std::exit(77);
    }
}

constexpr int kTile = 16;

// 2 n^3 operations.
__global__ void product(const float* a, const float* b, float* c, int n) {
    __shared__ float left[kTile][kTile], right[kTile][kTile];
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int column = blockIdx.x * kTile + threadIdx.x;
    float sum = 0.0F;
    for (int tile = 0; tile < n / kTile; ++tile) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile * kTile + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(tile * kTile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < kTile; ++k) {
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// 2 n operations, 12 n bytes.
__global__ void scaled_add(const float* a, const float* b, float* c, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = 2.0F * a[i] + b[i];
    }
}

// n operations, 4 n bytes, and one addition to memory a block.
__global__ void total(const float* a, float* sum, int n) {
    __shared__ float part[256];
    float mine = 0.0F;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        mine += a[i];
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(sum, part[0]);
    }
}

constexpr int kSide = 8192; // of the product: a matrix is larger than L2

// Arrays of 64 times L2: what an earlier kernel or a replay left there is less than 2 % of what a
// kernel moves, so that two profilers can agree. At most a quarter of the memory for all three.
int array_elements() {
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    constexpr std::size_t kBlock = 256;
    const std::size_t bytes =
        std::min<std::size_t>(64 * static_cast<std::size_t>(device.l2CacheSize),
                              device.totalGlobalMem / 12);
    const std::size_t most = std::min<std::size_t>(bytes / sizeof(float), 1U << 30U);
    return static_cast<int>(
        std::max<std::size_t>(most / kBlock * kBlock, std::size_t{kSide} * kSide));
}

} // namespace

int main() {
    const int elements = array_elements();
    float *a = nullptr, *b = nullptr, *c = nullptr;
    check(cudaMalloc(&a, sizeof(float) * elements), "cudaMalloc");
    check(cudaMalloc(&b, sizeof(float) * elements), "cudaMalloc");
    check(cudaMalloc(&c, sizeof(float) * elements), "cudaMalloc");
    check(cudaMemset(a, 0x3d, sizeof(float) * elements), "cudaMemset");
    check(cudaMemset(b, 0x3e, sizeof(float) * elements), "cudaMemset");
    const dim3 tiles(kSide / kTile, kSide / kTile);
    product<<<tiles, dim3(kTile, kTile)>>>(a, b, c, kSide);
    scaled_add<<<elements / 256, 256>>>(a, b, c, elements);
    total<<<1024, 256>>>(a, c, elements);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::puts("done");
    return 0;
}
