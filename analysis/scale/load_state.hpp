// The state of a simulated service: requests, events, and servers with the steps that they run.
#pragma once

#include "analysis/scale/serving_load.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace eyeroof::analysis::load {

using Id = std::uint32_t; // of a request, a place in the table of those in the service

struct Request {
    double sent_s = 0.0, begun_s = -1.0, first_s = 0.0;
    double made = 1.0; // tokens of a step, mean
    Count prompt = 1, answer = 1, prefilled = 0;
    Id next_server = 0; // whose cache has space for it
    bool measured = true;

    Count tokens() const { return prompt + answer; }
};

// What happens at a moment, in this order: requests come, then steps end.
enum class EventKind : std::uint8_t { arrives, queued, prompt_sent, stride_ends };
struct Event {
    double at_s = 0.0;
    EventKind kind = EventKind::arrives;
    Id id = 0;                 // of a request, or of a server
    std::uint32_t version = 0; // of the server's stride

    // For a heap whose top is the first event.
    bool operator<(const Event& o) const {
        return at_s != o.at_s ? at_s > o.at_s : kind != o.kind ? kind > o.kind : id > o.id;
    }
};

// Steps of one load, one after the other: `first_s`, and `slope_s` more each, since contexts grow.
struct Stride {
    double begun_s = 0.0, first_s = 0.0, slope_s = 0.0;
    Count steps = 0; // 0: the server is idle
    std::uint32_t version = 0;

    double time_s(Count n) const {
        const auto steps_n = static_cast<double>(n);
        return steps_n * (first_s + slope_s * (steps_n - 1.0) / 2.0);
    }
    // The fewest steps that take so long.
    Count steps_until(double seconds) const {
        const double slope = slope_s / 2.0;
        const double b = first_s - slope;
        const double n = slope > 0.0
                             ? 2.0 * seconds / (b + std::sqrt(b * b + 4.0 * slope * seconds))
                             : seconds / first_s;
        auto least = std::max<Count>(static_cast<Count>(n) - 1, 1);
        while (least < steps && time_s(least) < seconds) {
            ++least;
        }
        return std::min(least, steps);
    }
};

struct ServerState {
    bool of_prompts = false; // of `prompts`; else of `next`
    std::deque<Id> waiting;  // queued, without space in the cache or a place in a step
    std::deque<Id> filling;  // prompts that are computed, or in memory and next
    std::vector<Id> chosen;  // whose pieces the step computes
    std::vector<Id> joining; // whose first token came while steps of next tokens run
    std::vector<std::pair<Count, Id>> decoding; // heap: the step of next tokens that ends each
    Count done = 0;                             // steps of next tokens
    double seen = 0.0, growth = 0.0;            // tokens that all see, and those of a step
    Count held = 0, held_tokens = 0;            // requests with space in the cache
    Count requests = 0;                         // of prompts, not yet computed
    double busy_s = 0.0;
    EngineLoad load;
    Stride stride;
    bool marked = false; // to be looked at before time goes on
};

} // namespace eyeroof::analysis::load
