#include "report/exam/json.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace test_report_streamed_json {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::report;

TEST_CASE("a report's JSON is written layer by layer, to the same bytes as at once") {
    Report report = tests::small_report();
    const LayerReport layer = report.layers.front();
    report.layers.assign(100, layer);
    std::string text;
    std::size_t longest = 0;
    const nlohmann::ordered_json nothing = nlohmann::ordered_json::object();
    const bool whole = write_json(report, nothing, [&](std::string_view piece) {
        text += piece;
        longest = std::max(longest, piece.size());
        return true;
    });
    CHECK(whole);
    CHECK(text == to_json(report));
    CHECK(longest < text.size() / 20);
    const auto json = nlohmann::ordered_json::parse(text);
    CHECK(json["layers"].size() == 100);
    CHECK(text == json.dump(2) + "\n"); // indented as one document is
    report.layers.clear();
    report.worst.clear();
    CHECK(nlohmann::json::parse(to_json(report))["layers"].empty());
}

TEST_CASE("members of a trace or of advice stand behind the report's own") {
    const Report report = tests::small_report();
    const nlohmann::ordered_json more = {{"trace", {{"step", "step"}}}, {"tuned", {1, 2}}};
    std::string text;
    CHECK(write_json(report, more, [&](std::string_view piece) {
        text += piece;
        return true;
    }));
    auto whole = nlohmann::ordered_json::parse(to_json(report));
    whole.update(more);
    CHECK(text == whole.dump(2) + "\n");
}

TEST_CASE("a report's JSON ends where its reader has gone") {
    Report report = tests::small_report();
    const LayerReport layer = report.layers.front();
    report.layers.assign(100, layer);
    int pieces = 0;
    CHECK_FALSE(write_json(report, nlohmann::ordered_json::object(),
                           [&](std::string_view) { return ++pieces < 10; }));
    CHECK(pieces == 10);
}

} // namespace test_report_streamed_json
