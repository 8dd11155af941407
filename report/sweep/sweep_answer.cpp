#include "report/sweep/sweep_answer.hpp"

#include "base/lines.hpp"
#include "report/answer/write.hpp"
#include "report/draw/chart_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::report {

namespace {

using analysis::Aim;
using analysis::number_in;
using analysis::SweptTable;

struct SweptColumn {
    const char* column;
    const char* name;
    Unit unit;
    unsigned where;
};
constexpr std::array<SweptColumn, 6> kSwept = {
    {{"time_s", "time", Unit::seconds, kAll},
     {"energy_j", "energy", Unit::joules, kAll},
     {"edp_js", "EDP", Unit::none, kPrograms}, // the product of two others
     {"outer_bytes", "traffic", Unit::bytes, kAll},
     {"macs", "MACs", Unit::macs, kPrograms},
     {"utilization", "util.", Unit::share, kAll}}};

const SweptColumn* figure_of(const std::string& column) {
    const auto* const found = std::ranges::find_if(
        kSwept, [&](const SweptColumn& figure) { return column == figure.column; });
    return found == kSwept.end() ? nullptr : found;
}

Value value_in(const SweptColumn* figure, const std::string& cell) {
    const auto number = number_in(cell);
    return figure == nullptr ? Value(cell) : number ? Value(*number) : Value();
}

AnswerTable points_of(const SweptTable& table, const std::vector<std::size_t>& rows) {
    constexpr std::size_t kShownPoints = 40;
    AnswerTable made{"points", "Points", {}, {}, kShownPoints};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const std::string& column = table.columns[c];
        const SweptColumn* figure = figure_of(column);
        const bool empty =
            std::ranges::all_of(table.rows, [c](const auto& row) { return row[c].empty(); });
        Head head;
        head.key = column;
        head.title = figure == nullptr ? column : figure->name;
        head.unit = figure == nullptr ? Unit::none : figure->unit;
        head.where = figure == nullptr ? (empty ? kPrograms : kAll) : figure->where;
        head.kind = figure == nullptr ? Kind::text : Kind::number;
        made.columns.push_back(std::move(head));
    }
    for (const std::size_t row : rows) {
        std::vector<Value>& cells = made.rows.emplace_back();
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            cells.push_back(value_in(figure_of(table.columns[c]), table.rows[row][c]));
        }
    }
    return made;
}

// Where points do different amounts of work, a figure is compared for each MAC.
bool work_varies(const SweptTable& table) {
    const std::size_t macs = table.column("macs").value_or(0);
    return macs > 0 && std::ranges::any_of(table.rows, [&](const auto& row) {
               return !row[macs].empty() && row[macs] != table.rows.front()[macs];
           });
}

// "Shortest time: point 6 (axis_kernel 64, batch 1), 1.66 ms in all"; empty where no point has the
// figure.
std::string best_text(const SweptTable& table, const char* column, const std::string& name) {
    const auto c = table.column(column);
    const bool per_mac = work_varies(table);
    const std::size_t macs = table.column("macs").value_or(0);
    const auto value_of = [&](std::size_t row) -> std::optional<double> {
        const auto value = number_in(table.rows[row][*c]);
        const auto work = per_mac ? number_in(table.rows[row][macs]) : std::optional(1.0);
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
                              table.rows[*best][i]);
    }
    return fmt::format("{}{}: point {} ({}), {} in all", name, per_mac ? " per MAC" : "",
                       table.rows[*best].front(), fields,
                       value_text(*number_in(table.rows[*best][*c]), figure_of(column)->unit));
}

Chart front_chart(const SweptTable& table, const std::vector<Aim>& aims,
                  const std::vector<std::size_t>& front, const std::string& title) {
    constexpr std::size_t kMostDots = 20'000; // a picture of more is a blot, and slow
    const auto place = [&](std::size_t row) {
        const auto x = number_in(table.rows[row][*table.column(aims[0].column)]);
        const auto y = number_in(table.rows[row][*table.column(aims[1].column)]);
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
    chart.lines = {std::move(points), std::move(best)};
    return chart;
}

} // namespace

Answer sweep_answer(const SweptTable& table, const std::string& title, const std::vector<Aim>& aims,
                    bool front) {
    const std::vector<std::size_t> best =
        aims.empty() ? std::vector<std::size_t>() : analysis::front_of(table, aims);
    std::vector<std::size_t> rows = best;
    Answer a;
    a.title = title;
    if (front) {
        std::string of;
        for (const Aim& aim : aims) {
            of += (of.empty() ? "" : " and ") + std::string(aim.most ? "most " : "least ") +
                  aim.column;
        }
        a.sentences = {fmt::format("{} of {} are on the Pareto front of {}", best.size(),
                                   counted(table.rows.size(), "point"), of)};
    } else {
        for (const std::string& sentence :
             {best_text(table, "time_s", "Shortest time"),
              best_text(table, "energy_j", "Least energy"), counted(table.rows.size(), "point")}) {
            if (!sentence.empty()) {
                a.sentences.push_back(sentence);
            }
        }
        rows.resize(table.rows.size());
        std::ranges::generate(rows, [row = std::size_t{0}]() mutable { return row++; });
    }
    a.tables = {points_of(table, rows)};
    a.bars = "time_s";
    if (aims.size() > 1) {
        a.picture = [chart = front_chart(table, aims, best, title)](const Canvas& canvas) {
            return draw_chart(chart, canvas);
        };
    }
    return a;
}

} // namespace eyeroof::report
