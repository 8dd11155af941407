// A FAKE libcuda.so.1 for tests without a GPU: cuInit loads the injected library as the driver
// does, and launches do nothing but call the hook of the stub CUPTI.
#include "tests/gpu/programs/stub_cuda.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<StubHook> hook{nullptr};
std::atomic<std::uint32_t> launches{0};

} // namespace

extern "C" {

void stub_cuda_set_hook(StubHook given) {
    hook = given;
}

int cuInit(unsigned) {
    static const bool once = [] {
        const char* const path = std::getenv("CUDA_INJECTION64_PATH");
        void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        using Entry = int (*)();
        const auto entry = library == nullptr
                               ? nullptr
                               : reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"));
        return entry != nullptr && entry() == 1;
    }();
    (void)once;
    return 0;
}

int stub_launch(const char* kernel, unsigned blocks, unsigned threads) {
    const StubLaunch launch{kernel, {blocks, 1, 1}, {threads, 1, 1}, ++launches};
    if (const StubHook called = hook) {
        called(&launch, 0);
        called(&launch, 1);
    }
    return 0;
}
}
