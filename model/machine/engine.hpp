// Serving engines: their batching policy, host time per step, reserved memory, and kernels.
// Made by hwdb from one YAML file per engine and version; consumed by analysis/scale.
#pragma once

#include "base/checked.hpp"
#include "base/provenance.hpp"

#include <string>

namespace eyeroof::model {

// Whose command line and all-reduces an engine has.
enum class EngineKind { vllm, sglang, trtllm };

// Share of a prediction below and above which one measurement in ten lies.
struct RatioBand {
    double low = 1.0, high = 1.0;
    bool operator==(const RatioBand&) const = default;
};

struct Engine {
    std::string id, name; // "vllm-0.12", "vLLM 0.12"
    EngineKind kind = EngineKind::vllm;
    bool usual = false;          // of its kind, where no version is named
    Count chunk = 8192;          // tokens of a step, next tokens and prompts together
    bool mixes = true;           // next tokens and prompts share a step
    bool splits = true;          // a prompt may be spread over several steps
    Count most_running = 65536;  // requests of a replica of attention at once
    double memory_share = 0.9;   // of a device, for weights and cache
    bool memory_of_free = false; // of what weights leave of it, for cache
    double step_host_s = 0.0;    // a step: scheduling, inputs, sampling
    double least_step_s = 0.0;   // what the host needs beside a step (overlapped scheduling)
    double queue_host_s = 0.0;   // a request, before it is queued: the client, tokenization
    double request_host_s = 0.0; // a request, after its first token
    double apart_host_s = 0.0;   // a request whose prompt had devices of its own, between the two
    // Kernels of the step, where the scenario names no library: model/gpu/software.hpp. And of
    // decoders with latent attention in fp8, whose scales are of blocks.
    std::string library, block_library;
    std::string direct; // its own all-reduce, of those that the fabric names; or empty
    bool fused = false; // pointwise operators and reductions, as compilers and own kernels do
    bool rotary_in_attention = false; // which also writes the cache
    bool norm_in_reduce = false;      // residual and norm in the all-reduce of a tensor group
    bool shared_beside = false; // shared experts run on a stream of their own beside routed ones
    bool narrow_cache = false;  // weights of 8 bits and fewer come with an 8-bit cache
    RatioBand tpot, ttft, apart_tpot, apart_ttft; // apart: prompts on devices of their own
    ProvenanceMap provenance;

    bool operator==(const Engine&) const = default;
};

} // namespace eyeroof::model
