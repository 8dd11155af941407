#include "profiles/collect/fault.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::profiles {

namespace {

struct Entry {
    Fault fault;
    const char* name;
    const char* message;
    const char* hint;
};
constexpr Entry kEntries[] = {
    {Fault::no_driver, "no-driver", "there is no NVIDIA driver on this machine",
     "in a container: start it with the GPU passed through"},
    {Fault::no_device, "no-device", "the driver finds no GPU",
     "is CUDA_VISIBLE_DEVICES empty, or the GPU not passed into the container?"},
    {Fault::driver_mismatch, "driver-mismatch",
     "the driver's library does not fit the kernel module that is loaded",
     "restart the machine after the driver update, or install the matching library"},
    {Fault::no_library, "no-library", "CUPTI cannot be opened",
     "install the CUDA toolkit's CUPTI (libcupti and libnvperf_host)"},
    {Fault::wrong_version, "wrong-version",
     "the CUPTI that was found is not the version that this collector was built for",
     "build eyeroof with the toolkit that the program uses"},
    {Fault::permission, "permission", "hardware counters are not permitted for this user",
     "run as root, give CAP_SYS_ADMIN (container: --cap-add SYS_ADMIN), or on the host set "
     "'options nvidia NVreg_RestrictProfilingToAdminUsers=0' and reload the driver; "
     "--timing-only needs no permission"},
    {Fault::other_profiler, "other-profiler", "another profiler is active in the program",
     "run without ncu, nsys, cuda-gdb, compute-sanitizer and torch.profiler"},
    {Fault::busy, "busy", "the GPU's counters are held by another process",
     "stop DCGM's profiling (dcgmi profile --pause) and other profilers"},
    {Fault::mig, "mig", "counters cannot be read on a MIG slice",
     "use the whole GPU, or --timing-only"},
    {Fault::vgpu, "vgpu", "this virtual GPU does not permit counters",
     "the hypervisor must enable profiling for the vGPU; --timing-only may work"},
    {Fault::confidential, "confidential", "confidential computing forbids counters",
     "turn it off for measuring, or use --timing-only"},
    {Fault::mining_card, "mining-card", "this card does not support profiling (CMP)", ""},
    {Fault::sli, "sli", "counters cannot be read with SLI", "turn SLI off"},
    {Fault::wsl, "wsl", "counters cannot be read under WSL here",
     "allow counters in the Windows driver's settings, or use --timing-only"},
    {Fault::unsupported_gpu, "unsupported-gpu", "this GPU is not supported by the range profiler",
     "it needs Turing or later; for older GPUs import Nsight Compute's CSV"},
    {Fault::no_metrics, "no-metrics", "no metric file knows this GPU's chip",
     "--timing-only, or import Nsight Compute's CSV"},
    {Fault::out_of_memory, "out-of-memory", "there is not enough GPU memory left to replay kernels",
     "profile fewer kernels (--kernel, --count) or a smaller batch"},
    {Fault::never_used, "never-used", "the program never used CUDA",
     "profile the program itself and not a script that starts it elsewhere; 64-bit programs only"},
    {Fault::internal, "internal", "the profiling library failed", "--timing-only may still work"},
};

const Entry& entry_of(Fault fault) {
    return *std::ranges::find(kEntries, fault, &Entry::fault);
}

struct Code {
    int code;
    Fault fault;
};
constexpr Code kCuptiCodes[] = {{8, Fault::out_of_memory},
                                {14, Fault::wrong_version},
                                {15, Fault::no_library},
                                {26, Fault::busy},
                                {27, Fault::unsupported_gpu},
                                {33, Fault::vgpu},
                                {35, Fault::permission},
                                {38, Fault::unsupported_gpu},
                                {39, Fault::other_profiler},
                                {40, Fault::vgpu},
                                {41, Fault::confidential},
                                {42, Fault::mining_card},
                                {43, Fault::mig},
                                {44, Fault::sli},
                                {45, Fault::wsl},
                                {46, Fault::unsupported_gpu}};
constexpr Code kDriverCodes[] = {{2, Fault::out_of_memory},     {100, Fault::no_device},
                                 {101, Fault::no_device},       {803, Fault::driver_mismatch},
                                 {804, Fault::driver_mismatch}, {34, Fault::no_driver}};

template <std::size_t N> BackendFault fault_in(const Code (&codes)[N], int code, std::string call) {
    const auto it = std::ranges::find(codes, code, &Code::code);
    return {it == std::end(codes) ? Fault::internal : it->fault, code, std::move(call)};
}

} // namespace

BackendFault fault_of_cupti(int code, std::string call) {
    return fault_in(kCuptiCodes, code, std::move(call));
}

BackendFault fault_of_driver(int code, std::string call) {
    return fault_in(kDriverCodes, code, std::move(call));
}

Diagnostic diagnostic_of(const BackendFault& fault) {
    const Entry& entry = entry_of(fault.fault);
    std::string message = entry.message;
    if (!fault.call.empty()) {
        message += fault.code != 0 ? fmt::format(" ({}, error {})", fault.call, fault.code)
                                   : fmt::format(" ({})", fault.call);
    }
    return {Severity::error, "unavailable", std::move(message), entry.hint, {}, {}};
}

std::string fault_text(const BackendFault& fault) {
    const nlohmann::json json = {
        {"fault", entry_of(fault.fault).name}, {"code", fault.code}, {"call", fault.call}};
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<BackendFault> fault_from_text(std::string_view text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("fault") || !json["fault"].is_string()) {
        return std::nullopt;
    }
    const auto name = json["fault"].get<std::string>();
    const auto it =
        std::ranges::find_if(kEntries, [&](const Entry& entry) { return name == entry.name; });
    if (it == std::end(kEntries)) {
        return std::nullopt;
    }
    BackendFault fault{it->fault, 0, {}};
    if (json.contains("code") && json["code"].is_number_integer()) {
        fault.code = json["code"].get<int>();
    }
    if (json.contains("call") && json["call"].is_string()) {
        fault.call = json["call"].get<std::string>();
    }
    return fault;
}

} // namespace eyeroof::profiles
