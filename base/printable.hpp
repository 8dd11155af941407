// Text from outside made fit to print: what a terminal would obey is shown instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace eyeroof {

// Length of the UTF-8 sequence that starts at `at`, or 0 when there is none (RFC 3629: no overlong
// forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text, std::size_t at);

// Control characters (ESC, line breaks, tabs, C1), marks that turn the direction of writing, and
// bytes that are no UTF-8 become "\x1b", "\n", "\u202e"; all other text stays as it is.
std::string printable(std::string_view text);
// The same over several lines: line breaks stay.
std::string printable_lines(std::string_view text);

} // namespace eyeroof
