// Why counters or the device cannot be used: every reason once, with one clear line and what to do.
// Made by the backend, the runner and the device check; carried from the profiled program in a
// file.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::profiles {

enum class Fault {
    no_driver,
    no_device,
    driver_mismatch,
    no_library,
    wrong_version,
    permission,
    other_profiler,
    busy,
    mig,
    vgpu,
    confidential,
    mining_card,
    sli,
    wsl,
    unsupported_gpu,
    no_metrics,
    out_of_memory,
    never_used, // the program made no CUDA context
    internal
};

struct BackendFault {
    Fault fault = Fault::internal;
    int code = 0;     // the library's own
    std::string call; // the function that failed, or what was looked for

    bool operator==(const BackendFault&) const = default;
};

// CUPTI's result codes (13.0): 35 privileges, 39 another subscriber, 40 vGPU, 41 confidential, …
BackendFault fault_of_cupti(int code, std::string call);
// The driver's: 100 no device, 803/804 driver and library do not fit …
BackendFault fault_of_driver(int code, std::string call);

// Code "unavailable", so that the program ends with exit code 4.
Diagnostic diagnostic_of(const BackendFault& fault);

// One line of JSON, and back; nullopt for anything else.
std::string fault_text(const BackendFault& fault);
std::optional<BackendFault> fault_from_text(std::string_view text);

} // namespace eyeroof::profiles
