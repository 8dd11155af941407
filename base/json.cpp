#include "base/json.hpp"

#include "base/json_keys.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

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

std::string repeated_key(std::string_view text) {
    std::vector<std::set<std::string>> open; // keys of the objects around a place
    std::string twice;
    // Sorted: the time to add a key to Json grows with the keys that its object has.
    using Sorted = nlohmann::json;
    const auto take = [&](int, Sorted::parse_event_t event, const Sorted& value) {
        if (event == Sorted::parse_event_t::object_start) {
            open.emplace_back();
        } else if (event == Sorted::parse_event_t::object_end) {
            open.pop_back();
        } else if (event == Sorted::parse_event_t::key && twice.empty() &&
                   !open.back().insert(value.get<std::string>()).second) {
            twice = value.get<std::string>();
        }
        return true;
    };
    const Sorted last_values = Sorted::parse(text, take, false);
    return last_values.is_discarded() ? std::string() : twice;
}

} // namespace eyeroof
