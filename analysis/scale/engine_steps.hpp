// The time of one step of a serving engine: kernels by the exam's model, messages by the fabric's.
// Kernels are examined once each at a grid of sizes, and interpolated between its points, so that a
// simulation of many thousand steps costs no more than a few hundred exams.
#pragma once

#include "analysis/scale/collectives.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/serving_load.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <unordered_map>

namespace eyeroof::analysis {

struct EngineStep { // parts of a step
    double products_s = 0.0, attention_s = 0.0, messages_s = 0.0, host_s = 0.0;
    double time_s() const { return products_s + attention_s + messages_s + host_s; }
};

// step = body(tokens) + head(rows) + attention of next tokens + attention of prompts + states
//      + messages(tokens) + the engine's host time
// With drafts the parts include the drafting decoder's. The host's time is at least what an engine
// that overlaps scheduling needs beside the rest, drafts included.
// body: everything but attention and states, of all layers; where replicas of attention have
// unequal loads, with experts for the tokens of all of them. Attention of next tokens by requests
// and the mean context; of prompts by as many pieces of their mean length, scaled by the pairs of a
// query and a key that they see, the mean of all layers. States (layers that have one) by requests,
// and by tokens of prompts. Between grid points linear in tokens, requests, and context.
class EngineSteps {
  public:
    EngineSteps(const Transformer& t, const model::Machine& machine, const model::Fabric& fabric,
                const ServingOptions& options, Count tensor, std::stop_token stop);

    EngineStep step(const EngineLoad& load);
    // Of the exams so far: errors make every figure of this object void.
    const Diagnostics& found() const { return found_; }

  private:
    // What is examined, or sent, once for each size.
    enum class Part : std::uint8_t {
        body,
        experts,
        shared,
        head,
        next_tokens,
        prompts,
        states,
        prompt_states,
        messages
    };
    template <class Make> double known(Part part, Count a, Count b, Count c, const Make& make);
    double body_s(Count tokens, Count everywhere);
    double head_s(Count rows);
    double next_tokens_s(Count requests, double context, Count checked);
    // Drafted tokens, one step of the drafting decoder after the other, which sees the prompts too.
    EngineStep draft(const EngineLoad& load);
    double prompts_s(const EngineLoad& load);
    double states_s(const EngineLoad& load);
    // Pairs of a query and a key that the new tokens of a sequence see, mean of all layers that
    // attend.
    double mean_pairs(Count fresh, Count past) const;
    double messages_s(Count tokens, Count everywhere);
    double messages_at(Count tokens, Count everywhere) const;
    double experts_s(double bytes, double whole) const;
    // So many devices, `stride` apart; the engine's own all-reduce is tried too.
    double collective_s(Count size, Count stride, Collective kind, double bytes) const;
    // Seconds of a network with this launch; errors go to found_.
    double examined_s(model::Network network);

    const Transformer& t_;
    const model::Machine& machine_;
    const model::Fabric& fabric_;
    const ServingOptions& o_;
    Count tensor_;
    ServerLayout layout_;
    std::stop_token stop_;
    Diagnostics found_;
    using Sizes = std::array<Count, 4>;
    struct SizesHash {
        std::size_t operator()(const Sizes& sizes) const {
            std::uint64_t hash = 0;
            for (const Count size : sizes) {
                hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15ULL;
                hash ^= hash >> 29;
            }
            return static_cast<std::size_t>(hash);
        }
    };
    std::unordered_map<Sizes, double, SizesHash> known_;
    std::unique_ptr<ServingOptions> draft_options_; // without speculation of its own
    std::unique_ptr<EngineSteps> draft_;
};

} // namespace eyeroof::analysis
