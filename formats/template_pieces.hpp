// Cuts a template into text, outputs {{ }}, and statements {% %}.
#pragma once

#include "base/diagnostic.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

// A piece of a template: text, an output {{ }}, or a statement {% %}.
struct Piece {
    enum class Kind { text, output, statement } kind = Kind::text;
    std::string text; // without the marks, trimmed where it is no text
    int line = 1;
};

std::string bare(std::string_view text); // without blanks around it

// Comments {# #} go. Errors: "syntax" for a mark that is not closed, with its line.
std::vector<Piece> pieces_of(std::string_view text, const std::string& file, Diagnostics& found);

} // namespace eyeroof::formats
