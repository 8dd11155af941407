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

// Numbers stay whole; names of kernels may break anywhere, and lists of steps between words.
constexpr const char* kStyle =
    ":root { color-scheme: light dark; } body { font: 15px/1.45 system-ui, sans-serif; margin: "
    "2rem; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1rem "
    "0; } td, th { padding: .15rem .6rem; border-bottom: 1px solid #8886; text-align: left; "
    "white-space: nowrap; vertical-align: top; } td:first-child { overflow-wrap: anywhere; "
    "min-width: 12rem; white-space: normal; } td:last-child { white-space: normal; } svg { "
    "max-width: 100%; height: auto; }";

using Row = std::vector<std::string>;

std::string table(const std::vector<Row>& rows, const char* kind) {
    std::string text = fmt::format("<table{}>\n", kind);
    const char* tag = "th";
    for (const Row& row : rows) {
        text += "<tr>";
        for (const std::string& cell : row) {
            text += fmt::format("<{}>{}</{}>", tag, html_escaped(cell), tag);
        }
        text += "</tr>\n";
        tag = "td";
    }
    return text + "</table>\n";
}

std::string page(const std::string& title, const std::vector<Row>& totals,
                 const std::vector<AddedTime>& added, const std::vector<Row>& rows,
                 const std::string& rest) {
    const std::string heading = html_escaped(title);
    std::string text =
        page_head(heading, kStyle) + "<h1>" + heading + "</h1>\n" + table(totals, "");
    text += added.empty() ? "<p>No time is another.</p>\n"
                          : to_svg(added_bars(added, "Where the time went"), SvgTheme::automatic);
    return text + table(rows, " class=\"sort\"") + rest + page_foot();
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
                diff.categories.empty() ? "" : table(categories, " class=\"sort\""));
}

} // namespace eyeroof::report
