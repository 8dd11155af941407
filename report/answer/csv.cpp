#include "base/csv.hpp"

#include "report/answer/write.hpp"

#include <algorithm>

namespace eyeroof::report {

namespace {

bool is_number(const Value& value) {
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

bool is_cell(const Head& head) {
    return head.seen_by(kCsv) && head.kind != Kind::table;
}

std::string name_of(const Head& head) {
    if (head.where == kCsv && !head.title.empty()) {
        return head.title; // of a table that is repeated, as it stands there
    }
    std::string key = head.key;
    std::ranges::replace(key, '.', '_');
    return key;
}

std::string row_line(const AnswerTable& table, const std::vector<Value>& row) {
    std::string line;
    bool first = true;
    for (std::size_t c = 0; c < row.size(); ++c) {
        if (is_cell(table.columns[c])) {
            line += first ? "" : ",";
            line += is_number(row[c]) ? value_digits(row[c]) : csv_quoted(value_digits(row[c]));
            first = false;
        }
    }
    return line + "\n";
}

} // namespace

bool write_csv(const Answer& answer, const TextSink& sink) {
    if (answer.tables.empty()) {
        return true;
    }
    const auto named = std::ranges::find_if(answer.tables, [&](const AnswerTable& one) {
        return !answer.rows.empty() && one.key == answer.rows;
    });
    const AnswerTable& table = named == answer.tables.end() ? answer.tables.front() : *named;
    std::string line;
    for (const Head& head : table.columns) {
        if (is_cell(head)) {
            line += (line.empty() ? "" : ",") + csv_quoted(name_of(head));
        }
    }
    bool taken = sink(line + "\n");
    for (std::size_t r = 0; taken && r < table.size(); ++r) {
        taken = sink(row_line(table, table.row(r)));
    }
    return taken && (table.sums.empty() || sink(row_line(table, table.sums)));
}

std::string to_csv(const Answer& answer) {
    return text_of([&](const TextSink& sink) { write_csv(answer, sink); });
}

} // namespace eyeroof::report
