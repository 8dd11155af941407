#include "analysis/sweep/front.hpp"
#include "report/answer/write.hpp"
#include "report/sweep/sweep_answer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

namespace test_sweep_front {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::report;

namespace {

SweptTable table_of(const std::string& text) {
    return parse_rows(text, "rows.csv").value();
}

} // namespace

TEST_CASE("a front is what no other point beats: a worked example") {
    const SweptTable table = table_of("point,time_s,energy_j,error\n"
                                      "0,1,9,\n"
                                      "1,2,4,\n"
                                      "2,2,5,\n" // beaten by 1
                                      "3,3,4,\n" // beaten by 1
                                      "4,4,1,\n"
                                      "5,4,1,\n" // the same as 4
                                      "6,,,no-mapping: none\n"
                                      "7,1,1,does-not-fit: 2 GB of 1 GB\n");
    const auto aims = parse_aims("time,energy", table);
    REQUIRE(aims);
    CHECK((*aims)[0] == Aim{"time_s", false});
    CHECK(front_of(table, *aims) == std::vector<std::size_t>{0, 1, 4});
    const auto most = parse_aims("time,max:energy_j", table);
    REQUIRE(most);
    CHECK(front_of(table, *most) == std::vector<std::size_t>{0});
    CHECK(to_svg_picture(sweep_answer(table, "a <title>", *aims, true)).find("a &lt;title&gt;") !=
          std::string::npos);
}

TEST_CASE("a front is that of comparing all points with all") {
    std::mt19937 random(3);
    std::string text = "point,a,b,c\n";
    for (int i = 0; i < 300; ++i) {
        text += fmt::format("{},{},{},{}\n", i, random() % 20, random() % 20, random() % 20);
    }
    const SweptTable table = table_of(text);
    const auto aims = parse_aims("a,b,max:c", table).value();
    const auto value = [&](std::size_t row, std::size_t c) {
        return (c == 3 ? -1.0 : 1.0) * std::stod(table.rows[row][c]);
    };
    std::vector<std::size_t> front = front_of(table, aims);
    std::sort(front.begin(), front.end());
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        bool beaten = false;
        for (std::size_t j = 0; j < table.rows.size(); ++j) {
            bool no_worse = true;
            bool equal = true;
            for (std::size_t c = 1; c <= 3; ++c) {
                no_worse = no_worse && value(j, c) <= value(i, c);
                equal = equal && value(j, c) == value(i, c);
            }
            beaten = beaten || (no_worse && (!equal || j < i));
        }
        if (!beaten) {
            expected.push_back(i);
        }
    }
    CHECK(front == expected);
}

TEST_CASE("aims that are no columns are told with the nearest") {
    const SweptTable table = table_of("point,time_s,energy_j,error\n0,1,2,\n");
    const auto aims = parse_aims("time,enregy", table);
    REQUIRE(!aims);
    CHECK(aims.diagnostics().items().front().code == "unknown-field");
    CHECK(!parse_aims("time", table));
    CHECK(!parse_rows("no,pint\n1,2\n", "x.csv"));
    CHECK(!parse_rows("point,a\n1\n", "x.csv"));
    CHECK(!parse_rows("{\"point\":1}\nnonsense\n", "x.jsonl"));
    CHECK(parse_rows("{\"point\":1,\"time_s\":2}\n{\"point\":2,\"error\":\"x\"}\n", "x.jsonl")
              ->rows[1][1]
              .empty());
}

TEST_CASE(
    "a table's first lines name the best point, for each MAC where points do different work") {
    const SweptTable same = table_of("point,batch,time_s,macs,error\n"
                                     "0,1,3,100,\n"
                                     "1,2,2,100,\n");
    CHECK(to_text(sweep_answer(same, "", {}, false), 80)
              .starts_with("Shortest time: point 1 (batch 2), 2 s in all\n"));
    const SweptTable other = table_of("point,batch,time_s,macs,error\n"
                                      "0,1,3,100,\n"
                                      "1,8,8,800,\n"
                                      "2,9,,,no-mapping: none\n");
    const std::string text = to_text(sweep_answer(other, "", {}, false), 80);
    CHECK(text.starts_with("Shortest time per MAC: point 1 (batch 8), 8 s in all\n"));
    CHECK(text.find("no-mapping") != std::string::npos); // a failed point says why
}

} // namespace test_sweep_front
