// What may be typed for a parameter, and how its value is written.
#include "analysis/what_if/parameters.hpp"
#include "base/any_case.hpp"
#include "base/operation_rate.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace eyeroof::analysis {

namespace {

constexpr double kMostValue = 1e18; // bytes, bytes/s, Hz
constexpr double kMostCount = 1e6;
constexpr const char* kPositive = "it is more than zero and not endless";

std::optional<double> plain_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole_text = error == std::errc{} && end == text.data() + text.size();
    return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Result<double> bad_value(const Parameter& parameter, std::string_view text, const char* hint) {
    return Result<double>::failure("bad-value", fmt::format("'{}' is no {}", text, parameter.name),
                                   hint);
}

// Bytes of one word, when all of the parameter's operands have words of one width; nothing without
// any.
Result<double> word_bytes(const Parameter& parameter, std::string_view text) {
    std::string each;
    bool same = true;
    for (const auto& [operand, bits] : parameter.words) {
        each += fmt::format("{}{} {} bit", each.empty() ? "" : ", ", operand, bits);
        same = same && bits == parameter.words.front().second;
    }
    if (same) {
        return Result<double>(parameter.words.front().second / 8.0);
    }
    return Result<double>::failure(
        "ambiguous-unit",
        fmt::format("'{}' does not say words of which operand of {}", text, parameter.name),
        fmt::format("their words differ ({}): write it in {}", each, parameter.unit));
}

// In the parameter's own unit, from that or any other that a machine file takes in this place.
Result<double> parse_in_its_units(const Parameter& parameter, std::string_view text) {
    auto own = parse_quantity_any_case(text, parameter.unit, parameter.name);
    const std::string code = own ? "" : own.diagnostics().begin()->code;
    if (code == "negative") {
        return bad_value(parameter, text, kPositive);
    }
    if (code != "wrong-unit") {
        return own;
    }
    for (const auto& [unit, factor] : parameter.units) {
        const auto other = parse_quantity_any_case(text, unit, parameter.name);
        if (other) {
            return Result<double>(*other * factor);
        }
        if (other.diagnostics().begin()->code == "ambiguous-unit") {
            return other;
        }
    }
    const char* word = parameter.unit == "B/cycle" ? "word/cycle" : "word";
    const auto words = parse_quantity_any_case(text, word, parameter.name);
    if (parameter.words.empty() || !words) {
        return own;
    }
    const auto each = word_bytes(parameter, text);
    return each ? Result<double>(*words * *each) : each;
}

} // namespace

std::string value_text(const Parameter& parameter, double value, int digits) {
    if (parameter.unit.empty()) {
        return fmt::format("{:.0f}", value);
    }
    return parameter.unit == "B" && parameter.whole
               ? format_iec(value, "B", kExactDigits)
               : format_si(value,
                           parameter.unit == "FLOP/s" ? operation_rate_unit(parameter.name)
                                                      : parameter.unit,
                           digits);
}

Result<double> parse_value(const Parameter& parameter, std::string_view text) {
    double value = 0.0;
    if (text.starts_with('x') || text.starts_with('X')) {
        const auto factor = plain_number(text.substr(1));
        if (!factor) {
            return bad_value(parameter, text, "x2 stands for twice the machine's own value");
        }
        value = parameter.value * *factor;
    } else if (parameter.unit.empty()) {
        const auto count = plain_number(text);
        if (!count || *count != std::floor(*count)) {
            return bad_value(parameter, text, "it is a whole number");
        }
        value = *count;
    } else {
        const auto quantity = parse_in_its_units(parameter, text);
        if (!quantity) {
            return quantity;
        }
        value = *quantity;
    }
    value = parameter.whole ? std::round(value) : value;
    const double most = parameter.unit.empty() ? kMostCount : kMostValue;
    const bool fits = value > 0.0 && value <= std::max(most, parameter.value);
    return fits ? Result<double>(value) : bad_value(parameter, text, kPositive);
}

} // namespace eyeroof::analysis
