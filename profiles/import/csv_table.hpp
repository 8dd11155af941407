// CSV as tools write it: records with their lines; columns found by name; numbers with thousands
// separators and decimal commas.
#pragma once

#include "base/csv.hpp"
#include "profiles/byte_source.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// One record, with the line on which it began.
struct CsvRow {
    std::vector<std::string> fields;
    SourceLocation where;
};

// The records of a file, in the memory of one: a limit on fields and bytes keeps broken quotes from
// reading on to the file's end.
class CsvRows {
  public:
    explicit CsvRows(ByteSource& source);

    // false at the end or after an error, which errors() then holds.
    bool next(CsvRow& row);
    const Diagnostics& errors() const { return errors_; }

  private:
    std::string_view more(std::size_t unread);

    ByteSource& source_;
    CsvReader reader_;
    CsvRecord record_;
    std::string text_; // what the reader has not taken yet
    SourceLocation begin_;
    bool too_long_ = false;
    Diagnostics errors_;
};

class CsvHeader {
  public:
    explicit CsvHeader(std::vector<std::string> names) : names_(std::move(names)) {}

    // The first of these spellings that is a column, without regard to case.
    std::optional<std::size_t> find(std::initializer_list<std::string_view> spellings) const;
    // A name (in lower case) that stands over two columns.
    std::optional<std::string> repeated() const;
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::vector<std::string> names_;
};

// How numbers are written: "27,595,520" and "65.77", or "27.595.520" and "65,77".
enum class NumberStyle { point, comma };

// The style of a set of numbers, from the ones that leave no doubt: both signs, a sign twice, a
// part behind the sign that has not three digits. nullopt when nothing decides.
std::optional<NumberStyle> style_of(std::string_view number);
// nullopt for what is not a number in that style.
std::optional<double> number_of(std::string_view text, NumberStyle style);
// Of digits alone, at most 18, which every style writes so; nullopt for all else.
std::optional<double> whole_number_of(std::string_view text);
// A number without what some countries write between its thousands: blanks of several widths and
// apostrophes.
std::string without_blanks(std::string_view number);
std::optional<std::int64_t> integer_of(std::string_view text);

std::string_view trimmed(std::string_view text);

} // namespace eyeroof::profiles
