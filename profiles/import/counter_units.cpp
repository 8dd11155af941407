#include "profiles/import/counter_units.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::profiles {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

// Times, to nanoseconds. Older versions spell the unit out.
constexpr Unit kTimes[] = {
    {"ns", 1.0},      {"nsecond", 1.0}, {"us", 1e3},     {"usecond", 1e3}, {"ms", 1e6},
    {"msecond", 1e6}, {"s", 1e9},       {"second", 1e9}, {"sec", 1e9},     {"nanosecond", 1.0},
};
// Clocks, to Hz.
constexpr Unit kClocks[] = {
    {"hz", 1.0},  {"Hz", 1.0},  {"Khz", 1e3}, {"KHz", 1e3},
    {"Mhz", 1e6}, {"MHz", 1e6}, {"Ghz", 1e9}, {"GHz", 1e9},
};
constexpr double kKi = 1024.0;
constexpr Unit kPrefixes[] = {{"", 1.0},
                              {"K", 1e3},
                              {"k", 1e3},
                              {"M", 1e6},
                              {"G", 1e9},
                              {"T", 1e12},
                              {"P", 1e15},
                              {"Ki", kKi},
                              {"Mi", kKi* kKi},
                              {"Gi", kKi* kKi* kKi},
                              {"Ti", kKi* kKi* kKi* kKi}};
// Things that are counted; any of them may have a prefix and may stand above "/second" or "/cycle".
constexpr std::string_view kCounted[] = {"B",
                                         "byte",
                                         "cycle",
                                         "inst",
                                         "sector",
                                         "request",
                                         "warp",
                                         "thread",
                                         "block",
                                         "register",
                                         "tag",
                                         "wave",
                                         "op",
                                         "count",
                                         "instruction",
                                         "bit",
                                         "event",
                                         "SM",
                                         "wavefront",
                                         "flop",
                                         "bank",
                                         "byte/block",
                                         "register/thread",
                                         "byte/thread",
                                         "block/SM",
                                         "context"};

template <std::size_t N> const Unit* find(const Unit (&table)[N], std::string_view name) {
    const auto it = std::ranges::find(table, name, &Unit::name);
    return it == std::end(table) ? nullptr : &*it;
}

std::optional<double> counted_factor(std::string_view unit) {
    for (const Unit& prefix : kPrefixes) {
        if (!unit.starts_with(prefix.name)) {
            continue;
        }
        std::string_view rest = unit.substr(prefix.name.size());
        const bool known = std::ranges::find(kCounted, rest) != std::end(kCounted);
        const bool plural =
            rest.ends_with('s') &&
            std::ranges::find(kCounted, rest.substr(0, rest.size() - 1)) != std::end(kCounted);
        if (known || plural) {
            return prefix.factor;
        }
    }
    return std::nullopt;
}

// Below the bar, the inverse of a time is per second; a count (per cycle, per warp) has factor 1.
std::optional<double> denominator_factor(std::string_view unit) {
    constexpr double kNanosecondsInSecond = 1e9;
    if (const Unit* time = find(kTimes, unit)) {
        return kNanosecondsInSecond / time->factor;
    }
    return counted_factor(unit);
}

} // namespace

std::optional<double> base_factor(std::string_view unit) {
    constexpr std::array<std::string_view, 8> kPlain = {"",  "%", "(!) n/a", "n/a",
                                                        "x", "C", "W",       "ratio"};
    if (std::ranges::find(kPlain, unit) != kPlain.end()) {
        return 1.0;
    }
    for (const Unit* found : {find(kTimes, unit), find(kClocks, unit)}) {
        if (found != nullptr) {
            return found->factor;
        }
    }
    if (const auto whole = counted_factor(unit)) {
        return whole;
    }
    const std::size_t bar = unit.find('/');
    if (bar == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view above = unit.substr(0, bar);
    const auto numerator =
        above.empty() || above == "1" ? std::optional(1.0) : counted_factor(above);
    const auto denominator = denominator_factor(unit.substr(bar + 1));
    return numerator && denominator ? std::optional(*numerator * *denominator) : std::nullopt;
}

} // namespace eyeroof::profiles
