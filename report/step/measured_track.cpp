#include "report/step/measured_track.hpp"

#include "analysis/exam/report_figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace eyeroof::report {

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

// Copies of one device, by start, that run at some time between two moments.
std::vector<const profiles::DeviceCopy*> copies_between(const profiles::Profile& profile,
                                                        double from_ns, double to_ns) {
    std::vector<const profiles::DeviceCopy*> copies;
    for (const profiles::DeviceCopy& copy : profile.copies) {
        const auto start = static_cast<double>(copy.start_ns);
        if (copy.start_ns != profiles::kNone && start < to_ns &&
            start + copy.duration_ns > from_ns) {
            copies.push_back(&copy);
        }
    }
    std::stable_sort(copies.begin(), copies.end(),
                     [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; });
    return copies;
}

// The gaps of one step, cut where their cause changes. Between the end e of the last kernel and the
// start s of the next, launched at c: copies first; of the rest what lies before c is the host's,
// what lies after it launch latency where c > e, else a wait on the device.
class GapWalk {
  public:
    GapWalk(const profiles::Profile& profile, const Launches& launches, double first_s)
        : profile_(profile), launches_(launches), first_s_(first_s),
          origin_ns_(launches.front()->start_ns) {}

    std::vector<MeasuredGap> run() && {
        double end_ns = 0.0; // since the first start, of all kernels so far
        double last_ns = 0.0;
        for (const profiles::Launch* launch : launches_) {
            last_ns = std::max(last_ns, since(launch->start_ns) + launch->duration_ns);
        }
        const auto origin = static_cast<double>(origin_ns_);
        copies_ = copies_between(profile_, origin, origin + last_ns);
        for (const profiles::Launch* launch : launches_) {
            const double start_ns = since(launch->start_ns);
            if (start_ns > end_ns) {
                add_gap(end_ns, start_ns, *launch);
            }
            end_ns = std::max(end_ns, start_ns + launch->duration_ns);
        }
        return std::move(gaps_);
    }

  private:
    using Wait = MeasuredWait;

    double since(std::int64_t ns) const { return static_cast<double>(ns - origin_ns_); }

    void add(double from_ns, double to_ns, Wait cause, const profiles::Launch& next) {
        if (to_ns > from_ns) {
            gaps_.push_back({first_s_ + kNanosecond * from_ns, first_s_ + kNanosecond * to_ns,
                             cause, profile_.kernels.at(next.kernel).name});
        }
    }

    // A part of the gap that began at gap_ns in which no copy runs.
    void add_rest(double gap_ns, double from_ns, double to_ns, const profiles::Launch& next) {
        if (next.called_ns == profiles::kNone) {
            return add(from_ns, to_ns, Wait::unknown, next);
        }
        const double called_ns = since(next.called_ns);
        const double split_ns = std::clamp(called_ns, from_ns, std::max(from_ns, to_ns));
        add(from_ns, split_ns, Wait::host, next);
        add(split_ns, to_ns, called_ns > gap_ns ? Wait::launch : Wait::device, next);
    }

    void add_gap(double from_ns, double to_ns, const profiles::Launch& next) {
        double at_ns = from_ns;
        while (copy_ < copies_.size() && since(copies_[copy_]->start_ns) < to_ns) {
            const double start_ns = since(copies_[copy_]->start_ns);
            const double end_ns = start_ns + copies_[copy_]->duration_ns;
            if (end_ns > at_ns) {
                const double copied_ns = std::max(at_ns, start_ns);
                add_rest(from_ns, at_ns, copied_ns, next);
                at_ns = std::min(end_ns, to_ns);
                add(copied_ns, at_ns, Wait::copy, next);
            }
            if (end_ns > to_ns) {
                break; // it may fill a part of the next gap, too
            }
            ++copy_;
        }
        add_rest(from_ns, at_ns, to_ns, next);
    }

    const profiles::Profile& profile_;
    const Launches& launches_;
    double first_s_;
    std::int64_t origin_ns_;
    std::vector<const profiles::DeviceCopy*> copies_;
    std::size_t copy_ = 0; // the first that may reach into the next gap
    std::vector<MeasuredGap> gaps_;
};

double overlap_s(const TimeRange& range, double from_s, double to_s) {
    return std::max(0.0, std::min(range.to_s, to_s) - std::max(range.from_s, from_s));
}

} // namespace

namespace {

// "aten::conv2d in Model/Block": the operator, and the module or range around it.
std::string launcher(const profiles::Profile& profile, const profiles::Launch& launch) {
    std::string text = launch.op == profiles::kNone
                           ? std::string()
                           : profile.operators.at(static_cast<std::size_t>(launch.op)).name;
    const std::int32_t around = launch.module != profiles::kNone ? launch.module : launch.range;
    if (around != profiles::kNone) {
        text += (text.empty() ? "" : " in ") + profile.ranges.at(static_cast<std::size_t>(around));
    }
    return text;
}

} // namespace

MeasuredTrack measured_track(const profiles::Profile& profile, const analysis::Report& report) {
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
    MeasuredTrack track;
    std::map<std::int64_t, std::size_t> streams;
    for (const profiles::Launch* launch : launches) {
        const double start = first_s + kNanosecond * static_cast<double>(launch->start_ns - origin);
        const std::size_t stream =
            streams.try_emplace(launch->stream, streams.size()).first->second;
        MeasuredSlice& slice = track.slices.emplace_back(
            MeasuredSlice{start, start + kNanosecond * launch->duration_ns,
                          profile.kernels.at(launch->kernel).name, stream,
                          launcher(profile, *launch), std::nullopt});
        if (launch->called_ns != profiles::kNone) {
            slice.called_s =
                first_s + kNanosecond * static_cast<double>(launch->called_ns - origin);
        }
    }
    track.gaps = GapWalk(profile, launches, first_s).run();
    return track;
}

BusySeconds busy_in(const TimeRange& range, const MeasuredTrack& track,
                    const analysis::Report& report) {
    BusySeconds busy;
    for (const MeasuredSlice& slice : track.slices) {
        busy.measured += overlap_s(range, slice.start_s, slice.end_s);
    }
    for (const MeasuredGap& gap : track.gaps) {
        busy.waits[static_cast<std::size_t>(gap.cause)] += overlap_s(range, gap.start_s, gap.end_s);
    }
    for (const auto& span : report.timeline.spans) {
        busy.predicted += overlap_s(range, span.start_s, span.end_s);
    }
    return busy;
}

} // namespace eyeroof::report
