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
constexpr std::size_t kMaxRecordBytes = 4 * kMaxFieldBytes;

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

// "1,234,567": groups of three behind the first separator; or of two before the last ("12,34,567").
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
        const bool sized = group.size() == 3 || (group.size() == 2 && next != whole.npos);
        if (!sized || !std::ranges::all_of(group, is_digit)) {
            return false;
        }
        at = next;
    }
    return true;
}

} // namespace

CsvRows::CsvRows(ByteSource& source)
    : source_(source), reader_([this](std::size_t unread) { return more(unread); }, "") {}

std::string_view CsvRows::more(std::size_t unread) {
    text_.erase(0, text_.size() - unread);
    too_long_ = unread > kMaxRecordBytes;
    if (too_long_) {
        return text_;
    }
    if (begin_.line == 0 &&
        source_.peek() != ByteSource::kEnd) { // a header may have been taken before
        text_ += static_cast<char>(source_.get());
        begin_ = source_.here();
    }
    const std::string_view ahead = source_.ahead();
    text_ += ahead;
    source_.skip(ahead.size());
    return text_;
}

bool CsvRows::next(CsvRow& row) {
    Diagnostics found;
    if (errors_.has_errors() || !reader_.next(record_, found)) {
        if (!source_.failure().empty() && !errors_.has_errors()) {
            errors_.error("damaged", source_.failure(), "read it again from where it comes",
                          source_.here());
        }
        return false;
    }
    if (row.where.line == 0) {
        row.where.file = begin_.file;
    }
    row.where.line = begin_.line + record_.line - 1;
    row.where.column = 1;
    const bool long_field = std::ranges::any_of(
        record_.cells, [](const CsvCell& cell) { return cell.text.size() > kMaxFieldBytes; });
    if (too_long_ || long_field) {
        errors_.error("bad-csv", "a field is longer than 1 MiB", "is a closing quote missing?",
                      row.where);
    } else if (record_.cells.size() > kMaxFields) {
        errors_.error("bad-csv", "the record has more than 20000 fields",
                      "is a quote left open, or the separator another one?", row.where);
    } else if (found.has_errors()) {
        errors_.error("cut-off", "the file ends inside quotes", "the file was cut off", row.where);
    }
    row.fields.resize(record_.cells.size());
    for (std::size_t i = 0; i < record_.cells.size(); ++i) {
        row.fields[i].assign(record_.cells[i].text);
    }
    return !errors_.has_errors();
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

std::string without_blanks(std::string_view number) {
    std::string plain;
    for (std::size_t i = 0; i < number.size();) {
        std::size_t taken = 0;
        for (const std::string_view blank : {" ", "'", "\u00a0", "\u202f", "\u2009", "\u2019"}) {
            taken = number.substr(i).starts_with(blank) ? blank.size() : taken;
        }
        plain += taken > 0 ? std::string_view() : number.substr(i, 1);
        i += std::max<std::size_t>(taken, 1);
    }
    return plain;
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return all ? std::optional(value) : std::nullopt;
}

} // namespace eyeroof::profiles
