#include "base/csv.hpp"

#include "report/answer/write.hpp"

#include <algorithm>

namespace eyeroof::report {

namespace {

bool is_number(const Value& value) {
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool is_cell(const Head& head) {
    return head.seen_by(kPrograms) && head.kind != Kind::table;
}

} // namespace

std::string to_csv(const Answer& answer) {
    std::string text;
    if (answer.tables.empty()) {
        return text;
    }
    const auto named = std::ranges::find_if(answer.tables, [&](const AnswerTable& one) {
        return !answer.rows.empty() && one.key == answer.rows;
    });
    const AnswerTable& table = named == answer.tables.end() ? answer.tables.front() : *named;
    for (const Head& head : table.columns) {
        if (is_cell(head)) {
            std::string key = head.key;
            std::ranges::replace(key, '.', '_');
            text += (text.empty() ? "" : ",") + key;
        }
    }
    text += "\n";
    for (const auto& row : table.rows) {
        std::string line;
        bool first = true;
        for (std::size_t c = 0; c < row.size(); ++c) {
            if (is_cell(table.columns[c])) {
                line += first ? "" : ",";
                line += is_number(row[c]) ? value_digits(row[c]) : csv_quoted(value_digits(row[c]));
                first = false;
            }
        }
        text += line + "\n";
    }
    return text;
}

} // namespace eyeroof::report
