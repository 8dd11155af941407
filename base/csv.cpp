#include "base/csv.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace eyeroof {

namespace {

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What some spreadsheets take for '=', '+', '-' and '@', or pass over before them.
bool begins_like_formula(std::string_view cell) {
    constexpr std::string_view kBeginnings[] = {
        "=", "@", "\t", "\r", "\n", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"}; // the last: full width
    return std::any_of(std::begin(kBeginnings), std::end(kBeginnings),
                       [cell](std::string_view one) { return cell.starts_with(one); });
}

// A spreadsheet would compute what such a cell says; a signed number, with a unit or without, is
// none.
bool is_formula(std::string_view cell) {
    if (cell.size() < 2 || begins_like_formula(cell)) {
        return begins_like_formula(cell);
    }
    if (cell.front() != '+' && cell.front() != '-') {
        return false;
    }
    double number = 0.0;
    const char* const last = cell.data() + cell.size();
    const auto [end, error] = std::from_chars(cell.data() + 1, last, number);
    const std::string_view unit(end, static_cast<std::size_t>(last - end));
    return error != std::errc{} || unit.find_first_of("=+-*/|!(&'@^<>\"") != std::string_view::npos;
}

} // namespace

CsvReader::CsvReader(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)) {}

CsvReader::CsvReader(More more, std::string file)
    : more_(std::move(more)), file_(std::move(file)) {}

// Whether the line end here is one whatever follows the text.
bool CsvReader::ends_in_text() const {
    return at_ < text_.size() && (text_[at_] == '\n' || at_ + 1 < text_.size());
}

// The text from there on and what follows it; false where nothing does.
bool CsvReader::get_more(std::size_t from) {
    const std::size_t unread = text_.size() - from;
    text_ = more_(unread);
    at_ = line_start_ = 0;
    return text_.size() > unread;
}

bool CsvReader::at_line_end() const {
    return at_ >= text_.size() || text_[at_] == '\n' ||
           (text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
}

void CsvReader::take_line_end() {
    if (at_ < text_.size() && text_[at_] == '\r') {
        ++at_;
    }
    if (at_ < text_.size()) {
        ++at_;
    }
    ++line_;
    line_start_ = at_;
}

bool CsvReader::skip_to_record() {
    if (more_) {
        return at_ < text_.size() || get_more(at_);
    }
    while (at_ < text_.size()) {
        const std::size_t first = text_.find_first_not_of(" \t", at_);
        const bool comment =
            before_header_ && first != std::string_view::npos && text_[first] == '#';
        const std::size_t start = at_;
        at_ = first == std::string_view::npos ? text_.size() : first;
        if (comment) {
            const std::size_t end = text_.find('\n', at_);
            at_ = end == std::string_view::npos ? text_.size() : end;
        }
        if (!at_line_end()) {
            at_ = start;
            return true;
        }
        take_line_end();
    }
    return false;
}

CsvCell CsvReader::quoted_cell(CsvCell start, Diagnostics& found) {
    std::string value;
    bool doubled = false;
    const std::size_t first = ++at_;
    std::size_t run = first;
    while (true) {
        std::size_t stop = run;
        while (stop < text_.size() && text_[stop] != '"' && text_[stop] != '\n') {
            ++stop;
        }
        if (stop == text_.size()) {
            found.error("open-quote", "a quote is never closed", "close it, or double it inside",
                        {file_, start.line, start.column});
            at_ = text_.size();
            start.text = text_.substr(first);
            return start;
        }
        run = stop + 1;
        if (text_[stop] == '\n') {
            ++line_;
            line_start_ = run;
        } else if (run < text_.size() && text_[run] == '"') {
            doubled = true;
            ++run;
        } else {
            break;
        }
    }
    at_ = run;
    start.text = text_.substr(first, run - 1 - first);
    if (doubled) {
        for (std::size_t i = 0; i < start.text.size(); ++i) {
            value += start.text[i];
            i += start.text[i] == '"' ? 1 : 0;
        }
        start.text = unescaped_.emplace_back(std::move(value));
    }
    return start;
}

CsvCell CsvReader::cell(Diagnostics& found) {
    while (!more_ && at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
        ++at_;
    }
    CsvCell cell{{}, line_, static_cast<int>(at_ - line_start_) + 1};
    const bool quoted = at_ < text_.size() && text_[at_] == '"';
    if (quoted) {
        cell = quoted_cell(cell, found);
    }
    const std::size_t rest = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' &&
           !(text_[at_] == '\r' && at_line_end())) {
        ++at_;
    }
    std::string_view tail = text_.substr(rest, at_ - rest);
    if (more_) {
        cell.text = !quoted ? tail
                    : tail.empty()
                        ? cell.text
                        : unescaped_.emplace_back(std::string(cell.text) + std::string(tail));
        return cell;
    }
    tail = without_blanks(tail);
    if (!quoted) {
        cell.text = tail;
    } else if (!tail.empty()) {
        found.error("after-quote", "text follows a closing quote", "put the whole cell in quotes",
                    {file_, line_, static_cast<int>(rest - line_start_) + 1});
    }
    if (cell.text.starts_with('\'') && is_formula(cell.text.substr(1))) {
        cell.text.remove_prefix(1); // as csv_quoted wrote it
    }
    return cell;
}

void CsvReader::read_cells(CsvRecord& record, Diagnostics& found) {
    record.cells.clear();
    unescaped_.clear();
    while (true) {
        record.cells.push_back(cell(found));
        if (at_line_end()) {
            return;
        }
        ++at_; // the comma
    }
}

bool CsvReader::next(CsvRecord& record, Diagnostics& found) {
    record.cells.clear();
    if (!skip_to_record()) {
        return false;
    }
    before_header_ = false;
    record.line = line_;
    std::size_t start = at_;
    Diagnostics of_record;
    read_cells(record, of_record);
    for (bool more = bool(more_); more && !ends_in_text();) { // from its beginning, with more text
        more = get_more(start);
        start = 0;
        line_ = record.line;
        of_record = {};
        read_cells(record, of_record);
    }
    found.append(of_record);
    record.raw = text_.substr(start, at_ - start);
    take_line_end();
    return true;
}

std::string csv_quoted(std::string_view cell) {
    if (is_formula(cell)) {
        return csv_quoted("'" + std::string(cell));
    }
    const bool blank_ends = !cell.empty() && (cell.front() == ' ' || cell.back() == ' ');
    if (cell.find_first_of(",\"\r\n\t#") == std::string_view::npos && !blank_ends) {
        return std::string(cell);
    }
    std::string quoted = "\"";
    for (const char c : cell) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

} // namespace eyeroof
