#include "formats/trace_step.hpp"

#include "base/units.hpp"
#include "profiles/step_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

namespace eyeroof::formats {

namespace {

using profiles::kNone;
using profiles::Launch;
using profiles::Profile;

// What makes two launches the same in two steps.
using Symbol = std::pair<std::uint32_t, std::int32_t>;

using Indices = std::vector<std::size_t>;

std::vector<Symbol> symbols_of(const Profile& profile, const Indices& launches) {
    std::vector<Symbol> symbols;
    symbols.reserve(launches.size());
    for (const std::size_t i : launches) {
        symbols.emplace_back(profile.launches[i].kernel, profile.launches[i].leaf);
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

// Launches and copies of one GPU.
struct OnDevice {
    Indices launches, copies;
    std::vector<std::string> notes; // of the other GPUs
};

std::string device_name(const Profile& profile, std::uint32_t source, std::int64_t device) {
    const std::string file =
        profile.sources.size() > 1 ? " of " + profile.sources[source] : std::string();
    return (device == kNone ? std::string("the GPU without a number")
                            : fmt::format("GPU {}", device)) +
           file;
}

OnDevice busiest(const Profile& profile) {
    using Device = std::pair<std::uint32_t, std::int64_t>; // source, number
    std::map<Device, double> times;
    for (const Launch& launch : profile.launches) {
        times[{launch.source, launch.device}] += std::max(launch.duration_ns, 0.0);
    }
    OnDevice kept;
    const auto most =
        std::ranges::max_element(times, {}, [](const auto& device) { return device.second; });
    const bool one = times.size() <= 1;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        const Launch& launch = profile.launches[i];
        if (one || Device{launch.source, launch.device} == most->first) {
            kept.launches.push_back(i);
        }
    }
    for (std::size_t i = 0; i < profile.copies.size(); ++i) {
        const profiles::DeviceCopy& copy = profile.copies[i];
        if (one || Device{copy.source, copy.device} == most->first) {
            kept.copies.push_back(i);
        }
    }
    for (auto device = times.begin(); !one && device != times.end(); ++device) {
        if (device != most) {
            kept.notes.push_back(fmt::format(
                "only {} of {} is analyzed; {} has {} of kernels",
                device_name(profile, most->first.first, most->first.second), times.size(),
                device_name(profile, device->first.first, device->first.second),
                format_si(device->second * 1e-9, "s")));
        }
    }
    return kept;
}

TraceStep whole(OnDevice on) {
    return {std::move(on.launches), std::move(on.copies), "the whole trace", std::move(on.notes)};
}

struct MarkedStep {
    double time_ns = 0.0; // of its kernels
    std::int32_t number = 0;

    auto operator<=>(const MarkedStep&) const = default;
};

// Steps by kind: "" for those of PyTorch's profiler, else as an inference engine says.
struct StepKind {
    std::vector<MarkedStep> steps; // shortest first
    double time_ns = 0.0;
    std::map<std::int32_t, std::string> marks; // texts, by number

    const MarkedStep& median() const { return steps[steps.size() / 2]; } // of two, the longer
};

std::map<std::string, StepKind> kinds_of(const Profile& profile, const Indices& launches) {
    struct Step {
        double time_ns = 0.0;
        std::string kind, mark;
    };
    std::map<std::int32_t, Step> steps;
    for (const std::size_t i : launches) {
        const Launch& launch = profile.launches[i];
        if (launch.step == kNone) {
            continue;
        }
        Step& step = steps[launch.step];
        step.time_ns += std::max(launch.duration_ns, 0.0);
        if (step.mark.empty() && launch.range != kNone) {
            const std::string_view mark = profiles::step_mark(profile.range_of(launch));
            if (const auto kind = profiles::step_kind(mark)) {
                step.kind = *kind;
                step.mark = mark;
            }
        }
    }
    std::map<std::string, StepKind> kinds;
    for (const auto& [number, step] : steps) {
        StepKind& kind = kinds[step.kind];
        kind.steps.push_back({step.time_ns, number});
        kind.time_ns += step.time_ns;
        kind.marks[number] = step.mark;
    }
    for (auto& [name, kind] : kinds) {
        std::ranges::sort(kind.steps);
    }
    return kinds;
}

std::string marked_name(const std::string& kind, const StepKind& of) {
    const std::int32_t number = of.median().number;
    const std::string name =
        kind.empty() ? fmt::format("ProfilerStep#{}", number) : of.marks.at(number);
    return of.steps.size() == 1 ? name
                                : fmt::format("{}, the median of {}{}", name, of.steps.size(),
                                              kind.empty() ? "" : fmt::format(" {} steps", kind));
}

// The marked step of median kernel time, of the kind that takes most.
std::optional<TraceStep> marked(const Profile& profile, const OnDevice& on) {
    const auto kinds = kinds_of(profile, on.launches);
    if (kinds.empty()) {
        return std::nullopt;
    }
    const auto most =
        std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.time_ns; });
    const std::int32_t number = most->second.median().number;
    TraceStep step;
    std::ranges::copy_if(on.launches, std::back_inserter(step.launches),
                         [&](std::size_t i) { return profile.launches[i].step == number; });
    std::ranges::copy_if(on.copies, std::back_inserter(step.copies),
                         [&](std::size_t i) { return profile.copies[i].step == number; });
    step.name = marked_name(most->first, most->second);
    step.notes = on.notes;
    for (auto kind = kinds.begin(); kind != kinds.end(); ++kind) {
        if (kind != most && !kind->first.empty()) {
            step.notes.push_back(fmt::format("{} {} steps, {} of kernels at the median",
                                             kind->second.steps.size(), kind->first,
                                             format_si(kind->second.median().time_ns * 1e-9, "s")));
        }
    }
    return step;
}

// The middle one of several equal sequences of kernels, with the copies between its ends.
std::optional<TraceStep> repeated(const Profile& profile, const OnDevice& on) {
    const std::size_t period = period_of(symbols_of(profile, on.launches));
    constexpr std::size_t kFewest = 4; // a loop over one kernel is not a step
    if (period < kFewest || period == on.launches.size()) {
        return std::nullopt;
    }
    const std::size_t repetitions = on.launches.size() / period;
    const auto begin =
        on.launches.begin() + static_cast<std::ptrdiff_t>((repetitions / 2) * period);
    TraceStep step;
    step.launches.assign(begin, begin + static_cast<std::ptrdiff_t>(period));
    const std::int64_t first = profile.launches[step.launches.front()].start_ns;
    const std::int64_t last = profile.launches[step.launches.back()].start_ns;
    for (const std::size_t i : on.copies) {
        if (profile.copies[i].start_ns >= first && profile.copies[i].start_ns <= last) {
            step.copies.push_back(i);
        }
    }
    step.name = fmt::format("one of {} repetitions", repetitions);
    step.notes = on.notes;
    return step;
}

} // namespace

TraceStep step_of(const Profile& profile) {
    const bool single = std::ranges::all_of(profile.launches,
                                            [](const Launch& launch) { return launch.calls == 1; });
    OnDevice on = busiest(profile);
    if (single) {
        if (auto step = marked(profile, on)) {
            return *std::move(step);
        }
        if (auto step = repeated(profile, on)) {
            return *std::move(step);
        }
    }
    return whole(std::move(on));
}

} // namespace eyeroof::formats
