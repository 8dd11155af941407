#include "report/sweep/front_write.hpp"

#include "base/csv.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

std::string front_text(const analysis::SweptTable& table, const std::vector<analysis::Aim>& aims,
                       const std::vector<std::size_t>& front) {
    std::string text =
        fmt::format("{} of {} points are beaten by no other in", front.size(), table.rows.size());
    for (std::size_t i = 0; i < aims.size(); ++i) {
        text += fmt::format("{} {}{}", i == 0 ? "" : " and", aims[i].most ? "most " : "least ",
                            aims[i].column);
    }
    text += ".\n\n";
    std::vector<std::size_t> shown; // columns: the error is empty on a front
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c] != "error") {
            shown.push_back(c);
        }
    }
    const auto cell = [&](std::size_t row, std::size_t c) {
        const auto value = analysis::number_in(table.rows[row][c]);
        return value && *value != std::floor(*value) ? fmt::format("{:.5g}", *value)
                                                     : table.rows[row][c];
    };
    for (const std::size_t c : shown) {
        widths.push_back(table.columns[c].size());
        for (const std::size_t row : front) {
            widths.back() = std::max(widths.back(), cell(row, c).size());
        }
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
        text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", table.columns[shown[i]], widths[i]);
    }
    text += "\n";
    for (const std::size_t row : front) {
        for (std::size_t i = 0; i < shown.size(); ++i) {
            text += fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cell(row, shown[i]), widths[i]);
        }
        text += "\n";
    }
    return text;
}

std::string front_plot_svg(const analysis::SweptTable& table,
                           const std::vector<analysis::Aim>& aims,
                           const std::vector<std::size_t>& front, const std::string& title) {
    constexpr std::size_t kMostDots = 20'000; // a picture of more is a blot, and slow
    const auto place = [&](std::size_t row) {
        const auto x = analysis::number_in(table.rows[row][*table.column(aims[0].column)]);
        const auto y = analysis::number_in(table.rows[row][*table.column(aims[1].column)]);
        return x && y && *x > 0.0 && *y > 0.0 ? std::optional(std::pair(*x, *y)) : std::nullopt;
    };
    ChartLine points{"points", {}, false, true, false};
    const std::size_t every = table.rows.size() / kMostDots + 1;
    for (std::size_t row = 0; row < table.rows.size(); row += every) {
        if (const auto at = place(row)) {
            points.points.push_back(*at);
        }
    }
    ChartLine best{"front", {}, aims.size() == 2 && !aims[0].most && !aims[1].most, true};
    for (const std::size_t row : front) {
        if (const auto at = place(row)) {
            best.points.push_back(*at);
        }
    }
    Chart chart;
    chart.title = title;
    chart.x_title = aims[0].column;
    chart.y_title = aims[1].column;
    chart.lines = {points, best};
    return chart_svg(chart);
}

} // namespace eyeroof::report
