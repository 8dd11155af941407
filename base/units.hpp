// Strong types for quantities at API borders, and the one table that reads and prints their units.
// SI (kB = 1000 B) and IEC (KiB = 1024 B) prefixes are different and never guessed.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <span>
#include <string>
#include <string_view>

namespace eyeroof {

template <class Tag> struct Quantity {
    double value = 0.0; // in the base unit named by Tag::unit

    constexpr Quantity() = default;
    constexpr explicit Quantity(double v) : value(v) {}
    auto operator<=>(const Quantity&) const = default;

    constexpr Quantity operator+(Quantity o) const { return Quantity{value + o.value}; }
    constexpr Quantity operator-(Quantity o) const { return Quantity{value - o.value}; }
    constexpr Quantity operator*(double f) const { return Quantity{value * f}; }
    constexpr Quantity operator/(double f) const { return Quantity{value / f}; }
    constexpr double operator/(Quantity o) const { return value / o.value; }
};

// clang-format off
struct BytesTag         { static constexpr std::string_view unit = "B",      what = "a size"; };
struct FlopsTag         { static constexpr std::string_view unit = "FLOP",   what = "a number of operations"; };
struct MacsTag          { static constexpr std::string_view unit = "MAC",    what = "a number of MACs"; };
struct SecondsTag       { static constexpr std::string_view unit = "s",      what = "a time"; };
struct HertzTag         { static constexpr std::string_view unit = "Hz",     what = "a clock"; };
struct JoulesTag        { static constexpr std::string_view unit = "J",      what = "an energy"; };
struct WattsTag         { static constexpr std::string_view unit = "W",      what = "a power"; };
struct BytesPerSecTag   { static constexpr std::string_view unit = "B/s",    what = "a bandwidth"; };
struct FlopsPerSecTag   { static constexpr std::string_view unit = "FLOP/s", what = "an arithmetic rate"; };
struct MacsPerCycleTag  { static constexpr std::string_view unit = "MAC/cycle", what = "a throughput"; };
struct BytesPerCycleTag { static constexpr std::string_view unit = "B/cycle", what = "a bandwidth per cycle"; };
// clang-format on

using Bytes = Quantity<BytesTag>;
using Flops = Quantity<FlopsTag>;
using Macs = Quantity<MacsTag>;
using Seconds = Quantity<SecondsTag>;
using Hertz = Quantity<HertzTag>;
using Joules = Quantity<JoulesTag>;
using Watts = Quantity<WattsTag>;
using BytesPerSec = Quantity<BytesPerSecTag>;
using FlopsPerSec = Quantity<FlopsPerSecTag>;
using MacsPerCycle = Quantity<MacsPerCycleTag>;
using BytesPerCycle = Quantity<BytesPerCycleTag>;

constexpr Seconds operator/(Bytes b, BytesPerSec r) {
    return Seconds{b.value / r.value};
}
constexpr Seconds operator/(Flops f, FlopsPerSec r) {
    return Seconds{f.value / r.value};
}

struct Prefix {
    std::string_view symbol;
    double factor;
};
// Every prefix that is read and printed: "", SI f…E, IEC Ki…Ei. The only such table.
std::span<const Prefix> prefixes();

// Reads "<number> <prefix><unit>": "2.7 GHz", "64 KiB", "3.35 TB/s", "64 bit/cycle", "12.5
// TFLOP/s". Spelling variants of a unit (b, bit, byte, bytes, FLOPS, OPS, "per second") are
// accepted; a missing, wrong or ambiguous unit, NaN, infinity and a negative value are refused with
// a hint.
Result<double> parse_quantity(std::string_view text, std::string_view unit, std::string_view what);

template <class Q> struct QuantityTag;
template <class Tag> struct QuantityTag<Quantity<Tag>> { using type = Tag; };
template <class Q> Result<Q> parse(std::string_view text) {
    using Tag = typename QuantityTag<Q>::type;
    auto number = parse_quantity(text, Tag::unit, Tag::what);
    if (!number) {
        return Result<Q>(number.diagnostics());
    }
    return Result<Q>(Q{*number});
}

// "33.6 GMAC/s"-style text with at most `digits` significant digits and an SI prefix.
std::string format_si(double value, std::string_view unit, int digits = 3);
// As format_si, with IEC prefixes: "108 KiB".
std::string format_iec(double value, std::string_view unit, int digits = 4);

} // namespace eyeroof
