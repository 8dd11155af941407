// One measured step as a track beside the predicted one.
#pragma once

#include "analysis/exam/report.hpp"
#include "profiles/measurement.hpp"
#include "report/step/step_scenes.hpp"

#include <array>

namespace eyeroof::report {

// The first step that the profile names, else the first of as many as its layers ran; moved so that
// its first kernel starts with the first predicted one. Empty where starts are not known.
MeasuredTrack measured_track(const profiles::Profile& profile, const analysis::Report& report);

// Seconds of a range in which kernels run: those of the track, and those that are predicted; and
// those in which no kernel of the track runs, by cause.
struct BusySeconds {
    double measured = 0.0, predicted = 0.0;
    std::array<double, kMeasuredWaits> waits{}; // by MeasuredWait
};
BusySeconds busy_in(const TimeRange& range, const MeasuredTrack& track,
                    const analysis::Report& report);

} // namespace eyeroof::report
