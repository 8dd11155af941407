// The plainest scene: boxes, lines and texts in their places, by colour role.
// Made by the scenes that need no more; painted by the window and written as SVG.
// Knows no drawing library and nothing of what it shows.
#pragma once

#include "study/draw/geometry.hpp"
#include "study/draw/roofline_scene.hpp"

#include <string>
#include <variant>
#include <vector>

namespace eyeroof::study {

struct DrawnBox {
    Box box;
    ColourRole role = ColourRole::frame;
    double opacity = 1.0;
    bool outline = false; // only its edge
    std::string tip = {}; // what a pointer over it is told
    bool dotted = false;  // of an outline

    bool operator==(const DrawnBox&) const = default;
};

struct DrawnLine {
    std::vector<Place> through;
    ColourRole role = ColourRole::frame;
    double width = 1.0;
    bool dashed = false;

    bool operator==(const DrawnLine&) const = default;
};

struct DrawnText {
    Place at; // of the baseline
    std::string text;
    ColourRole role = ColourRole::text;
    double px = kFontPx;
    double anchor = 0.0; // 0 left, 0.5 middle, 1 right of `at`
    bool bold = false;
    bool over = false; // lies over lines: they keep a little away from it

    bool operator==(const DrawnText&) const = default;
};

// The figures behind a picture, for tables and programs: exactly what is drawn.
struct DrawnTable {
    using Cell = std::variant<std::string, double>;
    std::vector<std::string> columns; // with their units: "time_s"
    std::vector<std::vector<Cell>> rows;

    bool operator==(const DrawnTable&) const = default;
};

struct Drawing {
    Canvas canvas;
    std::string title;           // for people who cannot see it
    std::vector<DrawnBox> boxes; // painted first, in this order
    std::vector<DrawnLine> lines;
    std::vector<DrawnText> texts;
    DrawnTable figures;

    bool operator==(const Drawing&) const = default;
};

// The tip of the topmost box at a place, empty without one.
std::string tip_at(const Drawing& drawing, Place place);

} // namespace eyeroof::study
