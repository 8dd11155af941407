// Figures in the words of every report: shares, times with intervals, amounts, energies.
#pragma once

#include "analysis/exam/report_figures.hpp"
#include "base/figures.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::report {

inline std::string percent(double share) {
    return fmt::format("{:.1f} %", 100.0 * share);
}

// "the kernels overlap" as "The kernels overlap."
inline std::string sentence(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') {
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    }
    return text + ".";
}

// At most `width` columns, cut with "…"; control characters masked.
inline std::string clipped(std::string_view text, std::size_t width) {
    return left(text, std::min(display_width(masked_controls(text)), width));
}

// "1.89 MB moved (2.13 MB before zero compression)".
inline std::string moved_text(double bytes, double uncoded) {
    constexpr double visible = 1.005;
    return format_si(bytes, "B") + " moved" +
           (uncoded > visible * bytes
                ? fmt::format(" ({} before zero compression)", format_si(uncoded, "B"))
                : "");
}

// "(7) waits for DRAM": the step, then what binds there. Step 6 is a rate, step 7 the time that
// loads are late.
inline std::string bound_label(const analysis::LayerReport& layer) {
    constexpr std::string_view rate = " bandwidth";
    const std::string_view name = layer.limiter;
    const bool late = layer.limiter_step == model::kSteps && name.ends_with(rate);
    return fmt::format("({}) {}{}", layer.limiter_step, late ? "waits for " : "",
                       late ? name.substr(0, name.size() - rate.size()) : name);
}

// What does one MAC in a cycle.
inline std::string_view unit_name(const analysis::Report& report) {
    return report.machine.kind == "accelerator" ? "PEs" : "MAC lanes";
}

// "at most 45.2 mJ (12.0 % of it leakage)".
inline std::string energy_text(bool upper_bound, double joules, double leakage) {
    const std::string all = (upper_bound ? "at most " : "") + format_si(joules, "J");
    return leakage > 0.0 ? fmt::format("{} ({} of it leakage)", all, percent(leakage / joules))
                         : all;
}

} // namespace eyeroof::report
