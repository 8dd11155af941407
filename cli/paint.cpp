#include "cli/paint.hpp"

#include "base/lines.hpp"

#include <algorithm>

namespace eyeroof::cli {

namespace {

constexpr std::string_view kDigits = "0123456789";

// Three names or more, two blanks or more apart, and no figure: "layer    time   util."
bool is_header(std::string_view line) {
    std::size_t gaps = 0;
    for (std::size_t at = line.find("  ", line.find_first_not_of(' '));
         at != std::string_view::npos; at = line.find("  ", line.find_first_not_of(' ', at))) {
        ++gaps;
    }
    return gaps >= 2 && line.find_first_of(kDigits) == std::string_view::npos;
}

} // namespace

std::string painted_answer(std::string_view text) {
    std::string painted;
    bool answer = true; // the first paragraph
    bool fresh = false; // after an empty line
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        answer = answer && !line.empty();
        const bool colored = line.empty() || line.find('\033') != std::string_view::npos;
        const Ink ink = colored                    ? Ink::plain
                        : answer                   ? Ink::bold
                        : fresh && is_header(line) ? Ink::faint
                                                   : Ink::plain;
        painted += inked(line, ink, true) + "\n";
        fresh = line.empty();
    }
    return painted;
}

} // namespace eyeroof::cli
