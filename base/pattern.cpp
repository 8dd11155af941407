#include "base/pattern.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <string>

namespace eyeroof {

Result<Pattern> Pattern::compile(std::string_view text) {
    if (text.empty()) {
        return Pattern();
    }
    constexpr std::size_t kShown = 60;
    const std::string shown =
        text.size() <= kShown ? std::string(text) : std::string(text.substr(0, kShown)) + "…";
    if (text.size() > kLongest) {
        return Result<Pattern>::failure(
            "bad-regex",
            fmt::format("the regular expression '{}' is longer than {} characters", shown,
                        kLongest),
            "match part of the name: no pattern has to hold it whole");
    }
    RE2::Options options(RE2::Quiet);
    auto compiled =
        std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!compiled->ok()) {
        return Result<Pattern>::failure(
            "bad-regex",
            fmt::format("'{}' is not a regular expression: {}", shown, compiled->error()),
            "for example conv[1-3]|fc.*; look-around and backreferences are not read");
    }
    return Pattern(std::move(compiled));
}

bool Pattern::found_in(std::string_view name) const {
    return compiled_ == nullptr ||
           RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *compiled_);
}

} // namespace eyeroof
