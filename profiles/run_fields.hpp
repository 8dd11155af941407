// The names that a profile file gives to what is known of a run.
#pragma once

#include "profiles/measurement.hpp"

namespace eyeroof::profiles {

struct TextField {
    const char* key;
    std::string RunInfo::*member;
};
struct NumberField {
    const char* key;
    double RunInfo::*member;
};
inline constexpr TextField kTextFields[] = {
    {"tool", &RunInfo::tool},       {"gpu", &RunInfo::gpu},
    {"chip", &RunInfo::chip},       {"compute_capability", &RunInfo::compute_capability},
    {"driver", &RunInfo::driver},   {"cuda", &RunInfo::cuda},
    {"command", &RunInfo::command}, {"date", &RunInfo::date},
    {"host", &RunInfo::host},
};
inline constexpr NumberField kNumberFields[] = {
    {"sm_clock_hz", &RunInfo::sm_clock_hz},
    {"sm_clock_max_hz", &RunInfo::sm_clock_max_hz},
    {"memory_clock_hz", &RunInfo::memory_clock_hz},
    {"power_limit_w", &RunInfo::power_limit_w},
    {"power_w", &RunInfo::power_w},
    {"temperature_c", &RunInfo::temperature_c},
    {"memory_bytes", &RunInfo::memory_bytes},
    {"memory_bandwidth_bytes_per_s", &RunInfo::memory_bandwidth_bytes_per_s},
};

} // namespace eyeroof::profiles
