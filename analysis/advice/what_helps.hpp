// Proposes changes to a scenario and examines them: the engine behind `exam --advice`, `improve`,
// the *without buying* line of `upgrade`, and the advice of the explorer.
#pragma once

#include "analysis/advice/shapes.hpp"
#include "analysis/step/improve.hpp"
#include "analysis/what_if/helps.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct WhatHelps {
    // On GPUs and host processors: one change of the scenario each, what fits before what does not,
    // largest gain first; the rows "alone" of improve().
    std::vector<step::Outcome> changes;
    std::vector<Advice> shapes;      // on GPUs: other sizes of layers
    std::optional<Helps> parameters; // on accelerators: more of what the machine has

    bool operator==(const WhatHelps&) const = default;
};

// Gains are of samples a second, between the scenario as it is and with the change. Errors: those
// of run(); "cancelled".
Result<WhatHelps> what_helps(const Question& question, const std::stop_token& stop = {},
                             const ProgressCallback& progress = {});

// The first change that fits and gains at least `least`; nullptr: none does.
inline constexpr double kWorthSaying = 1.02;
const step::Outcome* best_change(const std::vector<step::Outcome>& changes,
                                 double least = kWorthSaying);

// "fusion: 1.35 times as fast, 4.2 ms a step".
std::string change_text(const step::Outcome& outcome);

} // namespace eyeroof::analysis
