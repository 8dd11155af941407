// Which activations of a chain to keep and which to recompute, for the least time within a memory.
//
// Beaumont, Eyraud-Dubois, Hermann, Joly, Shilova, "Optimal checkpointing for heterogeneous chains"
// (rotor), arXiv:1911.13214: optimal among schedules that keep a stored value until its backward
// use. Equal stages: Griewank and Walther, revolve, ACM TOMS 26(1), 2000.
#pragma once

#include "base/checked.hpp"

#include <optional>
#include <vector>

namespace eyeroof::analysis::step {

struct Stage {
    double forward_s = 0.0;
    double backward_s = 0.0;
    Count output = 0;   // bytes handed to the next stage
    Count tape = 0;     // bytes that its gradient needs beside its input; holds the output
    Count gradient = 0; // bytes of the gradient of its output
    Count working = 0;  // bytes that its backward run needs beside all these, while it runs

    bool operator==(const Stage&) const = default;
};

struct Chain {
    Count input = 0;          // bytes of what the first stage reads
    Count input_gradient = 0; // 0: no one asks for it
    std::vector<Stage> stages;

    bool operator==(const Chain&) const = default;
};

// forward: input gone after it unless it is kept. tape: keeps what the gradient needs. backward:
// frees the tape and the input.
struct Action {
    enum class Kind { forward, forward_keep, tape, backward } kind = Kind::forward;
    std::size_t stage = 0;

    bool operator==(const Action&) const = default;
};

// What a memory holds. tapes_wait: a tape may be kept while other stages run; without it a stage is
// run forward again right before its gradient. count_working: outputs on their way, gradients and
// tapes in use take memory; without it only what is kept does (the model of revolve).
struct ChainRules {
    bool tapes_wait = true;
    bool count_working = true;
};

struct Recomputation {
    double time_s = 0.0;  // forward, backward and what is run again
    double again_s = 0.0; // of it, forward runs beyond the first
    Count peak = 0;       // bytes, of the schedule itself
    std::vector<Action> actions;
};

// The least time within `memory` bytes (the input included), by dynamic programming over (first
// stage, last stage, memory); input of s kept outside of m, gradient of t inside:
//   C(s,t,m) = min( over k: sum(f[s..k-1]) + C(k,t,m - a[k-1]) + C(s,k-1,m)
//                                                            where the sweep s..k-1 fits,
//                   f[s] + C(s+1,t,m - A[s]) + b[s]          where tape and gradients fit )
// Exact where memory is at most `slots`; else sizes are rounded up to memory/slots, so that what is
// found fits and is the best of its rounding. Nothing where no schedule fits.
// Work n^3 slots / 6, memory n^2 slots.
std::optional<Recomputation> best_schedule(const Chain& chain, Count memory,
                                           std::size_t slots = 200, const ChainRules& rules = {});

// Inputs of segments of k stages are kept, each segment is run again with its tapes.
Recomputation segment_schedule(const Chain& chain, std::size_t k);

// Everything kept.
Recomputation plain_schedule(const Chain& chain);

// Plays a schedule: time, peak. Nothing where an action has not what it needs.
std::optional<Recomputation> play(const Chain& chain, std::vector<Action> actions);

} // namespace eyeroof::analysis::step
