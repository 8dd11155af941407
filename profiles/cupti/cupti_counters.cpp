#include "profiles/cupti/cupti_counters.hpp"

#include <algorithm>

namespace eyeroof::profiles {

namespace {

std::optional<BackendFault> fault_if(CUptiResult code, const char* call) {
    return code == CUPTI_SUCCESS ? std::nullopt
                                 : std::optional(fault_of_cupti(static_cast<int>(code), call));
}

} // namespace

// Which of the conditions is not met decides the message.
std::optional<BackendFault> CuptiCounters::check_support(CUdevice device) const {
    CUpti_Profiler_DeviceSupported_Params params{};
    params.structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
    params.cuDevice = device;
    params.api = CUPTI_PROFILER_RANGE_PROFILING;
    const char* const call = "cuptiProfilerDeviceSupported";
    if (auto fault = fault_if(api_.cuptiProfilerDeviceSupported(&params), call)) {
        return fault;
    }
    if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) {
        return std::nullopt;
    }
    const std::pair<CUpti_Profiler_Support_Level, Fault> conditions[] = {
        {params.architecture, Fault::unsupported_gpu},
        {params.vGpu, Fault::vgpu},
        {params.confidentialCompute, Fault::confidential},
        {params.cmp, Fault::mining_card},
        {params.wsl, Fault::wsl},
        {params.sli, Fault::sli}};
    for (const auto& [level, fault] : conditions) {
        if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
            level == CUPTI_PROFILER_CONFIGURATION_DISABLED) {
            return BackendFault{fault, 0, call};
        }
    }
    return BackendFault{Fault::unsupported_gpu, 0, call};
}

std::optional<BackendFault> CuptiCounters::choose(const MetricsForChip& metrics_for, RunInfo& run,
                                                  std::vector<std::string>& metrics) {
    CUpti_Profiler_GetCounterAvailability_Params available{};
    available.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE;
    available.ctx = context_;
    const char* const call = "cuptiProfilerGetCounterAvailability";
    if (auto fault = fault_if(api_.cuptiProfilerGetCounterAvailability(&available), call)) {
        return fault;
    }
    std::vector<std::uint8_t> availability(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    if (auto fault = fault_if(api_.cuptiProfilerGetCounterAvailability(&available), call)) {
        return fault;
    }
    if (auto fault =
            fault_if(config_.open(run.chip, availability.data()), "cuptiProfilerHostInitialize")) {
        return fault;
    }
    metrics = metrics_for(run.chip);
    std::erase_if(metrics,
                  [this](const std::string& metric) { return !config_.has_metric(metric); });
    if (metrics.empty()) {
        return BackendFault{Fault::no_metrics, 0, run.chip};
    }
    return fault_if(config_.add(metrics), "cuptiProfilerHostConfigAddMetrics");
}

std::optional<BackendFault> CuptiCounters::enable() {
    CUpti_RangeProfiler_Enable_Params enabled{};
    enabled.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
    enabled.ctx = context_;
    if (auto fault =
            fault_if(api_.cuptiRangeProfilerEnable(&enabled), "cuptiRangeProfilerEnable")) {
        return fault;
    }
    profiler_ = enabled.pRangeProfilerObject;
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = config_.names().data();
    size.numMetrics = config_.names().size();
    size.maxNumOfRanges = max_ranges_;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges_);
    const CUptiResult code = api_.cuptiRangeProfilerGetCounterDataSize(&size);
    image_.assign(size.counterDataSize, 0);
    return fault_if(code, "cuptiRangeProfilerGetCounterDataSize");
}

std::optional<BackendFault> CuptiCounters::begin(const MetricsForChip& metrics_for,
                                                 std::size_t max_ranges, RunInfo& run,
                                                 std::vector<std::string>& metrics) {
    max_ranges_ = max_ranges;
    std::uint32_t device = 0;
    if (auto fault = chip_of(api_, context_, device, run.chip)) {
        return fault;
    }
    if (auto fault = check_support(static_cast<CUdevice>(device))) {
        return fault;
    }
    if (auto fault = choose(metrics_for, run, metrics)) {
        return fault;
    }
    return enable();
}

std::optional<BackendFault> CuptiCounters::reset_image() {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params params{};
    params.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    params.counterDataSize = image_.size();
    params.pCounterData = image_.data();
    return fault_if(api_.cuptiRangeProfilerCounterDataImageInitialize(&params),
                    "cuptiRangeProfilerCounterDataImageInitialize");
}

std::optional<BackendFault> CuptiCounters::start() {
    if (auto fault = reset_image()) {
        return fault;
    }
    CUpti_RangeProfiler_SetConfig_Params config{};
    config.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    config.pRangeProfilerObject = profiler_;
    config.configSize = config_.image().size();
    config.pConfig = config_.image().data();
    config.counterDataImageSize = image_.size();
    config.pCounterDataImage = image_.data();
    config.range = CUPTI_AutoRange;
    config.replayMode = CUPTI_KernelReplay;
    config.maxRangesPerPass = max_ranges_;
    config.numNestingLevels = 1;
    config.minNestingLevel = 1;
    config.passIndex = 0;
    config.targetNestingLevel = 1;
    if (auto fault =
            fault_if(api_.cuptiRangeProfilerSetConfig(&config), "cuptiRangeProfilerSetConfig")) {
        return fault;
    }
    CUpti_RangeProfiler_Start_Params params{};
    params.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    return fault_if(api_.cuptiRangeProfilerStart(&params), "cuptiRangeProfilerStart");
}

std::optional<BackendFault> CuptiCounters::stop(CounterWindow& window) {
    CUpti_RangeProfiler_Stop_Params params{};
    params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    if (auto fault = fault_if(api_.cuptiRangeProfilerStop(&params), "cuptiRangeProfilerStop")) {
        return fault;
    }
    CUpti_RangeProfiler_DecodeData_Params decoded{};
    decoded.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
    decoded.pRangeProfilerObject = profiler_;
    if (auto fault =
            fault_if(api_.cuptiRangeProfilerDecodeData(&decoded), "cuptiRangeProfilerDecodeData")) {
        return fault;
    }
    window.dropped = decoded.numOfRangeDropped;
    CUpti_RangeProfiler_GetCounterDataInfo_Params info{};
    info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    if (auto fault = fault_if(api_.cuptiRangeProfilerGetCounterDataInfo(&info),
                              "cuptiRangeProfilerGetCounterDataInfo")) {
        return fault;
    }
    for (std::size_t range = 0; range < info.numTotalRanges; ++range) {
        std::vector<double> values;
        if (auto fault = fault_if(config_.evaluate(image_, range, values),
                                  "cuptiProfilerHostEvaluateToGpuValues")) {
            return fault;
        }
        window.values.push_back(std::move(values));
    }
    return std::nullopt;
}

void CuptiCounters::end() {
    if (profiler_ != nullptr) {
        CUpti_RangeProfiler_Disable_Params params{};
        params.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
        params.pRangeProfilerObject = profiler_;
        api_.cuptiRangeProfilerDisable(&params);
        profiler_ = nullptr;
    }
    config_.close();
    CUpti_Profiler_DeInitialize_Params params{};
    params.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
    api_.cuptiProfilerDeInitialize(&params);
}

} // namespace eyeroof::profiles
