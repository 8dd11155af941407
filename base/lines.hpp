// Pieces of text output: cells of a fixed display width, wrapped sentences, bars.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof {

inline constexpr std::size_t kTextColumns = 80; // of text, where no terminal is wider

// Columns that UTF-8 text takes on a terminal: two of wide letters, none of combining marks, one of
// a byte that is no UTF-8.
std::size_t display_width(std::string_view text);

// At most `columns` (3 or more) columns: the middle of a longer text becomes "…".
std::string shortened(std::string_view text, std::size_t columns);

// Names come from files: control characters (which could steer a terminal) become '?', broken UTF-8
// too.
std::string masked_controls(std::string_view text);

// Exactly `width` columns: filled with blanks, or cut with "…".
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);

// Words in lines of at most `width` columns, every line after `indent` blanks and ended by '\n'.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

// `parts` joined by " · " in such lines; a part is never broken.
std::string wrapped_parts(const std::vector<std::string>& parts, std::size_t indent,
                          std::size_t width);

// "1 core", "4 cores": a noun whose plural ends in "s".
template <class Number> std::string counted(Number count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == Number{1} ? "" : "s");
}

// A bar of `cells` columns: `full` (0 … 1) in solid eighths, on to `possible` in light shade, and
// dots for the rest.
std::string bar(double full, double possible, std::size_t cells);

enum class Ink { plain, bold, faint, good, warn, bad };
// Escape sequences around the text, or the text itself where there is no colour.
std::string inked(std::string_view text, Ink ink, bool colour);

} // namespace eyeroof
