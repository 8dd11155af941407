#include "report/draw/drawing_write.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace eyeroof::report {

namespace {

std::string cell_text(const DrawnTable::Cell& cell) {
    const auto* number = std::get_if<double>(&cell);
    if (number == nullptr) {
        return std::get<std::string>(cell);
    }
    return std::isfinite(*number) ? fmt::format("{:.10g}", *number) : std::string{};
}

std::string blank_for_tabs(std::string text) {
    for (char& c : text) {
        c = c == '\t' || c == '\n' || c == '\r' ? ' ' : c;
    }
    return text;
}

template <class Quote> std::string separated(const DrawnTable& table, char separator, Quote quote) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += (i == 0 ? "" : std::string(1, separator)) + quote(table.columns[i]);
    }
    text += '\n';
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += (i == 0 ? "" : std::string(1, separator)) + quote(cell_text(row[i]));
        }
        text += '\n';
    }
    return text;
}

} // namespace

std::string to_csv(const DrawnTable& table) {
    return separated(table, ',', csv_quoted);
}

std::string to_tsv(const DrawnTable& table) {
    return separated(table, '\t', blank_for_tabs);
}

std::string to_json(const DrawnTable& table, const std::string& title) {
    nlohmann::ordered_json json = {{"schema", "eyeroof/figures/1"}, {"title", title}};
    json["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
        nlohmann::ordered_json entry;
        for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
            const auto* number = std::get_if<double>(&row[i]);
            if (number == nullptr) {
                entry[table.columns[i]] = std::get<std::string>(row[i]);
            } else if (std::isfinite(*number)) {
                entry[table.columns[i]] = *number;
            } else {
                entry[table.columns[i]] = nullptr;
            }
        }
        json["rows"].push_back(std::move(entry));
    }
    return json_document(json);
}

} // namespace eyeroof::report
