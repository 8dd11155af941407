// JSON documents to and from text. The library's parser and writer are templates that take a second
// to compile, so base/json.cpp alone has them. Text that is not UTF-8, such as the name of a file,
// never throws: each wrong byte is written as U+FFFD.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace eyeroof {

// Indented by two, with a line end.
std::string json_document(const nlohmann::ordered_json& json);
// On one line, without a line end.
std::string json_line(const nlohmann::ordered_json& json);
// The text between quotation marks, escaped.
std::string json_quoted(std::string_view text);

// Discarded (`is_discarded()`) where the text is not one JSON value.
nlohmann::ordered_json parse_json(std::string_view text);

} // namespace eyeroof
