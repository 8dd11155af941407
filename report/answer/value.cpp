#include "base/figures.hpp"
#include "base/units.hpp"
#include "report/answer/write.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace eyeroof::report {

namespace {

std::string joined(const std::vector<std::string>& list, const char* between) {
    std::string text;
    for (const std::string& one : list) {
        text += (text.empty() ? "" : between) + one;
    }
    return text;
}

// Empty where a number is not finite.
template <class Text>
std::vector<std::string> texts_of(const std::vector<double>& numbers, const Text& text) {
    std::vector<std::string> texts;
    for (const double one : numbers) {
        texts.push_back(std::isfinite(one) ? text(one) : std::string());
    }
    return texts;
}

constexpr double kPowerOfTen = 999.5; // from here three digits would be one

std::string times_text(double value) {
    return value >= 0.1 && value < 10.0 ? fmt::format("{:.2f}x", value)
           : value < kPowerOfTen        ? fmt::format("{:.3g}x", value)
                                        : fmt::format("{:.0f}x", value);
}

// Three digits; below a hundredth of a percent "0.01 %", "-0.01 %", or "0.00 %".
std::string share_text(double value) {
    const double percent = 100.0 * value;
    return percent != 0.0 && std::abs(percent) < 0.01
               ? fmt::format("{:.2f} %", std::round(100.0 * percent) / 100.0 + 0.0) // never -0
           : std::abs(percent) < kPowerOfTen ? fmt::format("{:.3g} %", percent)
                                             : fmt::format("{:.0f} %", percent);
}

std::string plain_text(double value) {
    constexpr double kPrefixed = 1e4;
    return std::abs(value) < kPrefixed ? fmt::format("{:.4g}", value) : amount(value);
}

std::string number_text(double value, Unit unit) {
    constexpr std::array<std::pair<Unit, const char*>, 9> kNames = {{{Unit::seconds, "s"},
                                                                     {Unit::bytes, "B"},
                                                                     {Unit::bytes_per_s, "B/s"},
                                                                     {Unit::joules, "J"},
                                                                     {Unit::macs, "MAC"},
                                                                     {Unit::macs_per_s, "MAC/s"},
                                                                     {Unit::flops_per_s, "FLOP/s"},
                                                                     {Unit::hertz, "Hz"},
                                                                     {Unit::watts, "W"}}};
    for (const auto& [one, name] : kNames) {
        if (one == unit) {
            return format_si(value, name);
        }
    }
    switch (unit) {
    case Unit::count: // whole ones with all digits
        return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                    : plain_text(value);
    case Unit::iec_bytes:
        return format_iec(value, "B");
    case Unit::share:
        return share_text(value);
    case Unit::times:
        return times_text(value);
    case Unit::usd:
        return value >= 1000.0 ? fmt::format("{:.0f} USD", value)
                               : fmt::format("{:.3g} USD", value);
    default:
        return plain_text(value);
    }
}

} // namespace

std::string value_text(const Value& value, Unit unit) {
    if (const auto* flag = std::get_if<bool>(&value)) {
        return *flag ? "yes" : "no";
    }
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        constexpr std::int64_t kAllDigits = 100'000;
        return unit == Unit::count || (unit == Unit::none && *whole < kAllDigits)
                   ? fmt::format("{}", *whole)
                   : number_text(static_cast<double>(*whole), unit);
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return number_text(*number, unit);
    }
    if (const auto* words = std::get_if<std::string>(&value)) {
        return *words;
    }
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        return joined(texts_of(*numbers, [unit](double one) { return number_text(one, unit); }),
                      ", ");
    }
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        return unit == Unit::sentence ? joined(*list, "; ")
               : list->size() > 2
                   ? fmt::format("{} … {} ({})", list->front(), list->back(), list->size())
                   : joined(*list, ", ");
    }
    return std::holds_alternative<std::monostate>(value) ? "-" : "";
}

std::string value_digits(const Value& value) {
    if (const auto* flag = std::get_if<bool>(&value)) {
        return *flag ? "true" : "false";
    }
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        return fmt::format("{}", *whole);
    }
    if (const auto* number = std::get_if<double>(&value)) {
        return fmt::format("{}", *number);
    }
    if (const auto* words = std::get_if<std::string>(&value)) {
        return *words;
    }
    if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        return joined(texts_of(*numbers, [](double one) { return fmt::format("{}", one); }), ";");
    }
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    return list == nullptr ? std::string() : joined(*list, ";");
}

std::string range_text(const std::optional<double>& low, const std::optional<double>& high,
                       Unit unit) {
    return low && high ? value_text(*low, unit) + " … " + value_text(*high, unit) : std::string();
}

std::string rate_text(double per_s) {
    return per_s < 1000.0 ? fmt::format("{:.4g}", per_s) : fmt::format("{:.0f}", per_s);
}

std::string text_of(const std::function<void(const TextSink&)>& write) {
    std::string text;
    write([&text](std::string_view piece) {
        text += piece;
        return true;
    });
    return text;
}

std::string paragraph(const Answer& answer) {
    std::string line;
    for (const std::string& sentence : answer.sentences) {
        line += (line.empty() ? "" : " ") + sentence + (sentence.ends_with('.') ? "" : ".");
    }
    return line;
}

} // namespace eyeroof::report
