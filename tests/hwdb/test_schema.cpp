#include "hwdb/accelerator_reader.hpp"
#include "hwdb/gpu_reader.hpp"
#include "tests/fuzz/machine_yaml.hpp"
#include "tests/hwdb/small_machine.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace test_hwdb_schema {

using namespace eyeroof;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

const fs::path kSource = eyeroof::tests::source_dir();

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The part of a schema that says something under `key`, through references and alternatives.
const json* part(const json& root, const json& schema, const char* key) {
    if (schema.contains(key)) {
        return &schema;
    }
    if (schema.contains("$ref")) {
        const std::string pointer = schema.at("$ref").get<std::string>().substr(1);
        return part(root, root.at(json::json_pointer(pointer)), key);
    }
    if (schema.contains("anyOf")) {
        for (const json& alternative : schema.at("anyOf")) {
            if (const json* found = part(root, alternative, key)) {
                return found;
            }
        }
    }
    return nullptr;
}

// The schema of a mapping at a field path such as "levels[0].stores[1].capacity".
const json* schema_at(const json& root, std::string field) {
    const json* at = &root;
    while (!field.empty() && at != nullptr) {
        if (field.front() == '[') {
            at = part(root, *at, "items");
            at = at == nullptr ? nullptr : &at->at("items");
            field.erase(0, field.find(']') + 1);
            continue;
        }
        field.erase(0, field.front() == '.' ? 1 : 0);
        const std::string key = field.substr(0, field.find_first_of(".["));
        field.erase(0, key.size());
        const json* object = part(root, *at, "properties");
        if (object != nullptr && object->at("properties").contains(key)) {
            at = &object->at("properties").at(key);
        } else {
            object = part(root, *at, "additionalProperties");
            at = object != nullptr && object->at("additionalProperties").is_object()
                     ? &object->at("additionalProperties")
                     : nullptr;
        }
    }
    return at;
}

std::set<std::string> names(const json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items()) {
        keys.insert(key);
    }
    return keys;
}

// Every closed mapping that a schema describes.
void collect_closed(const json& schema, std::set<const json*>& found) {
    if (schema.is_object() && schema.value("additionalProperties", json()) == false) {
        found.insert(&schema);
    }
    for (const json& child : schema) {
        if (child.is_structured()) {
            collect_closed(child, found);
        }
    }
}

} // namespace

// Compares the keys that the reader asked for in all documents with those that the schema allows.
// `closed`: of machines words, max_filter, sourced number, level, its words, store, image, …
void check_keys(const json& root, const std::vector<const hwdb::Document*>& documents,
                std::size_t closed) {
    std::set<const json*> unvisited;
    collect_closed(root, unvisited);
    CHECK(unvisited.size() == closed);
    for (const hwdb::Document* document : documents) {
        for (const auto& [field, asked] : document->asked_keys()) {
            CAPTURE(field);
            if (field.empty() && document != documents.front()) {
                continue; // hosts ask for less than GPUs
            }
            const json* schema = schema_at(root, field);
            REQUIRE(schema != nullptr);
            const json* object = part(root, *schema, "properties");
            if (object == nullptr || object->at("additionalProperties").is_object()) {
                continue; // names of the user's own choice
            }
            CHECK(names(object->at("properties")) == asked);
            unvisited.erase(object);
        }
    }
    CHECK(unvisited.empty());
}

TEST_CASE(
    "the schema for editors allows exactly the keys that the reader of accelerators asks for") {
    auto document = hwdb::parse_yaml(std::string(tests::kSmall), "small.yaml");
    REQUIRE(document.ok());
    REQUIRE(hwdb::read_accelerator(*document, "small").ok());
    auto array = hwdb::parse_yaml(std::string(tests::kSmallArray), "array.yaml");
    REQUIRE(array.ok());
    REQUIRE(hwdb::read_accelerator(*array, "array").ok());
    const fs::path narrow = kSource / "hwdb/accelerators/gaudi2.yaml";
    auto types = hwdb::parse_yaml(contents(narrow), narrow.string());
    REQUIRE(types.ok());
    REQUIRE(hwdb::read_accelerator(*types, "gaudi2").ok());
    check_keys(json::parse(contents(kSource / "hwdb/schema/machine.schema.json")),
               {&*document, &*array, &*types}, 16);
}

TEST_CASE("the schema for editors allows exactly the keys that the reader of GPUs asks for") {
    const fs::path file = kSource / "hwdb/gpus/v100-sxm2-16gb.yaml";
    auto document = hwdb::parse_yaml(contents(file), file.string());
    REQUIRE(document.ok());
    REQUIRE(hwdb::read_gpu(*document, "v100-sxm2-16gb").ok());
    const fs::path host = kSource / "hwdb/hosts/server-2x20.yaml"; // hosts issue kernels
    auto beside = hwdb::parse_yaml(contents(host), host.string());
    REQUIRE(beside.ok());
    REQUIRE(hwdb::read_gpu(*beside, "server-2x20").ok());
    check_keys(json::parse(contents(kSource / "hwdb/schema/gpu.schema.json")),
               {&*document, &*beside}, 10);
}

TEST_CASE("the schema of GPUs knows the reader's architectures and no others") {
    const json root = json::parse(contents(kSource / "hwdb/schema/gpu.schema.json"));
    std::set<std::string> known;
    for (const std::string_view name : model::gpu_arch_names()) {
        known.emplace(name);
    }
    known.erase("host"); // said by kind
    const auto listed =
        root.at("properties").at("architecture").at("enum").get<std::set<std::string>>();
    CHECK(listed == known);
}

TEST_CASE("the schema knows the names that the reader knows") {
    const json root = json::parse(contents(kSource / "hwdb/schema/machine.schema.json"));
    const auto read = [](const std::string& from, const std::string& to) {
        std::string text(tests::kSmall);
        text.replace(text.find(from), from.size(), to);
        auto document = hwdb::parse_yaml(text, "x.yaml");
        REQUIRE(document.ok());
        return hwdb::read_accelerator(*document, "x").ok();
    };
    const auto& cast = root.at("$defs").at("channel").at("properties").at("cast").at("enum");
    for (const json& name : cast) {
        CHECK(read("cast: unicast", "cast: " + name.get<std::string>()));
    }
    const auto& kinds = root.at("$defs").at("dataflow").at("properties").at("kind").at("enum");
    for (const json& name : kinds) {
        CHECK(read("kind: rs,", "kind: " + name.get<std::string>() + ","));
    }
    for (const json& name : root.at("$defs").at("confidence").at("enum")) {
        CHECK(read("confidence: paper", "confidence: " + name.get<std::string>()));
    }
}

TEST_CASE("every seed of the fuzz target keeps the reader's promises") {
    int seeds = 0;
    for (const auto& entry : fs::directory_iterator(kSource / "tests/fuzz/corpus/machine_yaml")) {
        CAPTURE(entry.path().filename().string());
        CHECK(tests::broken_promise_machine_yaml(contents(entry.path())) == "");
        ++seeds;
    }
    CHECK(seeds >= 10);
    CHECK(tests::broken_promise_machine_yaml(std::string(tests::kSmall)) == "");
    CHECK(tests::broken_promise_machine_yaml(std::string(tests::kSmallArray)) == "");
}

} // namespace test_hwdb_schema
