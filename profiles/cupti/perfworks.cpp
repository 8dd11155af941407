#include "profiles/cupti/perfworks.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <nvperf_host.h>
// After nvperf_host.h, whose types it uses.
#include <nvperf_cuda_host.h>
#include <nvperf_target.h>
#pragma GCC diagnostic pop

#include <dlfcn.h>

#include <algorithm>

namespace eyeroof::profiles {

namespace {

#define EYEROOF_NVPW_FUNCTIONS(X)                                                                  \
    X(NVPW_InitializeHost)                                                                         \
    X(NVPW_CUDA_RawMetricsConfig_Create_V2)                                                        \
    X(NVPW_RawMetricsConfig_Destroy)                                                               \
    X(NVPW_RawMetricsConfig_SetCounterAvailability)                                                \
    X(NVPW_RawMetricsConfig_BeginPassGroup)                                                        \
    X(NVPW_RawMetricsConfig_EndPassGroup)                                                          \
    X(NVPW_RawMetricsConfig_AddMetrics)                                                            \
    X(NVPW_RawMetricsConfig_GenerateConfigImage)                                                   \
    X(NVPW_RawMetricsConfig_GetConfigImage)                                                        \
    X(NVPW_RawMetricsConfig_GetNumPasses)                                                          \
    X(NVPW_CUDA_CounterDataBuilder_Create)                                                         \
    X(NVPW_CounterDataBuilder_Destroy)                                                             \
    X(NVPW_CounterDataBuilder_AddMetrics)                                                          \
    X(NVPW_CounterDataBuilder_GetCounterDataPrefix)                                                \
    X(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize)                                       \
    X(NVPW_CUDA_MetricsEvaluator_Initialize)                                                       \
    X(NVPW_MetricsEvaluator_Destroy)                                                               \
    X(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest)                                  \
    X(NVPW_MetricsEvaluator_GetMetricRawDependencies)                                              \
    X(NVPW_MetricsEvaluator_SetDeviceAttributes)                                                   \
    X(NVPW_MetricsEvaluator_EvaluateToGpuValues)                                                   \
    X(NVPW_CounterData_GetNumRanges)

struct Api {
#define EYEROOF_NVPW_MEMBER(name) decltype(&::name) name = nullptr;
    EYEROOF_NVPW_FUNCTIONS(EYEROOF_NVPW_MEMBER)
#undef EYEROOF_NVPW_MEMBER
};

template <class Function> bool find(void* library, const char* name, Function& function) {
    void* symbol = dlsym(library, name);
    function = reinterpret_cast<Function>(symbol); // NOLINT: what dlsym is for
    return symbol != nullptr;
}

// The parameters of a call, zeroed, with the size that the library checks.
#define EYEROOF_NVPW_PARAMS(name, type)                                                            \
    type##_Params name{};                                                                          \
    name.structSize = type##_Params_STRUCT_SIZE

using Request = NVPW_MetricEvalRequest;

} // namespace

struct Perfworks::State {
    Api api;
    std::string chip;
    const std::uint8_t* availability = nullptr;
    std::vector<std::uint8_t> scratch; // of the evaluator, which lives in it
    NVPW_MetricsEvaluator* evaluator = nullptr;
    std::vector<Request> requests;
    std::vector<std::uint8_t> config, prefix;
    std::size_t passes = 0;

    ~State() { close(); }

    void close() {
        if (evaluator != nullptr) {
            EYEROOF_NVPW_PARAMS(params, NVPW_MetricsEvaluator_Destroy);
            params.pMetricsEvaluator = evaluator;
            api.NVPW_MetricsEvaluator_Destroy(&params);
            evaluator = nullptr;
        }
    }

    int request_of(const std::string& metric, Request& request) const {
        EYEROOF_NVPW_PARAMS(params, NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest);
        params.pMetricsEvaluator = evaluator;
        params.pMetricName = metric.c_str();
        params.pMetricEvalRequest = &request;
        params.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
        return api.NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest(&params);
    }

    // The raw counters that the metrics are made from, once each.
    int dependencies(std::vector<const char*>& names) const {
        EYEROOF_NVPW_PARAMS(params, NVPW_MetricsEvaluator_GetMetricRawDependencies);
        params.pMetricsEvaluator = evaluator;
        params.pMetricEvalRequests = requests.data();
        params.numMetricEvalRequests = requests.size();
        params.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
        params.metricEvalRequestStrideSize = sizeof(Request);
        int status = api.NVPW_MetricsEvaluator_GetMetricRawDependencies(&params);
        names.resize(params.numRawDependencies);
        params.ppRawDependencies = names.data();
        status = status == 0 ? api.NVPW_MetricsEvaluator_GetMetricRawDependencies(&params) : status;
        return status;
    }

