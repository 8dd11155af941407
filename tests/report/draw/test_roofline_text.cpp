#include "base/lines.hpp"
#include "report/answer/write.hpp"
#include "report/roofline/roofline_answer.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace eyeroof::report::test_roofline_text {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string drawn(const PlotInput& input, std::size_t columns) {
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    return to_text(roofline_answer(*scene, input), columns);
}

} // namespace

TEST_CASE("a roofline in a terminal has both roofs, a letter for each point, and a row for it") {
    // Below the memory's roof at 1 FLOP/B, and below the arithmetic's at 50.
    const PlotInput input{"t",
                          {plain_machine()},
                          {plain_point("slow", 100, 100, 20), plain_point("quick", 500, 10, 10)}};
    const std::string text = drawn(input, 80);
    std::size_t row_of_slow = 0;
    std::size_t row_of_quick = 0;
    const auto lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto axis = lines[i].find("│");
        row_of_slow = axis != std::string::npos && lines[i].find('a', axis) != std::string::npos
                          ? i
                          : row_of_slow;
        row_of_quick = axis != std::string::npos && lines[i].find('b', axis) != std::string::npos
                           ? i
                           : row_of_quick;
    }
    CHECK(row_of_quick > 0);
    CHECK(row_of_slow > row_of_quick); // 5 FLOP/s stand below 50
    CHECK(text.find("//") != std::string::npos);
    CHECK(text.find("───") != std::string::npos);
    CHECK(text.find("a     slow ") != std::string::npos);
    CHECK(text.find("50 %  units") != std::string::npos);
}

TEST_CASE("a roofline in a terminal keeps to its columns, whatever the names and the points") {
    PlotInput input = scattered(300);
    input.points[7].name = std::string(200, 'x') + "\x1b[31m";
    for (const std::size_t columns : {60UL, 80UL, 120UL}) {
        CAPTURE(columns);
        const std::string text = drawn(input, columns);
        CHECK(text.find('\x1b') == std::string::npos);
        CHECK(text.find("and 284 more rows") != std::string::npos);
        for (const std::string& line : lines_of(text)) {
            CHECK(display_width(line) <= std::max<std::size_t>(columns, 80));
        }
    }
}

} // namespace eyeroof::report::test_roofline_text
