// A scenario as JSON, both ways.
#include "base/json.hpp"

#include "analysis/scenario/fields.hpp"
#include "base/suggest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace eyeroof::analysis {

using Json = nlohmann::ordered_json;

namespace {

Json value_of(const ScenarioField& field, const std::vector<std::string>& texts) {
    if (field.kind == FieldKind::flag) {
        return !texts.empty();
    }
    if (field.kind == FieldKind::list) {
        return texts;
    }
    if (texts.empty()) {
        return nullptr;
    }
    return field.kind == FieldKind::number ? parse_json(texts.front()) : Json(texts.front());
}

// What the field's own parser takes; nothing for a value of another kind.
std::optional<std::vector<std::string>> texts_of(const ScenarioField& field, const Json& value) {
    std::vector<std::string> texts;
    if (value.is_null()) {
        return texts;
    }
    if (field.kind == FieldKind::list) {
        if (!value.is_array()) {
            return std::nullopt;
        }
        for (const Json& one : value) {
            if (!one.is_string()) {
                return std::nullopt;
            }
            texts.push_back(one.get<std::string>());
        }
        return texts;
    }
    if (field.kind == FieldKind::flag) {
        if (!value.is_boolean()) {
            return std::nullopt;
        }
        return value.get<bool>() ? std::vector<std::string>{"1"} : texts;
    }
    if (field.kind == FieldKind::number) {
        return value.is_number_integer() ? std::optional(std::vector{json_line(value)})
                                         : std::nullopt;
    }
    return value.is_string() ? std::optional(std::vector{value.get<std::string>()}) : std::nullopt;
}

std::vector<std::string> known_keys() {
    std::vector<std::string> keys;
    for (const ScenarioField& field : scenario_fields()) {
        keys.push_back(field.json_key());
    }
    return keys;
}

Result<Scenario> scenario_of(const Json& object, const std::string& file, Scenario scenario) {
    Diagnostics found;
    const auto refuse = [&](const std::string& key, const std::string& message,
                            const std::string& hint) {
        found.error("bad-scenario", message, hint, {file, 0, 0}, "scenario." + key);
    };
    for (const auto& [key, value] : object.items()) {
        const ScenarioField* field = find_field(key);
        if (field == nullptr || field->json_key() != key) {
            refuse(key, fmt::format("a scenario has no field '{}'", key.substr(0, 40)),
                   suggestion(key, known_keys()));
        }
    }
    for (const ScenarioField& field :
         scenario_fields()) { // in order: the phase before its optimizer
        const auto at = object.find(field.json_key());
        if (at == object.end()) {
            continue;
        }
        const auto texts = texts_of(field, *at);
        if (!texts) {
            refuse(field.json_key(),
                   fmt::format("'{}' has a value of another kind", field.json_key()),
                   "as `--format json` writes it");
            continue;
        }
        for (const Diagnostic& wrong : field.set(scenario, *texts)) {
            refuse(field.json_key(), wrong.message, wrong.hint);
        }
    }
    return found.has_errors() ? Result<Scenario>(std::move(found)) : Result<Scenario>(scenario);
}

} // namespace

std::string scenario_json(const Scenario& scenario) {
    Json object = Json::object();
    for (const ScenarioField& field : scenario_fields()) {
        object[field.json_key()] = value_of(field, field.get(scenario));
    }
    // Names of files may be any bytes.
    return json_line(object);
}

Result<Scenario> parse_scenario(const std::string& json, const std::string& file, Scenario usual) {
    const Json document = parse_json(json);
    if (document.is_discarded() || !document.is_object()) {
        return Result<Scenario>::failure("bad-scenario", "the file is not a JSON object",
                                         "an answer written with --format json has a scenario",
                                         {file, 0, 0});
    }
    const auto inner = document.find("scenario");
    const Json& object = inner == document.end() ? document : *inner;
    if (!object.is_object()) {
        return Result<Scenario>::failure("bad-scenario", "'scenario' is not an object",
                                         "an answer written with --format json has one",
                                         {file, 0, 0});
    }
    return scenario_of(object, file, std::move(usual));
}

} // namespace eyeroof::analysis
