// The pictures of a step: its timeline, and its memory over time.
// Drawn by the window, and written as SVG by `eyeroof timeline` and `eyeroof memory`.
// They compute only positions.
#pragma once

#include "report/draw/drawing.hpp"
#include "report/step/memory_answer.hpp"
#include "report/step/timeline_write.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::report {

struct TimeRange {
    double from_s = 0.0, to_s = 0.0;

    bool operator==(const TimeRange&) const = default;
};

// A kernel that was measured, in seconds on the predicted step's clock.
struct MeasuredSlice {
    double start_s = 0.0, end_s = 0.0;
    std::string name;
    std::size_t stream = 0;              // numbered by their first kernels
    std::string launched_by = {};        // the operator or range; empty: not recorded
    std::optional<double> called_s = {}; // when the host launched it

    bool operator==(const MeasuredSlice&) const = default;
};

// Why no kernel ran: the host had not launched the next one, its launch was on the way, a copy ran,
// the next one was launched but not started (an event, another stream), or no launch is recorded.
enum class MeasuredWait { host, launch, copy, device, unknown };
inline constexpr std::size_t kMeasuredWaits = 5;
std::string_view measured_wait_text(MeasuredWait wait); // "waits for its launch"

// A part of a gap between kernels that has one cause.
struct MeasuredGap {
    double start_s = 0.0, end_s = 0.0;
    MeasuredWait cause = MeasuredWait::unknown;
    std::string next; // the kernel that ends the gap

    bool operator==(const MeasuredGap&) const = default;
};

// Of one step, both by start.
struct MeasuredTrack {
    std::vector<MeasuredSlice> slices;
    std::vector<MeasuredGap> gaps;

    bool empty() const { return slices.empty(); }
    bool operator==(const MeasuredTrack&) const = default;
};

struct TimelineLook {
    std::optional<TimeRange> shown;     // absent: the whole step
    std::optional<std::uint32_t> layer; // of Graph::layers: its operators stand out
    std::shared_ptr<const MeasuredTrack> measured = nullptr; // above the lanes; nullptr: none
    std::optional<TimeRange> ruler = {};                     // between two marks, with its length
    bool operator==(const TimelineLook&) const = default;
};

// How long the picture's axis is: the predicted step, or the measured one where that is longer.
double timeline_length_s(const TimelineReport& report, const TimelineLook& look);

// Lanes for each stream that was measured, the host, each stream and each direction of copies.
// Boxes narrower than a pixel that follow each other are one, of the longest of them. Arrows lead
// from the launches of the marked layer to its kernels.
Drawing draw_timeline(const TimelineReport& report, const Canvas& canvas,
                      const TimelineLook& look = {});

// The nearest start or end of a box of that picture within `reach_s`, else the time itself.
double nearest_edge_s(const Drawing& timeline, double at_s, double reach_s);

// The operator whose box is at a place of that picture.
std::optional<analysis::step::OperatorId> operator_at(const TimelineReport& report,
                                                      const Canvas& canvas,
                                                      const TimelineLook& look, Place place);

// Bytes by who holds them, operator by operator, and the memory there is. Operators that share a
// pixel are the one that holds most.
Drawing draw_memory(const MemoryReport& report, const Canvas& canvas);
std::optional<analysis::step::OperatorId> operator_at(const MemoryReport& report,
                                                      const Canvas& canvas, Place place);

} // namespace eyeroof::report
