#include "report/diff/added_bars.hpp"

#include "analysis/diff/both_sides.hpp"
#include "report/draw/fitted_text.hpp"
#include "report/draw/linear_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr double kWidth = 900.0;
constexpr double kNames = 260.0; // left of the bars
constexpr double kValues = 90.0; // beside a bar, on either side
constexpr double kRow = 20.0;
constexpr double kTop = 58.0;

double longest(const std::vector<AddedTime>& added) {
    double most = 0.0;
    for (const AddedTime& one : added) {
        most = std::max(most, std::abs(one.seconds));
    }
    return most;
}

void add_bar(const AddedTime& one, double middle, double width, double top, Drawing& d) {
    const bool slower = one.seconds > 0.0;
    const double left = slower ? middle : middle - width;
    const ColourRole role = slower ? ColourRole::warning : ColourRole::series3;
    d.boxes.push_back({{left, top + 4.0, width, kRow - 8.0}, role, 1.0, false, one.tip});
    d.texts.push_back({{kNames, top + 14.0},
                       fitted(one.name, kFontPx, kNames - 14.0),
                       ColourRole::text,
                       kFontPx,
                       1.0});
    d.texts.push_back({{slower ? left + width + 6.0 : left - 6.0, top + 14.0},
                       analysis::added_text(one.seconds),
                       ColourRole::faint,
                       kSmallPx,
                       slower ? 0.0 : 1.0});
}

} // namespace

Drawing added_bars(std::vector<AddedTime> added, const std::string& title, std::size_t most) {
    std::stable_sort(added.begin(), added.end(), [](const AddedTime& a, const AddedTime& b) {
        return std::abs(a.seconds) > std::abs(b.seconds);
    });
    const std::size_t shown = std::min(most, added.size());
    double rest = 0.0;
    for (std::size_t i = shown; i < added.size(); ++i) {
        rest += added[i].seconds;
    }
    Drawing d;
    d.canvas = {kWidth, kTop + kRow * static_cast<double>(shown) + 14.0};
    add_heading(d, title,
                shown < added.size() ? fmt::format("{} of {}; the others {} together", shown,
                                                   added.size(), analysis::added_text(rest))
                                     : "longer to the right, shorter to the left");
    const double room = (kWidth - kNames - 2.0 * kValues) / 2.0;
    const double middle = kNames + kValues + room;
    const double scale = longest(added);
    d.figures.columns = {"name", "added_s"};
    for (std::size_t i = 0; i < shown && scale > 0.0; ++i) {
        const double width = std::max(1.0, room * std::abs(added[i].seconds) / scale);
        add_bar(added[i], middle, width, kTop + kRow * static_cast<double>(i), d);
        d.figures.rows.push_back({added[i].name, added[i].seconds});
    }
    d.lines.push_back(
        {{{middle, kTop}, {middle, d.canvas.height - 10.0}}, ColourRole::frame, 1.0, Dash::whole});
    return d;
}

} // namespace eyeroof::report
