#include "report/sweep/front_write.hpp"

#include "base/csv.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

namespace eyeroof::report {

namespace {

constexpr std::size_t kSweptRows = 40;
constexpr std::size_t kCellColumns = 24; // of a name, at most

struct Figure {
    const char* column;
    const char* name;
    const char* unit;
};
constexpr std::array<Figure, 6> kFigures = {{{"time_s", "time", "s"},
                                             {"energy_j", "energy", "J"},
                                             {"edp_js", "EDP", "J s"},
                                             {"outer_bytes", "traffic", "B"},
                                             {"macs", "MACs", ""},
                                             {"utilization", "util.", "%"}}};

const Figure* figure_of(const std::string& column) {
    const auto* const found = std::find_if(kFigures.begin(), kFigures.end(),
                                           [&](const Figure& f) { return column == f.column; });
    return found == kFigures.end() ? nullptr : found;
}

std::string shown(const std::string& column, const std::string& cell) {
    const Figure* figure = figure_of(column);
    const auto value = analysis::number_in(cell);
    if (figure == nullptr || !value) {
        return left(masked_controls(cell), std::min(kCellColumns, display_width(cell)));
    }
    return *figure->unit == '%' ? fmt::format("{:.1f} %", 100.0 * *value)
                                : format_si(*value, figure->unit);
}

// Columns that a table shows: not the product of two others, nor an error that no row has.
std::vector<std::size_t> shown_columns(const analysis::SweptTable& table) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const bool empty = std::all_of(table.rows.begin(), table.rows.end(),
                                       [&](const auto& row) { return row[c].empty(); });
        if (!empty && table.columns[c] != "edp_js" && table.columns[c] != "macs") {
            columns.push_back(c);
        }
    }
    return columns;
}

// Where points do different amounts of work, a figure is compared for each MAC.
bool work_varies(const analysis::SweptTable& table) {
    const std::size_t macs = table.column("macs").value_or(0);
    return macs > 0 && std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
               return !row[macs].empty() && row[macs] != table.rows.front()[macs];
           });
}

// "Shortest time: point 6 (axis_kernel 64, batch 1), 1.66 ms in all"; empty where no point has the
// figure.
std::string best_text(const analysis::SweptTable& table, const char* column,
                      const std::string& name) {
    const auto c = table.column(column);
    const bool per_mac = work_varies(table);
    const std::size_t macs = table.column("macs").value_or(0);
    const auto value_of = [&](std::size_t row) -> std::optional<double> {
        const auto value = analysis::number_in(table.rows[row][*c]);
        const auto work = per_mac ? analysis::number_in(table.rows[row][macs]) : std::optional(1.0);
        return value && work && *value > 0.0 && *work > 0.0 ? std::optional(*value / *work)
                                                            : std::nullopt;
    };
    std::optional<std::size_t> best;
    for (std::size_t row = 0; c && row < table.rows.size(); ++row) {
        const auto value = value_of(row);
        best = value && (!best || *value < *value_of(*best)) ? std::optional(row) : best;
    }
    if (!best) {
        return {};
    }
    std::string fields;
    for (std::size_t i = 1; i < table.columns.size() && figure_of(table.columns[i]) == nullptr;
         ++i) {
        fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", table.columns[i],
                              shown(table.columns[i], table.rows[*best][i]));
    }
    return wrapped(fmt::format("{}{}: point {} ({}), {} in all", name, per_mac ? " per MAC" : "",
                               table.rows[*best].front(), fields,
                               shown(column, table.rows[*best][*c])),
                   0, kTextColumns);
}

} // namespace

// The rows as a table: figures with their units, everything else as it is.
static std::string rows_text(const analysis::SweptTable& table,
                             const std::vector<std::size_t>& rows) {
    const std::vector<std::size_t> columns = shown_columns(table);
    std::vector<std::size_t> widths;
    for (const std::size_t c : columns) {
        const Figure* figure = figure_of(table.columns[c]);
        widths.push_back(figure == nullptr ? table.columns[c].size() : std::strlen(figure->name));
        for (const std::size_t row : rows) {
            widths.back() =
                std::max(widths.back(), display_width(shown(table.columns[c], table.rows[row][c])));
        }
    }
    std::string text;
    const auto line = [&](const auto& cell) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += (i == 0 ? "" : "  ") + right(cell(columns[i]), widths[i]);
        }
        text += "\n";
    };
    line([&](std::size_t c) {
        const Figure* figure = figure_of(table.columns[c]);
        return figure == nullptr ? table.columns[c] : std::string(figure->name);
    });
    for (const std::size_t row : rows) {
        line([&](std::size_t c) { return shown(table.columns[c], table.rows[row][c]); });
    }
    return text;
}

std::string sweep_text(const analysis::SweptTable& table, const std::string& words) {
    std::string text =
        wrapped(masked_controls(words), 0, kTextColumns) +
        best_text(table, "time_s", "Shortest time") + best_text(table, "energy_j", "Least energy") +
        fmt::format("{} point{}\n\n", table.rows.size(), table.rows.size() == 1 ? "" : "s");
    std::vector<std::size_t> rows(std::min(table.rows.size(), kSweptRows));
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    text += rows_text(table, rows);
    return text + (rows.size() < table.rows.size()
                       ? fmt::format("and {} more; --format csv has all\n",
                                     table.rows.size() - rows.size())
                       : std::string());
}

std::string front_text(const analysis::SweptTable& table, const std::vector<analysis::Aim>& aims,
                       const std::vector<std::size_t>& front) {
    std::string text =
        fmt::format("{} of {} points are on the Pareto front of", front.size(), table.rows.size());
    for (std::size_t i = 0; i < aims.size(); ++i) {
        text += fmt::format("{} {}{}", i == 0 ? "" : " and", aims[i].most ? "most " : "least ",
                            aims[i].column);
    }
    text += ".\n\n";
    return text + rows_text(table, front);
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
