#include "base/markup.hpp"

#include "base/lines.hpp"

namespace eyeroof {

std::string html_escaped(std::string_view text) {
    std::string out;
    for (const char c : masked_controls(text)) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += c;
        }
    }
    return out;
}

std::string markdown_cell(std::string_view text) {
    std::string out;
    constexpr std::string_view kFormats = "|*_`<[]&\\";
    for (const char c : masked_controls(text)) {
        if (kFormats.find(c) != std::string_view::npos) {
            out += '\\';
        }
        out += c;
    }
    return out;
}

} // namespace eyeroof
