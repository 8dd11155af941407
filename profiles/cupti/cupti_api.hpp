// The functions of CUPTI that are used, found in the library at run time.
// Used by the host catalogue and the counter backend; nothing else may include it.
// Knows no metric and no machine of the catalog.
#pragma once

#include "model/base/result.hpp"

// CUPTI's own headers use what pedantic warnings forbid.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#pragma GCC diagnostic pop

#include <string>

namespace eyeroof::profiles {

// EYEROOF_CUPTI_FUNCTIONS(X): every function by name.
#define EYEROOF_CUPTI_FUNCTIONS(X)                                                                 \
    X(cuptiGetVersion)                                                                             \
    X(cuptiSubscribe)                                                                              \
    X(cuptiUnsubscribe)                                                                            \
    X(cuptiEnableCallback)                                                                         \
    X(cuptiGetDeviceId)                                                                            \
    X(cuptiDeviceGetChipName)                                                                      \
    X(cuptiActivityEnable)                                                                         \
    X(cuptiActivityRegisterCallbacks)                                                              \
    X(cuptiActivityFlushAll)                                                                       \
    X(cuptiActivityGetNextRecord)                                                                  \
    X(cuptiProfilerInitialize)                                                                     \
    X(cuptiProfilerDeInitialize)                                                                   \
    X(cuptiProfilerDeviceSupported)                                                                \
    X(cuptiProfilerGetCounterAvailability)                                                         \
    X(cuptiProfilerHostInitialize)                                                                 \
    X(cuptiProfilerHostDeinitialize)                                                               \
    X(cuptiProfilerHostGetSupportedChips)                                                          \
    X(cuptiProfilerHostGetMetricProperties)                                                        \
    X(cuptiProfilerHostConfigAddMetrics)                                                           \
    X(cuptiProfilerHostGetConfigImageSize)                                                         \
    X(cuptiProfilerHostGetConfigImage)                                                             \
    X(cuptiProfilerHostGetNumOfPasses)                                                             \
    X(cuptiProfilerHostEvaluateToGpuValues)                                                        \
    X(cuptiRangeProfilerEnable)                                                                    \
    X(cuptiRangeProfilerDisable)                                                                   \
    X(cuptiRangeProfilerStart)                                                                     \
    X(cuptiRangeProfilerStop)                                                                      \
    X(cuptiRangeProfilerSetConfig)                                                                 \
    X(cuptiRangeProfilerDecodeData)                                                                \
    X(cuptiRangeProfilerGetCounterDataSize)                                                        \
    X(cuptiRangeProfilerCounterDataImageInitialize)                                                \
    X(cuptiRangeProfilerGetCounterDataInfo)

struct CuptiApi {
#define EYEROOF_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
    EYEROOF_CUPTI_FUNCTIONS(EYEROOF_CUPTI_MEMBER)
#undef EYEROOF_CUPTI_MEMBER
    std::string path; // of the library that was opened
};

// Opens libnvperf_host first (libcupti looks for it by bare name and finds nothing beside itself),
// then libcupti, from `folder`, else from where it was at build time, else by the loader's search.
// The libraries stay open. Errors, all "unavailable": no library; a major version other than that
// of the headers; a function that is missing.
model::Result<CuptiApi> load_cupti(const std::string& folder = {});

} // namespace eyeroof::profiles
