#include "profiles/collect/device_check.hpp"

#include <dlfcn.h>

namespace eyeroof::profiles {

std::optional<BackendFault> check_device(const std::string& library) {
    void* driver = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) {
        return BackendFault{Fault::no_driver, 0, library + " not found"};
    }
    using Init = int (*)(unsigned);
    using Count = int (*)(int*);
    const auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));             // NOLINT
    const auto count = reinterpret_cast<Count>(dlsym(driver, "cuDeviceGetCount")); // NOLINT
    if (init == nullptr || count == nullptr) {
        return BackendFault{Fault::no_driver, 0, library + " is no CUDA driver"};
    }
    if (const int code = init(0); code != 0) {
        return fault_of_driver(code, "cuInit");
    }
    int devices = 0;
    if (const int code = count(&devices); code != 0 || devices == 0) {
        return code != 0 ? fault_of_driver(code, "cuDeviceGetCount")
                         : BackendFault{Fault::no_device, 0, "cuDeviceGetCount"};
    }
    return std::nullopt;
}

} // namespace eyeroof::profiles
