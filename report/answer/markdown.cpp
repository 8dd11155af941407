#include "base/markup.hpp"
#include "report/answer/write.hpp"

#include <algorithm>

namespace eyeroof::report {

namespace {

std::string shown(const Value& value, Unit unit) {
    return markdown_cell(value_text(value, unit));
}

std::vector<std::size_t> columns_for_pages(const AnswerTable& table) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c].seen_by(kPages) && table.columns[c].kind != Kind::table &&
            table.columns[c].unit != Unit::bar) {
            columns.push_back(c);
        }
    }
    return columns;
}

std::string rows_markdown(const AnswerTable& table);

// Tables in the cells of a row, each named by the row's first cell.
std::string inner_markdown(const AnswerTable& table, std::size_t first) {
    std::string text;
    for (std::size_t r = 0; r < std::min(table.rows.size(), table.most_for_people); ++r) {
        const auto& row = table.rows[r];
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const auto* inner = std::get_if<std::shared_ptr<const AnswerTable>>(&row[c]);
            if (inner != nullptr && *inner && !(*inner)->rows.empty() &&
                table.columns[c].seen_by(kPages)) {
                text += "\n" + markdown_cell(table.columns[first].title) + " " +
                        shown(row[first], table.columns[first].unit) + ": " +
                        markdown_cell(table.columns[c].title) + "\n\n" + rows_markdown(**inner);
            }
        }
    }
    return text;
}

std::string rows_markdown(const AnswerTable& table) {
    const auto columns = columns_for_pages(table);
    if (columns.empty()) {
        return {};
    }
    std::string head = "|", rule = "|", rows;
    for (const std::size_t c : columns) {
        const Kind kind = table.columns[c].kind;
        head += " " + markdown_cell(table.columns[c].title) + " |";
        rule += kind == Kind::text || kind == Kind::list ? "---|" : "---:|";
    }
    for (std::size_t r = 0; r < std::min(table.rows.size(), table.most_for_people); ++r) {
        rows += "|";
        for (const std::size_t c : columns) {
            rows += " " + shown(table.rows[r][c], table.columns[c].unit) + " |";
        }
        rows += "\n";
    }
    const std::string rest = rest_text(table);
    return head + "\n" + rule + "\n" + rows + (rest.empty() ? "" : "\n" + rest) +
           inner_markdown(table, columns.front());
}

// level: of the title, '#' each.
std::string to_markdown(const Answer& answer, const std::string& level) {
    std::string text = level + " " + markdown_cell(answer.title) + "\n\n";
    text += answer.question.empty() ? "" : markdown_cell(answer.question) + ".\n\n";
    text += answer.sentences.empty() ? "" : markdown_cell(paragraph(answer)) + "\n";
    for (const std::string& warning : answer.warnings) {
        text += "\n**Warning:** " + markdown_cell(warning) + "\n";
    }
    std::string figures;
    for (const Figure& figure : answer.figures) {
        if (figure.head.seen_by(kPages)) {
            figures += "- " + markdown_cell(figure.head.title) + ": " +
                       shown(figure.value, figure.head.unit) + "\n";
        }
    }
    text += figures.empty() ? "" : "\n" + figures;
    if (!answer.commands.empty()) {
        text += "\n```text\n";
        for (const std::string& command : answer.commands) {
            text += command + "\n";
        }
        text += "```\n";
    }
    for (const AnswerTable& table : answer.tables) {
        if (!table.rows.empty() && !columns_for_pages(table).empty()) {
            text += table.title.empty() ? "\n"
                                        : "\n" + level + "# " + markdown_cell(table.title) + "\n\n";
            text += rows_markdown(table);
        }
    }
    for (const Answer& part : answer.parts) {
        text += "\n" + to_markdown(part, level + "#");
    }
    for (const std::string& note : answer.notes) {
        text += "\n" + markdown_cell(note) + "\n";
    }
    return text;
}

} // namespace

std::string to_markdown(const Answer& answer) {
    return to_markdown(answer, "#");
}

} // namespace eyeroof::report
