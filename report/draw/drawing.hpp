// The plainest scene: boxes, lines, markers and texts in their places, by color role.
// Scenes make it; the explorer paints it and the SVG writer writes it, without additions.
#pragma once

#include "report/draw/canvas.hpp"
#include "report/draw/geometry.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace eyeroof::report {

struct DrawnBox {
    Box box;
    ColourRole role = ColourRole::frame;
    double opacity = 1.0;
    bool outline = false; // only its edge
    std::string tip = {}; // tooltip
    bool dotted = false;  // of an outline

    bool operator==(const DrawnBox&) const = default;
};

enum class Dash { whole, dashes, long_dashes, dots };

// Pixels drawn and left out, in turn; without meaning for whole lines.
struct DashPattern {
    double on = 0.0, off = 0.0;
};
DashPattern pattern_of(Dash dash);

struct DrawnLine {
    std::vector<Place> through;
    ColourRole role = ColourRole::frame;
    double width = 1.0;
    Dash dash = Dash::whole;

    bool operator==(const DrawnLine&) const = default;
};

// What many markers have in common.
struct MarkerLook {
    Marker shape = Marker::circle;
    std::optional<ColourRole> fill; // without: only the edge
    ColourRole edge = ColourRole::plot;
    double edge_px = 1.0;
    double opacity = 1.0;
    bool counts = false; // stands for a row of what is shown: class "p" of an SVG

    bool operator==(const MarkerLook&) const = default;
};

// Small, since there are tens of thousands of them in a frame.
struct DrawnMarker {
    static constexpr std::uint32_t kNoTip = 0xffffffff;

    Place at; // of its middle
    double radius = 4.0;
    std::uint32_t look = 0;     // index into DrawnLayer::looks
    std::uint32_t tip = kNoTip; // index into DrawnLayer::tips

    bool operator==(const DrawnMarker&) const = default;
};

struct DrawnText {
    Place at; // of the baseline
    std::string text;
    ColourRole role = ColourRole::text;
    double px = kFontPx;
    double anchor = 0.0; // 0 left, 0.5 middle, 1 right of `at`
    bool bold = false;
    bool over = false;    // lies over lines: they keep a little away from it
    double degrees = 0.0; // turned around `at`, clockwise on screen

    bool operator==(const DrawnText&) const = default;
};

// Painted in the order of its members, each from first to last.
struct DrawnLayer {
    std::vector<DrawnBox> boxes;
    std::vector<DrawnLine> lines;
    std::vector<MarkerLook> looks;
    std::vector<std::string> tips; // of markers
    std::vector<DrawnMarker> markers;
    std::vector<DrawnText> texts;

    std::uint32_t add_look(const MarkerLook& look) {
        looks.push_back(look);
        return static_cast<std::uint32_t>(looks.size() - 1);
    }

    bool operator==(const DrawnLayer&) const = default;
};

// What is seen of it lies within a box.
struct ClippedLayer : DrawnLayer {
    Box clip;

    bool operator==(const ClippedLayer&) const = default;
};

// The figures behind a picture, for tables and programs: exactly what is drawn.
struct DrawnTable {
    using Cell = std::variant<std::string, double>;
    std::vector<std::string> columns; // with their units: "time_s"
    std::vector<std::vector<Cell>> rows;

    bool operator==(const DrawnTable&) const = default;
};

struct Drawing : DrawnLayer {
    Canvas canvas;
    std::string title;                // for people who cannot see it
    std::string description;          // the same, at more length
    std::vector<ClippedLayer> layers; // above the drawing's own, in this order
    DrawnTable figures;

    bool operator==(const Drawing&) const = default;
};

// The tip of the topmost box at a place, empty without one.
std::string tip_at(const Drawing& drawing, Place place);

} // namespace eyeroof::report
