#include "report/draw/theme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eyeroof::report {

namespace {

struct RoleRow {
    const char* name;
    Rgb light;
    Rgb dark;
};

constexpr std::array<RoleRow, kColourRoles> kRoles = {{
    {"background", {255, 255, 255}, {22, 24, 29}},
    {"plot", {255, 255, 255}, {28, 31, 38}},
    {"text", {26, 28, 33}, {232, 234, 238}},
    {"faint", {95, 101, 112}, {160, 167, 180}},
    {"grid", {222, 225, 230}, {52, 57, 68}},
    {"grid-minor", {240, 241, 244}, {38, 42, 51}},
    {"frame", {125, 131, 142}, {120, 127, 140}},
    {"warning", {190, 0, 30}, {255, 107, 107}},
    {"selection", {26, 28, 33}, {255, 255, 255}},
    {"series-1", {0, 114, 178}, {86, 180, 233}},    // blue; sky blue on dark
    {"series-2", {213, 94, 0}, {232, 110, 20}},     // vermillion
    {"series-3", {0, 158, 115}, {0, 178, 130}},     // bluish green
    {"series-4", {204, 121, 167}, {214, 137, 178}}, // reddish purple
    {"series-5", {230, 159, 0}, {230, 159, 0}},     // orange
    {"series-6", {86, 180, 233}, {60, 140, 215}},   // sky blue; blue on dark
    {"series-7", {60, 60, 60}, {225, 225, 225}},    // black; white on dark
    {"series-8", {190, 175, 0}, {240, 228, 66}},    // yellow, darkened on white
    // after Tol's muted scheme (2021), without what looks like the first series
    {"step-1", {68, 51, 153}, {150, 140, 240}},  // indigo
    {"step-2", {136, 34, 85}, {214, 120, 160}},  // wine
    {"step-3", {122, 122, 31}, {190, 190, 80}},  // olive
    {"step-4", {196, 92, 110}, {240, 150, 165}}, // rose
    {"step-5", {160, 115, 30}, {221, 190, 110}}, // sand
    {"step-6", {160, 60, 145}, {220, 140, 210}}, // purple
    {"step-7", {107, 78, 60}, {195, 165, 145}},  // brown
}};

const RoleRow& row_of(ColourRole role) {
    return kRoles[std::min(static_cast<std::size_t>(role), kColourRoles - 1)];
}

double luminance(Rgb colour) {
    const auto linear = [](std::uint8_t channel) {
        const double c = channel / 255.0;
        return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b);
}

// A regular polygon, or a star where every second corner lies at `inner`.
std::vector<Place> polygon(int corners, double radius, double first_degrees, double inner = 0.0) {
    std::vector<Place> places;
    for (int i = 0; i < corners; ++i) {
        const double angle = (first_degrees + 360.0 * i / corners) * std::numbers::pi / 180.0;
        const double r = inner > 0.0 && i % 2 == 1 ? inner : radius;
        places.push_back({r * std::cos(angle), r * std::sin(angle)});
    }
    return places;
}

} // namespace

Rgb colour_of(ColourRole role, Theme theme) {
    return theme == Theme::light ? row_of(role).light : row_of(role).dark;
}

std::string hex(Rgb colour) {
    return fmt::format("#{:02x}{:02x}{:02x}", colour.r, colour.g, colour.b);
}

const char* role_name(ColourRole role) {
    return row_of(role).name;
}

ColourRole series_role(std::size_t index) {
    return static_cast<ColourRole>(static_cast<std::size_t>(ColourRole::series1) +
                                   index % kSeriesRoles);
}

ColourRole step_role(std::size_t step) {
    return static_cast<ColourRole>(static_cast<std::size_t>(ColourRole::step1) +
                                   (step + kStepRoles - 1) % kStepRoles);
}

// On the more demanding of the surfaces that text stands on.
Rgb ink_of(ColourRole role, Theme theme) {
    constexpr double kStep = 0.04;
    const Rgb own = colour_of(role, theme);
    const double to = theme == Theme::light ? 0.0 : 255.0;
    const auto readable = [&](Rgb colour) {
        return contrast(colour, colour_of(ColourRole::background, theme)) >= kReadable &&
               contrast(colour, colour_of(ColourRole::plot, theme)) >= kReadable;
    };
    Rgb colour = own;
    for (double share = kStep; !readable(colour) && share <= 1.0; share += kStep) {
        const auto mixed = [&](std::uint8_t channel) {
            return static_cast<std::uint8_t>(std::lround(channel + share * (to - channel)));
        };
        colour = {mixed(own.r), mixed(own.g), mixed(own.b)};
    }
    return colour;
}

double contrast(Rgb a, Rgb b) {
    const double la = luminance(a) + 0.05;
    const double lb = luminance(b) + 0.05;
    return std::max(la, lb) / std::min(la, lb);
}

Marker series_marker(std::size_t index) {
    return static_cast<Marker>(index % kMarkers);
}

std::vector<Place> marker_corners(Marker marker) {
    switch (marker) {
    case Marker::circle:
        return {};
    case Marker::square:
        return polygon(4, 1.25, 45.0);
    case Marker::diamond:
        return polygon(4, 1.32, 0.0);
    case Marker::triangle_up:
        return polygon(3, 1.42, -90.0);
    case Marker::triangle_down:
        return polygon(3, 1.42, 90.0);
    case Marker::pentagon:
        return polygon(5, 1.18, -90.0);
    case Marker::star:
        return polygon(10, 1.5, -90.0, 0.68);
    case Marker::hexagon:
        return polygon(6, 1.12, 0.0);
    }
    return {};
}

} // namespace eyeroof::report
