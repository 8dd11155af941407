// The functions of CUPTI that are used, found in the library at run time.
#pragma once

#include "base/result.hpp"

// CUPTI's own headers use what pedantic warnings forbid.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#ifdef EYEROOF_RANGE_PROFILER
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#endif
#pragma GCC diagnostic pop

#include <cstdint>
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
    X(cuptiProfilerGetCounterAvailability)

// Only where the toolkit has the range profiler: CUDA 12.6 U2 and later.
#ifdef EYEROOF_RANGE_PROFILER
#define EYEROOF_CUPTI_RANGE_FUNCTIONS(X)                                                           \
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
#else
#define EYEROOF_CUPTI_RANGE_FUNCTIONS(X)
#endif

// The older Profiling API, for Volta and for toolkits without the range profiler; deprecated since
// 13.0, so that a library may lack it.
#define EYEROOF_CUPTI_OLDER_FUNCTIONS(X)                                                           \
    X(cuptiProfilerCounterDataImageCalculateSize)                                                  \
    X(cuptiProfilerCounterDataImageInitialize)                                                     \
    X(cuptiProfilerCounterDataImageCalculateScratchBufferSize)                                     \
    X(cuptiProfilerCounterDataImageInitializeScratchBuffer)                                        \
    X(cuptiProfilerBeginSession)                                                                   \
    X(cuptiProfilerEndSession)                                                                     \
    X(cuptiProfilerSetConfig)                                                                      \
    X(cuptiProfilerUnsetConfig)                                                                    \
    X(cuptiProfilerEnableProfiling)                                                                \
    X(cuptiProfilerDisableProfiling)                                                               \
    X(cuptiProfilerFlushCounterData)

struct CuptiApi {
#define EYEROOF_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
    EYEROOF_CUPTI_FUNCTIONS(EYEROOF_CUPTI_MEMBER)
    EYEROOF_CUPTI_RANGE_FUNCTIONS(EYEROOF_CUPTI_MEMBER)
    EYEROOF_CUPTI_OLDER_FUNCTIONS(EYEROOF_CUPTI_MEMBER)
#undef EYEROOF_CUPTI_MEMBER
    bool has_older = false; // all functions of the older API are there
    std::string path;       // of the library that was opened
};

// Opens libnvperf_host first (libcupti looks for it by bare name and finds nothing beside itself),
// then libcupti, from `folder`, else from where it was at build time, else by the loader's search.
// The libraries stay open. Errors, all "unavailable": no library; a major version other than that
// of the headers; a function that is missing.
Result<CuptiApi> load_cupti(const std::string& folder = {});

// The toolkit's major version that a number of cuptiGetVersion belongs to: 13 for 130001, 12 for
// 18 … 26, 11 for 13 … 17; 0 for what is older.
int toolkit_of(std::uint32_t cupti_version);

} // namespace eyeroof::profiles
