#include "report/draw/parameter_map_scene.hpp"

#include "base/units.hpp"
#include "report/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace eyeroof::report {

namespace {

constexpr double kSide = 10.0;
constexpr double kPx = 11.0;

constexpr double kScale = 58.0; // room of the color scale, right of the map

std::optional<double> speedup_of(const analysis::ParameterMap& map, std::size_t x, std::size_t y) {
    const auto& time = map.time_s[y][x];
    return time && *time > 0.0 ? std::optional(map.now_s / *time) : std::nullopt;
}

// Slowest and fastest of all cells, with now among them.
struct Speeds {
    double least = 1.0, most = 1.0;
};

Speeds speeds_of(const analysis::ParameterMap& map) {
    Speeds speeds;
    for (std::size_t y = 0; y < map.time_s.size(); ++y) {
        for (std::size_t x = 0; x < map.time_s[y].size(); ++x) {
            const double speedup = speedup_of(map, x, y).value_or(1.0);
            speeds.least = std::min(speeds.least, speedup);
            speeds.most = std::max(speeds.most, speedup);
        }
    }
    return speeds;
}

struct Shade {
    ColourRole role = ColourRole::series1;
    double opacity = 0.0;
};

Shade shade_of(double speedup, const Speeds& speeds) {
    if (speedup < 1.0 - 1e-9) {
        return {ColourRole::warning, 0.5 * (1.0 - speedup)};
    }
    // Full color stands for 10 % at least: where nothing helps, all is pale.
    constexpr double kLeastFull = 1.1;
    const double full = std::max(speeds.most, kLeastFull);
    const double share = std::clamp((speedup - 1.0) / (full - 1.0), 0.0, 1.0);
    return {ColourRole::series1, 0.06 + 0.6 * share};
}

// Round speedups between the slowest and the fastest cell, at most six.
std::vector<double> iso_levels(const Speeds& speeds) {
    constexpr std::array<double, 13> round = {0.25, 0.5, 0.75, 0.9, 1.05, 1.1, 1.25,
                                              1.5,  2.0, 3.0,  4.0, 6.0,  8.0};
    constexpr std::size_t most = 6;
    std::vector<double> levels;
    for (const double level : round) {
        if (level > speeds.least && level < speeds.most) {
            levels.push_back(level);
        }
    }
    while (levels.size() > most) { // the closest two lose the one nearer to now
        std::size_t closest = 1;
        for (std::size_t i = 1; i < levels.size(); ++i) {
            closest =
                levels[i] / levels[i - 1] < levels[closest] / levels[closest - 1] ? i : closest;
        }
        const bool first = std::abs(levels[closest - 1] - 1.0) < std::abs(levels[closest] - 1.0);
        levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(first ? closest - 1 : closest));
    }
    return levels;
}

// Beside the cells three digits do; the tip has them all.
std::string short_value(const analysis::Parameter& parameter, double value) {
    if (parameter.unit.empty()) {
        return analysis::value_text(parameter, value);
    }
    return parameter.unit == "B" && parameter.whole ? format_iec(value, "B", 3)
                                                    : format_si(value, parameter.unit, 3);
}

// Room for the widest value beside the map.
double left_of(const analysis::ParameterMap& map) {
    double widest = 0.0;
    for (const double value : map.y_values) {
        widest = std::max(widest, text_width(short_value(map.y, value), kPx));
    }
    return kSide + widest + 6.0;
}

void add_cell(const analysis::ParameterMap& map, const Box& box, std::size_t x, std::size_t y,
              const Speeds& speeds, Drawing& drawing) {
    const auto& time = map.time_s[y][x];
    const std::string where = map.x.name + " " + analysis::value_text(map.x, map.x_values[x]) +
                              ", " + map.y.name + " " +
                              analysis::value_text(map.y, map.y_values[y]) + ": ";
    const double speedup = speedup_of(map, x, y).value_or(0.0);
    const Shade shade = time ? shade_of(speedup, speeds) : Shade{};
    drawing.boxes.push_back(
        {box, shade.role, shade.opacity, false,
         where + (time ? format_si(*time, "s", 4) : std::string("not possible"))});
    const std::string number = time ? fmt::format("{:.2f}", speedup) : std::string("—");
    if (text_width(number, kPx) + 4.0 <= box.width && box.height >= kPx + 2.0) {
        drawing.texts.push_back({{box.left + box.width / 2.0, box.top + box.height / 2.0 + 4.0},
                                 number,
                                 ColourRole::text,
                                 kPx,
                                 0.5,
                                 false,
                                 true});
    }
    drawing.figures.rows.push_back({map.x_values[x], map.y_values[y], time.value_or(0.0), speedup});
}

