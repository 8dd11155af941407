// The answer over several candidates as one sheet of HTML.
#include "base/markup.hpp"
#include "report/page/page.hpp"
#include "report/upgrade/purchase_tables.hpp"
#include "report/upgrade/upgrade.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

namespace {

// One sheet: A4 and Letter upright share 186 mm by 255 mm between margins of 12 mm.
constexpr std::string_view kSheetStyle =
    "body{font:13px/1.35 sans-serif;max-width:60em;margin:1.5em auto;padding:0 1em}"
    "h1{font-size:1.5em;margin:0 0 .4em}h2{font-size:1.05em;margin:.8em 0 .2em}"
    "p,ul{margin:.4em 0}table{margin:0}"
    "td,th{border:1px solid var(--line);padding:.1em .5em}"
    ".sign{width:100%;margin-top:1em}.sign td{width:24%;height:2.2em}"
    "@page{margin:12mm}"
    "@media print{body{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;line-height:1.2;"
    "margin:0;padding:0;max-width:none}"
    "h1{font-size:1.4em}main{page-break-inside:avoid}.behind{page-break-before:always}}";
// Where numbers come from is for the screen: what is signed has the command alone.
constexpr std::string_view kSheetAlone =
    "@media print{main~h2,main~p,main~ul,main~.frame{display:none}}";
// Browsers may have wider letters than the estimate, and their tables have frames.
constexpr double kPrintScale = 0.8;

// In print, the type that keeps all on one page.
std::string sheet_style(const analysis::Purchase& p, bool alone) {
    return fmt::format("{}{}@media print{{body{{font-size:{:.2f}pt}}}}", kSheetStyle,
                       alone ? kSheetAlone : "", kPrintScale * sheet_type(p));
}

std::string table_html(const Table& table) {
    if (table.rows.empty()) {
        return "";
    }
    const auto line = [](const std::vector<std::string>& cells, const char* tag) {
        std::string text = "<tr>";
        for (const std::string& cell : cells) {
            text += fmt::format("<{0}>{1}</{0}>", tag, html_escaped(cell));
        }
        return text + "</tr>\n";
    };
    std::string text = table.title.empty() ? "" : "<h2>" + html_escaped(table.title) + "</h2>\n";
    std::string rows = "<table>" + line(table.columns, "th");
    for (const auto& row : table.rows) {
        rows += line(row, "td");
    }
    return text + framed(rows + "</table>");
}

} // namespace

std::string purchase_html(const analysis::Purchase& p, bool details) {
    const analysis::PurchaseAnswer& best = p.answers.at(p.best);
    const bool behind = details || !best.upgrade.sweep.empty();
    std::string html = page_head(html_escaped(p.sentence), sheet_style(p, !behind)) +
                       "<main>\n<h1>" + html_escaped(p.sentence) + "</h1>\n<p>";
    for (const std::string& line : scenario_lines(p)) {
        html += html_escaped(line) + "<br>\n";
    }
    html += html_escaped(terms_text(p)) + "</p>\n";
    for (const Table& table : sheet_tables(p)) {
        html += table_html(table);
    }
    html += "<ul>\n";
    for (const auto& lines : {remarks(p), price_lines(p)}) {
        for (const std::string& line : lines) {
            html += "<li>" + html_escaped(line) + "</li>\n";
        }
    }
    html += "</ul>\n<table class=\"sign\"><tr><th>Decision</th><td></td><th>Signed</th><td></td>"
            "<th>Date</th><td></td></tr></table>\n</main>\n";
    return html +
           (behind ? "<div class=\"behind\">\n" + upgrade_page_body(best.upgrade) + "</div>\n"
                   : "") +
           page_foot();
}

} // namespace eyeroof::report
