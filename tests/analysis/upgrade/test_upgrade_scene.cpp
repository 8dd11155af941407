#include "report/draw/drawing_write.hpp"
#include "report/draw/linear_plot.hpp"
#include "report/draw/svg.hpp"
#include "report/upgrade/break_even_scene.hpp"
#include "report/upgrade/upgrade.hpp"
#include "report/upgrade/upgrade_scene.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using eyeroof::tests::near;

namespace eyeroof::analysis::test_upgrade_scene {

namespace {

// 2 times faster (1.6 … 2.5) for 1.5 times the hourly price; bought for 3000 dollars, where an old
// card's month is worth 300 and the new one's power costs 100: 3000 / (2 x 300 - 100) = 6 months.
Upgrade twice() {
    Upgrade u;
    u.network = "net";
    u.from = "old";
    u.to = "new";
    u.from_s = 0.4;
    u.to_s = 0.2;
    u.speedup = {2.0, 1.6, 2.5};
    u.threshold = 1.5;
    u.money.priced = true;
    u.money.break_even_speedup = 1.5;
    u.money.outlay_usd = 3000.0;
    u.money.work_usd_per_month = 300.0;
    u.money.power_usd_per_month = 100.0;
    u.money.break_even_months = 6.0;
    u.layers = {{"light", "matmul", 1, 0.1, 0.06, "", "", 1.67, 0.25, "", ""},
                {"heavy", "matmul", 3, 0.1, 0.0467, "", "", 2.14, 0.75, "", ""}};
    return u;
}

// Everything but titles, which are cut to fit, lies on the canvas.
void check_inside(const report::Drawing& d) {
    for (const report::DrawnBox& box : d.boxes) {
        CHECK(box.box.left >= -0.01);
        CHECK(box.box.right() <= d.canvas.width + 0.01);
        CHECK(box.box.bottom() <= d.canvas.height + 0.01);
    }
    for (const report::DrawnText& text : d.texts) {
        CHECK(text.at.x >= 0.0);
        CHECK(text.at.x <= d.canvas.width);
        CHECK(text.at.y <= d.canvas.height);
    }
}

std::string text_of(const report::Drawing& d) {
    std::string all;
    for (const report::DrawnText& text : d.texts) {
        all += text.text + "\n";
    }
    return all;
}

} // namespace

TEST_CASE("a page keeps the lines of its text, and a bar tells its time under the pointer") {
    const std::string page = report::upgrade_page_body(twice());
    const std::size_t begin = page.find("<ul>");
    const std::string text = page.substr(begin, page.find("</ul>") - begin);
    CHECK(std::count(text.begin(), text.end(), '\n') > 3);
    CHECK(text.find('?') == text.rfind('?')); // "too close to call?" at most
    // heavy: 3 times 0.1 s before and 3 times 0.0467 s after
    CHECK(page.find("<title>heavy on old: 300 ms</title>") != std::string::npos);
    CHECK(page.find("<title>heavy on new: 140.1 ms</title>") != std::string::npos);
}

TEST_CASE("a rented GPU breaks even where its price ratio is its speed-up") {
    const report::Drawing d = report::make_break_even({twice()}, 0, {500, 400});
    CHECK(text_of(d).find("breaks even at 2.00") != std::string::npos);
    CHECK(text_of(d).find("a run costs 75 %") != std::string::npos); // 1.5 / 2
    REQUIRE(d.figures.rows.size() == 1);
    CHECK(std::get<double>(d.figures.rows[0][5]) == near(0.75));
    check_inside(d);
}

TEST_CASE("a bought GPU is paid back when its months have saved its price") {
    Upgrade unknown = twice();
    unknown.money.outlay_usd.reset();
    const report::Drawing d = report::make_payback({unknown, twice()}, 1, {500, 400});
    REQUIRE(d.figures.rows.size() == 1); // the one without a price is left out
    // 36 months of 500 dollars, less 3000
    CHECK(std::get<double>(d.figures.rows[0][4]) == near(15000.0));
    CHECK(text_of(d).find("paid back after 6.0 months") != std::string::npos);
    check_inside(d);
    CHECK(text_of(report::make_payback({unknown}, 0, {500, 400})).find("needs a price") !=
          std::string::npos);
}

TEST_CASE("layers stand side by side, the heaviest first, as many as there is room for") {
    const report::Drawing d = report::make_upgrade_bars({twice(), twice()}, {500, 400});
    REQUIRE(d.figures.rows.size() == 2);
    CHECK(std::get<std::string>(d.figures.rows[0][0]) == "heavy");
    CHECK(std::get<double>(d.figures.rows[0][1]) == near(0.3)); // three executions
    check_inside(d);
    CHECK(report::make_upgrade_bars({twice()}, {300, 140}).figures.rows.size() == 1);
}

TEST_CASE("a sweep shows a line a pair of precisions, hollow where memory is short") {
    Upgrade u = twice();
    for (const Count batch : {1, 8}) {
        for (const char* type : {"fp16", "fp32"}) {
            SweepPoint p;
            p.batch = batch;
            p.from_dtype = p.to_dtype = type;
            p.speedup = {1.0 + 0.1 * static_cast<double>(batch), 0.9, 2.0};
            p.to_fits = batch == 1;
            u.sweep.push_back(p);
        }
    }
    const report::Drawing d = report::make_sweep(u, {500, 400});
    CHECK(d.figures.rows.size() == 4);
    CHECK(std::get<std::string>(d.figures.rows[0][8]) == "both");
    CHECK(std::get<std::string>(d.figures.rows[2][8]) == "old only");
    CHECK(text_of(d).find("fp32") != std::string::npos);
    const auto hollow =
        std::count_if(d.boxes.begin(), d.boxes.end(), [](const report::DrawnBox& box) {
            return box.role == report::ColourRole::plot && box.box.width < 10.0;
        });
    CHECK(hollow == 2);
    check_inside(d);
    CHECK(report::make_sweep(twice(), {500, 400}).figures.rows.empty());
}

TEST_CASE("round ticks are multiples of 1, 2 or 5 within their range") {
    CHECK(report::round_ticks(0.0, 2.0, 7.0) == std::vector<double>{0.0, 0.5, 1.0, 1.5, 2.0});
    const auto around = report::round_ticks(-3300.0, 15000.0, 6.0);
    CHECK(around.front() == 0.0);
    CHECK(around.back() == 15000.0);
    CHECK(report::round_step(0.37, 6.0) == near(0.1));
}

TEST_CASE("a drawing's figures are written as they are, whatever stands in them") {
    report::DrawnTable table{{"name", "value"},
                             {{std::string("a,\"b\"\tc"), 1.5}, {std::string("d"), 2e-9}}};
    CHECK(report::to_csv(table) == "name,value\n\"a,\"\"b\"\"\tc\",1.5\nd,2e-09\n");
    CHECK(report::to_tsv(table) == "name\tvalue\na,\"b\" c\t1.5\nd\t2e-09\n");
    CHECK(report::to_json(table, "t").find("\"value\": 1.5") != std::string::npos);
    const std::string svg = report::to_svg(report::make_break_even({twice()}, 0, {500, 400}));
    CHECK(svg.find("<svg") == 0);
    CHECK(svg.find("breaks even at 2.00") != std::string::npos);
}

} // namespace eyeroof::analysis::test_upgrade_scene
