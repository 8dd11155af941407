// Serving a decoder: time to first token, time per output token, tokens per second and device.
#pragma once

#include "analysis/scale/engine.hpp"
#include "analysis/scale/serving_load.hpp"
#include "analysis/scale/transformer.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// Speculative decoding: each step checks `tokens` drafted tokens of every request, and each passes
// with probability `acceptance` if all before it did. A step makes
//   (1 - p^(n+1)) / (1 - p)
// tokens of a request. Source: Leviathan, Kalman, Matias, arXiv:2211.17192, equation 1. They are
// drafted one after the other by a decoder on the same devices, or without cost (n-grams).
struct Speculation {
    Count tokens = 0; // 0: none
    double acceptance = 0.7;
    std::optional<Transformer> draft;
    bool shares_ends = false; // the draft's embedding and head are the decoder's

    double made() const; // tokens of a request in a step, expected
};

// The layer that decoders with multi-token prediction (MTP) draft with: a block of their own, which
// shares their embedding and head. Source: DeepSeek-AI, arXiv:2412.19437, section 2.2.
void draft_by_own_layer(const Transformer& t, Speculation& speculation);

// A server's devices. Attention, dense layers, and the head are divided over `tensor` devices, and
// there are `data` replicas of those, each with requests of its own (attention data parallelism).
// Experts are spread over `expert` of all devices, and each is divided by the others:
//   vLLM          tensor, data, expert = 1 or all devices (--enable-expert-parallel)
//   SGLang        --tp-size devices, --dp-size data with --enable-dp-attention, --ep-size expert
//   TensorRT-LLM  --tp_size devices, --ep_size expert, enable_attention_dp
struct ServerLayout {
    Count tensor = 1, data = 1, expert = 1;

    Count devices() const { return tensor * data; }
    Count expert_part() const { return devices() / expert; } // devices that divide an expert
    bool operator==(const ServerLayout&) const = default;
};

struct ServingOptions {
    Count prompt = 1024, answer = 256; // tokens of a request
    Count cached = 0; // of a prompt, that the prefix cache holds: they are not computed
    std::vector<Count> tensor = {1}; // degrees that are tried
    Count expert = 1;                // devices that share the experts
    Count data = 0;                  // replicas of attention; 0: as many as `expert` fills
    std::vector<Count> batches; // requests at once of all replicas, or of those of a decode group;
                                // none: powers of 2 up to the most
    double ttft_limit_s = 0.0, tpot_limit_s = 0.0; // 0: none
    double memory_share = 0.9;                     // as the engine counts it
    model::DataType type = model::DataType::bf16;  // that products are computed in
    std::optional<model::DataType> weight_type;    // as products' weights are kept; nullopt: `type`
    std::optional<model::DataType> cache_type;     // keys and values; nullopt: the engine's default
    model::DataType beside_narrow =
        model::DataType::bf16; // of the rest, where `type` is below 16 bits
    Engine engine;
    Speculation speculation;
    // Prompts and next tokens on separate devices: so many servers each (0: on the same). The cache
    // of a prompt is sent once, each device's part to its peer. `prefill`: the layout of those that
    // compute prompts, if it is another one.
    Count prefill_groups = 0, decode_groups = 0;
    std::optional<ServerLayout> prefill;
    // Simulated load, on every degree: rates of arrival, users in a closed loop, and the largest
    // rate whose 95th percentiles keep the limits; or the arrivals of a file. `servers` that are
    // alike share it, where prompts and next tokens share devices.
    Count servers = 1;
    std::vector<RequestSize> sizes; // of simulated requests, in turn; none: `prompt` and `answer`
    bool recorded = false;          // they arrive at the times of `sizes`
    double spread = 0.0;            // see Demand
    std::vector<double> rates;
    std::vector<Count> users;
    bool largest_rate = false;
    bool together = false; // users begin at once
    std::uint64_t seed = 1;
    Count requests = 0; // simulated; 0: see Demand
    Scenario exam;      // launch and software of the kernels; its clocks are settled
    model::HostIssue host;
    CollectiveOptions collective;

    ServerLayout layout(Count degree) const {
        return {degree, data > 0 ? data : std::max<Count>(expert / std::max<Count>(degree, 1), 1),
                expert};
    }
    ServerLayout prefill_layout(Count degree) const { return prefill.value_or(layout(degree)); }
    model::DataType weights() const { return weight_type.value_or(type); }
    model::DataType wide() const; // of what is not a product's operand: 16 bits or more
    // Published decoders with experts in 4 bits keep attention and the router in 16. Sources:
    // openai/gpt-oss-120b, config.json (modules_to_not_convert); nvidia/DeepSeek-R1-FP4,
    // hf_quant_config.json (exclude_modules).
    bool wide_attention(const Transformer& t) const;
    model::DataType cache() const;
};

struct ServingPoint {
    Count tensor = 1, data = 1, expert = 1, devices = 1, batch = 1, most_batch = 1;
    double prefill_s = 0.0; // of one prompt
    double step_s = 0.0;    // next tokens of all requests, their drafts included
    // Of it; messages: all-reduces and all-to-alls; host: of the engine, exposed.
    double attention_s = 0.0, message_s = 0.0, host_s = 0.0;
    double ttft_s = 0.0, tpot_s = 0.0;
    ErrorBand ttft_band, tpot_band;               // factors: 80 % of measured servers lie between
    ErrorBand rate_band = kServerRateBand;        // the same of tokens_per_s
    double tokens_per_s = 0.0;                    // output tokens, all devices together
    double weight_bytes = 0.0, cache_bytes = 0.0; // per device
    double transfer_s = 0.0; // of a prompt's cache, where prompts have devices of their own
    // Requests/s that the prompts' devices and those of next tokens could serve, there.
    double prompted_per_s = 0.0, decoded_per_s = 0.0;
    bool engine_full = false; // most_batch is the engine's, and memory holds more
    bool within = true;       // both limits
    bool front = false;       // on the Pareto front of tokens/s per user and per device

