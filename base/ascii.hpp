// Letters of ASCII in lower case, whatever the locale: names of files and options mean the same
// everywhere.
// Called wherever names are compared as people write them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace eyeroof {

constexpr char lowered(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string lowered(std::string_view text) {
    std::string low(text);
    std::transform(low.begin(), low.end(), low.begin(), [](char c) { return lowered(c); });
    return low;
}

inline bool same_in_any_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lowered(x) == lowered(y); });
}

} // namespace eyeroof
