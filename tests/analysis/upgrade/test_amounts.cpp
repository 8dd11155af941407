// Amounts as people type them.
#include "analysis/upgrade/amounts.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_analysis_upgrade_amounts {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

TEST_CASE("money is read as people type it") {
    for (const char* text : {"30000", "30k", "$30,000", "30 000", "$30k", "USD 30000", "30000 USD",
                             "0.03M", "3e4", "30K"}) {
        CAPTURE(text);
        const auto usd = analysis::parse_usd(text);
        REQUIRE(usd.ok());
        CHECK(*usd == near(30000.0));
    }
    CHECK(*analysis::parse_usd("0") == 0.0);
    CHECK(*analysis::parse_usd("$1,234,567.50") == near(1234567.5));
}

TEST_CASE("money is written with commas between thousands") {
    CHECK(analysis::in_dollars(33113.0) == "$33,113");
    CHECK(analysis::in_dollars(-1234567.0) == "-$1,234,567");
    CHECK(analysis::in_dollars(999.4) == "$999");
    CHECK(analysis::in_dollars(2.529, 2) == "$2.53");
    CHECK(analysis::in_dollars(1234.5, 2) == "$1,234.50");
    CHECK(analysis::in_dollars(-0.4) == "$0");
    CHECK(analysis::price_text(2.5) == "$2.50");
    CHECK(analysis::price_text(12.5e3) == "$12,500");
}

TEST_CASE("what is no amount of money is refused with how to write it") {
    for (const char* text : {"", "-1", "30q", "3,0000", "1,23", ",100", "$", "inf", "nan", "1e300",
                             "30/h", "--5", "10,00,000"}) {
        CAPTURE(text);
        const auto usd = analysis::parse_usd(text);
        REQUIRE_FALSE(usd.ok());
        CHECK(usd.diagnostics().begin()->code == "bad-amount");
        CHECK(usd.diagnostics().begin()->hint.find("30k") != std::string::npos);
    }
}

TEST_CASE("prices of a unit may name it") {
    for (const char* text : {"0.12", "0.12/kWh", "$0.12/kWh", "0.12 USD/kWh", "$0.12 per kWh"}) {
        CAPTURE(text);
        const auto price = analysis::parse_usd_per(text, "kWh");
        REQUIRE(price.ok());
        CHECK(*price == near(0.12));
    }
    CHECK(*analysis::parse_usd_per("2.69/hour", "h") == near(2.69));
    CHECK(*analysis::parse_usd_per("0", "h") == 0.0);
    CHECK_FALSE(analysis::parse_usd_per("0.12/h", "kWh").ok());
}

TEST_CASE("shares, years, times and rates are read in the units of the field") {
    CHECK(*analysis::parse_share("70 %") == near(0.7));
    CHECK(*analysis::parse_share("0.7") == near(0.7));
    CHECK_FALSE(analysis::parse_share("0").ok());
    CHECK_FALSE(analysis::parse_share("101%").ok());
    CHECK_FALSE(analysis::parse_share("70").ok());
    CHECK(*analysis::parse_years("36 months") == near(3.0));
    CHECK(*analysis::parse_years("3 years") == near(3.0));
    CHECK_FALSE(analysis::parse_years("0").ok());
    CHECK_FALSE(analysis::parse_years("200").ok());
    CHECK(*analysis::parse_days("2 weeks") == near(14.0));
    CHECK(*analysis::parse_days("36 h") == near(1.5));
    CHECK(*analysis::parse_rate("820/s") == near(820.0));
    CHECK(*analysis::parse_rate("820 samples/s") == near(820.0));
    CHECK(*analysis::parse_rate("60k/min") == near(1000.0));
    CHECK_FALSE(analysis::parse_rate("0/s").ok());
    CHECK(*analysis::parse_number("1.3e9") == near(1.3e9));
    CHECK(*analysis::parse_number("50M") == near(5e7));
}

TEST_CASE("an amount of something else than money is no amount of money") {
    CHECK(*analysis::parse_co2("0.4") == near(0.4));
    CHECK(*analysis::parse_co2("0") == 0.0);
    for (const char* text : {"$0.4", "0.4 usd", "0.4$", "0.4/h", "-1"}) {
        CAPTURE(text);
        CHECK_FALSE(analysis::parse_co2(text).ok());
    }
}

} // namespace test_analysis_upgrade_amounts
