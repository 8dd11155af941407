#include "profiles/import/csv_table.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kMaxFields = 20'000;
constexpr std::size_t kMaxFieldBytes = std::size_t{1} << 20;

bool means_something(char c) {
    return c == ',' || c == '"' || c == '\n' || c == '\r';
}

// Where a field that begins here ends: at a comma, the line's end, or a lone carriage return. Most
// are shorter than a search is worth.
std::size_t plain_end(std::string_view line, std::size_t at) {
    while (at < line.size() && line[at] != ',' && line[at] != '\r') {
        ++at;
    }
    return at;
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// "12345" and "12.5": what nearly all numbers look like, whatever separates thousands.
bool plainly_written(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && is_digit(text[at])) {
        ++at;
    }
    if (at == 0) {
        return false;
    }
    at += at < text.size() && text[at] == '.' ? 1 : 0;
    while (at < text.size() && is_digit(text[at])) {
        ++at;
    }
    return at == text.size();
}

std::optional<double> parsed(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc{} && end == text.data() + text.size();
    return all && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

// "1,234,567": groups of three behind the first separator.
bool grouped_by_thousands(std::string_view whole, char separator) {
    std::size_t at = whole.find(separator);
    if (at == std::string_view::npos) {
        return std::ranges::all_of(whole, is_digit);
    }
    if (at == 0 || at > 3) {
        return false;
    }
    while (at != std::string_view::npos) {
        const std::size_t next = whole.find(separator, at + 1);
        const std::size_t end = next == std::string_view::npos ? whole.size() : next;
        const std::string_view group = whole.substr(at + 1, end - at - 1);
        if (group.size() != 3 || !std::ranges::all_of(group, is_digit)) {
            return false;
        }
        at = next;
    }
    return true;
}

} // namespace

bool CsvReader::finish_field(std::string&& field, CsvRow& row) {
    row.fields.push_back(std::move(field));
    if (row.fields.size() > kMaxFields) {
        errors_.error("bad-csv", "the record has more than 20000 fields",
                      "is a quote left open, or the separator another one?", row.where);
        return false;
    }
    return true;
}

// Takes bytes into the field up to the first that means something here.
bool CsvReader::take_plain(std::string& field, bool in_quotes, const CsvRow& row) {
    const std::string_view ahead = source_.ahead();
    std::size_t end = 0;
    while (end < ahead.size() && !(in_quotes ? ahead[end] == '"' : means_something(ahead[end]))) {
        ++end;
    }
    if (field.size() + end > kMaxFieldBytes) {
        errors_.error("bad-csv",
                      in_quotes ? "a quoted field is longer than 1 MiB"
                                : "a field is longer than 1 MiB",
                      in_quotes ? "is a closing quote missing?" : "", row.where);
        return false;
    }
    field.append(ahead.substr(0, end));
    source_.skip(end);
    return true;
}

// The opening quote is read already. What follows the closing quote is kept as it stands.
bool CsvReader::quoted_field(std::string& field, const CsvRow& row) {
    while (take_plain(field, true, row)) {
        const int byte = source_.get();
        if (byte == ByteSource::kEnd) {
            errors_.error("cut-off", "the file ends inside quotes", "the file was cut off",
                          row.where);
            return false;
        }
        if (byte == '"') {
            if (source_.peek() != '"') {
                return true;
            }
            source_.get();
        }
        field.push_back(static_cast<char>(byte));
    }
    return false;
}

// A record that lies whole in what is read already, without signs that need thought: a quote inside
// a field, a line break inside quotes, a lone carriage return. nullopt: next() takes the long way.
std::optional<std::size_t> CsvReader::take_whole_line(CsvRow& row) {
    const std::string_view ahead = source_.ahead();
    const std::size_t end = ahead.find('\n');
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    std::string_view line = ahead.substr(0, end);
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    std::size_t count = 0;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        if (count == kMaxFields) {
            return std::nullopt;
        }
        const bool quoted = at < line.size() && line[at] == '"';
        const std::size_t begin = quoted ? at + 1 : at;
        at = quoted ? std::min(line.find('"', begin), line.size()) : plain_end(line, begin);
        const std::string_view field = line.substr(begin, at - begin);
        const bool plain = quoted
                               ? at < line.size() && (at + 1 == line.size() || line[at + 1] == ',')
                               : at == line.size() || line[at] == ',';
        if (!plain) {
            return std::nullopt;
        }
        at += quoted ? 1 : 0;
        if (count == row.fields.size()) {
            row.fields.emplace_back();
        }
        row.fields[count++].assign(field);
    }
    row.fields.resize(count);
    return end + 1;
}

