// Serving engines: their batching policy, host time per step, and reserved memory.
// Policies are the engines' documented defaults; host times and error intervals are fitted to
// half of the measured servers of docs/scale.md, and judged on the other half.
#pragma once

#include "model/workload/layer.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// vllm: pieces of prompts join the next tokens in one step (chunked prefill). sglang: prompts go
// first, without next tokens. trtllm: whole prompts join the next tokens (in-flight batching).
enum class EngineKind { vllm, sglang, trtllm };

// Share of a prediction below and above which one measurement in ten lies.
struct ErrorBand {
    double low = 1.0, high = 1.0;
    bool operator==(const ErrorBand&) const = default;
};

struct Engine {
    EngineKind kind = EngineKind::vllm;
    Count chunk = 8192;          // tokens of a step, next tokens and prompts together
    bool mixes = true;           // next tokens and prompts share a step
    bool splits = true;          // a prompt may be spread over several steps
    double step_host_s = 0.0;    // a step: scheduling, inputs, sampling
    double queue_host_s = 0.0;   // a request, before it is queued: the client, tokenization
    double request_host_s = 0.0; // a request, after its first token
    // Kernels of the step, where the scenario names no library: model/gpu/software.hpp.
    std::string library;
    std::string direct; // its own all-reduce, of those that the fabric names; or empty
    bool fused = false; // pointwise operators and reductions, as compilers and own kernels do
    bool narrow_cache = false; // 8-bit weights come with an 8-bit cache
    ErrorBand tpot, ttft;

    bool operator==(const Engine&) const = default;
};

// Measured over predicted tokens/s: the most of a server, and of one request at a time without an
// engine. Fitted with rows left out by GPU, model, and table: `eyeroof validate --scale`, 54 and 28
// rows (TensorRT-LLM's and gpt-fast's tables).
inline constexpr ErrorBand kServerRateBand = {0.94, 1.33};
inline constexpr ErrorBand kOneRequestBand = {0.81, 1.22};

Engine engine_of(EngineKind kind);
std::string_view engine_name(EngineKind kind);
std::optional<EngineKind> engine_from_name(std::string_view name);
std::vector<std::string> engine_names();

} // namespace eyeroof::analysis
