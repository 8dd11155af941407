#include "report/exam/exam_answer.hpp"
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
    const bool whole = write_json(exam_answer(report), [&](std::string_view piece) {
        text += piece;
        longest = std::max(longest, piece.size());
        return true;
    });
    CHECK(whole);
    CHECK(text == to_json(exam_answer(report)));
    CHECK(longest < text.size() / 20);
    const auto json = nlohmann::ordered_json::parse(text);
    CHECK(json["layers"].size() == 100);
    CHECK(text == json.dump(2) + "\n"); // indented as one document is
    report.layers.clear();
    report.worst.clear();
    CHECK(nlohmann::json::parse(to_json(exam_answer(report)))["layers"].empty());
}

TEST_CASE("a report's CSV is written layer by layer, with the sums behind them") {
    Report report = tests::small_report();
    const LayerReport layer = report.layers.front();
    report.layers.assign(100, layer);
    std::size_t pieces = 0;
    std::string last;
    CHECK(write_csv(exam_answer(report), [&](std::string_view piece) {
        ++pieces;
        last = piece;
        return true;
    }));
    CHECK(pieces == 102);
    CHECK(last.starts_with("total,total,"));
}

TEST_CASE("a report's JSON ends where its reader has gone") {
    Report report = tests::small_report();
    const LayerReport layer = report.layers.front();
    report.layers.assign(100, layer);
    int pieces = 0;
    CHECK_FALSE(write_json(exam_answer(report), [&](std::string_view) { return ++pieces < 10; }));
    CHECK(pieces == 10);
}

} // namespace test_report_streamed_json
