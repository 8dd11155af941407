#include "base/units.hpp"

#include "base/any_case.hpp"
#include "base/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof {

namespace {

// clang-format off
constexpr std::array<Prefix, 19> kPrefixes = {{
    {"", 1.0},
    {"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"µ", 1e-6}, {"m", 1e-3},
    {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18},
    {"Ki", 1024.0}, {"Mi", 1048576.0}, {"Gi", 1073741824.0}, {"Ti", 1099511627776.0},
    {"Pi", 1125899906842624.0}, {"Ei", 1152921504606846976.0},
}};

// Which prefixes make sense: no one writes a milli-byte or a kibi-second, so such text is a slip.
enum class Scale { fine, coarse, data }; // all SI; SI from k up; SI from k up and IEC

struct Spelling {
    std::string_view text;
    std::string_view base;        // the base unit it stands for
    double factor;                // in base units
    Scale scale;
    std::string_view per;         // "s" where the spelling itself is a rate (GFLOPS, Gbps)
};
constexpr Spelling kSpellings[] = {
    {"B", "B", 1, Scale::data, ""},        {"byte", "B", 1, Scale::data, ""},
    {"bytes", "B", 1, Scale::data, ""},    {"b", "B", 0.125, Scale::data, ""},
    {"bit", "B", 0.125, Scale::data, ""},  {"bits", "B", 0.125, Scale::data, ""},
    {"Bps", "B", 1, Scale::data, "s"},     {"bps", "B", 0.125, Scale::data, "s"},
    {"word", "word", 1, Scale::data, ""},  {"words", "word", 1, Scale::data, ""},
    {"FLOP", "FLOP", 1, Scale::coarse, ""},   {"FLOPs", "FLOP", 1, Scale::coarse, ""},
    {"OP", "FLOP", 1, Scale::coarse, ""},     {"OPs", "FLOP", 1, Scale::coarse, ""},
    {"FLOPS", "FLOP", 1, Scale::coarse, "s"}, {"OPS", "FLOP", 1, Scale::coarse, "s"},
    {"MAC", "MAC", 1, Scale::coarse, ""},     {"MACs", "MAC", 1, Scale::coarse, ""},
    {"Hz", "Hz", 1, Scale::coarse, ""},
    {"s", "s", 1, Scale::fine, ""},  {"sec", "s", 1, Scale::fine, ""},
    {"second", "s", 1, Scale::fine, ""}, {"seconds", "s", 1, Scale::fine, ""},
    {"J", "J", 1, Scale::fine, ""},  {"joule", "J", 1, Scale::fine, ""},
    {"joules", "J", 1, Scale::fine, ""},
    {"W", "W", 1, Scale::fine, ""},  {"watt", "W", 1, Scale::fine, ""},
    {"watts", "W", 1, Scale::fine, ""},
};

struct Divisor {
    std::string_view text;
    std::string_view base;
};
constexpr Divisor kDivisors[] = {
    {"s", "s"}, {"sec", "s"}, {"second", "s"},
    {"cycle", "cycle"}, {"clk", "cycle"}, {"clock", "cycle"},
};
// clang-format on

bool prefix_fits(const Prefix& prefix, Scale scale) {
    const bool iec = prefix.symbol.ends_with('i');
    return (prefix.factor >= 1.0 || scale == Scale::fine) && (!iec || scale == Scale::data);
}

// Powers of ten below one are not exact in binary; dividing by the inverse keeps 6 pJ == 6e-12.
double apply(const Prefix& prefix, double number) {
    return prefix.factor < 1.0 ? number / std::round(1.0 / prefix.factor) : number * prefix.factor;
}

struct Unit {
    const Prefix* prefix;
    const Spelling* spelling;
    std::string_view per; // base unit of the denominator, or empty

    std::string base() const {
        return per.empty() ? std::string(spelling->base)
                           : fmt::format("{}/{}", spelling->base, per);
    }
};

std::string_view trimmed(std::string_view text) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_space(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_space(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

// "GB/s", "GB per second", "Gbps": the prefix, the spelling and the denominator.
std::optional<Unit> read_unit(std::string_view text) {
    std::string_view numerator = text;
    std::string_view per;
    constexpr std::string_view kPer = " per ";
    auto cut = text.find('/');
    auto denominator_at = cut + 1;
    if (cut == std::string_view::npos) {
        cut = text.find(kPer);
        denominator_at = cut + kPer.size();
    }
    if (cut != std::string_view::npos) {
        numerator = trimmed(text.substr(0, cut));
        const std::string_view denominator = trimmed(text.substr(denominator_at));
        const auto* found = std::find_if(std::begin(kDivisors), std::end(kDivisors),
                                         [&](const Divisor& d) { return d.text == denominator; });
        if (found == std::end(kDivisors)) {
            return std::nullopt;
        }
        per = found->base;
    }
    for (const Spelling& spelling : kSpellings) {
        if (!numerator.ends_with(spelling.text) || (!per.empty() && !spelling.per.empty())) {
            continue;
        }
        const auto symbol = numerator.substr(0, numerator.size() - spelling.text.size());
        for (const Prefix& prefix : kPrefixes) {
            if (prefix.symbol == symbol && prefix_fits(prefix, spelling.scale)) {
                return Unit{&prefix, &spelling, spelling.per.empty() ? per : spelling.per};
            }
        }
    }
    return std::nullopt;
}

// An example of what is wanted, for hints.
std::string_view example_of(std::string_view unit) {
    constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
        {"B", "108 KiB"},
        {"FLOP", "2 GFLOP"},
        {"MAC", "118 MMAC"},
        {"s", "2.5 us"},
        {"Hz", "200 MHz"},
        {"J", "6 pJ"},
        {"W", "75 W"},
        {"B/s", "480 MB/s"},
        {"FLOP/s", "92 TFLOP/s"},
        {"MAC/cycle", "168 MAC/cycle"},
        {"B/cycle", "64 bit/cycle"},
        {"word", "224 words"},
        {"word/cycle", "4 words/cycle"}};
    for (const auto& [base, example] : kExamples) {
        if (base == unit) {
            return example;
        }
    }
    return {};
}

std::string expectation(std::string_view unit, std::string_view what) {
    const auto example = example_of(unit);
    return example.empty() ? fmt::format("write {} in {}", what, unit)
                           : fmt::format("write {} in {}, such as \"{}\"", what, unit, example);
}

// "KB": 1000 or 1024? A capital K alone is the one prefix that people use for both.
std::optional<std::string> capital_k_hint(std::string_view unit_text) {
    if (!unit_text.starts_with('K') || unit_text.starts_with("Ki")) {
        return std::nullopt;
    }
    const std::string rest(unit_text.substr(1));
    if (!read_unit("k" + rest)) {
        return std::nullopt;
    }
    return read_unit("Ki" + rest) ? fmt::format("write k{0} (1000 {0}) or Ki{0} (1024 {0})", rest)
                                  : fmt::format("write k{}", rest);
}

Diagnostics refused(std::string code, std::string message, std::string hint) {
    Diagnostics d;
    d.error(std::move(code), std::move(message), std::move(hint));
    return d;
}

Diagnostics refuse_unit(std::string_view text, std::string_view unit_text, std::string_view unit,
                        std::string_view what) {
    if (unit_text.empty()) {
        return refused("missing-unit", fmt::format("\"{}\" has no unit", text),
                       expectation(unit, what));
    }
    if (auto hint = capital_k_hint(unit_text)) {
        return refused("ambiguous-unit",
                       fmt::format("the prefix K in \"{}\" is ambiguous", unit_text),
                       std::move(*hint));
    }
    if (const auto other = read_unit(unit_text)) {
        return refused(
            "wrong-unit",
            fmt::format("\"{}\" is in {}, which does not measure {}", text, other->base(), what),
            expectation(unit, what));
    }
    return refused("wrong-unit", fmt::format("\"{}\" is not a unit", unit_text),
                   expectation(unit, what));
}

} // namespace

std::span<const Prefix> prefixes() {
    return kPrefixes;
}

Result<double> parse_quantity(std::string_view text, std::string_view unit, std::string_view what) {
    const std::string_view all = trimmed(text);
    double number = 0.0;
    const auto [end, status] = std::from_chars(all.data(), all.data() + all.size(), number);
    if (status == std::errc::invalid_argument) {
        return refused("not-a-number", fmt::format("\"{}\" does not begin with a number", all),
                       expectation(unit, what));
    }
    if (status == std::errc::result_out_of_range) {
        return refused("out-of-range",
                       fmt::format("\"{}\" is beyond what can be computed with", all),
                       expectation(unit, what));
    }
    if (!std::isfinite(number)) {
        return refused("not-finite", fmt::format("\"{}\" is not a finite number", all),
                       expectation(unit, what));
    }
    const std::string_view unit_text =
        trimmed(all.substr(static_cast<std::size_t>(end - all.data())));
    const auto found = read_unit(unit_text);
    if (!found || found->base() != unit) {
        return refuse_unit(all, unit_text, unit, what);
    }
    if (std::signbit(number)) {
        return refused("negative", fmt::format("\"{}\" is negative", all),
                       fmt::format("{} is zero or more", what));
    }
    const double value = apply(*found->prefix, number) * found->spelling->factor;
    if (!std::isfinite(value)) {
        return refused("out-of-range",
                       fmt::format("\"{}\" is beyond what can be computed with", all),
                       expectation(unit, what));
    }
    return value;
}

namespace {

// The units that a spelling and a prefix make, as people write them: "GB/s", "Gbps".
std::vector<std::string> written_with(const Prefix& prefix, const Spelling& spelling) {
    const std::string numerator = std::string(prefix.symbol) + std::string(spelling.text);
    std::vector<std::string> all = {numerator};
    for (const Divisor& divisor : kDivisors) {
        all.push_back(fmt::format("{}/{}", numerator, divisor.text));
    }
    return all;
}

// Units that measure what is wanted and differ from the text in case alone, one of each size.
std::map<double, std::string> same_but_case(std::string_view unit_text, std::string_view unit) {
    std::map<double, std::string> found;
    const std::string wanted = lowered(unit_text);
    for (const Spelling& spelling : kSpellings) {
        for (const Prefix& prefix : kPrefixes) {
            for (const std::string& written : written_with(prefix, spelling)) {
                if (lowered(written) != wanted) {
                    continue;
                }
                if (const auto read = read_unit(written); read && read->base() == unit) {
                    found.emplace(read->prefix->factor * read->spelling->factor, written);
                }
            }
        }
    }
    return found;
}

} // namespace

Result<double> parse_quantity_any_case(std::string_view text, std::string_view unit,
                                       std::string_view what) {
    auto exact = parse_quantity(text, unit, what);
    if (exact || exact.diagnostics().begin()->code != "wrong-unit") {
        return exact;
    }
    const std::string_view all = trimmed(text);
    double number = 0.0;
    const auto end = std::from_chars(all.data(), all.data() + all.size(), number).ptr;
    const auto rest = trimmed(all.substr(static_cast<std::size_t>(end - all.data())));
    const auto candidates = same_but_case(rest, unit);
    if (candidates.empty()) {
        return exact;
    }
    if (candidates.size() == 1) {
        return parse_quantity(fmt::format("{} {}", all.substr(0, all.size() - rest.size()),
                                          candidates.begin()->second),
                              unit, what);
    }
    std::string both;
    for (const auto& [factor, written] : candidates) {
        both += (both.empty() ? "" : " or ") + written;
    }
    return refused("ambiguous-unit", fmt::format("\"{}\" may be {}", rest, both),
                   "a small b is a bit, a large B a byte; a small m is a thousandth, a large M a "
                   "million");
}

namespace {

// Rounds to `digits` significant digits, never to fewer than the digits before the point.
std::string significant(double value, int digits) {
    const int before_point =
        value == 0.0 ? 1 : static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
    if (value != 0.0 && std::fabs(value) < 1e-3) {
        return fmt::format("{:.{}g}", value, digits);
    }
    std::string text = fmt::format("{:.{}f}", value, std::clamp(digits - before_point, 0, 17));
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.')) {
            text.pop_back();
        }
    }
    return text;
}

double rounded(double value, int digits) {
    double result = value;
    const std::string text = significant(value, digits);
    std::from_chars(text.data(), text.data() + text.size(), result);
    return result;
}

// Whether at least 1 stands before the point after rounding. What is 1 or more stays so, and what
// is below a half never gets there: only what is between is written out to see.
bool reaches_one(double value, int digits) {
    const double size = std::fabs(value);
    return size >= 1.0 || (size >= 0.5 && std::fabs(rounded(value, digits)) >= 1.0);
}

bool may_be_small(std::string_view unit) {
    return unit == "s" || unit == "J" || unit == "W";
}

// The largest prefix of the family that leaves at least 1 before the point after rounding.
std::string format_scaled(double value, std::string_view unit, int digits, bool iec) {
    if (!std::isfinite(value)) {
        return fmt::format("{} {}", value, unit);
    }
    const Prefix* best = &kPrefixes.front();
    for (const Prefix& prefix : kPrefixes) {
        const bool family =
            prefix.symbol.empty() || (prefix.symbol.ends_with('i') == iec && prefix.symbol != "µ");
        if (!family || (prefix.factor < 1.0 && !may_be_small(unit))) {
            continue;
        }
        const bool better =
            prefix.factor > best->factor || !reaches_one(value / best->factor, digits);
        if (better && reaches_one(value / prefix.factor, digits)) {
            best = &prefix;
        }
    }
    const std::string number = significant(value / best->factor, digits);
    const bool bare = best->symbol.empty() && unit.empty();
    return bare ? number : fmt::format("{} {}{}", number, best->symbol, unit);
}

} // namespace

std::string format_si(double value, std::string_view unit, int digits) {
    return format_scaled(value, unit, digits, false);
}

std::string format_iec(double value, std::string_view unit, int digits) {
    return format_scaled(value, unit, digits, true);
}

} // namespace eyeroof
