// A server under load: requests arrive, wait, are computed in steps of an engine, and leave. A
// discrete-event simulation over given times of steps.
#pragma once

#include "analysis/scale/engine.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace eyeroof::analysis {

struct PromptPiece {
    Count fresh = 0, past = 0; // tokens computed, and those of the prompt before them
    bool operator==(const PromptPiece&) const = default;
};

// What one step computes: the next token of some requests, and pieces of prompts.
struct EngineLoad {
    Count decoding = 0;   // requests
    double context = 0.0; // tokens that each of them sees, mean
    Count checked = 1;    // tokens of each of them: the next one, behind those that were drafted
    std::vector<PromptPiece> pieces;
    Count finished = 0; // prompts that end in this step: their last token reaches the head

    Count tokens() const;
    bool operator==(const EngineLoad&) const = default;
};

using StepClock = std::function<double(const EngineLoad&)>; // seconds of a step

struct Demand {
    Count prompt = 1024, answer = 256; // prompt and output tokens
    Count cached = 0; // of a prompt, that the prefix cache holds: fewer than `prompt`
    // Open loop: requests arrive at `rate` per second, as a Poisson process or evenly. Closed loop
    // (rate 0): `users`, each of whom sends the next request when the last one ends.
    double rate = 0.0;
    bool even = false;
    Count users = 0;
    // Closed: all users begin at once and stay in step, or have begun long ago, evenly spread.
    bool together = false;
    Count requests = 0; // measured; 0: 1000, or 10 of each user
    std::uint64_t seed = 1;
    // Speculative decoding: a step checks so many drafted tokens of each request, and each passes
    // with this probability if all before it did.
    Count drafted = 0;
    double acceptance = 0.0;

    bool operator==(const Demand&) const = default;
};

struct Percentiles {
    double mean = 0.0, p50 = 0.0, p95 = 0.0, p99 = 0.0;
    bool operator==(const Percentiles&) const = default;
};

struct LoadResult {
    Percentiles ttft, tpot, wait; // wait: from arrival to the first step that computes it
    double requests_per_s = 0.0;  // served
    double tokens_per_s = 0.0;    // of answers
    double busy = 0.0;            // share of the time that a step runs
    double mean_running = 0.0;    // requests that hold cache, over time
    bool keeps_up = true;         // the queue does not grow: the rate is served
    bool operator==(const LoadResult&) const = default;
};

// Requests run in the order of arrival. A request starts when the cache has space for all of its
// tokens (`most_requests` at once), waits in the queue until then, and is never evicted. Errors:
// "no-room" where not one request fits;
// "too-long" beyond kMostEngineSteps; "cancelled".
inline constexpr Count kMostEngineSteps = 5'000'000;
Result<LoadResult> simulate_load(const StepClock& clock, const Engine& engine, const Demand& demand,
                                 Count most_requests, std::stop_token stop = {});

} // namespace eyeroof::analysis
