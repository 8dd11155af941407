#include "analysis/scale/engine.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::analysis {

namespace {

constexpr std::array<std::string_view, 3> kEngineNames = {"vllm", "sglang", "trtllm"};

} // namespace

// Defaults as documented: SGLang 0.5 (chunked_prefill_size 8192, no mixed chunks), TensorRT-LLM 1.0
// (chunked context off, key-value cache in fp8 beside fp8 weights, checkpoints whose fp8 scales are
// given). vLLM's max_num_batched_tokens is 2048 or 8192 by version and GPU, TensorRT-LLM's
// max_num_tokens a setting of the build; 2048 is what the measured servers' times to the first
// token say. Where a request spends its host time decides whether users who begin together stay in
// step: before it is queued, others' steps go on without it.
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
        e.tpot = {0.82, 1.19};
        e.ttft = {0.65, 1.50};
        break;
    case EngineKind::sglang:
        e.mixes = false;
        e.direct = "vllm"; // the same kernels
        e.step_host_s = 0.6e-3;
        e.request_host_s = 15e-3;
        e.tpot = {0.94, 1.09};
        e.ttft = {0.88, 1.29};
        break;
    case EngineKind::trtllm:
        e.splits = false;
        e.direct = "trtllm";
        e.narrow_cache = true;
        e.chunk = 2048;
        e.library = "trtllm static";
        e.step_host_s = 1.0e-3;
        e.queue_host_s = 20e-3;
        e.tpot = {0.94, 1.11};
        e.ttft = {0.92, 1.33};
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
