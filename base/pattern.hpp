// Regular expressions for names, searched in time linear in the name, whatever the expression is.
// Syntax: RE2's (as Perl's, without look-around and backreferences).
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace eyeroof {

class Pattern {
  public:
    static constexpr std::size_t kLongest = 1000; // bytes of an expression

    // Matches every name.
    Pattern() = default;

    // Empty text matches every name. Error "bad-regex": the text is no regular expression, longer
    // than kLongest, or would need more memory than 8 MiB; a hint says what is read.
    static Result<Pattern> compile(std::string_view text);

    // Does the expression match anywhere in `name`? Never throws; safe from several threads.
    bool found_in(std::string_view name) const;

  private:
    explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}

    std::shared_ptr<const re2::RE2> compiled_; // none: everything matches
};

} // namespace eyeroof