    double per_user() const { return 1.0 / tpot_s; }
    double per_device() const { return tokens_per_s / static_cast<double>(devices); }
    bool operator==(const ServingPoint&) const = default;
};

// One degree under one load.
struct ServingLoad {
    Count tensor = 1, devices = 1;
    double rate = 0.0;     // requests/s; 0: closed, or recorded
    Count users = 0;       // closed
    bool recorded = false; // arrivals of a file
    bool largest = false;  // the largest rate within the limits
    LoadResult result;
    bool within = true; // both limits, at the 95th percentile

    bool operator==(const ServingLoad&) const = default;
};

struct Serving {
    std::string network, machine, fabric;
    Count prompt = 0, answer = 0, cached = 0;
    double capacity_bytes = 0.0; // of a device
    Engine engine;
    Speculation speculation;
    Count prefill_groups = 0, decode_groups = 0;
    std::vector<ServingPoint> points;
    std::vector<ServingLoad> loads;
    double ttft_limit_s = 0.0, tpot_limit_s = 0.0; // 0: none
    std::optional<std::size_t> best;               // most tokens/s a device within the limits
    std::vector<std::string> notes;
};

// Operators of a step on one device, of all layers: all but attention for so many tokens of a
// replica, and the part of all replicas' tokens that reaches its experts; the head for so many
// rows; attention of `batch` sequences with `fresh` new tokens each on top of `context` in the
// cache.
model::Network serving_body(const Transformer& t, const ServerLayout& layout, Count tokens,
                            const ServingOptions& options);
model::Network serving_experts(const Transformer& t, const ServerLayout& layout, Count everywhere,
                               const ServingOptions& options); // routed: of all replicas' tokens
model::Network serving_shared_experts(const Transformer& t, Count tensor, Count tokens,
                                      const ServingOptions& options);
model::Network serving_head(const Transformer& t, Count tensor, Count rows,
                            const ServingOptions& options);
model::Network serving_attention(const Transformer& t, Count tensor, Count batch, Count fresh,
                                 Count context, const ServingOptions& options);

// The delta rule's work in all layers with a state: of `sequences` with one token each, or of so
// many tokens of prompts.
model::Network serving_states(const Transformer& t, Count tensor, Count sequences,
                              const ServingOptions& options);
model::Network serving_prompt_states(const Transformer& t, Count tensor, Count tokens,
                                     const ServingOptions& options);

// Cache of a sequence of so many tokens on one device: 2 g d e / t a token and layer, at least one
// head of keys a device, of the last `keys` tokens in layers that see a window; with latent
// attention (r + d_r) e on every device. A layer with a state holds that in 32 bits, and the last
// tokens of its convolution, whatever the length.
double cache_bytes(const Transformer& t, Count tensor, model::DataType type, Count tokens);

// Continuous batching of B requests in a steady state. Each new prompt joins the next tokens of the
// others where the engine mixes them (as many prompts at once as arrive during a step and fit its
// chunk), else it takes steps of its own:
//   K = B / n steps with n prompts each, of M seconds; the other answer - K are of next tokens
//   alone, of S seconds:  tpot = (K M + (answer - K) S) / answer,  tokens/s = B / tpot
//   apart:                tpot = (K P + answer S) / answer
// One request alone waits for no other's prompt:  tpot = S,  tokens/s = answer / (P + answer S).
// An answer has no more steps with prompts than tokens. With A steps an answer, and K > A above,
// every step computes r = B / A prompts end to end:  tpot = M. With prompts of f tokens they fill
// its chunk beside (A - 1) r requests, which check c tokens each, at
//   r = chunk / (f + (A - 1) c) prompts a step (a whole number, at least 1, where they are not
//   split)
// so that B' = A r requests, for which K(B') = A, decode. If B is more, the others wait:
//   tokens/s = B' / tpot,  tpot = M,  ttft = (B - (A - 1) r) M / r, at least the steps of the
//   prompt, + the engine's time for a request
// Prompts on P groups of their own, next tokens on D, in steps of b requests each:
//   requests/s = min(P / prompt, D b / (answer S(b))), b as many as arrive, at most B
//   tpot = S(b),  ttft = prompt + transfer of its cache + the engine's time for a request
// With speculation a step makes several tokens of a request, and so many fewer steps an answer.
//   ttft = the steps of a prompt + S/2 until one begins + the engine's time for a request
// S at the mean context prompt + answer/2; 2 all-reduces of B h values a layer over the tensor
// group. Where attention has replicas a layer with experts has, in place of the second, the lesser
// of two ways: dispatch and combine among the experts' devices, or all tokens gathered by all
// devices and their sums scattered. B of each replica. The most requests: what weights leave of the
// memory over the cache of prompt + answer. Errors: those of run(); "bad-degree"; "no-memory" with
// the least degree, or the most requests, that fit, and for machines without memory of their own.
Result<Serving> serve(const Transformer& t, const model::Machine& machine,
                      const model::Fabric& fabric, const ServingOptions& options,
                      std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
