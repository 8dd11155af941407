// A figure on both sides of a comparison, and the text of its change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::analysis {

// change: (b - a) / a; nothing where a is 0.
struct BothSides {
    double a = 0.0;
    double b = 0.0;

    std::optional<double> change() const {
        return a != 0.0 ? std::optional((b - a) / a) : std::nullopt;
    }
    bool operator==(const BothSides&) const = default;
};

inline constexpr double kToldChange = 1e-9; // relative: smaller ones are rounding

std::string change_text(const BothSides& figure); // "+20.00 %", "=", "new"
std::string added_text(double seconds);           // "+3 ms", "-1.2 us"
std::string change_key(std::string_view figure);  // "time_change" of "time_s"

} // namespace eyeroof::analysis
