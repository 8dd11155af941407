#include "base/markup.hpp"
#include "report/answer/write.hpp"
#include "report/draw/svg.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

std::string bar_html(double done, double could) {
    return (could > done ? fmt::format("<div class=\"bar\"><i class=\"could\" style=\"width:{:.1f}%"
                                       "\"></i>",
                                       100.0 * could)
                         : std::string("<div class=\"bar\">")) +
           fmt::format("<i class=\"done\" style=\"width:{:.1f}%\"></i></div>", 100.0 * done);
}

std::string cell_html(const Value& value, Unit unit) {
    const auto* share = std::get_if<double>(&value);
    const auto* both = std::get_if<std::vector<double>>(&value);
    return unit == Unit::bar && share != nullptr ? bar_html(*share, *share)
           : unit == Unit::bar && both != nullptr && both->size() == 2
               ? bar_html(both->front(), both->back())
               : html_escaped(value_text(value, unit));
}

std::string rows_html(const AnswerTable& table);

// Tables in the cells of a column, folded, each named by its row's cell in the column `name`.
std::string inner_html(const AnswerTable& table, std::size_t column, std::size_t name) {
    constexpr std::size_t kFew = 3; // that are not folded once more
    std::string html;
    std::size_t found = 0;
    for (std::size_t r = 0; r < std::min(table.rows.size(), table.most_for_people); ++r) {
        const auto& row = table.rows[r];
        const auto* inner = std::get_if<std::shared_ptr<const AnswerTable>>(&row[column]);
        if (inner != nullptr && *inner && !(*inner)->rows.empty()) {
            html += "<details><summary>" + html_escaped(table.columns[name].title) + " " +
                    cell_html(row[name], table.columns[name].unit) + "</summary>\n" +
                    rows_html(**inner) + "</details>\n";
            ++found;
        }
    }
    const std::string title = html_escaped(table.columns[column].title);
    return found > kFew ? "<details><summary>" + title + "</summary>\n" + html + "</details>\n"
           : found > 0  ? "<p class=\"rest\">" + title + "</p>\n" + html
                        : html;
}

std::string inner_html(const AnswerTable& table, std::size_t name) {
    std::string html;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Head& head = table.columns[c];
        html += head.kind == Kind::table && head.seen_by(kPages) ? inner_html(table, c, name) : "";
    }
    return html;
}

std::string rows_html(const AnswerTable& table) {
    PageTable page;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const Head& head = table.columns[c];
        if (!head.seen_by(kPages) || head.kind == Kind::table) {
            continue;
        }
        columns.push_back(c);
        const std::string title = html_escaped(head.title);
        page.columns.push_back(
            {head.meaning.empty()
                 ? title
                 : fmt::format("<span title=\"{}\">{}</span>", html_escaped(head.meaning), title),
             columns.size() > 1 && head.unit != Unit::bar && head.kind != Kind::text &&
                 head.kind != Kind::list});
    }
    for (std::size_t r = 0; r < std::min(table.rows.size(), table.most_for_people); ++r) {
        auto& cells = page.rows.emplace_back();
        for (const std::size_t c : columns) {
            cells.push_back(cell_html(table.rows[r][c], table.columns[c].unit));
        }
    }
    const std::string rest = rest_text(table);
    return columns.empty()
               ? std::string()
               : page_table(page) + (rest.empty() ? "" : "<p class=\"rest\">" + rest + "</p>\n") +
                     inner_html(table, columns.front());
}

// A column of numbers, each with its row's first cell.
std::string bars_of(const Answer& answer) {
    std::vector<PageBar> bars;
    std::string label;
    for (std::size_t c = 0; !answer.tables.empty() && c < answer.tables[0].columns.size(); ++c) {
        const Head& head = answer.tables[0].columns[c];
        if (answer.bars.empty() || head.key != answer.bars) {
            continue;
        }
        label = html_escaped(head.key);
        for (const auto& row : answer.tables[0].rows) {
            const auto* value = std::get_if<double>(&row[c]);
            bars.push_back({value_text(row[0], answer.tables[0].columns[0].unit),
                            value == nullptr ? 0.0 : *value, cell_html(row[c], head.unit)});
        }
    }
    return page_bars(label, std::move(bars));
}

std::string paragraphs(const std::vector<std::string>& lines, const char* before) {
    std::string html;
    for (const std::string& line : lines) {
        html += before + html_escaped(line) + "</p>\n";
    }
    return html;
}

} // namespace

std::string html_lead(const Answer& answer) {
    std::string html = answer.sentences.empty()
                           ? std::string()
                           : "<p class=\"answer\">" + html_escaped(paragraph(answer)) + "</p>\n";
    html += paragraphs(answer.warnings, "<p class=\"loss\">Warning: ");
    std::string facts;
    for (const Figure& figure : answer.figures) {
        if (figure.head.seen_by(kPages)) {
            facts += (facts.empty() ? "" : " · ") + html_escaped(figure.head.title) + " " +
                     cell_html(figure.value, figure.head.unit);
        }
    }
    return html + (facts.empty() ? "" : "<p>" + facts + "</p>\n");
}

std::string html_notes(const Answer& answer) {
    return paragraphs(answer.notes, "<p class=\"rest\">");
}

namespace {

std::string figure_html(const Answer& answer) {
    const std::string picture =
        answer.picture || !answer.svg.empty() ? to_svg_picture(answer) : bars_of(answer);
    return picture.empty() ? "" : "<figure>" + picture + "</figure>\n";
}

std::string tables_html(const Answer& answer) {
    std::string html;
    for (const AnswerTable& table : answer.tables) {
        const std::string rows = table.rows.empty() ? std::string() : rows_html(table);
        html += rows.empty() || table.title.empty()
                    ? rows
                    : "<h2>" + html_escaped(table.title) + "</h2>\n" + rows;
    }
    return html;
}

std::string commands_html(const Answer& answer) {
    std::string html;
    for (const std::string& command : answer.commands) {
        html += "<code>" + html_escaped(command) + "</code>\n";
    }
    return html.empty() ? html : "<pre>" + html + "</pre>\n";
}

std::string parts_html(const Answer& answer) {
    std::string html;
    for (const Answer& part : answer.parts) {
        const std::string title = html_escaped(part.title);
        html += "<h2 id=\"" + title + "\">" + title + "</h2>\n" + html_body(part);
    }
    return html;
}

} // namespace

std::string html_body(const Answer& answer) {
    return html_lead(answer) + commands_html(answer) + figure_html(answer) + tables_html(answer) +
           parts_html(answer) + html_notes(answer);
}

std::string to_html(const Answer& answer, const PagePart& part) {
    const std::string title = html_escaped(answer.title);
    return page_head(title, part.style, part.scripts) + "<h1>" + title + "</h1>\n" +
           (answer.question.empty() ? "" : "<p>" + html_escaped(answer.question) + "</p>\n") +
           html_lead(answer) + figure_html(answer) + part.html + tables_html(answer) +
           parts_html(answer) + html_notes(answer) + page_foot(part.scripts);
}

std::string to_svg_picture(const Answer& answer) {
    return answer.picture ? to_svg(answer.picture({800.0, 360.0}), SvgTheme::automatic)
                          : answer.svg;
}

std::string written(const Answer& answer, std::string_view format, std::size_t width) {
    return format == "json"   ? to_json(answer)
           : format == "csv"  ? to_csv(answer)
           : format == "md"   ? to_markdown(answer)
           : format == "html" ? to_html(answer)
           : format == "svg"  ? to_svg_picture(answer)
                              : to_text(answer, width);
}

} // namespace eyeroof::report
