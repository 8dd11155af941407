#include "analysis/advice/what_helps.hpp"

#include "base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eyeroof::analysis {

Result<WhatHelps> what_helps(const Question& question, const std::stop_token& stop,
                             const ProgressCallback& progress) {
    WhatHelps found;
    const auto* gpu = std::get_if<model::Gpu>(&question.machine.kind);
    if (gpu == nullptr) {
        auto helps = what_would_help(question, stop, progress);
        if (!helps) {
            return helps.diagnostics();
        }
        found.parameters = *std::move(helps);
        return found;
    }
    step::ImproveOptions options;
    options.limit = step::capacity_of(*gpu);
    options.together = false;
    auto changes = step::improve(question, options, stop, progress);
    auto shapes = advise(question, {}, stop);
    if (!changes || !shapes) {
        return changes ? shapes.diagnostics() : changes.diagnostics();
    }
    found.changes = std::move(changes->alone);
    found.shapes = *std::move(shapes);
    return found;
}

const step::Outcome* best_change(const std::vector<step::Outcome>& changes, double least) {
    const auto best = std::ranges::find_if(
        changes, [&](const step::Outcome& one) { return one.fits && one.gain >= least; });
    return best == changes.end() ? nullptr : &*best;
}

std::string change_text(const step::Outcome& outcome) {
    return fmt::format("{}: {:.2f}x as fast, {} per step",
                       fmt::join(step::remedies_of(outcome.combination), " + "), outcome.gain,
                       format_si(outcome.time_s, "s"));
}

} // namespace eyeroof::analysis
