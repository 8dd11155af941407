// Comparisons as one HTML page: totals, what adds and saves as bars, and every row in a table.
#include "analysis/diff/diff.hpp"
#include "analysis/diff/run_diff.hpp"
#include "base/markup.hpp"
#include "report/diff/added_bars.hpp"
#include "report/diff/diff_write.hpp"
#include "report/diff/run_diff_write.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::report {

namespace {

// Names of kernels may break anywhere, and lists of steps between words.
constexpr const char* kStyle = "td:first-child{overflow-wrap:anywhere;min-width:12rem}";

using Row = std::vector<std::string>;

// The first row has the headings; times and changes stand between the name and the limits.
std::string table(const std::vector<Row>& rows, bool sortable) {
    constexpr std::size_t figures = 5; // columns, that of the name with them
    PageTable table;
    table.sortable = sortable;
    for (const std::string& heading : rows.front()) {
        const std::size_t at = table.columns.size();
        table.columns.push_back({html_escaped(heading), at > 0 && at < figures});
    }
    for (std::size_t r = 1; r < rows.size(); ++r) {
        Row& cells = table.rows.emplace_back();
        for (const std::string& cell : rows[r]) {
            cells.push_back(html_escaped(cell));
        }
    }
    fold_equal(table);
    return page_table(table);
}

std::string page(const std::string& title, const std::vector<Row>& totals,
                 const std::vector<AddedTime>& added, const std::vector<Row>& rows,
                 const std::string& rest) {
    const std::string heading = html_escaped(title);
    std::string text =
        page_head(heading, kStyle) + "<h1>" + heading + "</h1>\n" + table(totals, false);
    text += added.empty()
                ? "<p>No time is another.</p>\n"
                : "<figure>" +
                      to_svg(added_bars(added, "Where the time went"), SvgTheme::automatic) +
                      "</figure>\n";
    return text + table(rows, true) + rest + page_foot();
}

std::string apart_html(const char* what, const std::vector<std::string>& names) {
    return names.empty() ? ""
                         : fmt::format("<p>{}: {}</p>\n", what,
                                       html_escaped(fmt::format("{}", fmt::join(names, ", "))));
}

} // namespace

std::string diff_html(const analysis::ExamDiff& diff) {
    std::vector<Row> totals = {{"", diff.name_a, diff.name_b, "change"}};
    for (std::size_t i = 0; i < analysis::kDiffFigures.size(); ++i) {
        totals.push_back({std::string(analysis::kDiffFigures[i]), figure_text(i, diff.total[i].a),
                          figure_text(i, diff.total[i].b), analysis::change_text(diff.total[i])});
    }
    std::vector<AddedTime> added;
    std::vector<Row> rows = {{"layer", "added", "before", "after", "change", "limit before",
                              "limit after", "bounds that are others"}};
    for (const analysis::LayerDiff& layer : diff.layers) {
        if (std::abs(layer.adds_s()) > analysis::kToldChange * std::abs(diff.total[0].a)) {
            added.push_back({layer.name, layer.adds_s(), limits_text(layer)});
        }
        rows.push_back({layer.name, analysis::added_text(layer.adds_s()),
                        analysis::seconds_text(layer.figures[0].a),
                        analysis::seconds_text(layer.figures[0].b),
                        analysis::change_text(layer.figures[0]), layer.limiter_a, layer.limiter_b,
                        steps_text(layer)});
    }
    return page(diff.name_a + " and " + diff.name_b, totals, added, rows,
                apart_html("Only on the first side", diff.only_a) +
                    apart_html("Only on the second side", diff.only_b));
}

std::string run_diff_html(const analysis::RunDiff& diff) {
    const auto count = [](double n) { return fmt::format("{}", n); };
    const std::vector<Row> totals = {
        {"", diff.name_a, diff.name_b, "change"},
        {"time", analysis::seconds_text(diff.time_s.a), analysis::seconds_text(diff.time_s.b),
         analysis::change_text(diff.time_s)},
        {"calls", count(diff.calls.a), count(diff.calls.b), analysis::change_text(diff.calls)}};
    std::vector<AddedTime> added;
    std::vector<Row> rows = {{std::string(analysis::run_part_name(diff.by)), "added", "before",
                              "after", "change", "calls before", "calls after"}};
    for (const analysis::RunRow& row : diff.rows) {
        if (std::abs(row.adds_s()) > analysis::kToldChange * diff.time_s.a) {
            added.push_back({row.name, row.adds_s(), row.name});
        }
        rows.push_back({row.name, analysis::added_text(row.adds_s()),
                        analysis::seconds_text(row.time_s.a), analysis::seconds_text(row.time_s.b),
                        analysis::change_text(row.time_s), count(row.calls.a), count(row.calls.b)});
    }
    std::vector<Row> categories = {{"category", "added", "before", "after", "change"}};
    for (const analysis::RunRow& row : diff.categories) {
        categories.push_back(
            {row.name, analysis::added_text(row.adds_s()), analysis::seconds_text(row.time_s.a),
             analysis::seconds_text(row.time_s.b), analysis::change_text(row.time_s)});
    }
    return page(diff.name_a + " and " + diff.name_b, totals, added, rows,
                diff.categories.empty() ? "" : table(categories, true));
}

} // namespace eyeroof::report
