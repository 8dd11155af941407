#include "profiles/cupti/cupti_config.hpp"

namespace eyeroof::profiles {

CUptiResult CuptiConfig::open(const std::string& chip, const std::uint8_t* availability) {
    close();
    CUpti_Profiler_Host_Initialize_Params params{};
    params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = availability;
    const CUptiResult code = api_.cuptiProfilerHostInitialize(&params);
    host_ = code == CUPTI_SUCCESS ? params.pHostObject : nullptr;
    return code;
}

// Adding an unknown metric only says "invalid parameter": its properties tell for sure.
bool CuptiConfig::has_metric(const std::string& metric) const {
    CUpti_Profiler_Host_GetMetricProperties_Params params{};
    params.structSize = CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE;
    params.pHostObject = host_;
    params.pMetricName = metric.c_str();
    return api_.cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
}

CUptiResult CuptiConfig::add(const std::vector<std::string>& metrics) {
    metrics_ = metrics;
    names_.clear();
    for (const std::string& metric : metrics_) {
        names_.push_back(metric.c_str());
    }
    CUpti_Profiler_Host_ConfigAddMetrics_Params chosen{};
    chosen.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
    chosen.pHostObject = host_;
    chosen.ppMetricNames = names_.data();
    chosen.numMetrics = names_.size();
    CUptiResult code = api_.cuptiProfilerHostConfigAddMetrics(&chosen);
    CUpti_Profiler_Host_GetConfigImageSize_Params size{};
    size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
    size.pHostObject = host_;
    code = code == CUPTI_SUCCESS ? api_.cuptiProfilerHostGetConfigImageSize(&size) : code;
    image_.assign(size.configImageSize, 0);
    CUpti_Profiler_Host_GetConfigImage_Params image{};
    image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
    image.pHostObject = host_;
    image.configImageSize = image_.size();
    image.pConfigImage = image_.data();
    code = code == CUPTI_SUCCESS ? api_.cuptiProfilerHostGetConfigImage(&image) : code;
    CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
    passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
    passes.configImageSize = image_.size();
    passes.pConfigImage = image_.data();
    code = code == CUPTI_SUCCESS ? api_.cuptiProfilerHostGetNumOfPasses(&passes) : code;
    passes_ = passes.numOfPasses;
    return code;
}

void CuptiConfig::close() {
    if (host_ != nullptr) {
        CUpti_Profiler_Host_Deinitialize_Params params{};
        params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
        params.pHostObject = host_;
        api_.cuptiProfilerHostDeinitialize(&params);
        host_ = nullptr;
    }
}

CUptiResult CuptiConfig::evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                                  std::vector<double>& values) {
    values.assign(names_.size(), 0.0);
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
    params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
    params.pHostObject = host_;
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range;
    params.ppMetricNames = names_.data();
    params.numMetrics = names_.size();
    params.pMetricValues = values.data();
    return api_.cuptiProfilerHostEvaluateToGpuValues(&params);
}

} // namespace eyeroof::profiles
