#include "base/lines.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>

namespace eyeroof {

namespace {

// A UTF-8 sequence: its bytes (0 where it is broken), its code point, and the columns that it
// takes: two of wide letters, none of combining marks (Unicode's annex 11).
struct Letter {
    std::size_t bytes = 0, columns = 1;
    utf8proc_int32_t point = 0;
};

Letter letter_at(std::string_view text, std::size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (first < 0x80U) {
        return {1, 1, first};
    }
    utf8proc_int32_t point = 0;
    const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                        static_cast<utf8proc_ssize_t>(text.size() - at), &point);
    if (bytes <= 0) {
        return {0, 1, 0};
    }
    return {static_cast<std::size_t>(bytes), static_cast<std::size_t>(utf8proc_charwidth(point)),
            point};
}

// Bytes of the longest start of at most `columns` columns, with the combining marks of its last
// letter.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
    std::size_t bytes = 0;
    for (std::size_t seen = 0; bytes < text.size();) {
        const Letter letter = letter_at(text, bytes);
        seen += letter.columns;
        if (seen > columns) {
            break;
        }
        bytes += std::max<std::size_t>(letter.bytes, 1);
    }
    return bytes;
}

std::string fit(std::string_view text, std::size_t width, bool to_the_right) {
    const std::string clean = masked_controls(text);
    const std::size_t columns = display_width(clean);
    if (columns > width) {
        const std::string head =
            width == 0 ? std::string{} : clean.substr(0, bytes_within(clean, width - 1)) + "…";
        return head +
               std::string(width - display_width(head), ' '); // half of a wide letter is left over
    }
    const std::string blanks(width - columns, ' ');
    return to_the_right ? blanks + clean : clean + blanks;
}

} // namespace

std::size_t display_width(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Letter letter = letter_at(text, at);
        columns += letter.columns;
        at += std::max<std::size_t>(letter.bytes, 1);
    }
    return columns;
}

std::string shortened(std::string_view text, std::size_t columns) {
    const std::size_t all = display_width(text);
    if (all <= columns || columns < 3) {
        return std::string(text);
    }
    const std::string_view head = text.substr(0, bytes_within(text, columns / 2));
    std::size_t tail = head.size(); // the last letters that fit, none without its base letter
    std::size_t left_over = all - display_width(head);
    while (left_over > columns - 1 - columns / 2 ||
           (tail < text.size() && letter_at(text, tail).columns == 0)) {
        const Letter letter = letter_at(text, tail);
        left_over -= letter.columns;
        tail += std::max<std::size_t>(letter.bytes, 1);
    }
    return std::string(head) + "…" + std::string(text.substr(tail));
}

std::string masked_controls(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const Letter letter = letter_at(text, i);
        const bool control = letter.point < 0x20 || (letter.point >= 0x7F && letter.point < 0xA0);
        out += letter.bytes == 0 || control ? "?" : text.substr(i, letter.bytes);
        i += std::max<std::size_t>(letter.bytes, 1);
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
