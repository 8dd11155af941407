#include "report/draw/linear_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {
constexpr double kTitleLeft = 14.0;
} // namespace

double LinearPlot::y(double value) const {
    const double share = std::clamp((value - y_min) / (y_max - y_min), 0.0, 1.0);
    return box.bottom() - box.height * share;
}

double round_step(double range, double most) {
    const double raw = range / most;
    const double unit = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double step : {1.0, 2.0, 5.0}) {
        if (raw <= step * unit * 1.0001) {
            return step * unit;
        }
    }
    return 10.0 * unit;
}

std::vector<double> round_ticks(double min, double max, double most) {
    std::vector<double> ticks;
    const double step = round_step(max - min, most);
    const auto first = static_cast<long>(std::ceil(min / step - 1e-9));
    for (long i = first; static_cast<double>(i) * step <= max + 1e-9 * step; ++i) {
        ticks.push_back(static_cast<double>(i) * step);
    }
    return ticks;
}

void add_axes(Drawing& d, const LinearPlot& plot, const std::vector<double>& x_ticks,
              const std::vector<std::string>& x_texts, const std::vector<double>& y_ticks,
              const std::string& x_title, const std::string& y_title) {
    const Box& box = plot.box;
    d.boxes.push_back({box, ColourRole::plot, 1.0, false, ""});
    for (std::size_t i = 0; i < x_ticks.size(); ++i) {
        const double x = plot.x(x_ticks[i]);
        const std::string text =
            x_texts.size() == x_ticks.size() ? x_texts[i] : fmt::format("{:.6g}", x_ticks[i]);
        d.lines.push_back({{{x, box.top}, {x, box.bottom()}}, ColourRole::grid});
        d.texts.push_back({{x, box.bottom() + 15.0}, text, ColourRole::faint, kSmallPx, 0.5});
    }
    for (const double tick : y_ticks) {
        const double y = plot.y(tick);
        d.lines.push_back({{{box.left, y}, {box.right(), y}}, ColourRole::grid});
        d.texts.push_back({{box.left - 6.0, y + 4.0},
                           fmt::format("{:.6g}", tick),
                           ColourRole::faint,
                           kSmallPx,
                           1.0});
    }
    d.texts.push_back({{box.left + box.width / 2.0, box.bottom() + 34.0},
                       x_title,
                       ColourRole::faint,
                       kFontPx,
                       0.5});
    d.texts.push_back({{kTitleLeft, box.top - 10.0}, y_title, ColourRole::faint, kFontPx});
}

void add_heading(Drawing& d, const std::string& title, const std::string& subtitle) {
    d.title = title + (subtitle.empty() ? "" : ": " + subtitle);
    const auto most = [&](double px) {
        return static_cast<std::size_t>(
            std::max(12.0, (d.canvas.width - 2.0 * kTitleLeft) / (px * 0.6)));
    };
    d.texts.push_back({{kTitleLeft, 22.0},
                       shortened(title, most(kFontPx + 2.0)),
                       ColourRole::text,
                       kFontPx + 2.0,
                       0.0,
                       true});
    d.texts.push_back(
        {{kTitleLeft, 40.0}, shortened(subtitle, most(kFontPx)), ColourRole::faint, kFontPx});
}

} // namespace eyeroof::report
