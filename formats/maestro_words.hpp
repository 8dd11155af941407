// The words of MAESTRO's files: names, numbers, and marks with their places.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

inline constexpr std::size_t kMaxTokens = 4'000'000;

struct Token {
    std::string_view text; // empty at the end
    int line = 1;
    int column = 1;
};

bool in_name(char c);

// Names, numbers and single marks; blanks and both forms of comments are passed over. The last one
// is empty.
std::vector<Token> tokens_of(std::string_view text);

} // namespace eyeroof::formats
