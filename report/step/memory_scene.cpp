#include "base/units.hpp"
#include "report/draw/linear_plot.hpp"
#include "report/step/step_scenes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr double kCurveLeft = 84.0, kCurveTop = 40.0, kCurveRight = 16.0, kCurveBelow = 26.0;
constexpr double kKeyWidth = 150.0, kKeyLine = 17.0, kKeyGap = 14.0;
constexpr double kTitleLeft = 14.0, kKeyAbove = 40.0; // the baseline of a key above the curve
// Bottom to top: what stays, then what comes and goes.
constexpr std::array<std::size_t, analysis::step::kHolders> kOrder = {2, 3, 1, 6, 0, 4, 5, 7};

std::string bytes_text(double bytes) {
    return format_si(bytes, "B", 4);
}

ColourRole role_of(std::size_t place) {
    return series_role(place);
}

struct Curve {
    Box box;
    double top; // bytes

    double y(double bytes) const {
        return box.bottom() - box.height * std::clamp(bytes / top, 0.0, 1.0);
    }
};

void add_row(Drawing& d, const std::string& name, const analysis::step::Bytes& bytes) {
    std::vector<DrawnTable::Cell> row = {name,
                                         static_cast<double>(analysis::step::total_of(bytes))};
    for (const Count count : bytes) {
        row.emplace_back(static_cast<double>(count));
    }
    d.figures.rows.push_back(std::move(row));
}

std::size_t bars_of(const MemoryReport& r, const Curve& plot) {
    return std::min(r.memory().at.size(), static_cast<std::size_t>(std::max(plot.box.width, 1.0)));
}

// The operator of a bar: that which holds most of those that share the pixel.
std::size_t operator_of(const MemoryReport& r, std::size_t bar, std::size_t bars) {
    const auto n = r.memory().at.size();
    const std::size_t from = bar * n / bars, to = std::max((bar + 1) * n / bars, from + 1);
    std::size_t most = from;
    for (std::size_t i = from; i < to; ++i) {
        most = analysis::step::total_of(r.memory().at[i]) >
                       analysis::step::total_of(r.memory().at[most])
                   ? i
                   : most;
    }
    return most;
}

void add_bars(Drawing& d, const MemoryReport& r, const Curve& plot) {
    const std::size_t bars = bars_of(r, plot);
    for (std::size_t bar = 0; bar < bars; ++bar) {
        const std::size_t most = operator_of(r, bar, bars);
        // at whole pixels: between two edges within one the ground would shine through
        const auto edge = [&](std::size_t i) {
            return std::round(plot.box.left +
                              plot.box.width * static_cast<double>(i) / static_cast<double>(bars));
        };
        const double left = edge(bar);
        const double width = edge(bar + 1) - left;
        const std::string name = r.graph().name_of(r.graph().operators[most]);
        add_row(d, name, r.memory().at[most]);
        double below = 0.0;
        for (std::size_t k = 0; k < kOrder.size(); ++k) {
            const auto bytes = static_cast<double>(r.memory().at[most][kOrder[k]]);
            if (bytes > 0.0) {
                const double high = plot.y(below + bytes), low = plot.y(below);
                d.boxes.push_back(
                    {{left, high, width, low - high},
                     role_of(k),
                     0.85,
                     false,
                     fmt::format("{}: {} of {}, {} in all", name, bytes_text(bytes),
                                 analysis::step::holder_text(kOrder[k]),
                                 bytes_text(static_cast<double>(
                                     analysis::step::total_of(r.memory().at[most]))))});
                below += bytes;
            }
        }
    }
}

// Right of the curve, or, where that would leave the curve no room, above it.
bool key_is_beside(const Canvas& canvas) {
    return canvas.width > 480.0;
}

// Who holds something at any time, from `from` on: one below the other, or line by line as wide as
// the canvas. Returns the last baseline; the places go to `place`, which takes what stands in
// kOrder, the box's left and the baseline.
template <class Put>
double each_key(const MemoryReport& r, const Canvas& canvas, Place from, const Put& put) {
    Place at = from;
    bool first = true;
    for (std::size_t k = 0; k < kOrder.size(); ++k) {
        const std::size_t holder = kOrder[k];
        if (std::none_of(r.memory().at.begin(), r.memory().at.end(),
                         [&](const analysis::step::Bytes& bytes) { return bytes[holder] > 0; })) {
            continue;
        }
        const double width = 16.0 + text_width(analysis::step::holder_text(holder), kSmallPx);
        if (!first && (key_is_beside(canvas) || at.x + width > canvas.width - kCurveRight)) {
            at = {from.x, at.y + kKeyLine};
        }
        first = false;
        put(k, at);
        at.x += width + kKeyGap;
    }
    return at.y;
}

