// Figures as the words of every report.
// Called by the writers of text, Markdown and HTML.
#pragma once

#include "base/units.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace eyeroof::report {

inline std::string percent(double share) {
    return fmt::format("{:.1f} %", 100.0 * share);
}

// "1.2 ms (1.0 ms … 1.5 ms)"; the time alone without an interval.
inline std::string time_text(double time_s, const std::optional<double>& low,
                             const std::optional<double>& high) {
    std::string text = format_si(time_s, "s");
    if (low && high) {
        text += fmt::format(" ({} … {})", format_si(*low, "s"), format_si(*high, "s"));
    }
    return text;
}

} // namespace eyeroof::report
