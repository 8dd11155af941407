#include "report/draw/chart_scene.hpp"
#include "report/draw/svg.hpp"

#include <doctest/doctest.h>

namespace eyeroof::report::test_chart_scene {

TEST_CASE(
    "every dot of a chart tells its values under the pointer, and lines without dots have none") {
    Chart chart;
    chart.x_title = "devices";
    chart.y_title = "samples/s";
    chart.lines = {{"bound", {{8.0, 2e4}, {64.0, 2e5}}},
                   {"the step", {{8.0, 1.789e4}, {64.0, 1.423e5}}, false, true}};
    const Drawing drawn = draw_chart(chart, {800.0, 400.0});
    REQUIRE(drawn.markers.size() == 2);
    CHECK(drawn.tips.at(drawn.markers[0].tip) == "the step: devices 8, samples/s 17.89 k");
    CHECK(drawn.tips.at(drawn.markers[1].tip) == "the step: devices 64, samples/s 142.3 k");
    CHECK(to_svg(drawn, SvgTheme::light)
              .find("<title>the step: devices 64, samples/s 142.3 k</title>") != std::string::npos);
}

} // namespace eyeroof::report::test_chart_scene
