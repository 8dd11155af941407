// Figures that may be missing, as CSV and JSON write them.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace eyeroof::report {

// An empty cell for what is not known.
inline std::string optional_cell(const std::optional<double>& value) {
    return value ? fmt::to_string(*value) : std::string{};
}

// Both ends of a time's interval, seconds; no field at all without them.
inline void add_interval(nlohmann::ordered_json& json, const std::optional<double>& low,
                         const std::optional<double>& high) {
    if (low && high) {
        json["low_s"] = *low;
        json["high_s"] = *high;
    }
}

} // namespace eyeroof::report