// Values beside the rows; where those are low every second or third, and always that of now.
void add_row_values(const analysis::ParameterMap& map, const Box& area, Drawing& drawing) {
    const double height = area.height / static_cast<double>(map.y_values.size());
    const auto every = static_cast<std::size_t>(std::ceil((kPx + 2.0) / height));
    const auto now = static_cast<std::size_t>(
        std::find(map.y_values.begin(), map.y_values.end(), map.y.value) - map.y_values.begin());
    for (std::size_t y = now % every; y < map.y_values.size(); y += every) {
        const double middle = area.bottom() - height * (static_cast<double>(y) + 0.5);
        drawing.texts.push_back({{area.left - 5.0, middle + 4.0},
                                 short_value(map.y, map.y_values[y]),
                                 ColourRole::faint,
                                 kPx,
                                 1.0});
    }
}

// Where a line of a level crosses the side between two neighboring cells.
struct Corner {
    Place at;
    double speedup = 0.0;
};

std::optional<Place> crossing(const Corner& a, const Corner& b, double level) {
    if ((a.speedup < level) == (b.speedup < level)) {
        return std::nullopt;
    }
    const double along = (level - a.speedup) / (b.speedup - a.speedup);
    return Place{a.at.x + along * (b.at.x - a.at.x), a.at.y + along * (b.at.y - a.at.y)};
}

// Marching squares over the middles of the cells: a square whose corners lie on both sides of a
// level is crossed by its line, linearly between the corners. Squares with a corner that is not
// possible are left out.
void add_lines(const analysis::ParameterMap& map, const Box& area,
               const std::vector<double>& levels, Drawing& drawing) {
    const std::size_t rows = map.y_values.size();
    const std::size_t columns = map.x_values.size();
    const auto corner = [&](std::size_t x, std::size_t y) -> std::optional<Corner> {
        const auto speedup = speedup_of(map, x, y);
        if (!speedup) {
            return std::nullopt;
        }
        const double across = (static_cast<double>(x) + 0.5) / static_cast<double>(columns);
        const double upwards = (static_cast<double>(y) + 0.5) / static_cast<double>(rows);
        return Corner{{area.left + area.width * across, area.bottom() - area.height * upwards},
                      *speedup};
    };
    for (std::size_t y = 0; y + 1 < rows; ++y) {
        for (std::size_t x = 0; x + 1 < columns; ++x) {
            const std::array corners = {corner(x, y), corner(x + 1, y), corner(x + 1, y + 1),
                                        corner(x, y + 1)};
            if (!std::all_of(corners.begin(), corners.end(),
                             [](const auto& known) { return known.has_value(); })) {
                continue;
            }
            for (const double level : levels) {
                std::vector<Place> through;
                for (std::size_t i = 0; i < corners.size(); ++i) {
                    if (const auto at = crossing(*corners[i], *corners[(i + 1) % 4], level)) {
                        through.push_back(*at);
                    }
                }
                for (std::size_t i = 0; i + 1 < through.size(); i += 2) { // a saddle has two lines
                    drawing.lines.push_back({{through[i], through[i + 1]}, ColourRole::text, 1.2});
                }
            }
        }
    }
}

