// The documentation's examples are read, and the schema says what the reader reads.
#include "formats/claim_yaml.hpp"
#include "formats/layer_csv.hpp"
#include "formats/layer_text.hpp"
#include "formats/mapping_yaml.hpp"
#include "formats/network_yaml.hpp"
#include "formats/scalesim.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/yaml.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/elementwise.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace test_formats_formats {

using namespace eyeroof;
using nlohmann::json;

namespace {

std::string source_file(const std::string& path) {
    std::ifstream file(std::filesystem::path(eyeroof::tests::source_dir()) / path,
                       std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The fenced blocks of one language.
std::vector<std::string> examples(const std::string& text, const std::string& language) {
    std::vector<std::string> found;
    const std::string fence = "```" + language + "\n";
    for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
        at += fence.size();
        found.push_back(text.substr(at, text.find("```", at) - at));
    }
    return found;
}

std::set<std::string> keys_of(const json& properties) {
    std::set<std::string> keys;
    for (const auto& [key, value] : properties.items()) {
        keys.insert(key);
    }
    return keys;
}

} // namespace

TEST_CASE("the documentation's examples are read") {
    const std::string page = source_file("docs/formats.md");
    const auto csv = examples(page, "csv");
    REQUIRE(csv.size() == 2);
    CHECK(formats::parse_layer_csv(csv[0], "doc.csv")->layers.size() == 6);
    CHECK(formats::parse_scalesim_topology(csv[1], "doc.csv")->layers.size() == 1);
    const auto yaml = examples(page, "yaml");
    REQUIRE(yaml.size() == 4);
    CHECK(formats::parse_network_yaml(yaml[0], "doc.yaml")->network.layers.size() == 3);
    CHECK(formats::parse_network_yaml(yaml[0], "doc.yaml", {{"width", 0.5}, {"pooled", 0}})
              ->network.layers.size() == 2);
    const auto stack = formats::parse_network_yaml(yaml[1], "doc.yaml", {{"layers", 12}});
    CHECK(stack->network.layers.size() == 4);
    CHECK(stack->network.layers[1].name == "up_product");
    CHECK(stack->network.layers[1].count == 12);
    const std::vector<std::filesystem::path> folders = {
        std::filesystem::path(eyeroof::tests::source_dir()) / "hwdb"};
    const auto machine = hwdb::load_machine("one-register-pe", folders);
    REQUIRE(machine);
    const auto mapping = formats::parse_mapping_yaml(yaml[2], "doc.yaml",
                                                     std::get<model::Accelerator>(machine->kind));
    REQUIRE(mapping);
    CHECK(mapping->form == model::ConvForm::scatter);
    const auto claim = formats::parse_claim(yaml[3], "doc.yaml");
    REQUIRE(claim);
    CHECK(claim->figures.size() == 3);
    CHECK(claim->figures[2].why.size() == 2);
}

TEST_CASE("the documentation names every column, operator, type and function") {
    const std::string page = source_file("docs/formats.md");
    for (const std::string_view name : formats::column_names()) {
        CHECK_MESSAGE(page.find("`" + std::string(name) + "`") != std::string::npos, name);
    }
    for (const std::string_view name : model::op_names()) {
        CHECK_MESSAGE(page.find("`" + std::string(name) + "`") != std::string::npos, name);
    }
    for (const std::string_view name : model::data_type_names()) {
        CHECK_MESSAGE(page.find(std::string(name)) != std::string::npos, name);
    }
    for (const model::ElementwiseFunction& f : model::elementwise_table()) {
        if (f.reads != 1) {
            CHECK_MESSAGE(page.find(std::string(f.name)) != std::string::npos, f.name);
        }
    }
}

TEST_CASE("the network schema allows exactly the keys that the reader asks for") {
    const json schema = json::parse(source_file("report/schema/network.schema.json"));
    auto document = hwdb::parse_yaml("parameters:\n  width: {default: 1}\n"
                                     "defaults: {dtype: int8}\n"
                                     "layers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n",
                                     "x.yaml");
    REQUIRE(document.ok());
    REQUIRE(formats::read_network(*document, "x.yaml").ok());
    const auto asked = document->asked_keys();
    const json& defs = schema["$defs"];
    CHECK(keys_of(schema["properties"]) == asked.at(""));
    CHECK(keys_of(defs["parameter"]["properties"]) == asked.at("parameters.width"));
    CHECK(keys_of(defs["defaults"]["properties"]) == asked.at("defaults"));
    CHECK(keys_of(defs["layer"]["properties"]) == asked.at("layers[0]"));
}

TEST_CASE("the claim schema allows exactly the keys that the reader asks for") {
    const json schema = json::parse(source_file("report/schema/claim.schema.json"));
    auto document =
        hwdb::parse_yaml("eyeroof: claim/1\ntopic: t\nclaim: c\nsource: s\n"
                         "runs: {a: eyeroof net show alexnet}\n"
                         "values: {v: a /total/macs}\n"
                         "figures:\n"
                         "  - {name: f, ours: v, published: 1, why: [{text: t, gives: v}]}\n"
                         "  - {name: g, holds: v}\n"
                         "plot: {lines: [{label: l, run: a, x: /x, y: /y}]}\n",
                         "x.yaml");
    REQUIRE(document.ok());
    REQUIRE(formats::read_claim(*document).ok());
    const auto asked = document->asked_keys();
    const json& defs = schema["$defs"];
    CHECK(keys_of(schema["properties"]) == asked.at(""));
    auto figure = asked.at("figures[0]");
    figure.insert(asked.at("figures[1]").begin(), asked.at("figures[1]").end());
    CHECK(keys_of(defs["figure"]["properties"]) == figure);
    CHECK(keys_of(defs["reason"]["properties"]) == asked.at("figures[0].why[0]"));
    CHECK(keys_of(defs["plot"]["properties"]) == asked.at("plot"));
    CHECK(keys_of(defs["line"]["properties"]) == asked.at("plot.lines[0]"));
}

TEST_CASE("a reason is a counterfactual or another number, not both") {
    const auto found = formats::parse_claim(
        "eyeroof: claim/1\ntopic: t\nclaim: c\nsource: s\nruns: {a: eyeroof net show alexnet}\n"
        "values: {v: a /total/macs}\n"
        "figures: [{name: f, ours: v, published: 1, why: [{text: t, gives: v, value: v}]}]\n",
        "x.yaml");
    REQUIRE_FALSE(found);
    CHECK(to_string(found.diagnostics().items().front()).find("x.yaml:7:") != std::string::npos);
    CHECK(found.diagnostics().items().front().code == "two-numbers");
}

TEST_CASE("the network schema knows the names that the reader knows") {
    const json defs = json::parse(source_file("report/schema/network.schema.json"))["$defs"];
    std::vector<std::string> ops;
    for (const std::string_view name : model::op_names()) {
        ops.emplace_back(name);
    }
    CHECK(defs["layer"]["properties"]["op"]["enum"].get<std::vector<std::string>>() == ops);
    for (const json& name : defs["direction"]["enum"]) {
        CHECK(model::direction_from_name(name.get<std::string>()));
    }
    const std::string types = defs["dtype"]["description"];
    for (const std::string_view name : model::data_type_names()) {
        CHECK_MESSAGE(types.find(std::string(name)) != std::string::npos, name);
    }
}

} // namespace test_formats_formats
