#include "base/printable.hpp"

#include <fmt/format.h>

#include <iterator>

namespace eyeroof {

namespace {

// The code point of the sequence of `length` bytes at the beginning of `text`.
char32_t code_point(std::string_view text, std::size_t length) {
    constexpr unsigned kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    constexpr unsigned kBits = 6;
    char32_t value = static_cast<unsigned char>(text[0]) & kFirstBits[length];
    for (std::size_t i = 1; i < length; ++i) {
        value = (value << kBits) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    return value;
}

bool is_obeyed(char32_t c) {
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    const bool line_break = c == 0x2028 || c == 0x2029;
    const bool direction = c == 0x061C || c == 0x200E || c == 0x200F ||
                           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return control || line_break || direction;
}

void append_shown(std::string& out, char32_t c) {
    switch (c) {
    case '\n':
        out += "\\n";
        break;
    case '\r':
        out += "\\r";
        break;
    case '\t':
        out += "\\t";
        break;
    default:
        fmt::format_to(std::back_inserter(out), fmt::runtime(c < 0x80 ? "\\x{:02x}" : "\\u{:04x}"),
                       static_cast<unsigned>(c));
    }
}

std::string shown(std::string_view text, bool keep_lines) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length == 0) {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}",
                           static_cast<unsigned>(static_cast<unsigned char>(text[at])));
            ++at;
            continue;
        }
        const char32_t c = code_point(text.substr(at), length);
        if (is_obeyed(c) && !(keep_lines && c == '\n')) {
            append_shown(out, c);
        } else {
            out.append(text.substr(at, length));
        }
        at += length;
    }
    return out;
}

} // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
    return overlong || beyond ? 0 : length;
}

std::string printable(std::string_view text) {
    return shown(text, false);
}

std::string printable_lines(std::string_view text) {
    return shown(text, true);
}

} // namespace eyeroof
