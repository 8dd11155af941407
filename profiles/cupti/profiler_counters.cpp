#include "profiles/cupti/profiler_counters.hpp"

#include <algorithm>

namespace eyeroof::profiles {

namespace {

std::optional<BackendFault> fault_if(CUptiResult code, const char* call) {
    return code == CUPTI_SUCCESS ? std::nullopt
                                 : std::optional(fault_of_cupti(static_cast<int>(code), call));
}

std::optional<BackendFault> fault_if(int perfworks_status, const char* call) {
    return perfworks_status == 0
               ? std::nullopt
               : std::optional(BackendFault{Fault::internal, perfworks_status, call});
}

// The parameters of a call, zeroed, with the size that the library checks.
#define EYEROOF_CUPTI_PARAMS(name, type)                                                           \
    type##_Params name{};                                                                          \
    name.structSize = type##_Params_STRUCT_SIZE

} // namespace

std::optional<BackendFault> ProfilerCounters::choose(const MetricsForChip& metrics_for,
                                                     RunInfo& run,
                                                     std::vector<std::string>& metrics) {
    EYEROOF_CUPTI_PARAMS(available, CUpti_Profiler_GetCounterAvailability);
    available.ctx = context_;
    const char* const call = "cuptiProfilerGetCounterAvailability";
    if (auto fault = fault_if(api_.cuptiProfilerGetCounterAvailability(&available), call)) {
        return fault;
    }
    availability_.assign(available.counterAvailabilityImageSize, 0);
    available.pCounterAvailabilityImage = availability_.data();
    if (auto fault = fault_if(api_.cuptiProfilerGetCounterAvailability(&available), call)) {
        return fault;
    }
    if (auto fault = fault_if(perfworks_->choose_chip(run.chip, availability_.data()),
                              "NVPW_CUDA_MetricsEvaluator_Initialize")) {
        return fault;
    }
    metrics = metrics_for(run.chip);
    std::erase_if(metrics,
                  [this](const std::string& metric) { return !perfworks_->has_metric(metric); });
    if (metrics.empty()) {
        return BackendFault{Fault::no_metrics, 0, run.chip};
    }
    return fault_if(perfworks_->add(metrics), "NVPW_RawMetricsConfig_AddMetrics");
}

// The counter data, and the scratch memory that CUPTI wants beside it.
std::optional<BackendFault> ProfilerCounters::make_images() {
    constexpr std::uint32_t kNameLength = 64;
    const std::vector<std::uint8_t>& prefix = perfworks_->counter_data_prefix();
    CUpti_Profiler_CounterDataImageOptions options{};
    options.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    options.pCounterDataPrefix = prefix.data();
    options.counterDataPrefixSize = prefix.size();
    options.maxNumRanges = static_cast<std::uint32_t>(max_ranges_);
    options.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges_);
    options.maxRangeNameLength = kNameLength;
    EYEROOF_CUPTI_PARAMS(size, CUpti_Profiler_CounterDataImage_CalculateSize);
    size.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    size.pOptions = &options;
    if (auto fault = fault_if(api_.cuptiProfilerCounterDataImageCalculateSize(&size),
                              "cuptiProfilerCounterDataImageCalculateSize")) {
        return fault;
    }
    image_.assign(size.counterDataImageSize, 0);
    EYEROOF_CUPTI_PARAMS(made, CUpti_Profiler_CounterDataImage_Initialize);
    made.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    made.pOptions = &options;
    made.counterDataImageSize = image_.size();
    made.pCounterDataImage = image_.data();
    if (auto fault = fault_if(api_.cuptiProfilerCounterDataImageInitialize(&made),
                              "cuptiProfilerCounterDataImageInitialize")) {
        return fault;
    }
    EYEROOF_CUPTI_PARAMS(room, CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize);
    room.counterDataImageSize = image_.size();
    room.pCounterDataImage = image_.data();
    if (auto fault = fault_if(api_.cuptiProfilerCounterDataImageCalculateScratchBufferSize(&room),
                              "cuptiProfilerCounterDataImageCalculateScratchBufferSize")) {
        return fault;
    }
    scratch_.assign(room.counterDataScratchBufferSize, 0);
    EYEROOF_CUPTI_PARAMS(scratch, CUpti_Profiler_CounterDataImage_InitializeScratchBuffer);
    scratch.counterDataImageSize = image_.size();
    scratch.pCounterDataImage = image_.data();
    scratch.counterDataScratchBufferSize = scratch_.size();
    scratch.pCounterDataScratchBuffer = scratch_.data();
    return fault_if(api_.cuptiProfilerCounterDataImageInitializeScratchBuffer(&scratch),
                    "cuptiProfilerCounterDataImageInitializeScratchBuffer");
}

