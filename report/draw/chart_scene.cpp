#include "report/draw/chart_scene.hpp"

#include "base/units.hpp"
#include "report/draw/fitted_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::report {

namespace {

constexpr double kChartLeft = 74.0, kChartRight = 16.0, kChartBelow = 40.0;
constexpr double kChartEdge = 14.0; // where texts begin
constexpr double kKeyLine = 17.0, kKeyTop = 40.0, kSwatch = 22.0, kKeyGap = 18.0;
constexpr double kTitles = 18.0;                        // for the title of the upright axis
constexpr double kLowPlot = 110.0, kWideEnough = 420.0; // a key beside the plot, from there on

struct ChartPlot {
    Box box;
    LogRange xs, ys;

    double x(double value) const {
        return box.left + box.width * std::clamp(to_unit(xs, value), 0.0, 1.0);
    }
    double y(double value) const {
        return box.bottom() - box.height * std::clamp(to_unit(ys, value), 0.0, 1.0);
    }
};

// What is shown, and a little around it.
LogRange range_of(const Chart& chart, bool upright) {
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    const auto take = [&](double value) {
        if (value > 0.0) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    };
    for (const ChartLine& line : chart.lines) {
        for (const auto& [x, y] : line.points) {
            take(upright ? y : x);
        }
    }
    for (const ChartMark& mark : chart.marks) {
        if (mark.upright != upright) {
            take(mark.at);
        }
    }
    return around(least, most, upright ? chart.y_ticks : chart.x_ticks);
}

// Every entry: what it is called, its colour, and whether it is dashed.
template <class Put> void each_entry(const Chart& chart, const Put& put) {
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        put(chart.lines[i].label, series_role(i), i >= kSeriesRoles);
    }
    for (const ChartMark& mark : chart.marks) {
        put(mark.label, ColourRole::text, true);
    }
}

void add_entry(Drawing& d, Place at, const std::string& label, ColourRole role, bool dashed) {
    d.lines.push_back({{{at.x, at.y - 4.0}, {at.x + kSwatch, at.y - 4.0}},
                       role,
                       2.5,
                       dashed ? Dash::dashes : Dash::whole});
    d.texts.push_back({{at.x + kSwatch + 6.0, at.y}, label, ColourRole::text, kSmallPx});
}

// Entries from left to right, as many lines as they need; the first free height below them.
double add_key(Drawing& d, const Chart& chart) {
    Place at{kChartEdge, kKeyTop};
    each_entry(chart, [&](const std::string& label, ColourRole role, bool dashed) {
        const double width = kSwatch + 6.0 + text_width(label, kSmallPx);
        if (at.x > kChartEdge && at.x + width > d.canvas.width - kChartRight) {
            at = {kChartEdge, at.y + kKeyLine};
        }
        add_entry(d, at, label, role, dashed);
        at.x += width + kKeyGap;
    });
    return at.y + 10.0;
}

// Entries one below the other, right of the plot; the height that they need.
double add_key_beside(Drawing& d, const Chart& chart, double width) {
    Place at{d.canvas.width - width, kKeyTop};
    const double room = width - kSwatch - 6.0 - kChartEdge;
    each_entry(chart, [&](const std::string& label, ColourRole role, bool dashed) {
        add_entry(d, at, fitted(label, kSmallPx, room), role, dashed);
        at.y += kKeyLine;
    });
    return at.y;
}

// How wide a key beside the plot is: as its longest entry asks, and never most of the picture.
double key_width(const Chart& chart, double width) {
    double longest = 0.0;
    each_entry(chart, [&](const std::string& label, ColourRole, bool) {
        longest = std::max(longest, text_width(label, kSmallPx));
    });
    return std::min(kSwatch + 6.0 + longest + kChartEdge, 0.42 * width);
}

// A key above a low plot would leave little of it.
bool key_goes_beside(const Chart& chart, const Canvas& canvas) {
    Drawing trial;
    trial.canvas = canvas;
    const double left = canvas.height - add_key(trial, chart) - kTitles - kChartBelow;
    return left < kLowPlot && canvas.width >= kWideEnough;
}

