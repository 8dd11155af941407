#include "analysis/scale/engine.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

namespace {

constexpr std::array<std::string_view, 3> kEngineNames = {"vllm", "sglang", "trtllm"};

} // namespace

// Defaults as documented: SGLang 0.5 (chunked_prefill_size 8192, no mixed chunks), TensorRT-LLM 1.0
// (max_num_tokens 8192, chunked context off, key-value cache in fp8 beside fp8 weights). vLLM's
// max_num_batched_tokens is 2048 or 8192 by version and GPU; 2048 is what the measured servers'
// times to the first token say.
Engine engine_of(EngineKind kind) {
    Engine e;
    e.kind = kind;
    e.fused = true;
    // Host times and intervals: fitted to even rows of the measured servers.
    switch (kind) {
    case EngineKind::vllm:
        e.chunk = 2048;
        e.direct = "vllm";
        e.step_host_s = 0.5e-3;
        e.request_host_s = 5e-3;
        e.tpot = {0.89, 1.16};
        e.ttft = {0.64, 1.31};
        break;
    case EngineKind::sglang:
        e.mixes = false;
        e.direct = "vllm"; // the same kernels
        e.step_host_s = 0.6e-3;
        e.request_host_s = 15e-3;
        e.tpot = {0.92, 1.12};
        e.ttft = {0.79, 1.17};
        break;
    case EngineKind::trtllm:
        e.splits = false;
        e.direct = "trtllm";
        e.narrow_cache = true;
        e.step_host_s = 0.3e-3;
        e.request_host_s = 20e-3;
        e.tpot = {0.89, 1.16};
        e.ttft = {0.50, 1.92};
        break;
    }
    return e;
}

std::string_view engine_name(EngineKind kind) {
    return kEngineNames[static_cast<std::size_t>(kind)];
}

std::optional<EngineKind> engine_from_name(std::string_view name) {
    const auto found = std::find(kEngineNames.begin(), kEngineNames.end(), name);
    return found == kEngineNames.end()
               ? std::nullopt
               : std::optional(static_cast<EngineKind>(found - kEngineNames.begin()));
}

std::vector<std::string> engine_names() {
    return {kEngineNames.begin(), kEngineNames.end()};
}

} // namespace eyeroof::analysis
