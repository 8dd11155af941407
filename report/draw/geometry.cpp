#include "report/draw/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eyeroof::report {

namespace {

// Advance widths of ASCII in em, rounded up from DejaVu Sans, the widest of the usual sans serifs.
double advance(unsigned char c) {
    constexpr std::string_view narrow = "ijlI.,:;'|!()[]{} -/\\`";
    constexpr std::string_view wide = "mwMWQOGD%@&#+=<>~";
    if (narrow.find(static_cast<char>(c)) != std::string_view::npos) {
        return 0.40;
    }
    if (wide.find(static_cast<char>(c)) != std::string_view::npos) {
        return 0.90;
    }
    return c >= 'A' && c <= 'Z' ? 0.70 : 0.63;
}

} // namespace

bool overlap(const Box& a, const Box& b) {
    return a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom();
}

bool inside(const Box& inner, const Box& outer) {
    return inner.left >= outer.left && inner.right() <= outer.right() && inner.top >= outer.top &&
           inner.bottom() <= outer.bottom();
}

double text_width(std::string_view text, double font_px) {
    constexpr double column = 0.75; // em of a column of other letters
    double em = column * static_cast<double>(display_width(text));
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        em += byte < 0x80 ? advance(byte) - column : 0.0;
    }
    return em * font_px;
}

std::vector<Box> turned_boxes(Place start, double width, double height, double degrees) {
    const double angle = degrees * std::numbers::pi / 180.0;
    const int steps = std::max(1, static_cast<int>(std::ceil(width / height)));
    const double step = width / steps;
    // The axis-parallel box around a piece of step x height, turned around its baseline start.
    const double w = step * std::abs(std::cos(angle)) + height * std::abs(std::sin(angle));
    const double h = step * std::abs(std::sin(angle)) + height * std::abs(std::cos(angle));
    std::vector<Box> boxes;
    for (int i = 0; i < steps; ++i) {
        const double along = (i + 0.5) * step;
        const double x = start.x + along * std::cos(angle) + 0.5 * height * std::sin(angle);
        const double y = start.y + along * std::sin(angle) - 0.5 * height * std::cos(angle);
        boxes.push_back({x - w / 2.0, y - h / 2.0, w, h});
    }
    return boxes;
}

// Calls visit(cell key) for every cell the box touches until one answers true.
template <class Visit> bool Occupancy::each_cell(const Box& box, Visit visit) const {
    const auto cell = [](double v) { return static_cast<long>(std::floor(v / kCell)); };
    for (long y = cell(box.top); y <= cell(box.bottom()); ++y) {
        for (long x = cell(box.left); x <= cell(box.right()); ++x) {
            if (visit(y * 100003L + x)) {
                return true;
            }
        }
    }
    return false;
}

bool Occupancy::is_free(const Box& box) const {
    if (!inside(box, area_)) {
        return false;
    }
    return !each_cell(box, [&](long key) {
        const auto found = cells_.find(key);
        return found != cells_.end() &&
               std::any_of(found->second.begin(), found->second.end(),
                           [&](std::size_t index) { return overlap(boxes_[index], box); });
    });
}

bool Occupancy::is_free(const std::vector<Box>& boxes) const {
    return std::all_of(boxes.begin(), boxes.end(), [&](const Box& box) { return is_free(box); });
}

void Occupancy::take(const Box& box) {
    if (!overlap(box, area_)) {
        return;
    }
    boxes_.push_back(box);
    each_cell(box, [&](long key) {
        cells_[key].push_back(boxes_.size() - 1);
        return false;
    });
}

void Occupancy::take(const std::vector<Box>& boxes) {
    for (const Box& box : boxes) {
        take(box);
    }
}

void Occupancy::take_line(Place from, Place to, double thickness) {
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const int steps = std::clamp(static_cast<int>(length / 6.0), 1, 4000);
    for (int i = 0; i <= steps; ++i) {
        const double t = static_cast<double>(i) / steps;
        take(Box{from.x + t * (to.x - from.x) - thickness / 2.0,
                 from.y + t * (to.y - from.y) - thickness / 2.0, thickness, thickness});
    }
}

} // namespace eyeroof::report