void add_key(Drawing& d, const MemoryReport& r, Place from) {
    each_key(r, d.canvas, from, [&](std::size_t k, Place at) {
        d.boxes.push_back({{at.x, at.y - 9.0, 10.0, 10.0}, role_of(k), 0.85, false, ""});
        d.texts.push_back({{at.x + 16.0, at.y},
                           std::string(analysis::step::holder_text(kOrder[k])),
                           ColourRole::text,
                           kSmallPx});
    });
}

void add_scale(Drawing& d, const MemoryReport& r, const Curve& plot) {
    for (const double bytes : round_ticks(0.0, plot.top, plot.box.height > 150.0 ? 5.0 : 3.0)) {
        const double y = plot.y(bytes);
        d.lines.push_back({{{plot.box.left, y}, {plot.box.right(), y}}, ColourRole::grid});
        d.texts.push_back(
            {{plot.box.left - 6.0, y + 4.0}, bytes_text(bytes), ColourRole::faint, kSmallPx, 1.0});
    }
    if (r.limit > 0 && static_cast<double>(r.limit) <= plot.top) {
        const double y = plot.y(static_cast<double>(r.limit));
        d.lines.push_back(
            {{{plot.box.left, y}, {plot.box.right(), y}}, ColourRole::warning, 1.5, Dash::dashes});
        d.texts.push_back({{plot.box.left + 6.0, y + 13.0},
                           "there are " + bytes_text(static_cast<double>(r.limit)),
                           ColourRole::text,
                           kSmallPx,
                           0.0,
                           false,
                           true});
    }
    d.texts.push_back({{plot.box.left, plot.box.bottom() + 17.0},
                       "operators in the order of issue",
                       ColourRole::faint,
                       kSmallPx});
}

Canvas canvas_of(const Canvas& canvas) {
    return {std::max(canvas.width, 300.0), std::max(canvas.height, 110.0)};
}

// The limit is part of the picture unless the curve would be a line at its bottom.
Curve curve_of(const MemoryReport& r, const Canvas& canvas) {
    const auto peak = static_cast<double>(r.memory().peak), limit = static_cast<double>(r.limit);
    const double top = limit < 10.0 * peak ? std::max(peak, limit) * 1.05 : peak * 1.1;
    const bool beside = key_is_beside(canvas);
    const double from =
        beside ? kCurveTop
               : each_key(r, canvas, {kTitleLeft, kKeyAbove}, [](std::size_t, Place) {}) + 12.0;
    return {{kCurveLeft, from, canvas.width - kCurveLeft - kCurveRight - (beside ? kKeyWidth : 0.0),
             std::max(canvas.height - from - kCurveBelow, 20.0)},
            std::max(top, 1.0)};
}

} // namespace

Drawing draw_memory(const MemoryReport& r, const Canvas& canvas) {
    Drawing d;
    d.canvas = canvas_of(canvas);
    const auto peak = static_cast<double>(r.memory().peak), limit = static_cast<double>(r.limit);
    d.title = fmt::format("{} on {}: peak {} of {}", r.graph().name, r.report.machine.id,
                          bytes_text(peak), bytes_text(limit));
    const auto most = static_cast<std::size_t>(std::max(12.0, (d.canvas.width - 32.0) / 8.5));
    d.texts.push_back(
        {{14.0, 22.0}, shortened(d.title, most), ColourRole::text, kFontPx, 0.0, true});
    const Curve plot = curve_of(r, d.canvas);
    d.boxes.push_back({plot.box, ColourRole::plot, 1.0, false, ""});
    d.figures.columns = {"operator", "bytes"};
    for (std::size_t holder = 0; holder < analysis::step::kHolders; ++holder) {
        std::string key(analysis::step::holder_text(holder));
        std::replace(key.begin(), key.end(), ' ', '_');
        d.figures.columns.push_back(key + "_bytes");
    }
    add_bars(d, r, plot);
    add_scale(d, r, plot);
    add_key(d, r,
            key_is_beside(d.canvas) ? Place{plot.box.right() + 14.0, kCurveTop + 10.0}
                                    : Place{kTitleLeft, kKeyAbove});
    return d;
}

std::optional<analysis::step::OperatorId> operator_at(const MemoryReport& r, const Canvas& canvas,
                                                      Place place) {
    const Curve plot = curve_of(r, canvas_of(canvas));
    const std::size_t bars = bars_of(r, plot);
    const double share = (place.x - plot.box.left) / plot.box.width;
    if (bars == 0 || share < 0.0 || share >= 1.0 || place.y < plot.box.top ||
        place.y > plot.box.bottom()) {
        return std::nullopt;
    }
    const auto bar =
        std::min(static_cast<std::size_t>(share * static_cast<double>(bars)), bars - 1);
    return static_cast<analysis::step::OperatorId>(operator_of(r, bar, bars));
}

} // namespace eyeroof::report