bool CsvReader::next(CsvRow& row) {
    if (!errors_.has_errors()) {
        if (const auto taken = take_whole_line(row)) {
            source_.skip(1);
            source_.here(row.where);
            source_.skip(*taken - 1);
            return true;
        }
    }
    row.fields.clear();
    if (source_.peek() == ByteSource::kEnd || errors_.has_errors()) {
        if (!source_.failure().empty() && !errors_.has_errors()) {
            errors_.error("damaged", source_.failure(), "read it again from where it comes",
                          source_.here());
        }
        return false;
    }
    int byte = source_.get();
    row.where = source_.here();
    std::string field;
    for (;; byte = source_.get()) {
        if (byte == '"' && field.empty()) {
            if (!quoted_field(field, row)) {
                return false;
            }
        } else if (byte == ',') {
            if (!finish_field(std::move(field), row)) {
                return false;
            }
            field.clear();
        } else if (byte == '\n' || byte == ByteSource::kEnd) {
            return finish_field(std::move(field), row);
        } else if (byte != '\r') {
            field.push_back(static_cast<char>(byte));
        }
        if (!take_plain(field, false, row)) {
            return false;
        }
    }
}

std::optional<std::string> CsvHeader::repeated() const {
    std::vector<std::string> names;
    for (const std::string& name : names_) {
        std::string lower = lowered(trimmed(name));
        if (!lower.empty()) {
            names.push_back(std::move(lower));
        }
    }
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end() ? std::nullopt : std::optional(*twice);
}

std::optional<std::size_t>
CsvHeader::find(std::initializer_list<std::string_view> spellings) const {
    for (const std::string_view spelling : spellings) {
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (same_in_any_case(trimmed(names_[i]), spelling)) {
                return i;
            }
        }
    }
    return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos
               ? std::string_view{}
               : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::optional<NumberStyle> style_of(std::string_view number) {
    const auto points = std::ranges::count(number, '.');
    const auto commas = std::ranges::count(number, ',');
    if (points == 0 && commas == 0) {
        return std::nullopt;
    }
    if (points > 0 && commas > 0) {
        return number.rfind('.') > number.rfind(',') ? NumberStyle::point : NumberStyle::comma;
    }
    const bool comma = commas > 0;
    if (points + commas > 1) { // a sign that stands twice separates thousands
        return comma ? NumberStyle::point : NumberStyle::comma;
    }
    const std::size_t at = number.find(comma ? ',' : '.');
    const bool three_behind = number.size() - at - 1 == 3;
    const bool may_be_thousands = three_behind && at >= 1 && at <= 3 && number[0] != '0';
    if (may_be_thousands) {
        return std::nullopt;
    }
    return comma ? NumberStyle::comma : NumberStyle::point;
}

std::optional<double> number_of(std::string_view text, NumberStyle style) {
    if (const auto whole = whole_number_of(text)) {
        return whole;
    }
    text = trimmed(text);
    if (style == NumberStyle::point && plainly_written(text)) {
        return parsed(text);
    }
    const char decimal = style == NumberStyle::point ? '.' : ',';
    const char thousands = style == NumberStyle::point ? ',' : '.';
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    const std::string_view whole =
        digits.substr(0, std::min(digits.find(decimal), digits.find_first_of("eE")));
    if (whole.empty() || !grouped_by_thousands(whole, thousands)) {
        return std::nullopt;
    }
    std::string plain;
    if (decimal != '.' || text.find(thousands) != std::string_view::npos) {
        for (const char c : text) {
            if (c != thousands) {
                plain.push_back(c == decimal ? '.' : c);
            }
        }
        text = plain;
    }
    return parsed(text);
}

std::optional<double> whole_number_of(std::string_view text) {
    constexpr std::size_t kExactDigits = 18;
    if (text.empty() || text.size() > kExactDigits) {
        return std::nullopt;
    }
    std::int64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c)) {
            return std::nullopt;
        }
        value = value * 10 + (c - '0');
    }
    return static_cast<double>(value);
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return all ? std::optional(value) : std::nullopt;
}

} // namespace eyeroof::profiles
