// What must hold for any text that is given as a log of trials.
// Used by the fuzz target.
#pragma once

#include "analysis/trials/log.hpp"
#include "analysis/tune/tuner.hpp"
#include "tests/fuzz/own_files.hpp"

#include <string>

namespace eyeroof::tests {

inline std::string broken_promise_trials(const std::string& text) {
    namespace tune = analysis::tune;
    const auto lines = tune::parse_trials(text, "fuzz.jsonl");
    if (!lines) {
        return badly_refused(lines);
    }
    std::string again;
    for (const tune::TrialLine& line : *lines) {
        again += tune::trial_text(line);
        const tune::SearchTask subject = tune::cpu_task(line.work, tune::machine_of(line.origin));
        if (const auto point = tune::point_of(subject.space, line)) {
            std::vector<float> features;
            subject.features(*point, tune::kAllFeatures, features);
        }
    }
    const auto read = tune::parse_trials(again, "again.jsonl");
    return read && *read == *lines ? "" : "written and read again, it differs";
}

} // namespace eyeroof::tests
