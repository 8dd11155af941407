#include "gui/jobs/measured_track.hpp"

#include "analysis/exam/report_figures.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

constexpr double kNanosecond = 1e-9;

using Launches = std::vector<const profiles::Launch*>;

Launches by_start(const profiles::Profile& profile) {
    Launches launches;
    for (const profiles::Launch& launch : profile.launches) {
        if (launch.start_ns != profiles::kNone && launch.duration_ns > 0.0) {
            launches.push_back(&launch);
        }
    }
    std::stable_sort(launches.begin(), launches.end(),
                     [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
    return launches;
}

Launches one_step(Launches launches, const analysis::Report& report) {
    const auto numbered = [](const profiles::Launch* launch) {
        return launch->step != profiles::kNone;
    };
    const auto first = std::find_if(launches.begin(), launches.end(), numbered);
    if (first != launches.end()) {
        const std::int32_t step = (*first)->step;
        std::erase_if(launches, [&](const auto* launch) { return launch->step != step; });
        return launches;
    }
    const double steps = std::max(1.0, analysis::measured_steps(report));
    launches.resize(
        static_cast<std::size_t>(std::ceil(static_cast<double>(launches.size()) / steps - 1e-9)));
    return launches;
}

double overlap_s(const report::TimeRange& range, double from_s, double to_s) {
    return std::max(0.0, std::min(range.to_s, to_s) - std::max(range.from_s, from_s));
}

} // namespace

report::MeasuredTrack measured_track(const profiles::Profile& profile,
                                     const analysis::Report& report) {
    const Launches launches = one_step(by_start(profile), report);
    if (launches.empty()) {
        return {};
    }
    double first_s = 0.0;
    if (!report.timeline.spans.empty()) {
        first_s = report.timeline.spans.front().start_s;
        for (const auto& span : report.timeline.spans) {
            first_s = std::min(first_s, span.start_s);
        }
    }
    const std::int64_t origin = launches.front()->start_ns;
    report::MeasuredTrack track;
    for (const profiles::Launch* launch : launches) {
        const double start = first_s + kNanosecond * static_cast<double>(launch->start_ns - origin);
        track.push_back({start, start + kNanosecond * launch->duration_ns,
                         profile.kernels.at(launch->kernel).name});
    }
    return track;
}

BusySeconds busy_in(const report::TimeRange& range, const report::MeasuredTrack& track,
                    const analysis::Report& report) {
    BusySeconds busy;
    for (const report::MeasuredSlice& slice : track) {
        busy.measured += overlap_s(range, slice.start_s, slice.end_s);
    }
    for (const auto& span : report.timeline.spans) {
        busy.predicted += overlap_s(range, span.start_s, span.end_s);
    }
    return busy;
}

} // namespace eyeroof::gui
