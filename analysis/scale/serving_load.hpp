// A service under load: requests arrive, wait, are computed in steps of an engine, and leave. One
// discrete-event simulation for every engine and layout, over given times of steps.
#pragma once

#include "analysis/scale/engine.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
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
    std::vector<PromptPiece> pieces = {};
    Count finished = 0; // prompts that end in this step: their last token reaches the head
    // Tokens of all replicas of attention, which share the step's experts; 0: as many on each.
    Count everywhere = 0;

    Count tokens() const;
    bool operator==(const EngineLoad&) const = default;
};

using StepClock = std::function<double(const EngineLoad&)>; // seconds of a step

// Tokens of a request, and seconds from the first of the file until it arrives. Without output
// tokens it ends with its prompt, and counts in no TTFT or TPOT.
struct RequestSize {
    double at_s = 0.0;
    Count prompt = 1, answer = 1;
    bool operator==(const RequestSize&) const = default;
};

struct Demand {
    Count prompt = 1024, answer = 256; // prompt and output tokens
    Count cached = 0; // of a prompt, that the prefix cache holds: fewer than `prompt`
    // Lengths of each request: in turn those of `sizes`, or log-normal with this coefficient of
    // variation around `prompt` and `answer`, or (0) all alike.
    std::vector<RequestSize> sizes;
    double spread = 0.0;
    // Open loop: requests arrive at `rate` per second, as a Poisson process or evenly, or at the
    // times of `sizes`. Closed loop (neither): `users`, each of whom sends the next request when
    // the last one ends.
    double rate = 0.0;
    bool even = false;
    bool recorded = false;
    Count users = 0;
    // Closed: all users begin at once and stay in step, or have begun long ago, evenly spread.
    bool together = false;
    Count requests = 0; // measured; 0: 1000, 10 of each user, or all of `sizes`
    std::uint64_t seed = 1;
    // Speculative decoding: a step checks so many drafted tokens of each request, and each passes
    // with this probability if all before it did.
    Count drafted = 0;
    double acceptance = 0.0;

    bool operator==(const Demand&) const = default;
};

// Servers that are alike. A request goes to the one with the fewest requests.
struct ServerPool {
    StepClock clock;
    Count servers = 1;
    // Replicas of attention in a server: each computes up to a chunk of tokens in a step, and the
    // step's clock gets the load of all of them.
    Count replicas = 1;
    // Requests of the demand's mean lengths whose cache a server holds. Of other lengths as many
    // as have the same number of tokens.
    Count most_requests = 1;
};

// Who computes what. Without `prompts` every server of `next` computes both.
struct Service {
    ServerPool next;
    std::optional<ServerPool> prompts;
    double transfer_s = 0.0; // of the cache of a prompt of mean length to its server of `next`
};

// Percentiles of up to 65,536 values are exact; of more they are within 0.1 %, in a memory that
// does not grow. Without values they mean nothing, and are 0.
struct Percentiles {
    double mean = 0.0, p50 = 0.0, p95 = 0.0, p99 = 0.0;
    std::uint64_t values = 0;
    bool operator==(const Percentiles&) const = default;
};

struct LoadResult {
    Percentiles ttft, tpot, wait; // wait: from arrival to the first step that computes it
    double requests_per_s = 0.0;  // served
    double tokens_per_s = 0.0;    // of answers
    double busy = 0.0;            // share of the time that a step runs, mean of `next`
    double prompts_busy = 0.0;    // the same of `prompts`
    double mean_running = 0.0;    // requests that hold cache, over time
    bool keeps_up = true;         // the queue does not grow: the rate is served
    bool operator==(const LoadResult&) const = default;
};

// Requests run in the order of arrival. A request starts when the cache of a server of `next` has
// space for all of its tokens, waits until then, and is never evicted. Steps of next tokens alone,
// between which no request comes or goes, are taken at once: their mean is that of the first and
// the last. So memory is that of the requests in the service, and time that of their comings and
// goings. Errors: "no-room" where not one request fits; "too-long" beyond kMostLoadEvents;
// "cancelled".
inline constexpr Count kMostLoadEvents = 2'000'000'000;
Result<LoadResult> simulate_load(const Service& service, const Engine& engine, const Demand& demand,
                                 std::stop_token stop = {});

} // namespace eyeroof::analysis
