#include "model/base/told_once.hpp"

#include <doctest/doctest.h>

namespace test_model_told_once {

using namespace eyeroof::model; // NOLINT

TEST_CASE("what is said of many fields is told once, with their number") {
    Diagnostics all;
    all.error("no-rate", "no units", "choose another", {}, "conv1");
    all.warning("slow", "no units", "choose another", {}, "conv1");
    all.error("no-rate", "no units", "choose another", {}, "conv2");
    all.error("no-rate", "no units", "choose another", {}, "conv3");
    const Diagnostics told = told_once(all);
    REQUIRE(told.size() == 2);
    CHECK(told.items()[0].field == "conv1 and 2 more");
    CHECK(told.items()[1].severity == Severity::warning);
    CHECK(told.items()[1].field == "conv1");
}

TEST_CASE("what is said twice of one field is told once, lines of a file stay apart") {
    Diagnostics all;
    all.error("bad", "is no number", "", {}, "a");
    all.error("bad", "is no number", "", {}, "a");
    all.error("bad", "is no number", "", {"x.csv", 2, 1}, "a");
    all.error("bad", "is no number", "", {"x.csv", 3, 1}, "a");
    const Diagnostics told = told_once(all);
    REQUIRE(told.size() == 3);
    CHECK(told.items()[0].field == "a");
    CHECK(told.items()[2].where.line == 3);
}

TEST_CASE("what is said twice of one place in a file is told once") {
    Diagnostics all;
    all.error("is-a-directory", "this is a directory", "", {"x", 0, 0});
    all.error("is-a-directory", "this is a directory", "", {"x", 0, 0});
    CHECK(told_once(all).size() == 1);
}

} // namespace test_model_told_once