    int configure(const std::vector<NVPA_RawMetricRequest>& raw) {
        EYEROOF_NVPW_PARAMS(created, NVPW_CUDA_RawMetricsConfig_Create_V2);
        created.activityKind = NVPA_ACTIVITY_KIND_PROFILER;
        created.pChipName = chip.c_str();
        if (const int status = api.NVPW_CUDA_RawMetricsConfig_Create_V2(&created)) {
            return status;
        }
        const int status = fill(created.pRawMetricsConfig, raw);
        EYEROOF_NVPW_PARAMS(destroyed, NVPW_RawMetricsConfig_Destroy);
        destroyed.pRawMetricsConfig = created.pRawMetricsConfig;
        api.NVPW_RawMetricsConfig_Destroy(&destroyed);
        return status;
    }

    int fill(NVPA_RawMetricsConfig* object, const std::vector<NVPA_RawMetricRequest>& raw) {
        int status = 0;
        const auto then = [&status](auto call, auto& params) {
            status = status == 0 ? static_cast<int>(call(&params)) : status;
        };
        if (availability != nullptr) {
            EYEROOF_NVPW_PARAMS(available, NVPW_RawMetricsConfig_SetCounterAvailability);
            available.pRawMetricsConfig = object;
            available.pCounterAvailabilityImage = availability;
            then(api.NVPW_RawMetricsConfig_SetCounterAvailability, available);
        }
        EYEROOF_NVPW_PARAMS(begin, NVPW_RawMetricsConfig_BeginPassGroup);
        begin.pRawMetricsConfig = object;
        then(api.NVPW_RawMetricsConfig_BeginPassGroup, begin);
        EYEROOF_NVPW_PARAMS(added, NVPW_RawMetricsConfig_AddMetrics);
        added.pRawMetricsConfig = object;
        added.pRawMetricRequests = raw.data();
        added.numMetricRequests = raw.size();
        then(api.NVPW_RawMetricsConfig_AddMetrics, added);
        EYEROOF_NVPW_PARAMS(end, NVPW_RawMetricsConfig_EndPassGroup);
        end.pRawMetricsConfig = object;
        then(api.NVPW_RawMetricsConfig_EndPassGroup, end);
        EYEROOF_NVPW_PARAMS(made, NVPW_RawMetricsConfig_GenerateConfigImage);
        made.pRawMetricsConfig = object;
        then(api.NVPW_RawMetricsConfig_GenerateConfigImage, made);
        EYEROOF_NVPW_PARAMS(image, NVPW_RawMetricsConfig_GetConfigImage);
        image.pRawMetricsConfig = object;
        then(api.NVPW_RawMetricsConfig_GetConfigImage, image); // its size
        config.assign(image.bytesCopied, 0);
        image.bytesAllocated = config.size();
        image.pBuffer = config.data();
        then(api.NVPW_RawMetricsConfig_GetConfigImage, image);
        EYEROOF_NVPW_PARAMS(counted, NVPW_RawMetricsConfig_GetNumPasses);
        counted.pRawMetricsConfig = object;
        then(api.NVPW_RawMetricsConfig_GetNumPasses, counted);
        passes = counted.numPipelinedPasses + counted.numIsolatedPasses; // one nesting level
        return status;
    }

