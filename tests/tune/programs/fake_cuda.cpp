// A GPU that is none: NVRTC and the driver for tests. Candidates are compiled by the host's
// compiler, CTAs run one after the other, their threads as fibers that change at __syncthreads.
// Every allocation, shared memory too, ends at a page that no one may touch. What a GPU has alone
// (asynchronous copies, warps in step) is not emulated.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

constexpr const char* kBefore = R"cpp(
#include <sys/mman.h>
#include <ucontext.h>
#include <cstdlib>
#include <cstring>
#include <vector>
#define EYEROOF_EMULATED 1
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads, ctas)
#define __align__(n) alignas(n)
struct Three { unsigned x, y, z; };
static Three threadIdx, blockIdx;
static float* eyeroof_shared;
static ucontext_t eyeroof_main;
static std::vector<ucontext_t> eyeroof_fibers;
static void __syncthreads() { swapcontext(&eyeroof_fibers[threadIdx.x], &eyeroof_main); }
static float atomicAdd(float* to, float value) { const float was = *to; *to += value; return was; }
)cpp";

constexpr const char* kAfter = R"cpp(
static Args eyeroof_args;
static std::vector<char> eyeroof_done;
static void eyeroof_thread() {
    eyeroof_kernel(eyeroof_args);
    eyeroof_done[threadIdx.x] = 1;
}
static bool eyeroof_cta(unsigned threads, std::vector<char>& stacks, std::size_t stack) {
    eyeroof_fibers.assign(threads, ucontext_t{});
    eyeroof_done.assign(threads, 0);
    for (unsigned t = 0; t < threads; ++t) {
        ucontext_t& fiber = eyeroof_fibers[t];
        getcontext(&fiber);
        fiber.uc_stack.ss_sp = &stacks[t * stack];
        fiber.uc_stack.ss_size = stack;
        fiber.uc_link = &eyeroof_main;
        makecontext(&fiber, eyeroof_thread, 0);
    }
    for (unsigned done = 0; done < threads;) {
        for (unsigned t = 0; t < threads; ++t) { // to the next barrier, or to the end
            threadIdx = {t, 0, 0};
            swapcontext(&eyeroof_main, &eyeroof_fibers[t]);
        }
        done = 0;
        for (const char one : eyeroof_done) done += one != 0;
        if (done != 0 && done != threads) return false; // some wait where others have ended
    }
    return true;
}
extern "C" int eyeroof_launch(unsigned ctas, unsigned parts, unsigned threads, unsigned shared, void* args) {
    std::memcpy(&eyeroof_args, args, sizeof(Args));
    constexpr std::size_t page = 4096, stack = 65536;
    const std::size_t pages = (shared + page - 1) / page * page;
    char* place = static_cast<char*>(mmap(nullptr, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(place + pages, page, PROT_NONE);
    eyeroof_shared = reinterpret_cast<float*>(place + pages - shared);
    std::vector<char> stacks(threads * stack);
    bool well = true;
    for (unsigned y = 0; y < parts && well; ++y)
        for (unsigned x = 0; x < ctas && well; ++x) {
            blockIdx = {x, y, 0};
            std::memset(place, 0xff, pages); // not numbers
            well = eyeroof_cta(threads, stacks, stack);
        }
    munmap(place, pages + page);
    return well ? 0 : 700;
}
)cpp";

struct Program {
    std::string source, log, image;
};

struct Function {
    int (*launch)(unsigned, unsigned, unsigned, unsigned, void*) = nullptr;
};

using Clock = std::chrono::steady_clock;
constexpr int kInvalidValue = 1, kNoDevice = 100, kNotFound = 500, kIllegalAddress = 700;
constexpr unsigned kMostShared = 227U << 10U;

bool there_is_none() {
    const char* told = std::getenv("EYEROOF_FAKE_CUDA"); // NOLINT: no one changes it
    return told != nullptr && std::strcmp(told, "none") == 0;
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

int copied(const std::string& text, char* to) {
    std::memcpy(to, text.c_str(), text.size() + 1);
    return 0;
}

} // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
    *major = 99;
    *minor = 9;
    return 0;
}

int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
    *program = new Program{source, {}, {}}; // NOLINT: the interface that is faked
    return 0;
}

int nvrtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program); // NOLINT
    return 0;
}

int nvrtcCompileProgram(void* opaque, int, const char* const*) {
    auto* program = static_cast<Program*>(opaque);
    std::string folder = "/tmp/eyeroof-emulated-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
        return 1;
    }
    std::ofstream(folder + "/kernel.cpp") << kBefore << program->source << kAfter;
    const std::string command = "c++ -std=c++17 -O1 -w -shared -fPIC " + folder +
                                "/kernel.cpp -o " + folder + "/kernel.so > " + folder + "/log 2>&1";
    const int status = std::system(command.c_str()); // NOLINT: a test's own words
    program->log = contents(folder + "/log");
    program->image = folder + "/kernel.so";
    ::unlink((folder + "/kernel.cpp").c_str());
    ::unlink((folder + "/log").c_str());
    if (status != 0) {
        ::rmdir(folder.c_str());
        return 6;
    }
    return 0;
}

