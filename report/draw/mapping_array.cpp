#include "report/draw/mapping_sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

constexpr double kMostArrayHeight = 230.0;
constexpr double kFine = 3.0; // cells below this many pixels are drawn in runs

std::string activity_text(double share) {
    return share <= 0.0  ? "idle"
           : share < 1.0 ? fmt::format("active in {:.1f} % of the steps", 100.0 * share)
                         : "active in every step";
}

void paint_cell(MappingPage& page, const Box& box, double share) {
    const bool idle = share <= 0.0;
    const bool partial = !idle && share < 1.0;
    page.box(box,
             idle      ? ColourRole::grid
             : partial ? ColourRole::series2
                       : ColourRole::series1,
             idle      ? 1.0
             : partial ? 0.35 + 0.65 * share
                       : 1.0,
             activity_text(share));
}

// Small cells of equal activity become one box.
void add_cells(MappingPage& page, const ArrayWork& work, double left, double cell_x,
               double cell_y) {
    const bool fine = std::min(cell_x, cell_y) < kFine;
    const double gap = fine ? 0.0 : std::min(1.5, std::min(cell_x, cell_y) * 0.12);
    for (Count row = 0; row < work.rows;) {
        Count rows = 1;
        const auto same_row = [&](Count other) {
            const auto begin =
                work.active.begin() + static_cast<std::ptrdiff_t>(row * work.columns);
            const auto there =
                work.active.begin() + static_cast<std::ptrdiff_t>(other * work.columns);
            return std::equal(begin, begin + static_cast<std::ptrdiff_t>(work.columns), there);
        };
        while (fine && row + rows < work.rows && same_row(row + rows)) {
            ++rows;
        }
        for (Count column = 0; column < work.columns;) {
            const double share = work.at(column, row);
            Count columns = 1;
            while (fine && column + columns < work.columns &&
                   work.at(column + columns, row) == share) {
                ++columns;
            }
            paint_cell(page,
                       {left + static_cast<double>(column) * cell_x + gap / 2.0,
                        page.y + static_cast<double>(row) * cell_y + gap / 2.0,
                        static_cast<double>(columns) * cell_x - gap,
                        static_cast<double>(rows) * cell_y - gap},
                       share);
            const bool one = columns == 1 && rows == 1;
            page.figure(one ? "unit" : "units",
                        one ? fmt::format("column {} row {}", column, row)
                            : fmt::format("columns {} to {} rows {} to {}", column,
                                          column + columns - 1, row, row + rows - 1),
                        "share of steps active", share);
            column += columns;
        }
        row += rows;
    }
}

void count_units(const ArrayWork& work, MappingScene& scene) {
    for (const double share : work.active) {
        (share <= 0.0 ? scene.idle : share < 1.0 ? scene.sometimes : scene.always) += 1;
        scene.averaged += share;
    }
}

} // namespace

void add_array(MappingPage& page, const ArrayWork& work, MappingScene& scene) {
    page.heading(fmt::format("Array of {} x {} units", work.columns, work.rows));
    if (work.active.empty()) {
        return page.line("too large to draw", 0.0, ColourRole::faint);
    }
    count_units(work, scene);
    const double cell = std::min({page.inner() / static_cast<double>(work.columns),
                                  kMostArrayHeight / static_cast<double>(work.rows), 22.0});
    // very flat arrays get taller cells, so that there is something to see
    const double cell_y =
        std::max(cell, std::min(14.0, kMostArrayHeight / 4.0 / static_cast<double>(work.rows)));
    page.y += 4.0;
    add_cells(page, work, MappingPage::kRim, cell, cell_y);
    page.y += cell_y * static_cast<double>(work.rows) + 2.0;
    if (!work.column_axes.empty()) {
        page.line(fmt::format("columns: {}{}", work.column_axes,
                              work.row_axes.empty() ? "" : "; rows: " + work.row_axes),
                  0.0, ColourRole::faint);
    }
    page.legend({{ColourRole::series1, 1.0, fmt::format("{} in every step", scene.always)},
                 {ColourRole::series2, 0.7, fmt::format("{} fragmented", scene.sometimes)},
                 {ColourRole::grid, 1.0, fmt::format("{} idle", scene.idle)}});
    scene.summary = fmt::format(
        "{} of {} units work in every step, {} in some, {} never; {:.1f} on average over {} steps",
        scene.always, work.active.size(), scene.sometimes, scene.idle, scene.averaged, work.steps);
    page.line(
        fmt::format("{:.1f} units active on average over {} steps", scene.averaged, work.steps),
        0.0, ColourRole::faint);
}

} // namespace eyeroof::report
