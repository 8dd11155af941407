#include "analysis/tune/gpu_driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace eyeroof::analysis::tune {

struct DriverCalls {
    int (*init)(unsigned);
    int (*error_name)(int, const char**);
    int (*version)(int*);
    int (*count)(int*);
    int (*get)(int*, int);
    int (*name)(char*, int, int);
    int (*attribute)(int*, int, int);
    int (*retain)(void**, int);
    int (*set_current)(void*);
    int (*allocate)(std::uint64_t*, std::size_t);
    int (*upload)(std::uint64_t, const void*, std::size_t);
    int (*download)(void*, std::uint64_t, std::size_t);
    int (*fill)(std::uint64_t, unsigned, std::size_t, void*);
    int (*load)(void**, const void*);
    int (*function)(void**, void*, const char*);
    int (*set_attribute)(void*, int, int);
    int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void*, void**, void**);
    int (*wait)();
    int (*event)(void**, unsigned);
    int (*record)(void*, void*);
    int (*wait_event)(void*);
    int (*elapsed)(float*, void*, void*);
};

namespace {

template <class F> void find(void* library, F& call, const char* name) {
    call = reinterpret_cast<F>(dlsym(library, name)); // NOLINT: POSIX' own way
    if (call == nullptr) {
        throw DriverError(fmt::format("the driver has no {}", name));
    }
}

void find_all(void* library, DriverCalls& calls) {
    find(library, calls.init, "cuInit");
    find(library, calls.error_name, "cuGetErrorName");
    find(library, calls.version, "cuDriverGetVersion");
    find(library, calls.count, "cuDeviceGetCount");
    find(library, calls.get, "cuDeviceGet");
    find(library, calls.name, "cuDeviceGetName");
    find(library, calls.attribute, "cuDeviceGetAttribute");
    find(library, calls.retain, "cuDevicePrimaryCtxRetain");
    find(library, calls.set_current, "cuCtxSetCurrent");
    find(library, calls.allocate, "cuMemAlloc_v2");
    find(library, calls.upload, "cuMemcpyHtoD_v2");
    find(library, calls.download, "cuMemcpyDtoH_v2");
    find(library, calls.fill, "cuMemsetD32Async");
    find(library, calls.load, "cuModuleLoadData");
    find(library, calls.function, "cuModuleGetFunction");
    find(library, calls.set_attribute, "cuFuncSetAttribute");
    find(library, calls.launch, "cuLaunchKernel");
    find(library, calls.wait, "cuCtxSynchronize");
    find(library, calls.event, "cuEventCreate");
    find(library, calls.record, "cuEventRecord");
    find(library, calls.wait_event, "cuEventSynchronize");
    find(library, calls.elapsed, "cuEventElapsedTime");
}

constexpr int kMaxDynamicShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

} // namespace

GpuDriver::GpuDriver(const std::string& library, int device) {
    void* opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
        throw DriverError(fmt::format("no NVIDIA driver: '{}' cannot be opened", library));
    }
    auto calls = std::make_unique<DriverCalls>();
    find_all(opened, *calls);
    calls_ = calls.get();
    check(calls_->init(0), "cuInit");
    int count = 0;
    check(calls_->count(&count), "cuDeviceGetCount");
    if (device >= count) {
        throw DriverError(fmt::format("there is no GPU {}: {} found", device, count));
    }
    check(calls_->get(&device_, device), "cuDeviceGet");
    void* context = nullptr;
    check(calls_->retain(&context, device_), "cuDevicePrimaryCtxRetain");
    check(calls_->set_current(context), "cuCtxSetCurrent");
    check(calls_->event(&begin_, 0), "cuEventCreate");
    check(calls_->event(&end_, 0), "cuEventCreate");
    calls_ = calls.release();
}

GpuDriver::~GpuDriver() {
    delete calls_; // the context and the library end with the process
}

void GpuDriver::check(int status, const char* call) const {
    if (status != 0) {
        const char* name = nullptr;
        calls_->error_name(status, &name);
        throw DriverError(fmt::format("{} ({})", name == nullptr ? "unknown" : name, call));
    }
}

std::string GpuDriver::name() const {
    std::array<char, 256> text{};
    check(calls_->name(text.data(), static_cast<int>(text.size()) - 1, device_), "cuDeviceGetName");
    return text.data();
}

int GpuDriver::attribute(int which) const {
    int value = 0;
    check(calls_->attribute(&value, which, device_), "cuDeviceGetAttribute");
    return value;
}

int GpuDriver::version() const {
    int value = 0;
    check(calls_->version(&value), "cuDriverGetVersion");
    return value;
}

GpuDriver::Address GpuDriver::allocate(std::size_t bytes) {
    Address at = 0;
    check(calls_->allocate(&at, bytes), "cuMemAlloc");
    return at;
}

void GpuDriver::upload(Address to, const void* from, std::size_t bytes) {
    check(calls_->upload(to, from, bytes), "cuMemcpyHtoD");
}

void GpuDriver::download(void* to, Address from, std::size_t bytes) {
    check(calls_->download(to, from, bytes), "cuMemcpyDtoH");
}

void GpuDriver::fill(Address to, std::uint32_t word, std::size_t words) {
    check(calls_->fill(to, word, words, nullptr), "cuMemsetD32");
}

void* GpuDriver::load(const std::string& image, const char* kernel) {
    void* module = nullptr;
    void* function = nullptr;
    check(calls_->load(&module, image.c_str()), "cuModuleLoadData");
    check(calls_->function(&function, module, kernel), "cuModuleGetFunction");
    return function;
}

void GpuDriver::allow_shared(void* function, int bytes) {
    check(calls_->set_attribute(function, kMaxDynamicShared, bytes), "cuFuncSetAttribute");
}

void GpuDriver::launch(void* function, unsigned ctas, unsigned parts, unsigned threads,
                       unsigned shared, void* argument) {
    std::array<void*, 1> arguments = {argument};
    check(calls_->launch(function, ctas, parts, 1, threads, 1, 1, shared, nullptr, arguments.data(),
                         nullptr),
          "cuLaunchKernel");
}

void GpuDriver::wait() {
    check(calls_->wait(), "cuCtxSynchronize");
}

void GpuDriver::begin_event() {
    check(calls_->record(begin_, nullptr), "cuEventRecord");
}

double GpuDriver::end_event() {
    check(calls_->record(end_, nullptr), "cuEventRecord");
    check(calls_->wait_event(end_), "cuEventSynchronize");
    float ms = 0.0F;
    check(calls_->elapsed(&ms, begin_, end_), "cuEventElapsedTime");
    return 1e-3 * static_cast<double>(ms);
}

} // namespace eyeroof::analysis::tune
