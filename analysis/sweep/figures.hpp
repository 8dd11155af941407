// The figures of a sweep's point, one for each column.
// Made by the engine, written by rows.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace eyeroof::analysis {

// Those of Report::total, of the whole network; edp_js is energy times time.
enum class SweptFigure { time_s, energy_j, edp_js, outer_bytes, macs, utilization };
inline constexpr std::size_t kSweptFigures = 6;
inline constexpr std::array<std::string_view, kSweptFigures> kSweptFigureNames = {
    "time_s", "energy_j", "edp_js", "outer_bytes", "macs", "utilization"};

struct PointFigures {
    std::array<double, kSweptFigures> values{};
    std::string error; // why there are none: "no-mapping: …"
    // "does-not-fit: …": the values are of a run that would fit, and the point is on no front.
    std::string unfit = {};

    double of(SweptFigure figure) const { return values[static_cast<std::size_t>(figure)]; }
    bool operator==(const PointFigures&) const = default;
};

} // namespace eyeroof::analysis