int nvrtcGetProgramLogSize(void* program, std::size_t* bytes) {
    *bytes = static_cast<Program*>(program)->log.size() + 1;
    return 0;
}
int nvrtcGetProgramLog(void* program, char* to) {
    return copied(static_cast<Program*>(program)->log, to);
}
int nvrtcGetPTXSize(void* program, std::size_t* bytes) {
    *bytes = static_cast<Program*>(program)->image.size() + 1;
    return 0;
}
int nvrtcGetPTX(void* program, char* to) {
    return copied(static_cast<Program*>(program)->image, to);
}

int cuInit(unsigned) {
    return there_is_none() ? kNoDevice : 0;
}
int cuGetErrorName(int status, const char** name) {
    *name = status == kNoDevice         ? "CUDA_ERROR_NO_DEVICE"
            : status == kInvalidValue   ? "CUDA_ERROR_INVALID_VALUE"
            : status == kIllegalAddress ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                        : "CUDA_ERROR_NOT_FOUND";
    return 0;
}
int cuDriverGetVersion(int* version) {
    *version = 99090;
    return 0;
}
int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int* device, int which) {
    *device = which;
    return 0;
}
int cuDeviceGetName(char* to, int, int) {
    return copied("Emulated GPU", to);
}
int cuDeviceGetAttribute(int* value, int which, int) {
    constexpr std::array<std::array<int, 2>, 12> kFacts = {{{13, 1'000'000},
                                                            {16, 4},
                                                            {36, 1'000'000},
                                                            {37, 1024},
                                                            {38, 4 << 20},
                                                            {39, 2048},
                                                            {75, 8},
                                                            {76, 0},
                                                            {81, 228 << 10},
                                                            {82, 65536},
                                                            {97, kMostShared},
                                                            {106, 32}}};
    const char* older = std::getenv("EYEROOF_FAKE_CAPABILITY_7"); // NOLINT: no one changes it
    for (const auto& fact : kFacts) {
        if (fact[0] == which) {
            *value = which == 75 && older != nullptr ? 7 : fact[1];
        }
    }
    return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
    *context = nullptr;
    return 0;
}
int cuCtxSetCurrent(void*) {
    return 0;
}

// The last byte lies before a page that cannot be touched; beginnings are multiples of 16.
int cuMemAlloc_v2(std::uint64_t* at, std::size_t bytes) {
    constexpr std::size_t kPage = 4096, kAligned = 16;
    const std::size_t whole = (bytes + kAligned - 1) / kAligned * kAligned;
    const std::size_t pages = (whole + kPage - 1) / kPage * kPage;
    void* place =
        ::mmap(nullptr, pages + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) {
        return 2;
    }
    const auto begin = reinterpret_cast<std::uint64_t>(place);
    ::mprotect(reinterpret_cast<void*>(begin + pages), kPage, PROT_NONE); // NOLINT: an address
    *at = begin + pages - whole;
    return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    std::memcpy(reinterpret_cast<void*>(to), from, bytes); // NOLINT: an address
    return 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes); // NOLINT: an address
    return 0;
}
int cuMemsetD32Async(std::uint64_t to, unsigned word, std::size_t words, void*) {
    auto* at = reinterpret_cast<unsigned*>(to); // NOLINT: an address
    for (std::size_t i = 0; i < words; ++i) {
        at[i] = word;
    }
    return 0;
}

int cuModuleLoadData(void** module, const void* image) {
    const std::string path = static_cast<const char*>(image);
    *module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ::unlink(path.c_str());
    ::rmdir(path.substr(0, path.rfind('/')).c_str());
    return *module == nullptr ? kNotFound : 0;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto* made = new Function; // NOLINT: the interface that is faked
    *reinterpret_cast<void**>(&made->launch) = ::dlsym(module, "eyeroof_launch");
    *function = made;
    return ::dlsym(module, name) == nullptr || made->launch == nullptr ? kNotFound : 0;
}
int cuFuncSetAttribute(void*, int, int value) {
    return value < 0 || static_cast<unsigned>(value) > kMostShared ? kInvalidValue : 0;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned,
                   unsigned, unsigned shared, void*, void** arguments, void**) {
    if (x == 0 || y == 0 || z != 1 || threads == 0 || threads > 1024 || shared > kMostShared) {
        return kInvalidValue;
    }
    return static_cast<Function*>(function)->launch(x, y, threads, shared, arguments[0]);
}
int cuCtxSynchronize() {
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    *event = new Clock::time_point; // NOLINT: the interface that is faked
    return 0;
}
int cuEventRecord(void* event, void*) {
    *static_cast<Clock::time_point*>(event) = Clock::now();
    return 0;
}
int cuEventSynchronize(void*) {
    return 0;
}
int cuEventElapsedTime(float* ms, void* begin, void* end) {
    const auto& from = *static_cast<Clock::time_point*>(begin);
    *ms = std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point*>(end) - from)
              .count();
    return 0;
}

} // extern "C"
