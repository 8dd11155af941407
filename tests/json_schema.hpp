// Checks a JSON document against a JSON Schema, as far as the schemas of this project go: type,
// const, enum, required, properties, additionalProperties, items, minItems, maxItems, minimum,
// maximum, exclusiveMinimum, $ref to "#/…".
// Used by tests. A keyword that it does not know is a fault, so that no schema seems to be checked.
#pragma once

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace eyeroof::tests {

class SchemaCheck {
  public:
    explicit SchemaCheck(nlohmann::json schema) : root_(std::move(schema)) {}

    // "path: what is wrong" for each fault.
    std::vector<std::string> faults(const nlohmann::json& document) {
        faults_.clear();
        check(root_, document, "$");
        return faults_;
    }

  private:
    using Json = nlohmann::json;

    void fault(const std::string& path, const std::string& what) {
        faults_.push_back(path + ": " + what);
    }

    static bool is_type(const Json& value, const std::string& type) {
        const bool whole = value.is_number_integer() ||
                           (value.is_number_float() &&
                            value.get<double>() == static_cast<double>(value.get<long long>()));
        return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
               (type == "string" && value.is_string()) ||
               (type == "boolean" && value.is_boolean()) || (type == "null" && value.is_null()) ||
               (type == "number" && value.is_number()) ||
               (type == "integer" && value.is_number() && whole);
    }

    void check_type(const Json& types, const Json& value, const std::string& path) {
        const Json list = types.is_array() ? types : Json::array({types});
        for (const Json& type : list) {
            if (is_type(value, type.get<std::string>())) {
                return;
            }
        }
        fault(path, "is not of type " + types.dump() + " but " + value.type_name());
    }

    void check_object(const Json& schema, const Json& value, const std::string& path) {
        for (const Json& key : schema.value("required", Json::array())) {
            if (!value.contains(key.get<std::string>())) {
                fault(path, "lacks " + key.dump());
            }
        }
        const Json properties = schema.value("properties", Json::object());
        for (const auto& [key, inner] : value.items()) {
            if (properties.contains(key)) {
                check(properties[key], inner, path + "." + key);
            } else if (schema.contains("additionalProperties") &&
                       schema["additionalProperties"].is_object()) {
                check(schema["additionalProperties"], inner, path + "." + key);
            } else if (schema.value("additionalProperties", true) == false) {
                fault(path, "has the unknown key \"" + key + "\"");
            }
        }
    }

    void check_array(const Json& schema, const Json& value, const std::string& path) {
        if (value.size() < schema.value("minItems", std::size_t{0})) {
            fault(path, "is too short");
        }
        if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<std::size_t>()) {
            fault(path, "is too long");
        }
        for (std::size_t i = 0; i < value.size() && schema.contains("items"); ++i) {
            check(schema["items"], value[i], path + "[" + std::to_string(i) + "]");
        }
    }

    void check_number(const Json& schema, double value, const std::string& path) {
        if ((schema.contains("minimum") && value < schema["minimum"].get<double>()) ||
            (schema.contains("maximum") && value > schema["maximum"].get<double>()) ||
            (schema.contains("exclusiveMinimum") &&
             value <= schema["exclusiveMinimum"].get<double>())) {
            fault(path, "is out of range: " + std::to_string(value));
        }
    }

    void check_keywords(const Json& schema, const std::string& path) {
        static const std::set<std::string> known = {
            "$schema", "$id",      "title",    "description",      "type",
            "const",   "enum",     "required", "properties",       "additionalProperties",
            "items",   "minItems", "maxItems", "minimum",          "maximum",
            "$ref",    "$defs",    "default",  "exclusiveMinimum", "examples"};
        for (const auto& [key, inner] : schema.items()) {
            if (!known.contains(key)) {
                fault(path, "the schema has a keyword that is not checked: " + key);
            }
        }
    }

    void check(const Json& schema, const Json& value, const std::string& path) {
        check_keywords(schema, path);
        if (schema.contains("$ref")) {
            check(root_.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), value,
                  path);
        }
        if (schema.contains("type")) {
            check_type(schema["type"], value, path);
        }
        if (schema.contains("const") && value != schema["const"]) {
            fault(path, "is not " + schema["const"].dump());
        }
        if (schema.contains("enum")) {
            bool found = false;
            for (const Json& choice : schema["enum"]) {
                found = found || choice == value;
            }
            if (!found) {
                fault(path, value.dump() + " is not one of " + schema["enum"].dump());
            }
        }
        if (value.is_object()) {
            check_object(schema, value, path);
        } else if (value.is_array()) {
            check_array(schema, value, path);
        } else if (value.is_number()) {
            check_number(schema, value.get<double>(), path);
        }
    }

    Json root_;
    std::vector<std::string> faults_;
};

} // namespace eyeroof::tests