std::optional<BackendFault> ProfilerCounters::begin(const MetricsForChip& metrics_for,
                                                    std::size_t max_ranges, RunInfo& run,
                                                    std::vector<std::string>& metrics) {
    max_ranges_ = max_ranges;
    if (!api_.has_older) {
        return BackendFault{Fault::unsupported_gpu, 0, "this CUPTI has no older Profiling API"};
    }
    std::uint32_t device = 0;
    if (auto fault = chip_of(api_, context_, device, run.chip)) {
        return fault;
    }
    EYEROOF_CUPTI_PARAMS(supported, CUpti_Profiler_DeviceSupported);
    supported.cuDevice = static_cast<CUdevice>(device);
    if (auto fault = fault_if(api_.cuptiProfilerDeviceSupported(&supported),
                              "cuptiProfilerDeviceSupported")) {
        return fault;
    }
    if (supported.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
        return BackendFault{Fault::unsupported_gpu, 0, "cuptiProfilerDeviceSupported"};
    }
    auto opened = Perfworks::open(folder_);
    if (!opened) {
        return BackendFault{Fault::no_library, 0, opened.diagnostics().items()[0].message};
    }
    perfworks_ = *std::move(opened);
    return choose(metrics_for, run, metrics);
}

std::optional<BackendFault> ProfilerCounters::begin_session() {
    EYEROOF_CUPTI_PARAMS(session, CUpti_Profiler_BeginSession);
    session.ctx = context_;
    session.counterDataImageSize = image_.size();
    session.pCounterDataImage = image_.data();
    session.counterDataScratchBufferSize = scratch_.size();
    session.pCounterDataScratchBuffer = scratch_.data();
    session.range = CUPTI_AutoRange;
    session.replayMode = CUPTI_KernelReplay;
    session.maxRangesPerPass = max_ranges_;
    session.maxLaunchesPerPass = max_ranges_;
    if (auto fault =
            fault_if(api_.cuptiProfilerBeginSession(&session), "cuptiProfilerBeginSession")) {
        return fault;
    }
    in_session_ = true;
    EYEROOF_CUPTI_PARAMS(config, CUpti_Profiler_SetConfig);
    config.ctx = context_;
    config.pConfig = perfworks_->config_image().data();
    config.configSize = perfworks_->config_image().size();
    config.minNestingLevel = 1;
    config.numNestingLevels = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    return fault_if(api_.cuptiProfilerSetConfig(&config), "cuptiProfilerSetConfig");
}

std::optional<BackendFault> ProfilerCounters::start() {
    if (auto fault = make_images()) {
        return fault;
    }
    if (auto fault = begin_session()) {
        return fault;
    }
    EYEROOF_CUPTI_PARAMS(enabled, CUpti_Profiler_EnableProfiling);
    enabled.ctx = context_;
    return fault_if(api_.cuptiProfilerEnableProfiling(&enabled), "cuptiProfilerEnableProfiling");
}

std::optional<BackendFault> ProfilerCounters::stop(CounterWindow& window) {
    EYEROOF_CUPTI_PARAMS(disabled, CUpti_Profiler_DisableProfiling);
    disabled.ctx = context_;
    if (auto fault = fault_if(api_.cuptiProfilerDisableProfiling(&disabled),
                              "cuptiProfilerDisableProfiling")) {
        return fault;
    }
    EYEROOF_CUPTI_PARAMS(flushed, CUpti_Profiler_FlushCounterData);
    flushed.ctx = context_;
    if (auto fault = fault_if(api_.cuptiProfilerFlushCounterData(&flushed),
                              "cuptiProfilerFlushCounterData")) {
        return fault;
    }
    window.dropped = flushed.numRangesDropped;
    end_session();
    for (std::size_t range = 0; range < perfworks_->ranges(image_); ++range) {
        std::vector<double> values;
        if (auto fault = fault_if(perfworks_->evaluate(image_, range, values),
                                  "NVPW_MetricsEvaluator_EvaluateToGpuValues")) {
            return fault;
        }
        window.values.push_back(std::move(values));
    }
    return std::nullopt;
}

void ProfilerCounters::end_session() {
    if (in_session_) {
        EYEROOF_CUPTI_PARAMS(unset, CUpti_Profiler_UnsetConfig);
        unset.ctx = context_;
        api_.cuptiProfilerUnsetConfig(&unset);
        EYEROOF_CUPTI_PARAMS(ended, CUpti_Profiler_EndSession);
        ended.ctx = context_;
        api_.cuptiProfilerEndSession(&ended);
        in_session_ = false;
    }
}

void ProfilerCounters::end() {
    end_session();
    perfworks_.reset();
    EYEROOF_CUPTI_PARAMS(params, CUpti_Profiler_DeInitialize);
    api_.cuptiProfilerDeInitialize(&params);
}

} // namespace eyeroof::profiles
