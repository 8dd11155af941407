// A FAKE libcupti for tests without a GPU: it answers as CUPTI does, for launches of the stub
// driver. Kernel n (from 1) of a process takes n microseconds, and its counter of name X is 100 n +
// length of X. A window keeps as many ranges as it was set up for; further launches are dropped, as
// in CUPTI. EYEROOF_STUB_FAULT names a call that fails, EYEROOF_STUB_CODE its code (default 35: no
// permission).
#include "tests/gpu/programs/stub_cuda.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#pragma GCC diagnostic pop

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Subscriber {
    CUpti_CallbackFunc function = nullptr;
    void* data = nullptr;
};

std::recursive_mutex mutex; // launches of several threads, and calls from within callbacks
Subscriber subscriber;
bool launches_are_told = false, kernels_are_timed = false;
CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;
std::uint8_t* buffer = nullptr;
std::size_t buffer_bytes = 0, used_bytes = 0;
std::vector<std::string> kernel_names; // records point to names that live
bool window_is_open = false;
std::size_t most_ranges = 0;
std::vector<std::uint64_t> ranges; // of the window: number of each launch
std::size_t dropped = 0;

CUptiResult outcome_of(const char* call) {
    const char* const fault = std::getenv("EYEROOF_STUB_FAULT");
    if (fault == nullptr || std::strcmp(fault, call) != 0) {
        return CUPTI_SUCCESS;
    }
    const char* const code = std::getenv("EYEROOF_STUB_CODE");
    return static_cast<CUptiResult>(code == nullptr ? 35 : std::atoi(code));
}

void complete_buffer() {
    if (buffer != nullptr && take_buffer != nullptr) {
        take_buffer(nullptr, 0, buffer, buffer_bytes, used_bytes);
    }
    buffer = nullptr;
    used_bytes = 0;
}

