// A name however people write it: "ResNet-50", "resnet_50" and "resnet50" are one.
#pragma once

#include "base/ascii.hpp"

#include <string>
#include <string_view>

namespace eyeroof {

// In lower case, without hyphens, underscores, blanks, and dots. Between two digits they are one
// dot: "opt-1-3b" is "opt-1.3b", not "opt-13b".
inline std::string plain_name(std::string_view name) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string plain;
    bool separated = false;
    for (const char c : name) {
        if (c == '-' || c == '_' || c == ' ' || c == '.') {
            separated = true;
            continue;
        }
        if (separated && is_digit(c) && !plain.empty() && is_digit(plain.back())) {
            plain += '.';
        }
        separated = false;
        plain += lowered(c);
    }
    return plain;
}

} // namespace eyeroof
