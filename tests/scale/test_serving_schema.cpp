// What `eyeroof serve` writes as JSON, against its schema.
#include "analysis/scale/serving.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/answer/write.hpp"
#include "report/scale/collective_answer.hpp"
#include "report/scale/serving_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_scale_serving_schema {

using namespace eyeroof;

TEST_CASE("JSON of serving is what its schema says") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto machine = hwdb::load_machine("a100-sxm-80gb", folders);
    const auto fabric = hwdb::load_fabric("dgx-a100-hdr", folders);
    REQUIRE(machine.ok());
    REQUIRE(fabric.ok());
    analysis::ServingOptions options;
    options.tensor = {1, 2};
    options.rates = {1.0};
    options.users = {4};
    options.largest_rate = true;
    options.tpot_limit_s = 0.1;
    options.requests = 50;
    const auto serving =
        analysis::serve(analysis::gpt(4, 1024, 16, 32000, 2048, true), *machine, *fabric, options);
    REQUIRE(serving.ok());
    CHECK(serving->loads.size() == 6);
    tests::SchemaCheck schema(nlohmann::json::parse(report::to_schema(report::serving_answer({}))));
    CHECK(schema.faults(nlohmann::json::parse(report::to_json(report::serving_answer(*serving)))) ==
          std::vector<std::string>{});
}

TEST_CASE("JSON of a collective is what its schema says") {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    analysis::CollectiveQuestion question;
    question.sizes = {1024.0, 1e9};
    const auto result =
        analysis::study_collective(*hwdb::load_fabric("gb200-nvl72", folders), question);
    REQUIRE(result.ok());
    tests::SchemaCheck schema(
        nlohmann::json::parse(report::to_schema(report::collective_answer({}))));
    CHECK(schema.faults(nlohmann::json::parse(
              report::to_json(report::collective_answer(*result)))) == std::vector<std::string>{});
}

} // namespace test_scale_serving_schema
