// The schema that editors use for mapping files, against the reader.
#include "formats/mapping_yaml.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

namespace test_formats_mapping_schema {

using namespace eyeroof;
using nlohmann::json;

namespace {

bool reads(const std::string& text) {
    const auto machine =
        hwdb::load_machine_file(tests::source_dir() + "/hwdb/accelerators/eyeriss-v1.yaml");
    const auto& accelerator = std::get<model::Accelerator>(machine.value().kind);
    return formats::parse_mapping_yaml(text, "mapping.yaml", accelerator).ok();
}

} // namespace

TEST_CASE("the mapping schema allows exactly the keys that the reader asks for") {
    std::ifstream file(tests::source_dir() + "/report/schema/mapping.schema.json");
    const json schema = json::parse(file);
    const json& top = schema.at("properties");
    CHECK(top.size() == 3);
    CHECK(top.at("eyeroof").at("const") == "mapping/1");
    const std::map<std::string, std::string> samples = {{"name", "DRAM"},
                                                        {"keep", "[input, weight, output]"},
                                                        {"temporal", "[K2, C3]"},
                                                        {"spatial", "[]"}};
    const json& level = schema.at("$defs").at("level").at("properties");
    CHECK(level.size() == samples.size());
    std::string all = "name: DRAM";
    for (const auto& [key, value] : samples) {
        CAPTURE(key);
        CHECK(level.contains(key));
        all += key == "name" ? "" : ", " + key + ": " + value;
    }
    CHECK(reads("eyeroof: mapping/1\nlevels:\n  - {" + all + "}\n"));
    CHECK_FALSE(reads("eyeroof: mapping/1\nlevels:\n  - {" + all + ", keeps: [input]}\n"));
    CHECK_FALSE(reads("eyeroof: mapping/1\nlevel: []\nlevels:\n  - {" + all + "}\n"));
    CHECK_FALSE(reads("eyeroof: mapping/2\nlevels:\n  - {" + all + "}\n"));
    for (const json& form : top.at("walks").at("enum")) {
        CHECK(reads("eyeroof: mapping/1\nwalks: " + form.get<std::string>() + "\nlevels:\n  - {" +
                    all + "}\n"));
    }
    CHECK_FALSE(reads("eyeroof: mapping/1\nwalks: weights\nlevels:\n  - {" + all + "}\n"));
    for (const json& operand : level.at("keep").at("items").at("enum")) {
        CHECK(reads("eyeroof: mapping/1\nlevels:\n  - {name: DRAM, keep: [" +
                    operand.get<std::string>() + "]}\n"));
    }
}

} // namespace test_formats_mapping_schema
