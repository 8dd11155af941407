// What may be typed for a parameter, and how its value is written.
#include "analysis/what_if/knobs.hpp"
#include "base/any_case.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace eyeroof::analysis {

namespace {

constexpr int kExactDigits = 12;    // more than people type
constexpr double kMostValue = 1e18; // bytes, bytes/s, Hz
constexpr double kMostCount = 1e6;

std::optional<double> plain_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole_text = error == std::errc{} && end == text.data() + text.size();
    return whole_text && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

Result<double> bad_value(const Knob& knob, std::string_view text, const char* hint) {
    return Result<double>::failure("bad-value", fmt::format("'{}' is no {}", text, knob.name),
                                   hint);
}

// Bytes of one word, when all of the knob's operands have words of one width; nothing without any.
Result<double> word_bytes(const Knob& knob, std::string_view text) {
    std::string each;
    bool same = true;
    for (const auto& [operand, bits] : knob.words) {
        each += fmt::format("{}{} {} bit", each.empty() ? "" : ", ", operand, bits);
        same = same && bits == knob.words.front().second;
    }
    if (same) {
        return Result<double>(knob.words.front().second / 8.0);
    }
    return Result<double>::failure(
        "ambiguous-unit",
        fmt::format("'{}' does not say words of which operand of {}", text, knob.name),
        fmt::format("their words differ ({}): write it in {}", each, knob.unit));
}

// In the knob's own unit, from that or any other that a machine file takes in this place.
Result<double> parse_in_its_units(const Knob& knob, std::string_view text) {
    auto own = parse_quantity_any_case(text, knob.unit, knob.name);
    if (own || own.diagnostics().begin()->code != "wrong-unit") {
        return own;
    }
    for (const auto& [unit, factor] : knob.units) {
        const auto other = parse_quantity_any_case(text, unit, knob.name);
        if (other) {
            return Result<double>(*other * factor);
        }
        if (other.diagnostics().begin()->code == "ambiguous-unit") {
            return other;
        }
    }
    const char* word = knob.unit == "B/cycle" ? "word/cycle" : "word";
    const auto words = parse_quantity_any_case(text, word, knob.name);
    if (knob.words.empty() || !words) {
        return own;
    }
    const auto each = word_bytes(knob, text);
    return each ? Result<double>(*words * *each) : each;
}

} // namespace

std::string value_text(const Knob& knob, double value) {
    if (knob.unit.empty()) {
        return fmt::format("{:.0f}", value);
    }
    return knob.unit == "B" && knob.whole ? format_iec(value, "B", kExactDigits)
                                          : format_si(value, knob.unit, kExactDigits);
}

Result<double> parse_value(const Knob& knob, std::string_view text) {
    double value = 0.0;
    if (text.starts_with('x') || text.starts_with('X')) {
        const auto factor = plain_number(text.substr(1));
        if (!factor) {
            return bad_value(knob, text, "x2 stands for twice the machine's own value");
        }
        value = knob.value * *factor;
    } else if (knob.unit.empty()) {
        const auto count = plain_number(text);
        if (!count || *count != std::floor(*count)) {
            return bad_value(knob, text, "it is a whole number");
        }
        value = *count;
    } else {
        const auto quantity = parse_in_its_units(knob, text);
        if (!quantity) {
            return quantity;
        }
        value = *quantity;
    }
    value = knob.whole ? std::round(value) : value;
    const double most = knob.unit.empty() ? kMostCount : kMostValue;
    const bool fits = value > 0.0 && value <= std::max(most, knob.value);
    return fits ? Result<double>(value) : bad_value(knob, text, "it is positive and not endless");
}

} // namespace eyeroof::analysis
