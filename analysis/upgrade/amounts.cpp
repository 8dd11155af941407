#include "analysis/upgrade/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

namespace eyeroof::analysis {

namespace {

using Answer = Result<double>;

constexpr double kMostAmount = 1e15;

Answer refused(std::string_view text, std::string_view what, std::string_view hint) {
    return Answer::failure("bad-amount", fmt::format("'{}' is not {}", text, what),
                           std::string(hint));
}

// Lower case, without blanks.
std::string squeezed(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0) {
            out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return out;
}

struct Amount {
    double value = 0.0;
    std::string rest; // what stands behind the number and its k, m or b
};

// Commas that separate thousands are dropped; any other comma is refused.
std::optional<std::string> without_commas(const std::string& text) {
    std::string out;
    std::size_t since = 0; // digits since the last comma
    bool grouped = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
        if (text[i] == ',') {
            if (out.empty() || (grouped && since != 3) || (!grouped && since > 3)) {
                return std::nullopt;
            }
            grouped = true;
            since = 0;
            continue;
        }
        if (grouped && !digit && since != 3) {
            return std::nullopt;
        }
        grouped = grouped && digit;
        since = digit ? since + 1 : 0;
        out += text[i];
    }
    return grouped && since != 3 ? std::nullopt : std::optional(out);
}

// A number, perhaps after "$" or "usd", perhaps with k, m or b for thousands, millions, billions.
std::optional<Amount> amount_of(std::string_view typed, bool money) {
    auto text = without_commas(squeezed(typed));
    if (!text) {
        return std::nullopt;
    }
    for (const std::string_view sign : {"$", "usd"}) {
        if (money && text->starts_with(sign)) {
            text->erase(0, sign.size());
        }
    }
    Amount amount;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, amount.value);
    if (error != std::errc{} || !std::isfinite(amount.value) || amount.value < 0.0) {
        return std::nullopt;
    }
    amount.rest = std::string(stop, end);
    const std::map<char, double> powers = {{'k', 1e3}, {'m', 1e6}, {'b', 1e9}};
    if (!amount.rest.empty() && powers.contains(amount.rest.front()) &&
        (amount.rest.size() == 1 || amount.rest[1] == '/' || amount.rest[1] == '$' ||
         amount.rest.substr(1) == "usd")) {
        amount.value *= powers.at(amount.rest.front());
        amount.rest.erase(0, 1);
    }
    if (money && (amount.rest == "$" || amount.rest == "usd")) {
        amount.rest.clear();
    }
    return amount.value <= kMostAmount ? std::optional(amount) : std::nullopt;
}

// The number in `unit`s of the table's, "" standing for the unit that is meant without one.
Answer in_units(std::string_view text, const std::map<std::string, double>& units,
                std::string_view what, std::string_view hint) {
    const auto amount = amount_of(text, false);
    const auto unit = amount ? units.find(amount->rest) : units.end();
    if (unit == units.end() || !(amount->value * unit->second > 0.0)) {
        return refused(text, what, hint);
    }
    return amount->value * unit->second;
}

} // namespace

std::string in_dollars(double amount, int decimals) {
    std::string digits = fmt::format("{:.{}f}", std::fabs(amount), decimals);
    std::size_t at = std::min(digits.find('.'), digits.size());
    while (at > 3) {
        at -= 3;
        digits.insert(at, ",");
    }
    const bool zero = digits.find_first_of("123456789") == std::string::npos;
    return (amount < 0.0 && !zero ? "-$" : "$") + digits;
}

std::string price_text(double usd) {
    return in_dollars(usd, std::fabs(usd) < 10.0 ? 2 : 0);
}

Answer parse_usd(std::string_view text) {
    const auto amount = amount_of(text, true);
    return amount && amount->rest.empty()
               ? Answer(amount->value)
               : refused(text, "an amount of money, 0 or more", "as in 30000, 30k, or $30,000");
}

Answer parse_usd_per(std::string_view text, std::string_view unit) {
    const auto amount = amount_of(text, true);
    const std::string plain = squeezed(unit);
    const auto is_unit = [&](const std::string& rest) {
        return rest.empty() || rest == "/" + plain || rest == "per" + plain ||
               rest == "usd/" + plain || rest == "$/" + plain ||
               (plain == "h" && (rest == "/hour" || rest == "/hr" || rest == "perhour")) ||
               (plain == "month" && rest == "/mo");
    };
    return amount && is_unit(amount->rest)
               ? Answer(amount->value)
               : refused(
                     text,
                     fmt::format("a price for each {}, 0 or more", plain == "h" ? "hour" : unit),
                     fmt::format("as in 0.12, $0.12, or 0.12/{}", unit));
}

