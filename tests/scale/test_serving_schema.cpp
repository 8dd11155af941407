// What `eyeroof serve` writes as JSON, against its schema.
#include "analysis/scale/serving.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/scale/collective_write.hpp"
#include "report/scale/serving_write.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

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
    std::ifstream file(tests::source_dir() + "/report/schema/serve.schema.json");
    tests::SchemaCheck schema(nlohmann::json::parse(file));
    CHECK(schema.faults(nlohmann::json::parse(report::serving_json(*serving))) ==
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
    std::ifstream file(tests::source_dir() + "/report/schema/collective.schema.json");
    tests::SchemaCheck schema(nlohmann::json::parse(file));
    CHECK(schema.faults(nlohmann::json::parse(report::collective_json(*result))) ==
          std::vector<std::string>{});
}

} // namespace test_scale_serving_schema
