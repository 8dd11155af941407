// Boxes and text sizes in pixels, and the record of which places are taken.
#pragma once

#include "base/lines.hpp"
#include "report/draw/theme.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eyeroof::report {

struct Box {
    double left = 0.0, top = 0.0, width = 0.0, height = 0.0;

    double right() const { return left + width; }
    double bottom() const { return top + height; }
    bool operator==(const Box&) const = default;
};

bool overlap(const Box& a, const Box& b);
bool inside(const Box& inner, const Box& outer);

// Pixels that a line of text takes at a font size.
double text_width(std::string_view text, double font_px);

// Text of a size at a place, turned around its start (degrees, clockwise on screen), as boxes small
// enough to follow the slope.
std::vector<Box> turned_boxes(Place start, double width, double height, double degrees);

class Occupancy {
  public:
    explicit Occupancy(Box area) : area_(area) {}

    bool is_free(const Box& box) const; // inside the area and not over anything
    bool is_free(const std::vector<Box>& boxes) const;
    void take(const Box& box);
    void take(const std::vector<Box>& boxes);
    // Boxes along a line, so that text keeps off it.
    void take_line(Place from, Place to, double thickness);

  private:
    static constexpr double kCell = 48.0;
    template <class Visit> bool each_cell(const Box& box, Visit visit) const;

    Box area_;
    std::vector<Box> boxes_;
    std::unordered_map<long, std::vector<std::size_t>> cells_;
};

} // namespace eyeroof::report