    int build_prefix(const std::vector<NVPA_RawMetricRequest>& raw) {
        EYEROOF_NVPW_PARAMS(created, NVPW_CUDA_CounterDataBuilder_Create);
        created.pChipName = chip.c_str();
        if (const int status = api.NVPW_CUDA_CounterDataBuilder_Create(&created)) {
            return status;
        }
        EYEROOF_NVPW_PARAMS(added, NVPW_CounterDataBuilder_AddMetrics);
        added.pCounterDataBuilder = created.pCounterDataBuilder;
        added.pRawMetricRequests = raw.data();
        added.numMetricRequests = raw.size();
        int status = api.NVPW_CounterDataBuilder_AddMetrics(&added);
        EYEROOF_NVPW_PARAMS(image, NVPW_CounterDataBuilder_GetCounterDataPrefix);
        image.pCounterDataBuilder = created.pCounterDataBuilder;
        status = status == 0 ? api.NVPW_CounterDataBuilder_GetCounterDataPrefix(&image) : status;
        prefix.assign(image.bytesCopied, 0);
        image.bytesAllocated = prefix.size();
        image.pBuffer = prefix.data();
        status = status == 0 ? api.NVPW_CounterDataBuilder_GetCounterDataPrefix(&image) : status;
        EYEROOF_NVPW_PARAMS(destroyed, NVPW_CounterDataBuilder_Destroy);
        destroyed.pCounterDataBuilder = created.pCounterDataBuilder;
        api.NVPW_CounterDataBuilder_Destroy(&destroyed);
        return status;
    }
};

Perfworks::Perfworks(std::unique_ptr<State> state) : state_(std::move(state)) {}
Perfworks::~Perfworks() = default;

Result<std::unique_ptr<Perfworks>> Perfworks::open(const std::string& folder) {
    using Opened = Result<std::unique_ptr<Perfworks>>;
    void* library = nullptr;
    const std::string name = "libnvperf_host.so";
    if (!folder.empty()) {
        library = dlopen((folder + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
    } else {
        const std::string built_with = EYEROOF_CUPTI_LIBRARY_DIR;
        library = dlopen((built_with + "/" + name).c_str(), RTLD_NOW | RTLD_GLOBAL);
        library = library != nullptr ? library : dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
    auto state = std::make_unique<State>();
    bool complete = library != nullptr;
#define EYEROOF_NVPW_FIND(function)                                                                \
    complete = complete && find(library, #function, state->api.function);
    EYEROOF_NVPW_FUNCTIONS(EYEROOF_NVPW_FIND)
#undef EYEROOF_NVPW_FIND
    if (!complete) {
        return Opened::failure("unavailable",
                               library == nullptr ? name + " cannot be opened"
                                                  : name + " lacks functions of PerfWorks",
                               "install the CUDA toolkit's CUPTI, or name its folder with --cupti");
    }
    EYEROOF_NVPW_PARAMS(params, NVPW_InitializeHost);
    if (const int status = state->api.NVPW_InitializeHost(&params)) {
        return Opened::failure("unavailable",
                               name + " cannot be initialised, status " + std::to_string(status),
                               "do the driver and the CUPTI library fit each other?");
    }
    return Opened(std::unique_ptr<Perfworks>(new Perfworks(std::move(state))));
}

int Perfworks::choose_chip(const std::string& chip, const std::uint8_t* availability) {
    State& s = *state_;
    s.close();
    s.chip = chip;
    s.availability = availability;
    EYEROOF_NVPW_PARAMS(size, NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize);
    size.pChipName = s.chip.c_str();
    size.pCounterAvailabilityImage = availability;
    if (const int status = s.api.NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize(&size)) {
        return status;
    }
    s.scratch.assign(size.scratchBufferSize, 0);
    EYEROOF_NVPW_PARAMS(params, NVPW_CUDA_MetricsEvaluator_Initialize);
    params.pScratchBuffer = s.scratch.data();
    params.scratchBufferSize = s.scratch.size();
    params.pChipName = s.chip.c_str();
    params.pCounterAvailabilityImage = availability;
    const int status = s.api.NVPW_CUDA_MetricsEvaluator_Initialize(&params);
    s.evaluator = status == 0 ? params.pMetricsEvaluator : nullptr;
    return status;
}

bool Perfworks::has_metric(const std::string& metric) const {
    Request request{};
    return state_->evaluator != nullptr && state_->request_of(metric, request) == 0;
}

int Perfworks::add(const std::vector<std::string>& metrics) {
    State& s = *state_;
    s.requests.clear();
    for (const std::string& metric : metrics) {
        Request request{};
        if (const int status = s.request_of(metric, request)) {
            return status;
        }
        s.requests.push_back(request);
    }
    std::vector<const char*> names;
    if (const int status = s.dependencies(names)) {
        return status;
    }
    std::vector<NVPA_RawMetricRequest> raw;
    for (const char* name : names) {
        NVPA_RawMetricRequest request{};
        request.structSize = NVPA_RAW_METRIC_REQUEST_STRUCT_SIZE;
        request.pMetricName = name;
        request.isolated = 1;
        request.keepInstances = 1;
        raw.push_back(request);
    }
    const int status = s.configure(raw);
    return status == 0 ? s.build_prefix(raw) : status;
}

const std::vector<std::uint8_t>& Perfworks::config_image() const {
    return state_->config;
}
const std::vector<std::uint8_t>& Perfworks::counter_data_prefix() const {
    return state_->prefix;
}
std::size_t Perfworks::passes() const {
    return state_->passes;
}

std::size_t Perfworks::ranges(const std::vector<std::uint8_t>& counter_data) const {
    EYEROOF_NVPW_PARAMS(params, NVPW_CounterData_GetNumRanges);
    params.pCounterDataImage = counter_data.data();
    return state_->api.NVPW_CounterData_GetNumRanges(&params) == 0 ? params.numRanges : 0;
}

int Perfworks::evaluate(const std::vector<std::uint8_t>& counter_data, std::size_t range,
                        std::vector<double>& values) {
    State& s = *state_;
    values.assign(s.requests.size(), 0.0);
    EYEROOF_NVPW_PARAMS(device, NVPW_MetricsEvaluator_SetDeviceAttributes);
    device.pMetricsEvaluator = s.evaluator;
    device.pCounterDataImage = counter_data.data();
    device.counterDataImageSize = counter_data.size();
    if (const int status = s.api.NVPW_MetricsEvaluator_SetDeviceAttributes(&device)) {
        return status;
    }
    EYEROOF_NVPW_PARAMS(params, NVPW_MetricsEvaluator_EvaluateToGpuValues);
    params.pMetricsEvaluator = s.evaluator;
    params.pMetricEvalRequests = s.requests.data();
    params.numMetricEvalRequests = s.requests.size();
    params.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    params.metricEvalRequestStrideSize = sizeof(Request);
    params.pCounterDataImage = counter_data.data();
    params.counterDataImageSize = counter_data.size();
    params.rangeIndex = range;
    params.isolated = 1;
    params.pMetricValues = values.data();
    return s.api.NVPW_MetricsEvaluator_EvaluateToGpuValues(&params);
}

} // namespace eyeroof::profiles
