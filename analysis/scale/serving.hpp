// Serving a decoder: time to first token, time per output token, tokens per second and device.
#pragma once

#include "analysis/scale/engine.hpp"
#include "analysis/scale/serving_load.hpp"
#include "analysis/scale/transformer.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct ServingOptions {
    Count prompt = 1024, answer = 256; // tokens of a request
    std::vector<Count> tensor = {1};   // degrees that are tried
    Count expert = 1;                  // devices that share the experts
    std::vector<Count> batches;        // requests at once; none: powers of 2 up to the most
    double ttft_limit_s = 0.0, tpot_limit_s = 0.0; // 0: none
    double memory_share = 0.9;                     // of a device, for weights and cache
    model::DataType type = model::DataType::bf16;  // that products are computed in
    std::optional<model::DataType> weight_type;    // as products' weights are kept; nullopt: `type`
    std::optional<model::DataType> cache_type;     // keys and values; nullopt: the engine's default
    Engine engine;
    // Simulated load, on every degree: rates of arrival, users in a closed loop, and the largest
    // rate whose 95th percentiles keep the limits.
    std::vector<double> rates;
    std::vector<Count> users;
    bool largest_rate = false;
    bool together = false; // users begin at once
    std::uint64_t seed = 1;
    Count requests = 0; // simulated; 0: see Demand
    Scenario exam;      // launch and software of the kernels; its clocks are settled
    model::HostIssue host;
    CollectiveOptions collective;

    model::DataType weights() const { return weight_type.value_or(type); }
    model::DataType wide() const; // of what is not a product's operand: 16 bits or more
    model::DataType cache() const;
};

struct ServingPoint {
    Count tensor = 1, devices = 1, batch = 1, most_batch = 1;
    double prefill_s = 0.0; // of one prompt
    double step_s = 0.0;    // one token of all requests
    double message_s = 0.0; // of it, all-reduces and all-to-alls
    double ttft_s = 0.0, tpot_s = 0.0;
    ErrorBand ttft_band, tpot_band;               // factors: 80 % of measured servers lie between
    double tokens_per_s = 0.0;                    // output tokens, all devices together
    double weight_bytes = 0.0, cache_bytes = 0.0; // per device
    bool within = true;                           // both limits
    bool front = false; // on the Pareto front of tokens/s per user and per device

    double per_user() const { return 1.0 / tpot_s; }
    double per_device() const { return tokens_per_s / static_cast<double>(devices); }
    bool operator==(const ServingPoint&) const = default;
};

// One degree under one load.
struct ServingLoad {
    Count tensor = 1, devices = 1;
    double rate = 0.0;    // requests/s; 0: closed
    Count users = 0;      // closed
    bool largest = false; // the largest rate within the limits
    LoadResult result;
    bool within = true; // both limits, at the 95th percentile

    bool operator==(const ServingLoad&) const = default;
};

struct Serving {
    std::string network, machine, fabric;
    Count prompt = 0, answer = 0;
    double capacity_bytes = 0.0; // of a device
    Engine engine;
    std::vector<ServingPoint> points;
    std::vector<ServingLoad> loads;
    std::optional<std::size_t> best; // most tokens/s a device within the limits
    std::vector<std::string> notes;
};

// Operators of a step on one of `tensor` devices, of all layers: all but attention for so many
// tokens; the head for so many rows; attention of `batch` sequences with `fresh` new tokens each on
// top of `context` in the cache.
model::Network serving_body(const Transformer& t, Count tensor, Count tokens,
                            const ServingOptions& options);
model::Network serving_head(const Transformer& t, Count tensor, Count rows,
                            const ServingOptions& options);
model::Network serving_attention(const Transformer& t, Count tensor, Count batch, Count fresh,
                                 Count context, const ServingOptions& options);

// Cache of one token on one device: 2 L g d e / t, at least one head of keys a device; with latent
// attention L (r + d_r) e on every device.
double cache_bytes_per_token(const Transformer& t, Count tensor, model::DataType type);

// Continuous batching of B requests in a steady state. Each new prompt joins the next tokens of the
// others where the engine mixes them (as many prompts at once as arrive during a step and fit its
// chunk), else it takes steps of its own:
//   K = B / n steps with n prompts each, of M seconds; the other answer - K are of next tokens
//   alone, of S seconds:  tpot = (K M + max(answer - K, 0) S) / answer,  tokens/s = B / tpot
//   apart:                tpot = (K P + answer S) / answer
//   ttft = the steps of a prompt + S/2 until one begins + the engine's time for a request
// S at the mean context prompt + answer/2; 2 all-reduces of B h values a layer over the tensor
// group, 2 all-to-alls over the experts'. The most requests: what weights leave of the memory over
// the cache of prompt + answer. Errors: those of run(); "bad-degree"; "no-memory" with the least
// degree, or the most requests, that fit, and for machines without memory of their own.
Result<Serving> serve(const Transformer& t, const model::Machine& machine,
                      const model::Fabric& fabric, const ServingOptions& options,
                      std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
