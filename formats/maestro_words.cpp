#include "formats/maestro_words.hpp"

#include <algorithm>
#include <cctype>

namespace eyeroof::formats {

bool in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '\'';
}

// Names, numbers and single marks; blanks and both forms of comments are passed over.
std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    int line = 1;
    std::size_t line_begin = 0;
    for (std::size_t at = 0; at < text.size() && tokens.size() < kMaxTokens;) {
        if (text[at] == '\n') {
            ++line;
            line_begin = ++at;
        } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
            ++at;
        } else if (text.substr(at, 2) == "//") {
            at = std::min(text.find('\n', at), text.size());
        } else if (text.substr(at, 2) == "/*") {
            const std::size_t end = std::min(text.find("*/", at + 2), text.size());
            for (; at < end; ++at) {
                if (text[at] == '\n') {
                    ++line;
                    line_begin = at + 1;
                }
            }
            at = std::min(end + 2, text.size());
        } else {
            std::size_t end = at + 1;
            while (in_name(text[at]) && end < text.size() && in_name(text[end])) {
                ++end;
            }
            tokens.push_back(
                {text.substr(at, end - at), line, static_cast<int>(at - line_begin) + 1});
            at = end;
        }
    }
    tokens.push_back({{}, line, 1});
    return tokens;
}

} // namespace eyeroof::formats
