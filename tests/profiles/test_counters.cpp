#include "profiles/counters.hpp"
#include "profiles/import/csv_table.hpp"
#include "profiles/launch_line.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <stdexcept>

namespace test_profiles_counters {

using namespace eyeroof::profiles; // NOLINT(google-build-using-namespace)

// The reference is the standard library's map, asked the same things.
TEST_CASE("counters are a map from names to values, whatever the order they come in") {
    std::mt19937 random(7);
    const CounterName shared("m");
    for (int round = 0; round < 200; ++round) {
        Counters counters;
        std::map<std::string, double> expected;
        for (int step = 0; step < 30; ++step) {
            const std::string name(1, static_cast<char>('a' + random() % 26));
            const double value = static_cast<double>(random() % 100);
            switch (random() % 4) {
            case 0:
                counters[name] = value;
                expected[name] = value;
                break;
            case 1:
                counters.set(shared, value);
                expected["m"] = value;
                break;
            case 2:
                counters.erase(name);
                expected.erase(name);
                break;
            default:
                counters.add_missing({{name, value}, {"z", 1.0}});
                expected.emplace(name, value);
                expected.emplace("z", 1.0);
            }
            CHECK(counters.contains(name) == expected.contains(name));
        }
        REQUIRE(counters.size() == expected.size());
        auto it = expected.begin();
        for (const auto& [name, value] : counters) {
            CHECK(name == it->first);
            CHECK(value == it->second);
            ++it;
        }
    }
}

TEST_CASE("a counter that is not there is told, not made") {
    const Counters counters = {{"b", 2.0}, {"a", 1.0}};
    CHECK(counters.at("a") == 1.0);
    CHECK_THROWS_AS((void)counters.at("c"), std::out_of_range);
    CHECK(counters.find("ab") == counters.end());
    CHECK(counters == Counters{{"a", 1.0}, {"b", 2.0}});
    CHECK_FALSE(counters == Counters{{"a", 1.0}, {"b", 3.0}});
    CHECK_FALSE(counters == Counters{{"a", 1.0}});
}

// The names of the line before are shared; a line that has other ones does not suffer from it.
TEST_CASE("launches share the names of their counters") {
    const auto line = [](const char* counters) {
        return std::string("{\"launch\":{\"counters\":{") + counters + "},\"kernel\":0}}";
    };
    const auto first = launch_of_line(line(R"("a":1,"b":2)"));
    REQUIRE(first);
    const auto second = launch_of_line(line(R"("a":3,"b":4)"), first->counters);
    REQUIRE(second);
    CHECK(second->counters == Counters{{"a", 3.0}, {"b", 4.0}});
    CHECK(&second->counters.find("a")->first == &first->counters.find("a")->first);
    const auto other = launch_of_line(line(R"("b":1,"a":2,"c":3,"a":5)"), first->counters);
    REQUIRE(other);
    CHECK(other->counters == Counters{{"a", 5.0}, {"b", 1.0}, {"c", 3.0}}); // the last one holds
}

TEST_CASE("numbers of digits alone are read the short way with the value of the long way") {
    CHECK(whole_number_of("0") == 0.0);
    CHECK(whole_number_of("999999999999999999") == 999999999999999999.0);
    for (const char* text : {"", "-1", "1.0", "1,000", "1e3", "1234567890123456789", " 1", "0x1"}) {
        CAPTURE(text);
        CHECK_FALSE(whole_number_of(text));
    }
    for (const auto style : {NumberStyle::point, NumberStyle::comma}) {
        for (const char* text : {"7", "0012", "123456789012345678"}) {
            CHECK(whole_number_of(text) == number_of(text, style));
        }
    }
    CHECK(number_of("12.5", NumberStyle::point) == 12.5);
    CHECK(number_of("1234.5", NumberStyle::point) == 1234.5);
    CHECK(number_of("1.250", NumberStyle::comma) == 1250.0);
    CHECK_FALSE(number_of(".5", NumberStyle::point));
    CHECK_FALSE(number_of("1.2.3", NumberStyle::point));
}

} // namespace test_profiles_counters
