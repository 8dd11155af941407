#include "report/draw/fitted_text.hpp"

namespace eyeroof::report {

std::string fitted(const std::string& text, double font_px, double width) {
    constexpr std::size_t least = 6; // columns that still say something
    std::string shown = text;
    for (std::size_t most = display_width(text);
         most > least && text_width(shown, font_px) > width;) {
        shown = shortened(text, --most);
    }
    return shown;
}

std::vector<std::string> wrapped_to_width(const std::string& text, double font_px, double width) {
    std::vector<std::string> lines;
    std::string rest = text;
    while (text_width(rest, font_px) > width) {
        std::size_t end = rest.rfind(' ');
        while (end != std::string::npos && end > 0 &&
               text_width(std::string_view(rest).substr(0, end), font_px) > width) {
            end = rest.rfind(' ', end - 1);
        }
        if (end == std::string::npos || end == 0) { // a word that is too wide stays whole
            end = rest.find(' ', 1);
        }
        if (end == std::string::npos) {
            break;
        }
        lines.push_back(rest.substr(0, end));
        rest = rest.substr(end + 1);
    }
    lines.push_back(rest);
    return lines;
}

} // namespace eyeroof::report
