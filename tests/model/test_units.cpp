#include "base/units.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace test_model_units {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

std::string code_of(const Result<double>& result) {
    return result.ok() ? "ok" : result.diagnostics().items().front().code;
}

std::string hint_of(const Result<double>& result) {
    return result.ok() ? "" : result.diagnostics().items().front().hint;
}

Result<double> bytes(std::string_view text) {
    return parse_quantity(text, "B", "a size");
}
Result<double> rate(std::string_view text) {
    return parse_quantity(text, "B/s", "a bandwidth");
}

} // namespace

TEST_CASE("every prefix has the factor its name promises") {
    // Written out by hand, independently of the table: powers of 1000 and of 1024.
    const std::pair<std::string_view, double> expected[] = {
        {"", 1.0},      {"f", 1e-15},   {"p", 1e-12},   {"n", 1e-9},    {"u", 1e-6},
        {"µ", 1e-6},    {"m", 1e-3},    {"k", 1e3},     {"M", 1e6},     {"G", 1e9},
        {"T", 1e12},    {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
        {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
    };
    REQUIRE(prefixes().size() == std::size(expected));
    for (const auto& [symbol, factor] : expected) {
        CAPTURE(symbol);
        bool found = false;
        for (const Prefix& prefix : prefixes()) {
            if (prefix.symbol == symbol) {
                found = true;
                CHECK(prefix.factor == factor);
            }
        }
        CHECK(found);
    }
}

TEST_CASE("every spelling of every unit is read with every prefix that suits it") {
    struct Row {
        std::string_view spelling, base;
        double factor;
        bool small, binary; // may carry prefixes below one; may carry IEC prefixes
    };
    const Row rows[] = {
        {"B", "B", 1, false, true},
        {"byte", "B", 1, false, true},
        {"bytes", "B", 1, false, true},
        {"b", "B", 0.125, false, true},
        {"bit", "B", 0.125, false, true},
        {"bits", "B", 0.125, false, true},
        {"word", "word", 1, false, true},
        {"words", "word", 1, false, true},
        {"FLOP", "FLOP", 1, false, false},
        {"FLOPs", "FLOP", 1, false, false},
        {"OP", "FLOP", 1, false, false},
        {"OPs", "FLOP", 1, false, false},
        {"MAC", "MAC", 1, false, false},
        {"MACs", "MAC", 1, false, false},
        {"Hz", "Hz", 1, false, false},
        {"s", "s", 1, true, false},
        {"sec", "s", 1, true, false},
        {"second", "s", 1, true, false},
        {"seconds", "s", 1, true, false},
        {"J", "J", 1, true, false},
        {"joule", "J", 1, true, false},
        {"joules", "J", 1, true, false},
        {"W", "W", 1, true, false},
        {"watt", "W", 1, true, false},
        {"watts", "W", 1, true, false},
        {"B/s", "B/s", 1, false, true},
        {"byte/s", "B/s", 1, false, true},
        {"bytes per second", "B/s", 1, false, true},
        {"bit/s", "B/s", 0.125, false, true},
        {"b/sec", "B/s", 0.125, false, true},
        {"bps", "B/s", 0.125, false, true},
        {"Bps", "B/s", 1, false, true},
        {"FLOP/s", "FLOP/s", 1, false, false},
        {"FLOPS", "FLOP/s", 1, false, false},
        {"OPS", "FLOP/s", 1, false, false},
        {"OP/s", "FLOP/s", 1, false, false},
        {"MAC/s", "MAC/s", 1, false, false},
        {"MAC/cycle", "MAC/cycle", 1, false, false},
        {"B/cycle", "B/cycle", 1, false, true},
        {"bit/cycle", "B/cycle", 0.125, false, true},
        {"bits/clk", "B/cycle", 0.125, false, true},
        {"B/clock", "B/cycle", 1, false, true},
        {"words/cycle", "word/cycle", 1, false, true},
    };
    for (const Row& row : rows) {
        for (const Prefix& prefix : prefixes()) {
            const bool iec = prefix.factor >= 1024.0 && std::fmod(prefix.factor, 1000.0) != 0.0;
            const bool suits = (prefix.factor >= 1.0 || row.small) && (!iec || row.binary);
            for (const std::string_view gap : {" ", ""}) {
                const std::string text =
                    "3" + std::string(gap) + std::string(prefix.symbol) + std::string(row.spelling);
                CAPTURE(text);
                const auto value = parse_quantity(text, row.base, "it");
                REQUIRE(value.ok() == suits);
                if (suits) {
                    CHECK(*value == near(3 * prefix.factor * row.factor, 1e-15));
                }
            }
        }
    }
}

TEST_CASE("64 bits a cycle are 8 bytes a cycle") {
    CHECK(*parse_quantity("64 bit/cycle", "B/cycle", "x") == 8.0);
    CHECK(*parse_quantity("64 b/cycle", "B/cycle", "x") == 8.0);
    CHECK(parse<BytesPerCycle>("64 bit/cycle")->value == 8.0);
}

TEST_CASE("SI and IEC prefixes are told apart") {
    CHECK(*bytes("108 kB") == 108000.0);
    CHECK(*bytes("108 KiB") == 110592.0);
    CHECK(*rate("34 GB/s") == 34e9);
    CHECK(*rate("30 GiB/s") == 32212254720.0); // 30 * 2^30
}

TEST_CASE("decimal text gives the nearest double") {
    CHECK(parse<Hertz>("2.7 GHz")->value == 2.7e9);
    CHECK(parse<Joules>("6 pJ")->value == 6e-12);
    CHECK(parse<Joules>("0.1 pJ")->value == 0.1e-12);
    CHECK(parse<BytesPerSec>("3.35 TB/s")->value == 3.35e12);
    CHECK(parse<Bytes>("1e3 B")->value == 1000.0);
    CHECK(parse<Bytes>("1EB")->value == 1e18); // E is the prefix here, not an exponent
    CHECK(parse<Seconds>("  100 us  ")->value == 1e-4);
    CHECK(parse<FlopsPerSec>("92 TOPS")->value == 92e12);
}

TEST_CASE("a missing unit is refused and the hint shows one") {
    const auto result = rate("480");
    CHECK(code_of(result) == "missing-unit");
    CHECK(hint_of(result).find("480 MB/s") != std::string::npos);
    CHECK(code_of(bytes("0")) == "missing-unit");
}

TEST_CASE("a unit of another kind is refused") {
    CHECK(code_of(rate("480 MB")) == "wrong-unit");
    CHECK(code_of(bytes("480 MB/s")) == "wrong-unit");
    CHECK(code_of(bytes("3 GHz")) == "wrong-unit");
    CHECK(code_of(rate("64 bit/cycle")) == "wrong-unit");
    CHECK(code_of(parse_quantity("9 GFLOPS", "FLOP", "x")) == "wrong-unit"); // a rate, no count
    CHECK(code_of(bytes("3 apples")) == "wrong-unit");
    CHECK(code_of(rate("3 GB/fortnight")) == "wrong-unit");
    CHECK(code_of(rate("3 Gbps/s")) == "wrong-unit");
    CHECK(hint_of(bytes("3 GHz")).find("108 KiB") != std::string::npos);
}

TEST_CASE("a capital K alone is ambiguous between 1000 and 1024") {
    CHECK(code_of(bytes("64 KB")) == "ambiguous-unit");
    CHECK(hint_of(bytes("64 KB")) == "write kB (1000 B) or KiB (1024 B)");
    CHECK(hint_of(parse_quantity("64 KHz", "Hz", "a clock")) == "write kHz");
}

TEST_CASE("a prefix that cannot be meant is refused") {
    CHECK(code_of(bytes("64 mB")) == "wrong-unit");
    CHECK(code_of(parse_quantity("200 mHz", "Hz", "a clock")) == "wrong-unit");
    CHECK(code_of(parse_quantity("2 KiHz", "Hz", "a clock")) == "wrong-unit");
}

TEST_CASE("what is not a finite number of zero or more is refused") {
    CHECK(code_of(bytes("nan B")) == "not-finite");
    CHECK(code_of(bytes("inf B")) == "not-finite");
    CHECK(code_of(bytes("-inf B")) == "not-finite");
    CHECK(code_of(bytes("-1 B")) == "negative");
    CHECK(code_of(bytes("-0 B")) == "negative");
    CHECK(code_of(bytes("1e400 B")) == "out-of-range");
    CHECK(code_of(bytes("1e300 EB")) == "out-of-range");
    CHECK(code_of(bytes("")) == "not-a-number");
    CHECK(code_of(bytes("B")) == "not-a-number");
    CHECK(code_of(bytes("+4 B")) == "not-a-number");
    CHECK(*bytes("0 B") == 0.0);
}

TEST_CASE("text after the unit is refused") {
    CHECK(code_of(bytes("64 KiB each")) == "wrong-unit");
    CHECK(code_of(bytes("1,000 B")) == "wrong-unit");
    CHECK(code_of(bytes("0x10 B")) == "wrong-unit");
    CHECK(code_of(bytes("1 2 B")) == "wrong-unit");
    CHECK(code_of(bytes("64 Ki B")) == "wrong-unit");
}

TEST_CASE("numbers are printed with a prefix that leaves one to three digits before the point") {
    CHECK(format_si(33.6e9, "MAC/s") == "33.6 GMAC/s");
    CHECK(format_si(0, "B") == "0 B");
    CHECK(format_si(64, "") == "64"); // no blank before nothing
    CHECK(format_si(1500, "") == "1.5 k");
    CHECK(format_si(999.4, "B") == "999 B");
    CHECK(format_si(999.6, "B") == "1 kB"); // rounds up into the next prefix
    CHECK(format_si(1e21, "B") == "1000 EB");
    CHECK(format_si(0.5, "B/cycle") == "0.5 B/cycle");
    CHECK(format_si(2.5e-6, "s") == "2.5 us");
    CHECK(format_si(6e-12, "J") == "6 pJ");
    CHECK(format_si(-1500, "B") == "-1.5 kB");
    CHECK(format_si(123456, "B", 2) == "123 kB");
    CHECK(format_iec(110592, "B") == "108 KiB");
    CHECK(format_iec(1000, "B") == "1000 B");
    CHECK(format_iec(1048575.9, "B") == "1 MiB");
    CHECK(format_iec(73920, "B") == "72.19 KiB"); // 73920 / 1024 = 72.1875
    CHECK(format_si(INFINITY, "B/s") == "inf B/s");
    CHECK(format_si(2.5e-7, "B/cycle") == "2.5e-07 B/cycle"); // no milli-bytes
}

TEST_CASE("what is printed can be read back") {
    for (double value = 1.0; value < 1e18; value *= 7.3) {
        CAPTURE(value);
        CHECK(*bytes(format_si(value, "B", 17)) == near(value, 1e-14));
        CHECK(*bytes(format_iec(value, "B", 17)) == near(value, 1e-14));
        CHECK(parse<Seconds>(format_si(1 / value, "s", 17))->value * value == near(1.0, 1e-13));
    }
}

} // namespace test_model_units
