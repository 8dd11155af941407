#include "report/draw/svg.hpp"
#include "report/draw/waterfall_parts.hpp"
#include "report/draw/waterfall_scene.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using eyeroof::tests::near;

namespace eyeroof::report::test_waterfall_scene {

namespace {

// A machine of 100 units at 1 kHz; the layer of 6000 MAC keeps 50 of 100 units at step 4 and 40
// from step 6 on, and takes 0.2 s: 30 MAC per cycle.
analysis::Report ladder() {
    analysis::Report report;
    report.machine.name = "m";
    report.machine.units = 100.0;
    report.machine.clock_hz = 1000.0;
    analysis::LayerReport layer;
    layer.layer.name = "conv1";
    layer.macs = 6000;
    layer.flops = 12000;
    layer.time_s = 0.2;
    layer.utilization = 0.3;
    layer.limiter_step = 4;
    layer.limiter = "x axis";
    const double bounds[] = {1e6, 1e5, 100, 50, 50, 40, 40};
    const double machine[] = {1e6, 1e5, 100, 80, 80, 80, 60};
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        layer.steps[i] = {bounds[i], "limit", "because of that"};
        layer.machine_steps[i] = {machine[i], "limit", "because"};
    }
    report.layers.push_back(layer);
    return report;
}

// The same, measured to take twice as long.
analysis::Report measured_ladder() {
    analysis::Report report = ladder();
    analysis::LayerMeasurement m;
    m.time_s = 0.4;
    m.predicted_s = 0.2;
    m.unexplained_s = 0.2;
    report.layers[0].measured = m;
    return report;
}

} // namespace

TEST_CASE("each step shows what it leaves of the units and what it takes") {
    const WaterfallScene scene = make_waterfall(ladder(), 0);
    REQUIRE(scene.bars.size() == 9);           // all units, seven steps, predicted
    CHECK(scene.bars[1].mapping == near(1.0)); // 10^6 is more than all units
    CHECK(scene.bars[4].mapping == near(0.5)); // 50 / 100
    CHECK(scene.bars[4].machine == near(0.8));
    CHECK(scene.bars[4].change == "−50.0 %");
    CHECK(scene.bars[4].worst);
    CHECK(scene.bars[5].change.empty());
    CHECK(scene.bars[6].change == "−20.0 %");  // 40 of 50
    CHECK(scene.bars[8].mapping == near(0.3)); // 6000 / 0.2 s / 1 kHz / 100
    CHECK(scene.bars[8].change == "−25.0 %");  // 30 of 40
    CHECK(scene.has_gap);
}

TEST_CASE("what was measured stands below what was predicted") {
    const WaterfallScene scene = make_waterfall(measured_ladder(), 0);
    REQUIRE(scene.bars.size() == 10);
    CHECK(scene.bars[9].mapping == near(0.15));   // twice the time
    CHECK(scene.bars[9].change == "+100 % time"); // as the text beside it says
    CHECK(scene.bars[9].name == "unexplained (measured)");
    CHECK(scene.bars[9].reason.find("+200 ms (+100 %)") != std::string::npos);
}

TEST_CASE("a network's ladder adds up the times of its layers at each step") {
    analysis::Report report = ladder();
    report.network_name = "net";
    report.layers[0].layer.count = 2;
    analysis::LayerReport other = report.layers[0];
    other.layer.name = "fc";
    other.layer.count = 1;
    other.macs = 3000;
    other.steps[5].macs_per_cycle = other.steps[6].macs_per_cycle = 10.0;
    report.layers.push_back(other);
    report.total.time_s = 1.0;
    // 15000 MAC on 100 units at 1 kHz: 0.15 s at best. Step 4 leaves half of it: 0.3 s. At step 6
    // conv1 takes 2 x 6000 / 40 / 1000 = 0.3 s and fc 3000 / 10 / 1000 = 0.3 s: 0.15 / 0.6.
    const WaterfallScene scene = make_network_waterfall(report);
    REQUIRE(scene.bars.size() == 9);
    CHECK(scene.bars[3].mapping == near(1.0));
    CHECK(scene.bars[4].mapping == near(0.5));
    CHECK(scene.bars[6].mapping == near(0.25));
    CHECK(scene.bars[6].layer == "fc"); // loses 0.24 s of the 0.3 s
    CHECK(scene.bars[6].worst);
    CHECK(scene.bars[8].mapping == near(0.15));
    analysis::Measurement all;
    all.layers = 2;
    all.predicted_s = 1.0;
    all.unexplained_s = 0.5;
    report.measured = all;
    const WaterfallScene measured = make_network_waterfall(report);
    REQUIRE(measured.bars.size() == 10);
    CHECK(measured.bars[9].mapping == near(0.1)); // 0.15 / 1.5
}

TEST_CASE("the figures of a ladder are those of its bars") {
    const DrawnTable table = figures_of(make_waterfall(ladder(), 0));
    REQUIRE(table.rows.size() == 9);
    CHECK(std::get<std::string>(table.rows[4][0]) == "4");
    CHECK(std::get<double>(table.rows[4][2]) == near(0.5));
}

TEST_CASE("bars stay in their area and rows do not overlap on any canvas") {
    for (const Canvas canvas : {Canvas{1000, 640}, Canvas{400, 240}, Canvas{1, 1}}) {
        const WaterfallScene scene = make_waterfall(measured_ladder(), 0, canvas);
        double bottom = 0.0;
        for (const WaterfallBar& bar : scene.bars) {
            CHECK(bar.row.top >= bottom - 1e-9);
            bottom = bar.row.bottom();
            CHECK(bar.mapping_box.right() <= scene.bars_area.right() + 1e-9);
            CHECK(bar.mapping_box.width <= bar.machine_box.width + 1e-9);
        }
        CHECK(bar_at(scene, {20.0, scene.bars[3].row.top + 2.0}) == 3U);
        CHECK(to_svg(scene).find("conv1 on m") != std::string::npos);
    }
}

TEST_CASE("a title of sixty-six accented letters is shortened, and the layout ends") {
    analysis::Report report = ladder();
    report.machine.name.clear();
    for (int i = 0; i < 66; ++i) {
        report.machine.name += "é";
    }
    const WaterfallScene scene = make_waterfall(report, 0);
    CHECK(text_width(scene.title, scene.title_px) < scene.canvas.width);
    CHECK(text_width(scene.subtitle, kFontPx) < scene.canvas.width);
    CHECK(text_width(make_network_waterfall(report).title, kFontPx) < scene.canvas.width);
}

} // namespace eyeroof::report::test_waterfall_scene
