#include "base/lines.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof {

namespace {

bool continues(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 sequence that begins at `at`, 0 when it is broken.
std::size_t sequence_length(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80U              ? 1
                               : (lead & 0xE0U) == 0xC0U ? 2
                               : (lead & 0xF0U) == 0xE0U ? 3
                               : (lead & 0xF8U) == 0xF0U ? 4
                                                         : 0;
    if (length == 0 || at + length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if (!continues(text[at + i])) {
            return 0;
        }
    }
    return length;
}

// The first `columns` columns.
std::string_view head(std::string_view text, std::size_t columns) {
    std::size_t bytes = 0;
    for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
        if (!continues(text[bytes]) && seen++ == columns) {
            break;
        }
    }
    return text.substr(0, bytes);
}

std::string fit(std::string_view text, std::size_t width, bool to_the_right) {
    const std::string clean = masked_controls(text);
    const std::size_t columns = display_width(clean);
    if (columns > width) {
        return width == 0 ? std::string{} : std::string(head(clean, width - 1)) + "…";
    }
    const std::string blanks(width - columns, ' ');
    return to_the_right ? blanks + clean : clean + blanks;
}

} // namespace

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string masked_controls(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool c1_control =
            length == 2 && byte == 0xC2U && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
        if (length == 0 || byte < 0x20U || byte == 0x7FU || c1_control) {
            out += '?';
        } else {
            out += text.substr(i, length);
        }
        i += std::max<std::size_t>(length, 1);
    }
    return out;
}

std::string left(std::string_view text, std::size_t width) {
    return fit(text, width, false);
}
std::string right(std::string_view text, std::size_t width) {
    return fit(text, width, true);
}

namespace {

std::string joined_lines(const std::vector<std::string>& pieces, std::string_view separator,
                         std::size_t indent, std::size_t width) {
    std::string out;
    std::string line;
    for (const std::string& whole : pieces) {
        const std::string piece =
            left(whole, std::min(display_width(whole), width - std::min(width, indent)));
        const std::size_t needed =
            display_width(line) + display_width(separator) + display_width(piece);
        if (!line.empty() && indent + needed > width) {
            out += std::string(indent, ' ') + line + '\n';
            line.clear();
        }
        line += line.empty() ? piece : std::string(separator) + piece;
    }
    return line.empty() ? out : out + std::string(indent, ' ') + line + '\n';
}

} // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    const std::string clean = masked_controls(text);
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < clean.size();) {
        const std::size_t end = std::min(clean.find(' ', begin), clean.size());
        if (end > begin) {
            words.push_back(clean.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return joined_lines(words, " ", indent, width);
}

std::string wrapped_parts(const std::vector<std::string>& parts, std::size_t indent,
                          std::size_t width) {
    return joined_lines(parts, " · ", indent, width);
}

std::string bar(double full, double possible, std::size_t cells) {
    static constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto clamped = [](double share) {
        return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
    };
    const auto units =
        static_cast<std::size_t>(std::lround(clamped(full) * 8.0 * static_cast<double>(cells)));
    const auto light =
        static_cast<std::size_t>(std::lround(clamped(possible) * static_cast<double>(cells)));
    std::string out;
    std::size_t column = 0;
    for (; column < units / 8; ++column) {
        out += "█";
    }
    if (units % 8 != 0) {
        out += eighths[units % 8];
        ++column;
    }
    for (; column < light; ++column) {
        out += "░";
    }
    for (; column < cells; ++column) {
        out += "·";
    }
    return out;
}

std::string inked(std::string_view text, Ink ink, bool colour) {
    if (!colour || ink == Ink::plain) {
        return std::string(text);
    }
    static constexpr std::string_view codes[] = {"", "1", "2", "32", "33", "1;31"};
    return "\033[" + std::string(codes[static_cast<std::size_t>(ink)]) + "m" + std::string(text) +
           "\033[0m";
}

} // namespace eyeroof
