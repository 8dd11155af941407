#include "study/scene/break_even_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr double kLeft = 58.0, kRight = 16.0, kTop = 68.0, kBottom = 44.0;
constexpr double kSmall = 11.0;
constexpr double kMostCost = 2.0; // the top of the plot: twice as dear as staying
constexpr double kStrip = 2.0;    // pixels of one strip of the band

struct Frame {
    Box box;
    double most_x = 1.0;

    double x(double ratio) const { return box.left + box.width * ratio / most_x; }
    double y(double cost) const {
        return box.bottom() - box.height * std::clamp(cost, 0.0, kMostCost) / kMostCost;
    }
};

double tick_step(double most) {
    const double raw = most / 6.0;
    const double unit = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double step : {1.0, 2.0, 5.0}) {
        if (raw <= step * unit) {
            return step * unit;
        }
    }
    return 10.0 * unit;
}

void add_axes(Drawing& d, const Frame& frame) {
    d.boxes.push_back({frame.box, ColourRole::plot, 1.0, false, ""});
    const double step = tick_step(frame.most_x);
    for (double ratio = 0.0; ratio <= frame.most_x * 1.0001; ratio += step) {
        const double x = frame.x(ratio);
        d.lines.push_back({{{x, frame.box.top}, {x, frame.box.bottom()}}, ColourRole::grid});
        d.texts.push_back({{x, frame.box.bottom() + 15.0},
                           fmt::format("{:g}", std::round(ratio * 1000.0) / 1000.0),
                           ColourRole::faint,
                           kSmall,
                           0.5});
    }
    for (const double cost : {0.0, 0.5, 1.0, 1.5, 2.0}) {
        const double y = frame.y(cost);
        d.lines.push_back({{{frame.box.left, y}, {frame.box.right(), y}}, ColourRole::grid});
        d.texts.push_back({{frame.box.left - 6.0, y + 4.0},
                           fmt::format("{:g}", cost),
                           ColourRole::faint,
                           kSmall,
                           1.0});
    }
    d.texts.push_back({{frame.box.left + frame.box.width / 2.0, frame.box.bottom() + 34.0},
                       "Hourly price of the new GPU / price of the old one",
                       ColourRole::faint,
                       kFontPx,
                       0.5});
    d.texts.push_back(
        {{12.0, kTop - 10.0}, "Cost of a run / cost of staying", ColourRole::faint, kFontPx});
}

void add_band(Drawing& d, const Frame& frame, const Interval& speedup) {
    for (double x = frame.box.left; x < frame.box.right(); x += kStrip) {
        const double ratio = (x + kStrip / 2.0 - frame.box.left) / frame.box.width * frame.most_x;
        const double top = frame.y(ratio / speedup.low);
        const double bottom = frame.y(ratio / speedup.high);
        if (bottom > top) {
            d.boxes.push_back({{x, top, std::min(kStrip, frame.box.right() - x), bottom - top},
                               ColourRole::series1,
                               0.22});
        }
    }
    const double end = std::min(frame.most_x, kMostCost * speedup.value);
    d.lines.push_back({{{frame.x(0.0), frame.y(0.0)}, {frame.x(end), frame.y(end / speedup.value)}},
                       ColourRole::series1,
                       2.0});
}

void add_marks(Drawing& d, const Frame& frame, const Upgrade& u) {
    const double one = frame.y(1.0);
    d.lines.push_back({{{frame.box.left, one}, {frame.box.right(), one}}, ColourRole::text, 1.4});
    d.texts.push_back(
        {{frame.box.left + 6.0, one - 5.0}, "as dear as staying", ColourRole::text, kSmall});
    const double even = frame.x(u.speedup.value);
    d.lines.push_back({{{even, one}, {even, frame.box.bottom()}}, ColourRole::series1, 1.2, true});
    d.texts.push_back({{even - 5.0, frame.box.bottom() - 6.0},
                       fmt::format("breaks even at {:.2f}", u.speedup.value),
                       ColourRole::text,
                       kSmall,
                       even > frame.box.left + frame.box.width / 2.0 ? 1.0 : 0.0});
    if (!u.money.priced) {
        return;
    }
    const double ratio = u.money.break_even_speedup;
    const double cost = ratio / u.speedup.value;
    const double x = frame.x(ratio);
    const double y = frame.y(cost);
    d.lines.push_back({{{x, frame.box.top}, {x, frame.box.bottom()}}, ColourRole::series2, 1.6});
    d.boxes.push_back(
        {{x - 4.5, y - 4.5, 9.0, 9.0},
         ColourRole::series2,
         1.0,
         false,
         fmt::format("at these prices a run costs {:.0f} % of what it does now", 100.0 * cost)});
    const std::string told =
        fmt::format("prices: {:.2f}, {:.0f} % of the cost", ratio, 100.0 * cost);
    const double room = text_width(told, kSmall) + 12.0;
    const bool left = x + room > frame.box.right() && x - room > frame.box.left;
    d.texts.push_back({{x + (left ? -9.0 : 9.0), frame.box.top + 14.0},
                       told,
                       ColourRole::text,
                       kSmall,
                       left ? 1.0 : 0.0,
                       true});
}

} // namespace

Drawing make_break_even(const Upgrade& u, const Canvas& canvas) {
    Drawing d;
    d.canvas = {std::max(canvas.width, 260.0), std::max(canvas.height, 180.0)};
    Frame frame;
    frame.box = {kLeft, kTop, d.canvas.width - kLeft - kRight, d.canvas.height - kTop - kBottom};
    frame.most_x =
        1.35 * std::max({u.speedup.high, 1.2, u.money.priced ? u.money.break_even_speedup : 1.0});
    d.title = fmt::format("{} on {} against {}", u.network, u.to, u.from);
    d.texts.push_back({{12.0, 20.0}, u.network, ColourRole::text, kFontPx + 1.0, 0.0, true});
    d.texts.push_back(
        {{12.0, 36.0}, fmt::format("{} against {}", u.to, u.from), ColourRole::faint, kFontPx});
    add_axes(d, frame);
    add_band(d, frame, u.speedup);
    add_marks(d, frame, u);
    return d;
}

} // namespace eyeroof::study
