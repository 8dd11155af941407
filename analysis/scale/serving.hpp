// Serving a decoder: time to the first token, time per token, tokens a second and device.
// Called by `eyeroof serve`.
// Knows no file; kernels are the exam's, messages the fabric's.
#pragma once

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
    std::optional<Count> batch;        // requests at once; nullopt: powers of 2 up to the most
    double ttft_limit_s = 0.0, tpot_limit_s = 0.0; // 0: none
    double memory_share = 0.9;                     // of a device, for weights and cache
    model::DataType type = model::DataType::bf16;
    Scenario exam; // launch and software of the kernels; its clocks are settled
    model::HostIssue host;
    CollectiveOptions collective;
};

struct ServingPoint {
    Count tensor = 1, devices = 1, batch = 1, most_batch = 1;
    double prefill_s = 0.0; // of one prompt
    double step_s = 0.0;    // one token of all requests
    double message_s = 0.0; // of it, all-reduces and all-to-alls
    double ttft_s = 0.0, tpot_s = 0.0;
    double tokens_per_s = 0.0;                    // answers' tokens, of all devices together
    double weight_bytes = 0.0, cache_bytes = 0.0; // a device
    bool within = true;                           // both limits
    bool front = false; // no other point has more of both: tokens/s a user, tokens/s a device

    double per_user() const { return 1.0 / tpot_s; }
    double per_device() const { return tokens_per_s / static_cast<double>(devices); }
    bool operator==(const ServingPoint&) const = default;
};

struct Serving {
    std::string network, machine, fabric;
    Count prompt = 0, answer = 0;
    double capacity_bytes = 0.0; // of a device
    std::vector<ServingPoint> points;
    std::optional<std::size_t> best; // most tokens/s a device within the limits
    std::vector<std::string> notes;
};

// Operators of `batch` sequences with `fresh` new words each on top of `context` in the cache, on
// one of `tensor` devices; all layers, and the head for the last word of each.
model::Network serving_network(const Transformer& t, Count tensor, Count expert, Count batch,
                               Count fresh, Count context, model::DataType type);

// Cache of one token on one device: 2 L g d e / t, at least one head of keys a device.
double cache_bytes_per_token(const Transformer& t, Count tensor, model::DataType type);

// Continuous batching of B requests in a steady state: prompts are computed one at a time between
// steps of all,
//   tpot = step + B prefill / answer,  ttft = prefill + step,  tokens/s = B / tpot
// step at the mean context prompt + answer/2; 2 all-reduces of B h values a layer over the tensor
// group, 2 all-to-alls over the experts'. The most requests: what weights leave of the memory over
// the cache of prompt + answer. Errors: those of run(); "bad-degree"; "no-memory" with the least
// degree, or the most requests, that fit, and for machines without memory of their own.
Result<Serving> serve(const Transformer& t, const model::Machine& machine,
                      const model::Fabric& fabric, const ServingOptions& options,
                      std::stop_token stop = {}, const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
