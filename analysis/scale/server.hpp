// One server of a decoder: what fits its memory, the steady state of equal requests, and its
// simulated load.
#pragma once

#include "analysis/scale/engine_steps.hpp"
#include "analysis/scale/serving.hpp"

#include <map>
#include <memory>
#include <optional>
#include <stop_token>

namespace eyeroof::analysis {

// Weights on a device, of the decoder and of the one that drafts.
double server_weight_bytes(const Transformer& t, Count tensor, const ServingOptions& o);

class Server {
  public:
    Server(const Transformer& t, const model::Machine& machine, const model::Fabric& fabric,
           const ServingOptions& o, std::stop_token stop);

    double capacity() const { return capacity_; }
    bool computes(model::DataType type) const;
    // Of one replica.
    Count most_requests(Count tensor) const { return most_requests(tensor, o_); }
    Count most_requests(Count tensor, const ServingOptions& o) const;
    Count saturation() const; // requests that give as many tokens a second as any more
    // Weights and one prompt, on servers with a layout of their own.
    bool prompts_fit() const;

    // `batch` requests at once of each replica, at most `most`: the equations of serve().
    Result<ServingPoint> point(Count tensor, Count batch, Count most);
    Result<ServingPoint> point_apart(Count tensor, Count batch, Count most);
    Result<ServingLoad> load(Count tensor, double rate, Count users);
    // The largest rate whose 95th percentiles keep the limits and whose queue does not grow, within
    // 1 %, by bisection; the same arrivals for every rate but for their spacing.
    Result<std::optional<ServingLoad>> largest(Count tensor);

  private:
    // How prompts join the next tokens of a replica's requests.
    struct Joining {
        Count decoding = 0;  // requests whose next tokens are in a step with prompts
        Count together = 1;  // prompts that such a step, or such a row of steps, computes
        double rounds = 1.0; // rows of such steps while every request has one prompt
        double mixed = 0.0;  // of an answer's steps, those that also compute prompts
    };

    double left_of(double weights, const ServingOptions& o) const; // memory for caches
    EngineSteps& steps(Count tensor);
    EngineSteps& prefill_steps(Count tensor); // of servers that compute prompts alone
    const Diagnostics& found(Count tensor);
    Joining joining_of(Count batch) const;
    double answer_steps() const;
    // A replica with `batch` requests, some of whose steps are without prompts (steady_point), or
    // none, with so many prompts in each. Requests that they do not supply wait. Of the result,
    // tokens_per_s is the replica's, and cache_bytes counts requests: point() multiplies both.
    ServingPoint steady_point(EngineSteps& clock, Count batch) const;
    ServingPoint filled_point(EngineSteps& clock, Count batch, double prompts) const;
    // r of serve(): prompts that a step computes where they bound a replica; infinite where they
    // take steps of their own.
    double most_prompts() const;
    // The servers that requests are simulated on. Replicas of attention wait for each other in
    // every layer, so a step lasts as long as the one with the most work.
    Service service_of(Count tensor);
    // The devices of a point whose replicas have `batch` requests each, at most `most`; so many
    // groups of them. Returns the replicas of a group.
    Count place(ServingPoint& p, Count tensor, Count batch, Count most, Count groups) const;
    bool within(double ttft_s, double tpot_s) const;
    double mean_context() const { return static_cast<double>(o_.prompt + o_.answer / 2); }
    Count checked() const { return 1 + o_.speculation.tokens; } // tokens of a request in a step
    // Each device sends its part of a prompt's cache to its peer in a decode group; from the first
    // to the last of all groups.
    double transfer_s(Count tensor) const;
    // Steps that compute `prompts` prompts, beside so many next tokens.
    double prompt_steps_s(EngineSteps& clock, Count decoding, Count prompts) const;
    // Mean of the steps that pass one prompt, of prompts end to end, so many tokens of them a step.
    double stream_step_s(EngineSteps& clock, Count decoding, Count tokens) const;

    const Transformer& t_;
    model::Machine machine_;
    const model::Fabric& fabric_;
    ServingOptions o_;
    std::stop_token stop_;
    double capacity_ = 0.0;
    std::map<Count, EngineSteps> steps_;
    std::unique_ptr<ServingOptions> prefill_options_;
    std::unique_ptr<EngineSteps> prefill_steps_;
};

} // namespace eyeroof::analysis
