#include "study/scene/waterfall_scene.hpp"
#include "study/write/svg.hpp"

#include <doctest/doctest.h>

namespace eyeroof::study {

namespace {

// A machine of 100 units at 1 kHz; the layer of 6000 MAC keeps 50 of 100 units at step 4 and 40
// from step 6 on, and takes 0.2 s: 30 MAC per cycle.
Report ladder() {
    Report report;
    report.machine.name = "m";
    report.machine.units = 100.0;
    report.machine.clock_hz = 1000.0;
    LayerReport layer;
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

} // namespace

TEST_CASE("each step shows what it leaves of the units and what it takes") {
    const WaterfallScene scene = make_waterfall(ladder(), 0);
    REQUIRE(scene.bars.size() == 9);                      // all units, seven steps, predicted
    CHECK(scene.bars[1].mapping == doctest::Approx(1.0)); // 10^6 is more than all units
    CHECK(scene.bars[4].mapping == doctest::Approx(0.5)); // 50 / 100
    CHECK(scene.bars[4].machine == doctest::Approx(0.8));
    CHECK(scene.bars[4].change == "−50.0 %");
    CHECK(scene.bars[4].worst);
    CHECK(scene.bars[5].change.empty());
    CHECK(scene.bars[6].change == "−20.0 %");             // 40 of 50
    CHECK(scene.bars[8].mapping == doctest::Approx(0.3)); // 6000 / 0.2 s / 1 kHz / 100
    CHECK(scene.bars[8].change == "−25.0 %");             // 30 of 40
    CHECK(scene.has_gap);
}

TEST_CASE("what was measured stands below what was predicted") {
    const WaterfallScene scene = make_waterfall(ladder(), 0, 0.4);
    REQUIRE(scene.bars.size() == 10);
    CHECK(scene.bars[9].mapping == doctest::Approx(0.15)); // twice the time
    CHECK(scene.bars[9].change == "−50.0 %");
}

TEST_CASE("bars stay in their area and rows do not overlap on any canvas") {
    for (const Canvas canvas : {Canvas{1000, 640}, Canvas{400, 240}, Canvas{1, 1}}) {
        const WaterfallScene scene = make_waterfall(ladder(), 0, 0.4, canvas);
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

} // namespace eyeroof::study