// The colors from the slowest to the fastest cell, and the speedups whose lines are drawn.
void add_scale(const Speeds& speeds, const std::vector<double>& levels, const Box& area,
               Drawing& drawing) {
    constexpr int steps = 32;
    constexpr double width = 12.0;
    const double low = std::log(speeds.least);
    const double high = std::max(std::log(speeds.most), low + 1e-9);
    const double left = area.right() + 10.0;
    const auto y_of = [&](double speedup) {
        return area.bottom() - area.height * (std::log(speedup) - low) / (high - low);
    };
    for (int i = 0; i < steps; ++i) {
        const double speedup = std::exp(low + (high - low) * (i + 0.5) / steps);
        const Shade shade = shade_of(speedup, speeds);
        drawing.boxes.push_back(
            {{left, area.bottom() - area.height * (i + 1) / steps, width, area.height / steps},
             shade.role,
             shade.opacity});
    }
    std::vector<double> written; // where labels stand
    const auto label = [&](double speedup) {
        const double y = y_of(speedup);
        if (std::none_of(written.begin(), written.end(),
                         [&](double other) { return std::abs(other - y) < kPx; })) {
            drawing.texts.push_back({{left + width + 5.0, y + 4.0},
                                     fmt::format("{:.2f}x", speedup),
                                     ColourRole::faint,
                                     kPx});
            written.push_back(y);
        }
    };
    label(speeds.least); // the ends in any case
    label(speeds.most);
    for (const double level : levels) {
        const double y = y_of(level);
        drawing.lines.push_back({{{left, y}, {left + width + 3.0, y}}, ColourRole::text, 1.2});
        label(level);
    }
}

// Values below the columns, as many as there is room for.
void add_column_values(const analysis::ParameterMap& map, const Box& area, Drawing& drawing) {
    const double width = area.width / static_cast<double>(map.x_values.size());
    double taken = 0.0; // right edge of the last one
    for (std::size_t x = 0; x < map.x_values.size(); ++x) {
        const std::string value = short_value(map.x, map.x_values[x]);
        const double middle = area.left + width * (static_cast<double>(x) + 0.5);
        const double half = text_width(value, kPx) / 2.0;
        if (middle - half >= taken && middle + half <= drawing.canvas.width) {
            drawing.texts.push_back(
                {{middle, area.bottom() + 13.0}, value, ColourRole::faint, kPx, 0.5});
            taken = middle + half + 4.0;
        }
    }
}

} // namespace

Drawing draw_parameter_map(const analysis::ParameterMap& map, const Canvas& canvas) {
    Drawing drawing;
    drawing.canvas = {std::max(canvas.width, 240.0), std::max(canvas.height, 100.0)};
    drawing.title = "Speedup over " + map.x.name + " and " + map.y.name;
    drawing.figures.columns = {map.x.key, map.y.key, "time_s", "times_as_fast"};
    const double left = left_of(map);
    drawing.texts.push_back(
        {{kSide, 15.0}, "Speedup over now, by " + map.y.name, ColourRole::faint, kPx});
    const Box area{left, 20.0, drawing.canvas.width - left - kSide - kScale,
                   drawing.canvas.height - 20.0 - 36.0};
    const auto columns = static_cast<double>(map.x_values.size());
    const auto rows = static_cast<double>(map.y_values.size());
    const Speeds speeds = speeds_of(map);
    const std::vector<double> levels = iso_levels(speeds);
    add_row_values(map, area, drawing);
    add_column_values(map, area, drawing);
    for (std::size_t y = 0; y < map.y_values.size(); ++y) {
        const double top = area.bottom() - area.height / rows * static_cast<double>(y + 1);
        for (std::size_t x = 0; x < map.x_values.size(); ++x) {
            const Box box{area.left + area.width / columns * static_cast<double>(x), top,
                          area.width / columns - 1.0, area.height / rows - 1.0};
            add_cell(map, box, x, y, speeds, drawing);
            if (map.x_values[x] == map.x.value && map.y_values[y] == map.y.value) {
                drawing.boxes.push_back({box, ColourRole::text, 1.0, true}); // now
            }
        }
    }
    add_lines(map, area, levels, drawing);
    add_scale(speeds, levels, area, drawing);
    drawing.texts.push_back({{area.left + area.width / 2.0, area.bottom() + 28.0},
                             map.x.name,
                             ColourRole::faint,
                             kPx,
                             0.5});
    return drawing;
}

} // namespace eyeroof::report