void record(const StubLaunch& launch) {
    using Record = CUpti_ActivityKernel7;
    if (buffer != nullptr && used_bytes + sizeof(Record) > buffer_bytes) {
        complete_buffer();
    }
    if (buffer == nullptr) {
        std::size_t most_records = 0;
        give_buffer(&buffer, &buffer_bytes, &most_records);
        if (buffer == nullptr || buffer_bytes < sizeof(Record)) {
            return;
        }
    }
    Record one{};
    one.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    one.start = std::uint64_t{1'000'000} * launch.correlation;
    one.end = one.start + std::uint64_t{1'000} * launch.correlation;
    one.streamId = 7;
    one.gridX = static_cast<std::int32_t>(launch.grid[0]);
    one.gridY = one.gridZ = one.blockY = one.blockZ = 1;
    one.blockX = static_cast<std::int32_t>(launch.block[0]);
    one.correlationId = launch.correlation;
    kernel_names.reserve(4096);
    if (kernel_names.empty() || kernel_names.back() != launch.kernel) {
        if (kernel_names.size() < kernel_names.capacity()) {
            kernel_names.emplace_back(launch.kernel);
        }
    }
    one.name = kernel_names.back().c_str();
    std::memcpy(buffer + used_bytes, &one, sizeof one);
    used_bytes += sizeof one;
}

void on_launch(const StubLaunch* launch, int site) {
    const std::lock_guard lock(mutex);
    if (launches_are_told && subscriber.function != nullptr) {
        cuLaunchKernel_params params{};
        params.gridDimX = launch->grid[0];
        params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
        params.blockDimX = launch->block[0];
        CUpti_CallbackData data{};
        data.callbackSite = site == 0 ? CUPTI_API_ENTER : CUPTI_API_EXIT;
        data.functionName = "cuLaunchKernel";
        data.functionParams = &params;
        data.symbolName = launch->kernel;
        data.correlationId = launch->correlation;
        subscriber.function(subscriber.data, CUPTI_CB_DOMAIN_DRIVER_API,
                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    }
    if (site == 1 && kernels_are_timed && give_buffer != nullptr) {
        record(*launch);
    }
    if (site == 1 && window_is_open) {
        if (ranges.size() < most_ranges) {
            ranges.push_back(launch->correlation);
        } else {
            ++dropped;
        }
    }
}

} // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* data) {
    if (const CUptiResult code = outcome_of("cuptiSubscribe"); code != CUPTI_SUCCESS) {
        return code;
    }
    subscriber = {callback, data};
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
    using SetHook = void (*)(StubHook);
    const auto set = reinterpret_cast<SetHook>(dlsym(RTLD_DEFAULT, "stub_cuda_set_hook"));
    if (set == nullptr) {
        return CUPTI_ERROR_NOT_INITIALIZED;
    }
    set(&on_launch);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
    subscriber = {};
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
        launches_are_told = enable != 0;
    }
    return CUPTI_SUCCESS;
}
CUptiResult cuptiGetDeviceId(CUcontext, std::uint32_t* device) {
    *device = 0;
    return outcome_of("cuptiGetDeviceId");
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
    params->pChipName = "GH100";
    return outcome_of("cuptiDeviceGetChipName");
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    kernels_are_timed = kernels_are_timed || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    return outcome_of("cuptiActivityEnable");
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
    give_buffer = request;
    take_buffer = complete;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    const std::lock_guard lock(mutex);
    complete_buffer();
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* from, std::size_t bytes,
                                       CUpti_Activity** next) {
    const std::size_t step = sizeof(CUpti_ActivityKernel7);
    auto* const at = *next == nullptr ? from : reinterpret_cast<std::uint8_t*>(*next) + step;
    if (at + step > from + bytes) {
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *next = reinterpret_cast<CUpti_Activity*>(at);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
    return outcome_of("cuptiProfilerInitialize");
}
CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
    params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return outcome_of("cuptiProfilerDeviceSupported");
}
CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
    params->counterAvailabilityImageSize = 16;
    return outcome_of("cuptiProfilerGetCounterAvailability");
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
    params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&subscriber);
    return outcome_of("cuptiProfilerHostInitialize");
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
    static const char* const chips[] = {"GH100"};
    params->numChips = 1;
    params->ppChipNames = const_cast<const char**>(chips);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params*) {
    return outcome_of("cuptiProfilerHostGetMetricProperties");
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
    return outcome_of("cuptiProfilerHostConfigAddMetrics");
}
CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
    params->configImageSize = 64;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
    params->numOfPasses = 1;
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    std::uint64_t launch = 0;
    std::memcpy(&launch, params->pCounterDataImage + 8 * (params->rangeIndex + 1), sizeof launch);
    for (std::size_t i = 0; i < params->numMetrics; ++i) {
        params->pMetricValues[i] = 100.0 * static_cast<double>(launch) +
                                   static_cast<double>(std::strlen(params->ppMetricNames[i]));
    }
    return outcome_of("cuptiProfilerHostEvaluateToGpuValues");
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
    params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&subscriber);
    return outcome_of("cuptiRangeProfilerEnable");
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
    return CUPTI_SUCCESS;
}
CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
    most_ranges = params->maxNumOfRanges;
    params->counterDataSize = 8 * (most_ranges + 1);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
    std::memset(params->pCounterData, 0, params->counterDataSize);
    return CUPTI_SUCCESS;
}

static std::uint8_t* image = nullptr;
static std::size_t image_bytes = 0;

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
    image = params->pCounterDataImage;
    image_bytes = params->counterDataImageSize;
    return outcome_of("cuptiRangeProfilerSetConfig");
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
    const std::lock_guard lock(mutex);
    window_is_open = true;
    ranges.clear();
    dropped = 0;
    return outcome_of("cuptiRangeProfilerStart");
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
    const std::lock_guard lock(mutex);
    window_is_open = false;
    params->isAllPassSubmitted = 1;
    return outcome_of("cuptiRangeProfilerStop");
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
    const std::lock_guard lock(mutex);
    const std::uint64_t count = std::min(ranges.size(), image_bytes / 8 - 1);
    std::memcpy(image, &count, sizeof count);
    std::memcpy(image + 8, ranges.data(), 8 * count);
    params->numOfRangeDropped = dropped;
    return outcome_of("cuptiRangeProfilerDecodeData");
}
CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    std::uint64_t count = 0;
    std::memcpy(&count, params->pCounterDataImage, sizeof count);
    params->numTotalRanges = count;
    return CUPTI_SUCCESS;
}
}
