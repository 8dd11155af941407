#include "report/draw/roofline_text.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace eyeroof::report {

namespace {

constexpr std::size_t kTextRows = 20;   // of the plot
constexpr std::size_t kTextMargin = 14; // columns left of it, for the rates
constexpr std::size_t kLettered = 16;   // with a row of their own
constexpr std::string_view kLetters = "abcdefghijklmnop";

// A grid of characters over the ranges of the scene's axes.
class Grid {
  public:
    Grid(const PlotArea& area, std::size_t columns)
        : area_(area), columns_(columns),
          cells_(kTextRows, std::vector<std::string>(columns, " ")) {}

    std::size_t columns() const { return columns_; }
    double x_of(std::size_t column) const {
        return at(area_.x, (static_cast<double>(column) + 0.5) / static_cast<double>(columns_));
    }
    double y_of(std::size_t row) const {
        return at(area_.y, 1.0 - (static_cast<double>(row) + 0.5) / static_cast<double>(kTextRows));
    }
    // Nothing outside of the ranges.
    void put(double x, double y, const std::string& mark) {
        const double column = share(area_.x, x) * static_cast<double>(columns_);
        const double row = (1.0 - share(area_.y, y)) * static_cast<double>(kTextRows);
        if (column >= 0.0 && row >= 0.0 && column < static_cast<double>(columns_) &&
            row < static_cast<double>(kTextRows)) {
            cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
        }
    }
    std::string row(std::size_t row) const {
        std::string text;
        for (const std::string& cell : cells_[row]) {
            text += cell;
        }
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }

  private:
    static double at(const LogRange& range, double share) {
        return range.min * std::pow(range.max / range.min, share);
    }
    static double share(const LogRange& range, double value) {
        return std::log(value / range.min) / std::log(range.max / range.min);
    }

    PlotArea area_;
    std::size_t columns_;
    std::vector<std::vector<std::string>> cells_;
};

void draw_roofs(const RooflineScene& scene, Grid& grid) {
    for (const SceneRoof& roof : scene.roofs) {
        const bool memory = roof.roof.kind == analysis::RoofKind::memory;
        for (std::size_t column = 0; column < grid.columns(); ++column) {
            const double x = grid.x_of(column);
            if (x >= roof.from_x && x <= roof.to_x) {
                grid.put(x, roof.y_at(x), memory ? "/" : "─");
            }
        }
    }
}

// Rates at the left of every fifth row, intensities below.
std::string drawn(const Grid& grid) {
    std::string text;
    for (std::size_t row = 0; row < kTextRows; ++row) {
        const std::string label = row % 5 == 2 ? format_si(grid.y_of(row), "FLOP/s") : "";
        text += right(label, kTextMargin - 2) + " │" + grid.row(row) + "\n";
    }
    std::string axis;
    std::string labels = right("FLOP/B", kTextMargin - 2) + "  ";
    for (std::size_t column = 0; column < grid.columns(); ++column) {
        const bool tick = column % 15 == 7;
        axis += tick ? "┴" : "─";
        if (tick) {
            const double x = grid.x_of(column);
            const std::string label =
                x < 1000.0 ? fmt::format("{:.3g}", x) : fmt::format("{:.0f}", x);
            labels.resize(std::max(labels.size(), kTextMargin + column - label.size() / 2), ' ');
            labels += label;
        }
    }
    return text + std::string(kTextMargin - 1, ' ') + "└" + axis + "\n" + labels + "\n";
}

// Below which roofs the time is spent, and the point that loses most of it to its roof; empty where
// several machines or kinds of points share the plot.
std::string answer(const RooflineScene& scene, std::size_t columns) {
    struct Below {
        std::string roof;
        double share = 0.0, reached = 0.0;
    };
    std::vector<Below> below;
    double all = 0.0;
    const ScenePoint* worst = nullptr;
    const auto lost = [](const ScenePoint& p) { return p.share * (1.0 - p.of_bound); };
    for (const ScenePoint& point : scene.points) {
        auto at = std::find_if(below.begin(), below.end(),
                               [&](const Below& b) { return b.roof == point.roof; });
        at = at == below.end() ? below.insert(at, {point.roof, 0.0, 0.0}) : at;
        at->share += point.share;
        at->reached += point.share * point.of_bound;
        all += point.share;
        worst = worst == nullptr || lost(point) > lost(*worst) ? &point : worst;
    }
    if (worst == nullptr || worst->roof.empty() || all > 1.0 + 1e-6) {
        return {};
    }
    std::stable_sort(below.begin(), below.end(),
                     [](const Below& a, const Below& b) { return a.share > b.share; });
    std::string text;
    for (const Below& b : below) {
        text += fmt::format("{}{} for {:.0f} % of the time, at {:.0f} % of it",
                            text.empty() ? "Below " : "; ", b.roof, 100.0 * b.share,
                            b.share > 0.0 ? 100.0 * b.reached / b.share : 0.0);
    }
    text = wrapped(masked_controls(text), 0, columns);
    return text +
           wrapped(masked_controls(fmt::format(
                       "Largest gap: {}, {:.1f} % of the time at {:.1f} % of {}", worst->name,
                       100.0 * worst->share, 100.0 * worst->of_bound, worst->roof)),
                   0, columns);
}

} // namespace

std::string roofline_text(const RooflineScene& scene, std::size_t columns) {
    Grid grid(scene.area, columns - kTextMargin);
    draw_roofs(scene, grid);
    // Heaviest last: the letters go from there, and the heaviest is drawn over the others.
    const std::size_t lettered = std::min(scene.points.size(), kLettered);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const std::size_t rank = scene.points.size() - 1 - i;
        grid.put(scene.points[i].x, scene.points[i].y,
                 rank < lettered ? std::string(1, kLetters[rank]) : std::string("·"));
    }
    std::string text = wrapped(masked_controls(scene.title), 0, columns);
    text += scene.subtitle.empty() ? "" : wrapped(masked_controls(scene.subtitle), 0, columns);
    text += answer(scene, columns) + "\n" + drawn(grid);
    if (lettered == 0) {
        return text;
    }
    text += fmt::format("\n  {} {:>6} {:>11} {:>13} {:>8}  {}\n", left("point", 20), "time",
                        "FLOP/B", "rate", "of roof", "below");
    for (std::size_t rank = 0; rank < lettered; ++rank) {
        const ScenePoint& point = scene.points[scene.points.size() - 1 - rank];
        text += fmt::format("{} {} {:>5.1f}% {:>11.4g} {:>13} {:>7.1f}%  {}\n", kLetters[rank],
                            left(masked_controls(point.name), 20), 100.0 * point.share, point.x,
                            format_si(point.y, "FLOP/s"), 100.0 * point.of_bound,
                            left(masked_controls(point.roof),
                                 std::min<std::size_t>(14, display_width(point.roof))));
    }
    if (scene.points.size() > lettered) {
        text += fmt::format("and {} more; -o FILE.svg or FILE.html draws all\n",
                            scene.points.size() - lettered);
    }
    return text;
}

} // namespace eyeroof::report
