#include "profiles/collect/measure_gpu.hpp"

#include "profiles/collect/device_check.hpp"
#include "profiles/collect/gpu_measure_abi.h"
#include "profiles/profile_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace eyeroof::profiles {

namespace {

struct Caller {
    std::stop_token stop;
    const ProgressCallback* progress = nullptr;
    std::string text;
};

void on_progress(void* user, double fraction, const char* activity) {
    const Caller& caller = *static_cast<Caller*>(user);
    if (*caller.progress) {
        (*caller.progress)({fraction, activity});
    }
}

int is_stopped(void* user) {
    return static_cast<Caller*>(user)->stop.stop_requested() ? 1 : 0;
}

void take_result(void* user, const char* text) {
    static_cast<Caller*>(user)->text = text;
}

Result<Profile> failed(const BackendFault& fault) {
    Diagnostics found;
    found.add(diagnostic_of(fault));
    return Result<Profile>(std::move(found));
}

struct MeasuringLibrary {
    EyeroofMeasureGpu measure = nullptr;
};

Result<MeasuringLibrary> open_library(const std::string& path) {
    using Opened = Result<MeasuringLibrary>;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return Opened::failure(
            "unavailable",
            fmt::format("the library that measures GPUs cannot be opened: {}", dlerror()),
            "build eyeroof with the CUDA toolkit, or name it with --library");
    }
    void* entry = dlsym(library, EYEROOF_GPU_MEASURE_ENTRY);
    if (entry == nullptr) {
        return Opened::failure("unavailable",
                               fmt::format("'{}' is no library that measures GPUs", path),
                               "leave --library away to use the one beside the program");
    }
    return MeasuringLibrary{
        reinterpret_cast<EyeroofMeasureGpu>(entry)}; // NOLINT: what dlsym is for
}

} // namespace

Result<Profile> measure_gpu(const GpuMeasureOptions& options, std::stop_token stop,
                            const ProgressCallback& progress) {
    if (const auto fault = check_device(options.driver)) {
        return failed(*fault);
    }
    const auto opened = open_library(options.library);
    if (!opened) {
        return Result<Profile>(opened.diagnostics());
    }
    Caller caller{stop, &progress, {}};
    EyeroofGpuMeasureRequest request{};
    request.version = EYEROOF_GPU_MEASURE_VERSION;
    request.device = options.device;
    request.trials = options.trials;
    request.trial_s = options.trial_s;
    request.layers = options.layers ? 1 : 0;
    request.library_folder = options.library_folder.c_str();
    request.user = &caller;
    request.progress = on_progress;
    request.stopped = is_stopped;
    const int code = opened->measure(&request, take_result);
    if (stop.stop_requested()) {
        return Result<Profile>::failure("cancelled", "the measurement was cancelled");
    }
    if (code != 0) {
        return failed(fault_from_text(caller.text)
                          .value_or(BackendFault{Fault::internal, code, "the GPU measurement"}));
    }
    auto profile = read_profile(*ByteSource::of_text(caller.text, "the GPU measurement"));
    if (profile) {
        profile->run.date = options.date;
        profile->run.command = options.command;
    }
    return profile;
}

} // namespace eyeroof::profiles
