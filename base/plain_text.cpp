#include "base/plain_text.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace eyeroof {

namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";
// U+00A0, U+2007, and U+202F.
constexpr std::array<std::string_view, 3> kBlanks = {"\xC2\xA0", "\xE2\x80\x87", "\xE2\x80\xAF"};

enum class Order { little, big };

std::optional<Order> order_of(std::string_view head) {
    if (head.starts_with("\xFF\xFE")) {
        return Order::little;
    }
    if (head.starts_with("\xFE\xFF")) {
        return Order::big;
    }
    constexpr std::size_t least = 8; // bytes that have to agree
    if (head.size() < least) {
        return std::nullopt;
    }
    bool little = true;
    bool big = true;
    for (std::size_t i = 0; i < least; ++i) {
        const auto byte = static_cast<unsigned char>(head[i]);
        const bool letter = byte >= 0x09 && byte < 0x7F;
        little = little && (i % 2 == 0 ? letter : byte == 0);
        big = big && (i % 2 == 1 ? letter : byte == 0);
    }
    return little ? std::optional(Order::little) : big ? std::optional(Order::big) : std::nullopt;
}

void append_utf8(std::uint32_t code, std::string& out) {
    const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

std::string from_utf16(std::string_view text, Order order) {
    constexpr std::uint32_t unknown = 0xFFFD;
    const auto unit = [&](std::size_t at) {
        const auto first = static_cast<unsigned char>(text[at]);
        const auto second = static_cast<unsigned char>(text[at + 1]);
        return static_cast<std::uint32_t>(order == Order::little ? second << 8 | first
                                                                 : first << 8 | second);
    };
    std::string out;
    out.reserve(text.size() / 2);
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) {
        std::uint32_t code = unit(at);
        const bool leads = code >= 0xD800 && code < 0xDC00;
        const std::uint32_t next = leads && at + 3 < text.size() ? unit(at + 2) : 0;
        if (next >= 0xDC00 && next < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (next - 0xDC00);
            at += 2;
        } else if (code >= 0xD800 && code < 0xE000) {
            code = unknown;
        }
        append_utf8(code, out);
    }
    return out;
}

} // namespace

bool is_utf16(std::string_view head) {
    return order_of(head).has_value();
}

std::string plain_text(std::string text) {
    if (const auto order = order_of(text)) {
        text = from_utf16(text, *order);
    }
    if (text.starts_with(kMark)) {
        text.erase(0, kMark.size());
    }
    for (const std::string_view blank : kBlanks) {
        std::size_t at = text.find(blank);
        if (at == std::string::npos) {
            continue;
        }
        std::string spaced;
        spaced.reserve(text.size());
        std::size_t from = 0;
        for (; at != std::string::npos; from = at + blank.size(), at = text.find(blank, from)) {
            spaced.append(text, from, at - from) += ' ';
        }
        text = spaced.append(text, from);
    }
    return text;
}

} // namespace eyeroof