void add_ticks(Drawing& d, const Chart& chart, const ChartPlot& plot) {
    const int across = static_cast<int>(std::clamp(plot.box.width / 90.0, 2.0, 8.0));
    const int upwards = static_cast<int>(std::clamp(plot.box.height / 40.0, 2.0, 6.0));
    for (const Tick& tick : ticks_of(plot.xs, across, chart.x_ticks)) {
        const double x = plot.x(tick.value);
        d.lines.push_back({{{x, plot.box.top}, {x, plot.box.bottom()}},
                           tick.label.empty() ? ColourRole::grid_minor : ColourRole::grid});
        if (!tick.label.empty()) {
            d.texts.push_back(
                {{x, plot.box.bottom() + 15.0}, tick.label, ColourRole::faint, kSmallPx, 0.5});
        }
    }
    for (const Tick& tick : ticks_of(plot.ys, upwards, chart.y_ticks)) {
        const double y = plot.y(tick.value);
        d.lines.push_back({{{plot.box.left, y}, {plot.box.right(), y}},
                           tick.label.empty() ? ColourRole::grid_minor : ColourRole::grid});
        if (!tick.label.empty()) {
            d.texts.push_back(
                {{plot.box.left - 6.0, y + 4.0}, tick.label, ColourRole::faint, kSmallPx, 1.0});
        }
    }
    d.texts.push_back({{plot.box.left + plot.box.width / 2.0, plot.box.bottom() + 33.0},
                       chart.x_title,
                       ColourRole::faint,
                       kSmallPx,
                       0.5});
}

// The text for a pointer over a dot.
std::string dot_tip(const Chart& chart, const ChartLine& line, double x, double y) {
    const auto shown = [](double value) {
        std::string text = format_si(value, "", 4);
        text.erase(text.find_last_not_of(' ') + 1);
        return text;
    };
    return fmt::format("{}: {} {}, {} {}", line.label, chart.x_title, shown(x), chart.y_title,
                       shown(y));
}

void add_line(Drawing& d, const Chart& chart, const ChartLine& line, const ChartPlot& plot,
              ColourRole role, bool dashed) {
    std::vector<Place> through;
    const std::uint32_t look = d.add_look({Marker::square, role, role, 0.5, 1.0, false});
    for (const auto& [vx, vy] : line.points) {
        const Place place{plot.x(vx), plot.y(vy)};
        if (line.stairs && !through.empty()) {
            through.push_back({place.x, through.back().y});
        }
        through.push_back(place);
        if (line.dots || line.points.size() == 1) {
            d.markers.push_back({place, 3.4, look, static_cast<std::uint32_t>(d.tips.size())});
            d.tips.push_back(dot_tip(chart, line, vx, vy));
        }
        d.figures.rows.push_back({line.label, vx, vy});
    }
    if (line.line && through.size() > 1) {
        d.lines.push_back({std::move(through), role, 2.0, dashed ? Dash::dashes : Dash::whole});
    }
}

} // namespace

Drawing draw_chart(const Chart& chart, const Canvas& canvas) {
    Drawing d;
    d.canvas = {std::max(canvas.width, 240.0), std::max(canvas.height, 150.0)};
    d.title = chart.title;
    d.figures.columns = {"line", chart.x_title, chart.y_title};
    const auto most = static_cast<std::size_t>(std::max(12.0, (d.canvas.width - 30.0) / 8.5));
    d.texts.push_back(
        {{kChartEdge, 20.0}, shortened(chart.title, most), ColourRole::text, kFontPx, 0.0, true});
    const bool beside = key_goes_beside(chart, d.canvas);
    const double right = beside ? key_width(chart, d.canvas.width) + kChartEdge : kChartRight;
    const double key_end =
        beside ? add_key_beside(d, chart, right - kChartEdge) : add_key(d, chart);
    const double top = (beside ? kKeyTop - 14.0 : key_end) + 14.0;
    d.texts.push_back({{kChartEdge, top - 4.0}, chart.y_title, ColourRole::faint, kSmallPx});
    const ChartPlot plot{{kChartLeft, top + 4.0, d.canvas.width - kChartLeft - right,
                          std::max(d.canvas.height - top - 4.0 - kChartBelow, 40.0)},
                         range_of(chart, false),
                         range_of(chart, true)};
    d.canvas.height = std::max({d.canvas.height, plot.box.bottom() + kChartBelow, key_end});
    d.boxes.push_back({plot.box, ColourRole::plot, 1.0, false, ""});
    add_ticks(d, chart, plot);
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        add_line(d, chart, chart.lines[i], plot, series_role(i), i >= kSeriesRoles);
    }
    for (const ChartMark& mark : chart.marks) {
        const double x = plot.x(mark.at), y = plot.y(mark.at);
        d.lines.push_back({mark.upright
                               ? std::vector<Place>{{x, plot.box.top}, {x, plot.box.bottom()}}
                               : std::vector<Place>{{plot.box.left, y}, {plot.box.right(), y}},
                           ColourRole::text, 1.0, Dash::dashes});
    }
    return d;
}

} // namespace eyeroof::report
