// A program that does what the CUDA driver does when it starts: opens the library that
// CUDA_INJECTION64_PATH names and calls its entry. With a driver it lets the driver do it.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main() {
    if (void* driver = dlopen("libcuda.so.1", RTLD_NOW)) {
        using Init = int (*)(unsigned);
        const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
        std::printf("cuInit gave %d\n", init != nullptr ? init(0) : -1);
        return 0;
    }
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* library = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
    if (library == nullptr) {
        std::printf("the library cannot be loaded: %s\n", dlerror());
        return 1;
    }
    using Entry = int (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"));
    const int stays = entry != nullptr ? entry() : -1;
    std::printf("the library %s\n", stays == 0 ? "steps aside" : "stays");
    return stays < 0 ? 1 : 0;
}
