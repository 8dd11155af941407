#include "study/draw/chart_scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::study {

namespace {

constexpr double kChartLeft = 74.0, kChartRight = 16.0, kChartBelow = 40.0;
constexpr double kKeyLine = 17.0, kKeyTop = 40.0, kSwatch = 22.0, kKeyGap = 18.0;

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
    return least > most ? LogRange{} : legal({least / 1.06, most * 1.06});
}

// Entries from left to right, as many lines as they need; the first free height below them.
double add_key(Drawing& d, const Chart& chart) {
    double x = 14.0, y = kKeyTop;
    const auto entry = [&](const std::string& label, ColourRole role, bool dashed) {
        const double width = kSwatch + 6.0 + text_width(label, kSmallPx);
        if (x > 14.0 && x + width > d.canvas.width - kChartRight) {
            x = 14.0;
            y += kKeyLine;
        }
        d.lines.push_back({{{x, y - 4.0}, {x + kSwatch, y - 4.0}}, role, 2.5, dashed});
        d.texts.push_back({{x + kSwatch + 6.0, y}, label, ColourRole::text, kSmallPx});
        x += width + kKeyGap;
    };
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        entry(chart.lines[i].label, series_role(i), i >= kSeriesRoles);
    }
    for (const ChartMark& mark : chart.marks) {
        entry(mark.label, ColourRole::text, true);
    }
    return y + 10.0;
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

void add_line(Drawing& d, const ChartLine& line, const ChartPlot& plot, ColourRole role,
              bool dashed) {
    std::vector<Place> through;
    for (const auto& [vx, vy] : line.points) {
        const Place place{plot.x(vx), plot.y(vy)};
        if (line.stairs && !through.empty()) {
            through.push_back({place.x, through.back().y});
        }
        through.push_back(place);
        if (line.dots || line.points.size() == 1) {
            d.boxes.push_back({{place.x - 3.0, place.y - 3.0, 6.0, 6.0}, role, 1.0, false, ""});
        }
        d.figures.rows.push_back({line.label, vx, vy});
    }
    if (line.line && through.size() > 1) {
        d.lines.push_back({std::move(through), role, 2.0, dashed});
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
        {{14.0, 20.0}, shortened(chart.title, most), ColourRole::text, kFontPx, 0.0, true});
    const double top = add_key(d, chart) + 14.0;
    d.texts.push_back({{14.0, top - 4.0}, chart.y_title, ColourRole::faint, kSmallPx});
    const ChartPlot plot{{kChartLeft, top + 4.0, d.canvas.width - kChartLeft - kChartRight,
                          std::max(d.canvas.height - top - 4.0 - kChartBelow, 40.0)},
                         range_of(chart, false),
                         range_of(chart, true)};
    d.canvas.height = std::max(d.canvas.height, plot.box.bottom() + kChartBelow);
    d.boxes.push_back({plot.box, ColourRole::plot, 1.0, false, ""});
    add_ticks(d, chart, plot);
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        add_line(d, chart.lines[i], plot, series_role(i), i >= kSeriesRoles);
    }
    for (const ChartMark& mark : chart.marks) {
        const double x = plot.x(mark.at), y = plot.y(mark.at);
        d.lines.push_back({mark.upright
                               ? std::vector<Place>{{x, plot.box.top}, {x, plot.box.bottom()}}
                               : std::vector<Place>{{plot.box.left, y}, {plot.box.right(), y}},
                           ColourRole::text, 1.0, true});
    }
    return d;
}

} // namespace eyeroof::study
