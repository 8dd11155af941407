#include "profiles/serial_streams.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
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

// What equals another of the same key, which says when and where something ran, goes.
template <class Item, class KeyOf>
std::size_t drop_equal(std::vector<Item>& items, const KeyOf& key_of) {
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) { return key_of(items[i]); };
    std::ranges::stable_sort(order, {}, key);
    std::vector<bool> again(items.size(), false);
    std::size_t count = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const Item& item = items[order[i]];
        const bool placed =
            item.stream != kNone && item.start_ns != kNone && item.duration_ns > 0.0;
        again[order[i]] = placed && key(order[i]) == key(order[i - 1]);
        count += again[order[i]] ? 1 : 0;
    }
    if (count > 0) {
        std::size_t at = 0;
        std::erase_if(items, [&](const Item&) { return again[at++]; });
    }
    return count;
}

} // namespace

Diagnostics drop_repeats(Profile& profile, const std::string& file) {
    const std::size_t kernels = drop_equal(profile.launches, [](const Launch& l) {
        return std::tuple(l.start_ns, l.source, l.device, l.stream, l.kernel, l.duration_ns);
    });
    const std::size_t copies = drop_equal(profile.copies, [](const DeviceCopy& c) {
        return std::tuple(c.start_ns, c.source, c.device, c.stream, c.kind, c.bytes, c.duration_ns);
    });
    Diagnostics found;
    if (kernels + copies > 0) {
        found.warning(
            "repeated",
            fmt::format("{} of kernels or copies had the source, stream, start, and duration of "
                        "another and were dropped",
                        counted(kernels + copies, "record")),
            "was the trace merged with itself?", {file, 0, 0});
    }
    return found;
}

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
