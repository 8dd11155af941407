#include "analysis/diff/both_sides.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::analysis {

std::string change_text(const BothSides& figure) {
    const auto change = figure.change();
    return !change                            ? std::string(figure.b == 0.0 ? "=" : "new")
           : std::abs(*change) <= kToldChange ? "="
                                              : fmt::format("{:+.2f} %", 100.0 * *change);
}

std::string added_text(double seconds) {
    return (seconds < 0.0 ? "-" : "+") + format_si(std::abs(seconds), "s");
}

std::string change_key(std::string_view figure) {
    for (const std::string_view unit : {"_s", "_j"}) {
        if (figure.ends_with(unit)) {
            figure.remove_suffix(unit.size());
        }
    }
    return std::string(figure) + "_change";
}

} // namespace eyeroof::analysis
