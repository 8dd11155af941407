// The next value that helps, and two parameters against each other, on a machine of one bound.
#include "analysis/what_if/parameter_map.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

using eyeroof::tests::near;

namespace eyeroof::analysis::test_parameter_map {

namespace {

model::Machine machine(const char* name) {
    const std::filesystem::path folder = std::filesystem::path(tests::source_dir()) / "hwdb";
    return hwdb::load_machine(name, std::vector{folder}).value();
}

model::Network network(const char* name) {
    const std::filesystem::path folder =
        std::filesystem::path(tests::source_dir()) / "examples/networks";
    return formats::load_network(name, std::vector{folder}).value();
}

} // namespace

TEST_CASE("the next value that helps is the least one that helps") {
    const auto eyeriss = machine("eyeriss-v1");
    const auto alexnet = network("alexnet");
    const auto found = next_helpful(tests::question_of(alexnet, eyeriss), "dram-link-bandwidth");
    REQUIRE(found);
    REQUIRE(*found);
    CHECK((*found)->speedup >= kWorthAStep);
    Scenario scenario;
    scenario.policy = MappingPolicy::dataflow;
    const auto time = [&](double value) {
        const auto turned =
            changed(eyeriss, std::vector<Change>{{"dram-link-bandwidth", value}}).value();
        return run(alexnet, turned, scenario).value().total.time_s;
    };
    const double now = run(alexnet, eyeriss, scenario).value().total.time_s;
    CHECK((*found)->speedup == near(now / time((*found)->value)));
    const double less = (*found)->value / std::exp2(1.0 / 12.0);
    CHECK(now / time(less) < kWorthAStep); // the one before is not worth it
    // a buffer that is large enough never helps
    const auto never =
        next_helpful(tests::question_of(alexnet, machine("v100-sxm2-16gb")), "fp64-peak");
    REQUIRE(never);
    CHECK_FALSE(never->has_value());
    CHECK_FALSE(next_helpful(tests::question_of(alexnet, eyeriss), "no-such-parameter"));
}

TEST_CASE("a map has the present time in its middle and falls with what helps") {
    const auto question = tests::question_of(network("alexnet"), machine("v100-sxm2-16gb"));
    const auto map = parameter_map(question, "dram-bandwidth", "boost-clock", 5);
    REQUIRE(map);
    REQUIRE(map->x_values.size() == 5);
    REQUIRE(map->time_s.size() == 5);
    CHECK(map->x_values.front() == near(map->x.value / 4.0));
    CHECK(map->x_values.back() == near(map->x.value * 4.0));
    REQUIRE(map->time_s[2][2]);
    CHECK(*map->time_s[2][2] == near(map->now_s));
    for (std::size_t i = 1; i < 5; ++i) {
        CHECK(*map->time_s[2][i] <= *map->time_s[2][i - 1]);
        CHECK(*map->time_s[i][2] <= *map->time_s[i - 1][2]);
    }
    CHECK_FALSE(parameter_map(question, "dram-bandwidth", "dram-bandwidth"));
    CHECK_FALSE(parameter_map(question, "dram-bandwidth", "boost-clock", 1));
}

} // namespace eyeroof::analysis::test_parameter_map
