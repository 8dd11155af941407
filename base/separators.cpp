#include "base/separators.hpp"

#include <cctype>
#include <string_view>

namespace eyeroof {

namespace {

// The first line that says something.
std::string_view first_line(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t first = line.find_first_not_of(" \t\r");
        if (first != std::string_view::npos && line[first] != '#') {
            return line;
        }
        text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    }
    return {};
}

bool has_outside_quotes(std::string_view line, char wanted) {
    bool quoted = false;
    for (const char c : line) {
        quoted = quoted != (c == '"');
        if (c == wanted && !quoted) {
            return true;
        }
    }
    return false;
}

char separator_of(std::string_view text) {
    const std::string_view line = first_line(text);
    for (const char separator : {',', ';', '\t'}) {
        if (has_outside_quotes(line, separator)) {
            return separator;
        }
    }
    return ',';
}

bool is_digit_at(std::string_view text, std::size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

} // namespace

std::string comma_separated(std::string text) {
    const char separator = separator_of(text);
    if (separator == ',') {
        return text;
    }
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        quoted = quoted != (text[at] == '"');
        if (quoted) {
            continue;
        }
        if (text[at] == separator) {
            text[at] = ',';
        } else if (text[at] == ',' && at > 0 && is_digit_at(text, at - 1) &&
                   is_digit_at(text, at + 1)) {
            text[at] = '.';
        }
    }
    return text;
}

} // namespace eyeroof
