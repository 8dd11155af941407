#include "analysis/scale/request_file.hpp"

#include "base/ascii.hpp"
#include "base/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>

namespace eyeroof::analysis {

namespace {

constexpr const char* kColumnHint =
    "a header with prompt and answer (tokens), and arrival_s where requests come at given times; "
    "or ContextTokens, GeneratedTokens, TIMESTAMP";
constexpr double kMostTokens = 1e7;

// Names of one column in tables of several origins, without capitals, blanks, and underscores.
using Names = std::array<std::string_view, 8>;
constexpr Names kArrival = {"arrivals", "timestamp", "arrivedat", "arrivaltime", "arrival"};
constexpr Names kPrompt = {"prompt",      "contexttokens", "numprefilltokens", "prompttokens",
                           "inputtokens", "requesttokens", "inputlength",      "inputlen"};
constexpr Names kAnswer = {"answer",       "generatedtokens", "numdecodetokens", "completiontokens",
                           "outputtokens", "responsetokens",  "outputlength",    "outputlen"};

std::vector<std::size_t> columns_of(const CsvRecord& header, const Names& names) {
    std::vector<std::size_t> columns;
    for (std::size_t i = 0; i < header.cells.size(); ++i) {
        std::string name = lowered(header.cells[i].text);
        std::erase_if(name, [](char c) { return c == ' ' || c == '_'; });
        if (!name.empty() && std::ranges::find(names, name) != names.end()) {
            columns.push_back(i);
        }
    }
    return columns;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0.0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && stop == text.data() + text.size() && std::isfinite(value)
               ? std::optional(value)
               : std::nullopt;
}

// "2023-11-16 18:17:03.97", a zone behind it is the same for all rows and passed over.
std::optional<double> date_s(std::string_view text) {
    constexpr std::size_t kLength = 19;
    if (text.size() < kLength || text[4] != '-' || text[7] != '-' || text[13] != ':' ||
        text[16] != ':') {
        return std::nullopt;
    }
    const auto part = [&](std::size_t at, std::size_t length) {
        int value = -1;
        const char* end = text.data() + at + length;
        return std::from_chars(text.data() + at, end, value).ptr == end ? value : -1;
    };
    const std::chrono::year_month_day day{std::chrono::year{part(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(part(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(part(8, 2))}};
    const int hour = part(11, 2);
    const int minute = part(14, 2);
    double second = -1.0;
    std::from_chars(text.data() + 17, text.data() + text.size(), second);
    if (!day.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0.0) ||
        second > 61.0) {
        return std::nullopt;
    }
    const auto days = std::chrono::sys_days{day}.time_since_epoch().count();
    return static_cast<double>(days) * 86400.0 + hour * 3600.0 + minute * 60.0 + second;
}

// Tokens and arrival of one row after the other.
class Requests {
  public:
    Requests(std::string file, const CsvRecord& header, Diagnostics& found)
        : file_(std::move(file)), width_(header.cells.size()) {
        arrival_ = column_of(header, kArrival, found);
        prompt_ = column_of(header, kPrompt, found);
        answer_ = column_of(header, kAnswer, found);
    }
    bool complete() const { return prompt_ && answer_; }

    void add(const CsvRecord& row, Diagnostics& found) {
        if (row.cells.size() != width_) {
            found.error(
                "bad-row",
                fmt::format("the row has {} cells, the header {}", row.cells.size(), width_),
                "write a cell for each column, and numbers without commas", {file_, row.line, 1});
            return;
        }
        RequestSize request;
        request.prompt = tokens(row, *prompt_, 1, found);
        request.answer = tokens(row, *answer_, 0, found);
        if (arrival_) {
            request.at_s = arrival(row, found);
        }
        requests_.push_back(request);
    }
    std::vector<RequestSize> take() { return std::move(requests_); }
    std::size_t size() const { return requests_.size(); }

  private:
    std::optional<std::size_t> column_of(const CsvRecord& header, const Names& names,
                                         Diagnostics& found) const {
        const std::vector<std::size_t> columns = columns_of(header, names);
        if (columns.size() > 1) {
            const CsvCell& second = header.cells[columns[1]];
            found.error("bad-header",
                        fmt::format("columns '{}' and '{}' mean the same",
                                    header.cells[columns[0]].text, second.text),
                        "keep one of them", {file_, header.line, second.column});
        }
        return columns.empty() ? std::nullopt : std::optional(columns.front());
    }

    void refuse(const CsvRecord& row, std::size_t column, const std::string& what,
                const std::string& hint, Diagnostics& found) const {
        const bool there = column < row.cells.size();
        found.error("bad-cell", what, hint,
                    {file_, row.line, there ? row.cells[column].column : 1});
    }

    Count tokens(const CsvRecord& row, std::size_t column, Count least, Diagnostics& found) const {
        const std::string_view text =
            column < row.cells.size() ? row.cells[column].text : std::string_view();
        const auto value = number_of(text);
        if (!value || *value < static_cast<double>(least) || *value > kMostTokens ||
            *value != std::floor(*value)) {
            refuse(row, column, fmt::format("'{}' is no number of tokens", text),
                   fmt::format("write a whole number from {} to 10000000", least), found);
            return 1;
        }
        return static_cast<Count>(*value);
    }

    double arrival(const CsvRecord& row, Diagnostics& found) {
        const std::string_view text =
            *arrival_ < row.cells.size() ? row.cells[*arrival_].text : std::string_view();
        auto at_s = number_of(text);
        at_s = at_s ? at_s : date_s(text);
        if (!at_s) {
            refuse(row, *arrival_, fmt::format("'{}' is no time of arrival", text),
                   "write seconds such as 12.5, or a date such as 2023-11-16 18:17:03.97", found);
            return last_s_;
        }
        first_s_ = requests_.empty() ? *at_s : first_s_;
        if (*at_s - first_s_ < last_s_) {
            refuse(row, *arrival_, fmt::format("'{}' is before the request above it", text),
                   "sort the rows by their time of arrival", found);
            return last_s_;
        }
        last_s_ = *at_s - first_s_;
        return last_s_;
    }

    std::string file_;
    std::size_t width_; // cells of the header
    std::optional<std::size_t> arrival_, prompt_, answer_;
    std::vector<RequestSize> requests_;
    double first_s_ = 0.0, last_s_ = 0.0;
};

} // namespace

Result<std::vector<RequestSize>> parse_requests(const std::string& text, const std::string& file) {
    constexpr std::size_t kMostErrors = 20;
    Diagnostics found;
    CsvReader reader(text, file);
    CsvRecord record;
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin != std::string::npos && (text[begin] == '{' || text[begin] == '[')) {
        found.error("not-a-table", "this is JSON, and requests come as CSV",
                    fmt::format("write the header prompt,answer,arrival_s, and below it the rows "
                                "of jq -r '{}[.input_length,.output_length,.timestamp/1000]|@csv'",
                                text[begin] == '[' ? ".[]|" : ""),
                    {file, 1, 1});
        return found;
    }
    if (!reader.next(record, found)) {
        found.error("no-rows", "the table is empty", kColumnHint, {file, 1, 1});
        return found;
    }
    Requests requests(file, record, found);
    if (found.has_errors()) {
        return found;
    }
    if (!requests.complete()) {
        found.error("missing-column", "the table has no columns prompt and answer", kColumnHint,
                    {file, record.line, 1});
        return found;
    }
    while (found.size() < kMostErrors && reader.next(record, found)) {
        if (requests.size() >= kMostRecorded) {
            found.error("too-many", fmt::format("the table has more than {} rows", kMostRecorded),
                        "divide it", {file, record.line, 1});
            break;
        }
        requests.add(record, found);
    }
    if (requests.size() == 0 && !found.has_errors()) {
        found.error("no-rows", "the table has no requests", kColumnHint, {file, record.line, 1});
    }
    if (found.has_errors()) {
        return found;
    }
    return requests.take();
}

} // namespace eyeroof::analysis
