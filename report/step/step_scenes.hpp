// The pictures of a step: what happens when, and what is held while it does.
// Drawn by the window, and written as SVG by `eyeroof timeline` and `eyeroof memory`.
// Compute nothing but places.
#pragma once

#include "report/draw/drawing.hpp"
#include "report/step/memory_write.hpp"
#include "report/step/timeline_write.hpp"

#include <optional>

namespace eyeroof::report {

struct TimeRange {
    double from_s = 0.0, to_s = 0.0;

    bool operator==(const TimeRange&) const = default;
};

struct TimelineLook {
    std::optional<TimeRange> shown;     // absent: the whole step
    std::optional<std::uint32_t> layer; // of Graph::layers: its operators stand out
    bool operator==(const TimelineLook&) const = default;
};

// Lanes for the host, each stream and each direction of copies. Boxes narrower than a pixel that
// follow each other are one, of the longest of them.
Drawing draw_timeline(const TimelineReport& report, const Canvas& canvas,
                      const TimelineLook& look = {});

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
