// Colors by role, and shapes of markers, for light and dark, safe for color-blind readers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace eyeroof::report {

enum class Theme { light, dark };

// The series follow Okabe and Ito (2008), "Color Universal Design"; no two differ by hue alone,
// since every series has a shape of its own too.
enum class ColourRole {
    background,
    plot,
    text,
    faint,
    grid,
    grid_minor,
    frame,
    warning,
    selection,
    series1,
    series2,
    series3,
    series4,
    series5,
    series6,
    series7,
    series8,
    step1,
    step2,
    step3,
    step4,
    step5,
    step6,
    step7,
    count
};

inline constexpr std::size_t kSeriesRoles = 8;
inline constexpr std::size_t kStepRoles = 7;
inline constexpr double kReadable = 4.5; // contrast that WCAG 2.1 asks of text
inline constexpr auto kColourRoles = static_cast<std::size_t>(ColourRole::count);

struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;

    bool operator==(const Rgb&) const = default;
};

Rgb colour_of(ColourRole role, Theme theme);
// The same hue for text: darker, or lighter on dark, until it can be read on the background.
Rgb ink_of(ColourRole role, Theme theme);
std::string hex(Rgb colour);               // "#0072b2"
const char* role_name(ColourRole role);    // "series-1", a CSS class
ColourRole series_role(std::size_t index); // wraps around
ColourRole step_role(std::size_t step);    // 1 … 7; no machine's color
double contrast(Rgb a, Rgb b);             // WCAG 2.1 contrast ratio, 1 … 21

enum class Marker { circle, square, diamond, triangle_up, triangle_down, pentagon, star, hexagon };
inline constexpr std::size_t kMarkers = 8;
Marker series_marker(std::size_t index); // wraps around

struct Place {
    double x = 0.0, y = 0.0;

    bool operator==(const Place&) const = default;
};

// The corners of a marker of radius 1 around 0,0, y downwards; empty for the circle. All shapes
// have about the same area, so none looks heavier.
std::vector<Place> marker_corners(Marker marker);

} // namespace eyeroof::report
