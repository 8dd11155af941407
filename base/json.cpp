#include "base/json.hpp"

#include <nlohmann/json.hpp>

namespace eyeroof {

using Json = nlohmann::ordered_json;

namespace {

std::string dumped(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace

std::string json_document(const Json& json) {
    return dumped(json, 2) + "\n";
}

std::string json_line(const Json& json) {
    return dumped(json, -1);
}

std::string json_quoted(std::string_view text) {
    return json_line(text);
}

Json parse_json(std::string_view text) {
    return Json::parse(text, nullptr, false);
}

} // namespace eyeroof
