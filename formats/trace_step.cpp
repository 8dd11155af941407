#include "formats/trace_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace eyeroof::formats {

namespace {

using profiles::kNone;
using profiles::Launch;
using profiles::Profile;

// What makes two launches the same in two steps.
using Symbol = std::pair<std::uint32_t, std::int32_t>;

std::vector<Symbol> symbols_of(const Profile& profile) {
    std::vector<Symbol> symbols;
    symbols.reserve(profile.launches.size());
    for (const Launch& launch : profile.launches) {
        symbols.emplace_back(launch.kernel, launch.leaf);
    }
    return symbols;
}

// The shortest period of the whole sequence (Knuth, Morris, Pratt: its length less its longest
// border); its length where nothing repeats twice in full.
std::size_t period_of(const std::vector<Symbol>& symbols) {
    std::vector<std::size_t> border(symbols.size(), 0);
    for (std::size_t i = 1; i < symbols.size(); ++i) {
        std::size_t k = border[i - 1];
        while (k > 0 && symbols[i] != symbols[k]) {
            k = border[k - 1];
        }
        border[i] = symbols[i] == symbols[k] ? k + 1 : 0;
    }
    const std::size_t period = symbols.empty() ? 0 : symbols.size() - border.back();
    return 2 * period <= symbols.size() ? period : symbols.size();
}

TraceStep whole(const Profile& profile) {
    TraceStep step;
    step.launches.resize(profile.launches.size());
    std::iota(step.launches.begin(), step.launches.end(), std::size_t{0});
    step.copies.resize(profile.copies.size());
    std::iota(step.copies.begin(), step.copies.end(), std::size_t{0});
    step.name = "the whole trace";
    return step;
}

// The marked step of median kernel time; of two, the longer.
std::optional<TraceStep> marked(const Profile& profile) {
    std::map<std::int32_t, double> times;
    for (const Launch& launch : profile.launches) {
        if (launch.step != kNone) {
            times[launch.step] += std::max(launch.duration_ns, 0.0);
        }
    }
    if (times.empty()) {
        return std::nullopt;
    }
    std::vector<std::pair<double, std::int32_t>> order;
    for (const auto& [number, time] : times) {
        order.emplace_back(time, number);
    }
    std::ranges::sort(order);
    const std::int32_t number = order[order.size() / 2].second;
    TraceStep step;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        if (profile.launches[i].step == number) {
            step.launches.push_back(i);
        }
    }
    for (std::size_t i = 0; i < profile.copies.size(); ++i) {
        if (profile.copies[i].step == number) {
            step.copies.push_back(i);
        }
    }
    step.name = order.size() == 1
                    ? fmt::format("ProfilerStep#{}", number)
                    : fmt::format("ProfilerStep#{}, the median of {}", number, order.size());
    return step;
}

// The middle one of several equal sequences of kernels, with the copies between its ends.
std::optional<TraceStep> repeated(const Profile& profile) {
    const std::size_t period = period_of(symbols_of(profile));
    constexpr std::size_t kFewest = 4; // a loop over one kernel is not a step
    if (period < kFewest || period == profile.launches.size()) {
        return std::nullopt;
    }
    const std::size_t repetitions = profile.launches.size() / period;
    const std::size_t begin = (repetitions / 2) * period;
    TraceStep step;
    for (std::size_t i = begin; i < begin + period; ++i) {
        step.launches.push_back(i);
    }
    const std::int64_t first = profile.launches[begin].start_ns;
    const std::int64_t last = profile.launches[begin + period - 1].start_ns;
    for (std::size_t i = 0; i < profile.copies.size(); ++i) {
        if (profile.copies[i].start_ns >= first && profile.copies[i].start_ns <= last) {
            step.copies.push_back(i);
        }
    }
    step.name = fmt::format("one of {} repetitions", repetitions);
    return step;
}

} // namespace

TraceStep step_of(const Profile& profile) {
    const bool single = std::ranges::all_of(profile.launches,
                                            [](const Launch& launch) { return launch.calls == 1; });
    if (!single) {
        return whole(profile);
    }
    if (auto step = marked(profile)) {
        return *std::move(step);
    }
    if (auto step = repeated(profile)) {
        return *std::move(step);
    }
    return whole(profile);
}

} // namespace eyeroof::formats
