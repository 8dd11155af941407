// A scenario as JSON and back, field by field of the table.
#include "analysis/scenario/fields.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <random>

namespace test_scenario_scenario_json {

using namespace eyeroof;
using namespace eyeroof::analysis;
using Texts = std::vector<std::string>;
using nlohmann::json;

namespace {

constexpr const char* kFile = "asked.json";

// Values that a field takes, several for each.
std::vector<Texts> values_of(const ScenarioField& field) {
    static const std::map<std::string, std::vector<Texts>> known = {
        {"batch", {{"1"}, {"48"}}},
        {"streams", {{"2"}, {"64"}}},
        {"search-nodes", {{"0"}, {"1000000000000"}}},
        {"mapping", {{"dataflow"}, {"best"}, {"own maps/it's \"mine\".yaml"}}},
        {"objective", {{"latency"}, {"energy"}, {"edp"}, {"energy^2*latency"}}},
        {"host-speed", {{"0.5"}, {"7.25"}}},
        {"time-limit", {{"0.001"}, {"12.5"}, {"1000000"}}},
        {"layers", {{"conv[1-3]|fc\\d"}}},
        {"dim", {{"seq=128"}, {"seq=128", "batch=4"}}},
        {"set", {{"clock=x2"}, {"dram-bandwidth=1.2 TB/s", "sms=100"}}}};
    if (const auto at = known.find(field.name); at != known.end()) {
        return at->second;
    }
    std::vector<Texts> values;
    for (const std::string& choice : field.choices) {
        values.push_back({choice});
    }
    if (field.kind == FieldKind::flag) {
        values.push_back({"1"});
    } else if (field.kind == FieldKind::text) {
        values.push_back({"a name, \"quoted\", with ü and \\"});
    }
    return values;
}

// The scenario with one field set; an optimizer only trains.
Scenario with(Scenario scenario, const ScenarioField& field, const Texts& value) {
    if (field.name == "optimizer" && !scenario.training) {
        scenario.training.emplace();
    }
    const Diagnostics found = field.set(scenario, value);
    REQUIRE(found.empty());
    return scenario;
}

Scenario back(const Scenario& scenario) {
    const auto parsed = parse_scenario(scenario_json(scenario), kFile);
    for (const Diagnostic& d : parsed.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(parsed.ok());
    return *parsed;
}

// A value of another kind than the field's, and for those that do not take every word one out of
// their range.
std::vector<json> bad_values_of(const ScenarioField& field) {
    std::vector<json> bad = {json::object(), 1.5};
    if (field.kind != FieldKind::flag) {
        bad.push_back(true);
    }
    if (field.kind != FieldKind::list) {
        bad.push_back(json::array({"a"}));
    } else {
        bad.push_back(json::array({"clock=x2", 3}));
        bad.push_back("clock=x2");
    }
    if (field.kind == FieldKind::number) {
        bad.insert(bad.end(), {"8", -1, 9'000'000'000'000'000'000});
    } else {
        bad.push_back(7);
    }
    if (field.kind == FieldKind::choice || field.kind == FieldKind::flag) {
        bad.push_back("no-such-word");
    }
    if (field.name == "batch" || field.name == "streams") {
        bad.push_back(0);
    }
    if (field.name == "search-nodes") {
        bad.push_back(1'000'000'000'001);
    }
    if (field.name == "objective") {
        bad.insert(bad.end(), {"speed", "energy^", ""});
    }
    if (field.name == "time-limit") {
        bad.insert(bad.end(), {"0", "-1", "soon", "nan", "1e9"});
    }
    return bad;
}

} // namespace

TEST_CASE("fields that every command has are in the table, by the names of their options") {
    for (const char* name :
         {"mapping",    "dataflow",    "objective", "factors",  "counting", "search-nodes",
          "time-limit", "batch",       "dtype",     "layers",   "phase",    "optimizer",
          "host",       "host-speed",  "clocks",    "set",      "launch",   "streams",
          "copies",     "library",     "layout",    "compiled", "on",       "energies",
          "density",    "constraints", "pageable"}) {
        CAPTURE(name);
        CHECK(find_field(name) != nullptr);
    }
    CHECK(find_field("no-such-option") == nullptr);
}

TEST_CASE("every field comes back from JSON with each of its values") {
    for (const ScenarioField& field : scenario_fields()) {
        CAPTURE(field.name);
        const std::vector<Texts> values = values_of(field);
        REQUIRE_FALSE(values.empty());
        bool differs = false;
        for (const Texts& value : values) {
            CAPTURE(value.front());
            const Scenario scenario = with({}, field, value);
            const Scenario again = back(scenario);
            CHECK(again == scenario);
            CHECK(field.get(again) == field.get(scenario));
            // An objective is written in its own order of powers.
            CHECK((field.get(scenario) == value || field.name == "objective"));
            differs = differs || scenario != Scenario{};
        }
        CHECK(differs); // else the field sets nothing
        Scenario cleared = with({}, field, values.back());
        if (field.name != "optimizer") { // the phase clears it
            CHECK(field.set(cleared, {}).empty());
            CHECK(cleared == Scenario{});
        }
    }
}

TEST_CASE("fields together come back as they were, and their JSON has every key once") {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        Scenario scenario;
        for (const ScenarioField& field : scenario_fields()) {
            const std::vector<Texts> values = values_of(field);
            if (random() % 2 == 0 && (field.name != "optimizer" || scenario.training)) {
                scenario = with(scenario, field, values[random() % values.size()]);
            }
        }
        CHECK(back(scenario) == scenario);
        const json written = json::parse(scenario_json(scenario));
        CHECK(written.size() == scenario_fields().size());
        const json answer = {{"schema", "eyeroof/exam/1"}, {"scenario", written}};
        CHECK(parse_scenario(answer.dump(), kFile).value() == scenario); // of a whole answer
    }
    CHECK(back({}) == Scenario{});
    CHECK(parse_scenario("{}", kFile).value() == Scenario{});
}

TEST_CASE("every bad value of every field is named with its file and field") {
    for (const ScenarioField& field : scenario_fields()) {
        for (const json& bad : bad_values_of(field)) {
            json object = {{"phase", "training"}};
            object[field.json_key()] = bad;
            CAPTURE(field.name);
            CAPTURE(bad.dump());
            const auto parsed = parse_scenario(object.dump(), kFile);
            REQUIRE_FALSE(parsed.ok());
            REQUIRE(parsed.diagnostics().size() == 1);
            const Diagnostic& found = parsed.diagnostics().items().front();
            CHECK(found.code == "bad-scenario");
            CHECK(found.where.file == kFile);
            CHECK(found.field == "scenario." + field.json_key());
            CHECK_FALSE(found.message.empty());
        }
    }
}

TEST_CASE("mistakes in a scenario's JSON are reported all at once, with the nearest names") {
    const auto parsed =
        parse_scenario(R"({"lanch": "graph", "dtype": "fp17", "optimizer": "adam"})", kFile);
    REQUIRE_FALSE(parsed.ok());
    REQUIRE(parsed.diagnostics().size() == 3);
    CHECK(parsed.diagnostics().items()[0].field == "scenario.lanch");
    CHECK(parsed.diagnostics().items()[0].hint.find("launch") != std::string::npos);
    CHECK(parsed.diagnostics().items()[1].field == "scenario.optimizer"); // inference has none
    CHECK(parsed.diagnostics().items()[2].field == "scenario.dtype");
    for (const char* text : {"", "[]", "3", "{\"scenario\": 3}", "{", "null"}) {
        CAPTURE(text);
        const auto none = parse_scenario(text, kFile);
        REQUIRE_FALSE(none.ok());
        CHECK(none.diagnostics().items().front().code == "bad-scenario");
        CHECK(none.diagnostics().items().front().where.file == kFile);
    }
}

TEST_CASE("a name that is not UTF-8 is written with replacements instead of ending the program") {
    Scenario scenario;
    scenario.network = "nets/r\xe9seau.yaml";
    const json written = json::parse(scenario_json(scenario));
    CHECK(written["network"] == "nets/r\xef\xbf\xbdseau.yaml");
}

} // namespace test_scenario_scenario_json
