#include "base/told_once.hpp"

#include <doctest/doctest.h>

namespace test_model_told_once {

using namespace eyeroof; // NOLINT

TEST_CASE("what is said of many fields is shown once, with their number") {
    Diagnostics all;
    all.error("no-rate", "no units", "choose another", {}, "conv1");
    all.warning("slow", "no units", "choose another", {}, "conv1");
    all.error("no-rate", "no units", "choose another", {}, "conv2");
    all.error("no-rate", "no units", "choose another", {}, "conv3");
    const Diagnostics shown = told_once(all);
    REQUIRE(shown.size() == 2);
    CHECK(shown.items()[0].field == "conv1 and 2 more");
    CHECK(shown.items()[1].severity == Severity::warning);
    CHECK(shown.items()[1].field == "conv1");
}

TEST_CASE("what is said twice of one field is shown once, lines of a file stay apart") {
    Diagnostics all;
    all.error("bad", "is no number", "", {}, "a");
    all.error("bad", "is no number", "", {}, "a");
    all.error("bad", "is no number", "", {"x.csv", 2, 1}, "a");
    all.error("bad", "is no number", "", {"x.csv", 3, 1}, "a");
    const Diagnostics shown = told_once(all);
    REQUIRE(shown.size() == 3);
    CHECK(shown.items()[0].field == "a");
    CHECK(shown.items()[2].where.line == 3);
}

TEST_CASE("what is said twice of one place in a file is shown once") {
    Diagnostics all;
    all.error("is-a-directory", "this is a directory", "", {"x", 0, 0});
    all.error("is-a-directory", "this is a directory", "", {"x", 0, 0});
    CHECK(told_once(all).size() == 1);
}

TEST_CASE("fifty errors are shown and the number of the rest, whatever stands before them") {
    Diagnostics all;
    for (int line = 1; line <= 60; ++line) {
        all.warning("odd", "is odd", "", {"x.csv", line, 1});
    }
    for (int line = 1; line <= 53; ++line) {
        all.error("bad", "is bad", "", {"x.csv", line, 1});
    }
    const Diagnostics shown = told_once(all);
    REQUIRE(shown.size() == 101);
    CHECK(shown.items()[50].severity == Severity::error);
    CHECK(shown.items()[100].message == "3 more errors and 10 more warnings");
}

TEST_CASE("a thousand errors are kept, and an error is kept after any number of warnings") {
    Diagnostics all;
    for (int line = 1; line <= 1500; ++line) {
        all.warning("odd", "is odd", "", {"x.csv", line, 1});
    }
    CHECK_FALSE(all.has_errors());
    for (int line = 1; line <= 1200; ++line) {
        CHECK(all.full() == (line > 1000));
        all.error("bad", "is bad", "", {"x.csv", line, 1});
    }
    CHECK(all.size() == 2000);
    CHECK(all.left_out() == 700);
    Diagnostics twice = all;
    twice.append(all);
    CHECK(twice.size() == 2000);
    CHECK(twice.left_out() == 700 + 2000 + 700);
    CHECK(told_once(all).items().back().message ==
          "950 more errors and 950 more warnings, and no further ones looked for after 1000");
}

} // namespace test_model_told_once
