// Figures as every text prints them: times with their interval, amounts with a prefix.
#pragma once

#include "base/provenance.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace eyeroof {

// "1.2 ms (1.0 ms … 1.5 ms)"; the time alone without an interval.
inline std::string time_text(double time_s, const std::optional<double>& low,
                             const std::optional<double>& high) {
    std::string text = format_si(time_s, "s");
    if (low && high) {
        text += fmt::format(" ({} … {})", format_si(*low, "s"), format_si(*high, "s"));
    }
    return text;
}

// Four digits; thousands as they are ("1024"), more with a prefix ("58.08 k").
inline std::string amount(double value) {
    constexpr double plain_below = 1e4;
    std::string text = value < plain_below && value >= 1e3 ? fmt::format("{:.0f}", value)
                                                           : format_si(value, "", 4);
    if (text.ends_with(' ')) {
        text.pop_back();
    }
    return text;
}

// "recalled" in files and JSON; people read what it means: no source is named.
inline std::string confidence_words(Confidence confidence) {
    return confidence == Confidence::recalled ? std::string("unsourced")
                                              : std::string(confidence_name(confidence));
}

} // namespace eyeroof
