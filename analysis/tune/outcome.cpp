#include "analysis/tune/outcome.hpp"

#include "base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace eyeroof::analysis::tune {

namespace {

std::vector<double> numbers(const std::string& text) {
    std::vector<double> found;
    const char* at = text.c_str();
    for (char* end = nullptr;; at = end) {
        const double value = std::strtod(at, &end);
        if (end == at) {
            return found;
        }
        found.push_back(value);
    }
}

// The first line that tells what became of the candidate; the first one where none does.
std::string telling_line(const std::string& output) {
    for (std::size_t at = 0; at < output.size();) {
        const std::string line = first_line(output.substr(at));
        for (const char* word : {"times ", "wrong", "compile ", "crash ", "failed "}) {
            if (line.starts_with(word)) {
                return line;
            }
        }
        at += line.size() + 1;
    }
    return first_line(output);
}

} // namespace

Outcome failed_outcome(std::string error, std::string detail) {
    return {kNoCost, {}, std::move(error), std::move(detail)};
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

Outcome outcome_of(const ProcessEnd& end, Statistic statistic) {
    if (end.stopped) {
        return failed_outcome("stopped", {});
    }
    if (end.timed_out) {
        return failed_outcome("timeout", fmt::format("ended after {:.3g} s", end.seconds));
    }
    if (end.signal != 0) {
        return failed_outcome("crash", signal_text(end.signal));
    }
    const std::string line = telling_line(end.output);
    for (const char* kind : {"wrong", "compile", "crash"}) {
        if (line.starts_with(kind)) {
            return failed_outcome(kind, line);
        }
    }
    Outcome outcome;
    outcome.times_s = line.starts_with("times ") ? numbers(line.substr(6)) : std::vector<double>{};
    const bool sound = !outcome.times_s.empty() &&
                       std::all_of(outcome.times_s.begin(), outcome.times_s.end(),
                                   [](double t) { return std::isfinite(t) && t > 0.0; });
    if (!end.ok() || !sound) {
        return failed_outcome("failed",
                              line.empty() ? fmt::format("exit status {}", end.status) : line);
    }
    outcome.cost = statistic == Statistic::median
                       ? median(outcome.times_s)
                       : *std::min_element(outcome.times_s.begin(), outcome.times_s.end());
    return outcome;
}

} // namespace eyeroof::analysis::tune
