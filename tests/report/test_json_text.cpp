// JSON documents to and from text: base/json.hpp.
#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_report_json_text {

using Json = nlohmann::ordered_json;

TEST_CASE("a document is indented by two and ends a line, a line has neither") {
    const Json json = {{"b", 1}, {"a", Json::array()}};
    CHECK(eyeroof::json_document(json) == "{\n  \"b\": 1,\n  \"a\": []\n}\n");
    CHECK(eyeroof::json_line(json) == R"({"b":1,"a":[]})");
    CHECK(eyeroof::json_quoted("a \"b\"\n") == R"("a \"b\"\n")");
}

TEST_CASE("bytes of a file's name that are not UTF-8 become U+FFFD in a JSON document") {
    const Json json = {{"network", "a\xff"
                                   "b.csv"}};
    CHECK(eyeroof::json_line(json) == "{\"network\":\"a\xef\xbf\xbd"
                                      "b.csv\"}");
    CHECK(eyeroof::json_document(json).find("\xef\xbf\xbd") != std::string::npos);
}

TEST_CASE("text that is not one JSON value is discarded, without an exception") {
    CHECK(eyeroof::parse_json("{\"a\": 1} 2").is_discarded());
    CHECK(eyeroof::parse_json("").is_discarded());
    CHECK(eyeroof::parse_json("{\"z\": 1, \"a\": 2}").dump() == R"({"z":1,"a":2})");
}

} // namespace test_report_json_text
