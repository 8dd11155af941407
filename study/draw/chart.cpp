#include "study/draw/chart.hpp"

#include "study/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace eyeroof::study {

namespace {

constexpr double kWidth = 820.0, kHeight = 440.0;
constexpr double kLeft = 84.0, kRight = 230.0, kTop = 46.0, kBottom = 60.0;
constexpr double kLineHeight = 17.0;
// Told apart by readers with any colour vision (Okabe and Ito).
constexpr std::array<const char*, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                 "#cc79a7", "#e69f00", "#56b4e9"};

// Where colours come again, dashes tell lines apart.
constexpr std::array<const char*, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

struct Stroke {
    const char* colour;
    const char* dashes;

    explicit Stroke(std::size_t line)
        : colour(kColours[line % kColours.size()]),
          dashes(kDashes[line / kColours.size() % kDashes.size()]) {}
    std::string attributes(int width) const {
        return fmt::format("stroke=\"{}\" stroke-width=\"{}\"{}", colour, width,
                           *dashes == 0 ? std::string()
                                        : fmt::format(" stroke-dasharray=\"{}\"", dashes));
    }
};

struct Frame {
    LogRange xs;
    LogRange ys;

    double x(double value) const {
        return kLeft + (kWidth - kLeft - kRight) * std::clamp(to_unit(xs, value), 0.0, 1.0);
    }
    double y(double value) const {
        return kHeight - kBottom -
               (kHeight - kTop - kBottom) * std::clamp(to_unit(ys, value), 0.0, 1.0);
    }
};

// What is shown, and a little around it.
LogRange around(double least, double most) {
    constexpr double margin = 1.06;
    return least > most ? LogRange{} : legal({least / margin, most * margin});
}

Frame frame_of(const Chart& chart) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    std::array<double, 4> ends = {inf, 0.0, inf, 0.0};
    const auto take = [](double value, double& least, double& most) {
        if (value > 0.0) {
            least = std::min(least, value);
            most = std::max(most, value);
        }
    };
    for (const ChartLine& line : chart.lines) {
        for (const auto& [x, y] : line.points) {
            take(x, ends[0], ends[1]);
            take(y, ends[2], ends[3]);
        }
    }
    for (const ChartMark& mark : chart.marks) {
        const std::size_t axis = mark.upright ? 0 : 2;
        take(mark.at, ends[axis], ends[axis + 1]);
    }
    return {around(ends[0], ends[1]), around(ends[2], ends[3])};
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, svg_escape(text));
}

std::string axes(const Chart& chart, const Frame& frame) {
    std::string svg;
    for (const Tick& tick : ticks_of(frame.xs, 7, chart.x_ticks)) {
        const double x = frame.x(tick.value);
        svg += fmt::format("<path d=\"M{0:.1f},{1}V{2}\" stroke=\"{3}\"/>\n", x, kTop,
                           kHeight - kBottom, tick.label.empty() ? "#f2f2f2" : "#dddddd");
        svg += tick.label.empty() ? "" : text_at(x, kHeight - kBottom + 18, "middle", tick.label);
    }
    for (const Tick& tick : ticks_of(frame.ys, 6, chart.y_ticks)) {
        const double y = frame.y(tick.value);
        svg += fmt::format("<path d=\"M{0},{1:.1f}H{2}\" stroke=\"{3}\"/>\n", kLeft, y,
                           kWidth - kRight, tick.label.empty() ? "#f2f2f2" : "#dddddd");
        svg += tick.label.empty() ? "" : text_at(kLeft - 8, y + 4, "end", tick.label);
    }
    svg += fmt::format("<path d=\"M{0},{1}V{2}H{3}\" fill=\"none\" stroke=\"#444444\"/>\n", kLeft,
                       kTop, kHeight - kBottom, kWidth - kRight);
    svg += text_at((kLeft + kWidth - kRight) / 2, kHeight - 18, "middle", chart.x_title);
    svg += fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" "
                       "text-anchor=\"middle\">{}</text>\n",
                       (kTop + kHeight - kBottom) / 2, svg_escape(chart.y_title));
    return svg;
}

std::string drawn(const ChartLine& line, const Frame& frame, const Stroke& stroke, double key_y) {
    std::string path;
    std::string dots;
    for (const auto& [vx, vy] : line.points) {
        const double x = frame.x(vx);
        const double y = frame.y(vy);
        path += path.empty()  ? fmt::format("M{:.1f},{:.1f}", x, y)
                : line.stairs ? fmt::format("H{:.1f}V{:.1f}", x, y)
                              : fmt::format("L{:.1f},{:.1f}", x, y);
        dots += line.dots ? fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" "
                                        "fill=\"{}\"/>\n",
                                        x, y, stroke.colour)
                          : std::string();
    }
    const std::string joined =
        line.line ? fmt::format("<path d=\"{}\" fill=\"none\" {}/>\n", path, stroke.attributes(2))
                  : std::string();
    return joined + dots +
           fmt::format("<path d=\"M{:.1f},{:.1f}h18\" {}/>\n", kWidth - kRight + 14, key_y - 4,
                       stroke.attributes(3)) +
           text_at(kWidth - kRight + 38, key_y, "start", line.label);
}

std::string marked(const ChartMark& mark, const Frame& frame, double key_y) {
    const std::string path =
        mark.upright ? fmt::format("M{:.1f},{}V{}", frame.x(mark.at), kTop, kHeight - kBottom)
                     : fmt::format("M{},{:.1f}H{}", kLeft, frame.y(mark.at), kWidth - kRight);
    return fmt::format("<path d=\"{}\" stroke=\"#222222\" stroke-dasharray=\"{}\"/>\n", path,
                       mark.upright ? "2 4" : "7 4") +
           fmt::format("<path d=\"M{:.1f},{:.1f}h18\" stroke=\"#222222\" "
                       "stroke-dasharray=\"{}\"/>\n",
                       kWidth - kRight + 14, key_y - 4, mark.upright ? "2 4" : "7 4") +
           text_at(kWidth - kRight + 38, key_y, "start", mark.label);
}

} // namespace

std::string chart_svg(const Chart& chart) {
    const Frame frame = frame_of(chart);
    const auto entries = static_cast<double>(chart.lines.size() + chart.marks.size());
    const double height = std::max(kHeight, kTop + 12 + kLineHeight * entries); // a long key
    std::string svg =
        fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                    "viewBox=\"0 0 {0} {1}\" font-family=\"Arial, 'Liberation Sans', 'DejaVu "
                    "Sans', sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
                    "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                    kWidth, height, svg_escape(chart.title));
    svg += fmt::format("<text x=\"{}\" y=\"26\" font-size=\"15\">{}</text>\n", kLeft,
                       svg_escape(chart.title));
    svg += axes(chart, frame);
    double key_y = kTop + 12;
    for (std::size_t i = 0; i < chart.lines.size(); ++i) {
        svg += drawn(chart.lines[i], frame, Stroke(i), key_y);
        key_y += kLineHeight;
    }
    for (const ChartMark& mark : chart.marks) {
        svg += marked(mark, frame, key_y);
        key_y += kLineHeight;
    }
    return svg + "</svg>\n";
}

} // namespace eyeroof::study
