#include "report/draw/axis.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using eyeroof::tests::near;

namespace eyeroof::report::test_axis {

TEST_CASE("the middle of a logarithmic axis is the geometric mean of its ends") {
    const LogRange range{1.0, 10000.0};
    CHECK(to_unit(range, 100.0) == near(0.5)); // sqrt(1 * 10000) = 100
    CHECK(from_unit(range, 0.25) == near(10.0));
    CHECK(to_unit(range, 0.0) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("a value goes to its place and back") {
    const LogRange range{3e-4, 7e11};
    for (double value = 1e-6; value < 1e14; value *= 3.7) {
        CHECK(from_unit(range, to_unit(range, value)) == near(value, 1e-9));
    }
}

TEST_CASE("zooming keeps the value below the cursor in its place") {
    const LogRange range{0.1, 1000.0};
    const LogRange in = zoomed(range, 20.0, 0.5);
    CHECK(to_unit(in, 20.0) == near(to_unit(range, 20.0)));
    // 4 decades times 0.5
    CHECK(std::log10(in.max / in.min) == near(2.0));
    const LogRange back = zoomed(in, 20.0, 2.0);
    CHECK(back.min == near(range.min));
    CHECK(back.max == near(range.max));
}

TEST_CASE("panning by one shows what lay just beyond, and stops at the end of the world") {
    const LogRange range{1.0, 100.0};
    CHECK(panned(range, 1.0).min == near(100.0));
    CHECK(panned(range, 1.0).max == near(10000.0));
    const LogRange far = panned(range, 1e6);
    CHECK(far.max <= kAxisMost * 1.0000001);
    CHECK(far.max / far.min == near(100.0));
}

TEST_CASE("no range is empty, reversed or infinite") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const LogRange wild : {LogRange{5.0, 5.0}, LogRange{9.0, 2.0}, LogRange{nan, inf},
                                LogRange{-1.0, 0.0}, LogRange{inf, inf}, LogRange{0.0, 1e300}}) {
        const LogRange range = legal(wild);
        CHECK(range.min >= kAxisLeast / 1.1);
        CHECK(range.max <= kAxisMost * 1.1);
        CHECK(range.max / range.min >= kNarrowestSpan * 0.999999);
    }
    CHECK(zoomed({1.0, 10.0}, 3.0, 0.0).max / zoomed({1.0, 10.0}, 3.0, 0.0).min ==
          near(kNarrowestSpan));
}

TEST_CASE("every axis has at least two numbers and no more than asked for") {
    for (double span = 1.06; span < 1e30; span *= 1.9) {
        for (const double min : {1e-6, 0.3, 7.77, 9.9e8}) {
            const LogRange range = legal({min, min * span});
            int numbers = 0;
            for (const Tick& tick : ticks_of(range, 8, TickText::si)) {
                CHECK(tick.value >= range.min * 0.999999);
                CHECK(tick.value <= range.max * 1.000001);
                numbers += tick.label.empty() ? 0 : 1;
            }
            CAPTURE(min);
            CAPTURE(span);
            CHECK(numbers >= 2);
            CHECK(numbers <= 12);
        }
    }
}

TEST_CASE("an axis of counts has another count beside a single one, and nothing in between") {
    const LogRange one = around(1.0, 1.0, TickText::whole);
    CHECK(one.min < 1.0);
    CHECK(one.max >= 2.0);
    std::vector<std::string> labels;
    for (const Tick& tick : ticks_of(one, 8, TickText::whole)) {
        labels.push_back(tick.label);
    }
    CHECK(labels == std::vector<std::string>{"1", "2"});
    for (const double count : {1.0, 3.0, 7.0, 40.0, 1000.0}) {
        for (const double times : {1.0, 1.5, 4.0, 300.0}) {
            const LogRange range = around(count, std::ceil(count * times), TickText::whole);
            int numbers = 0;
            for (const Tick& tick : ticks_of(range, 8, TickText::whole)) {
                CHECK(tick.value == std::round(tick.value));
                numbers += tick.label.empty() ? 0 : 1;
            }
            CAPTURE(count);
            CAPTURE(times);
            CHECK(numbers >= 2);
        }
    }
}

TEST_CASE("ticks are written as people write them") {
    const auto ticks = ticks_of({1e9, 1e12}, 10, TickText::si);
    CHECK(ticks[0].label == "1 G");
    CHECK(ticks[3].label == "1 T");
    const auto plain = ticks_of({0.01, 1000.0}, 10, TickText::plain);
    CHECK(plain[0].label == "0.01");
    CHECK(plain[5].label == "1000");
}

} // namespace eyeroof::report::test_axis
