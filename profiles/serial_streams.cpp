#include "profiles/serial_streams.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace eyeroof::profiles {

namespace {

constexpr double kFarLonger = 2.0;   // than the median of its kernel's runs
constexpr double kOverflowed = 10.0; // the same, of what no next work bounds

struct Piece {
    double start_ns = 0.0, end_ns = 0.0;
    Launch* launch = nullptr; // of a kernel
};

using Stream = std::tuple<std::uint32_t, std::int64_t, std::int64_t>; // source, device, stream

std::map<Stream, std::vector<Piece>> pieces_of(Profile& profile) {
    std::map<Stream, std::vector<Piece>> streams;
    for (Launch& launch : profile.launches) {
        if (launch.start_ns != kNone && launch.stream != kNone && launch.duration_ns > 0.0 &&
            launch.calls == 1) {
            const auto start = static_cast<double>(launch.start_ns);
            streams[{launch.source, launch.device, launch.stream}].push_back(
                {start, start + launch.duration_ns, &launch});
        }
    }
    for (const DeviceCopy& copy : profile.copies) {
        const auto start = static_cast<double>(copy.start_ns);
        if (copy.stream != kNone && copy.duration_ns > 0.0) {
            streams[{copy.source, copy.device, copy.stream}].push_back(
                {start, start + copy.duration_ns, nullptr});
        }
    }
    for (auto& [stream, pieces] : streams) {
        std::ranges::stable_sort(pieces, {}, &Piece::start_ns);
    }
    return streams;
}

struct Overrun {
    Launch* launch = nullptr;
    double most_ns = 0.0; // until the next of its stream starts
};

// From the last back: an end is held against ends that are right.
void find_overruns(const std::vector<Piece>& pieces, std::vector<Overrun>& found) {
    double next_start = 0.0, next_end = 0.0;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        double end = piece->end_ns;
        constexpr double kRounding_ns = 1000.0;
        if (piece != pieces.rbegin() && piece->launch != nullptr && end > next_end + kRounding_ns &&
            next_start > piece->start_ns) {
            found.push_back({piece->launch, next_start - piece->start_ns});
            end = next_start;
        }
        next_start = piece->start_ns;
        next_end = end;
    }
}

// By kernel, of the runs that are no overruns.
std::map<std::uint32_t, double> medians_of(const Profile& profile,
                                           const std::vector<Overrun>& overruns) {
    std::map<std::uint32_t, std::vector<double>> runs;
    std::map<const Launch*, bool> over;
    for (const Overrun& overrun : overruns) {
        over[overrun.launch] = true;
        runs[overrun.launch->kernel];
    }
    for (const Launch& launch : profile.launches) {
        const auto of = runs.find(launch.kernel);
        if (of != runs.end() && launch.duration_ns > 0.0 && !over.contains(&launch)) {
            of->second.push_back(launch.duration_ns);
        }
    }
    std::map<std::uint32_t, double> medians;
    for (auto& [kernel, durations] : runs) {
        if (!durations.empty()) {
            const auto middle =
                durations.begin() + static_cast<std::ptrdiff_t>((durations.size() - 1) / 2);
            std::ranges::nth_element(durations, middle);
            medians[kernel] = *middle;
        }
    }
    return medians;
}

} // namespace

Diagnostics cut_overruns(Profile& profile, const std::string& file) {
    auto streams = pieces_of(profile);
    std::vector<Overrun> overruns;
    for (const auto& [stream, pieces] : streams) {
        find_overruns(pieces, overruns);
    }
    Diagnostics told;
    if (overruns.empty()) {
        return told;
    }
    const auto medians = medians_of(profile, overruns);
    const auto far = [&](const Launch& launch, double times) {
        const auto median = medians.find(launch.kernel);
        return median == medians.end() || launch.duration_ns > times * median->second;
    };
    std::size_t cut = 0;
    double longest_ns = 0.0;
    for (const Overrun& overrun : overruns) {
        if (far(*overrun.launch, kFarLonger)) {
            longest_ns = std::max(longest_ns, overrun.launch->duration_ns);
            overrun.launch->duration_ns = overrun.most_ns;
            ++cut;
        }
    }
    for (const auto& [stream, pieces] : streams) {
        Launch* const last = pieces.back().launch;
        if (cut > 0 && last != nullptr && medians.contains(last->kernel) &&
            far(*last, kOverflowed)) {
            longest_ns = std::max(longest_ns, last->duration_ns);
            last->duration_ns = medians.at(last->kernel);
            ++cut;
        }
    }
    if (cut > 0) {
        told.warning(
            "overrun",
            fmt::format("{} kernel{} longer (up to {}) than the next work of the same "
                        "stream allows, and cut at its start",
                        cut, cut == 1 ? " is" : "s are", format_si(longest_ns * 1e-9, "s")),
            "the profiler's durations overflowed; trace again for exact times", {file, 0, 0});
    }
    return told;
}

} // namespace eyeroof::profiles