Answer parse_share(std::string_view text) {
    const auto amount = amount_of(text, false);
    const double unit = amount && amount->rest == "%" ? 0.01 : 1.0;
    return amount && (amount->rest == "%" || amount->rest.empty()) && amount->value > 0.0 &&
                   amount->value * unit <= 1.0
               ? Answer(amount->value * unit)
               : refused(text, "a share above 0 and at most 1 (100 %)", "as in 0.7 or 70 %");
}

Answer parse_years(std::string_view text) {
    const auto years =
        in_units(text,
                 {{"", 1.0},
                  {"y", 1.0},
                  {"year", 1.0},
                  {"years", 1.0},
                  {"month", 1.0 / 12.0},
                  {"months", 1.0 / 12.0}},
                 "a number of years above 0 and at most 100", "as in 3, 3 years, or 36 months");
    return !years || (*years >= 0.01 && *years <= 100.0)
               ? years
               : refused(text, "a number of years above 0 and at most 100",
                         "as in 3, 3 years, or 36 months");
}

Answer parse_days(std::string_view text) {
    return in_units(text,
                    {{"", 1.0},
                     {"d", 1.0},
                     {"day", 1.0},
                     {"days", 1.0},
                     {"h", 1.0 / 24.0},
                     {"hours", 1.0 / 24.0},
                     {"week", 7.0},
                     {"weeks", 7.0},
                     {"month", 365.0 / 12.0},
                     {"months", 365.0 / 12.0},
                     {"year", 365.0},
                     {"years", 365.0}},
                    "a time above 0", "as in 14d, 2 weeks, or 36 h");
}

Answer parse_rate(std::string_view text) {
    std::string plain = squeezed(text);
    for (const std::string_view word : {"samples", "sample", "images", "image", "sequences"}) {
        if (const auto at = plain.find(word); at != std::string::npos) {
            plain.erase(at, word.size());
        }
    }
    return in_units(plain,
                    {{"", 1.0},
                     {"/s", 1.0},
                     {"/sec", 1.0},
                     {"/second", 1.0},
                     {"/min", 1.0 / 60.0},
                     {"/h", 1.0 / 3600.0}},
                    "a throughput above 0, in samples per second", "as in 820/s or 50k/min");
}

Answer parse_co2(std::string_view text) {
    // Lifecycle g CO2 equivalents per kWh generated in 2023. Source: Ember and Energy Institute, by
    // Our World in Data, "Carbon intensity of electricity generation", 2024; Poland and Sweden by
    // Ember (Statista, 2024). Those of Japan, the Netherlands, UK, and USA are unsourced.
    static const std::map<std::string, double> grams = {
        {"australia", 549.0}, {"austria", 111.0}, {"belgium", 138.0}, {"brazil", 98.0},
        {"canada", 170.0},    {"chile", 291.0},   {"china", 582.0},   {"denmark", 152.0},
        {"finland", 79.0},    {"france", 56.0},   {"germany", 381.0}, {"india", 713.0},
        {"ireland", 291.0},   {"japan", 485.0},   {"norway", 30.0},   {"netherlands", 268.0},
        {"poland", 662.0},    {"sweden", 41.0},   {"uk", 238.0},      {"usa", 369.0},
        {"world", 481.0}};
    if (const auto region = grams.find(squeezed(text)); region != grams.end()) {
        return region->second / 1000.0;
    }
    const auto amount = amount_of(text, false);
    const bool of_grams = amount && amount->rest == "g/kwh";
    if (amount && (of_grams || amount->rest.empty() || amount->rest == "kg/kwh")) {
        return amount->value / (of_grams ? 1000.0 : 1.0);
    }
    std::string names;
    for (const auto& [name, value] : grams) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return refused(text, "an amount of CO2, 0 or more, or a country with one",
                   "as in 0.4 (kg/kWh), '56 g/kWh', or one of " + names);
}

Answer parse_watts(std::string_view text) {
    return in_units(text, {{"w", 1.0}, {"kw", 1e3}}, "a power above 0", "as in 20kW or 700 W");
}

Answer parse_number(std::string_view text) {
    return in_units(text, {{"", 1.0}}, "a number above 0", "as in 1.4, 1.3e9, or 50M");
}

} // namespace eyeroof::analysis
