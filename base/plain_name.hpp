// A name however people write it: "ResNet-50", "resnet_50" and "resnet50" are one.
#pragma once

#include "base/ascii.hpp"

#include <string>
#include <string_view>

namespace eyeroof {

// In lower case, without hyphens, underscores, dots and blanks.
inline std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '-' && c != '_' && c != ' ' && c != '.') {
            plain += lowered(c);
        }
    }
    return plain;
}

} // namespace eyeroof
