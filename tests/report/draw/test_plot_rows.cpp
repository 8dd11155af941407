// Points without a place, roofs that count, and rows of one name: what tables show of a plot.
#include "tests/near.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>

using eyeroof::tests::near;

namespace eyeroof::report::test_plot_rows {

TEST_CASE("what has no place on the plot keeps its share of the time") {
    const PlotPoint placed = plain_point("conv", 200, 50, 3); // one second at 200 FLOP/s and so on
    PlotPoint without = placed;
    without.id = "without";
    without.name = "copy";
    without.flops = 0.0;
    without.time_s = 3.0 * placed.time_s;
    const auto scene = make_scene({"t", {plain_machine()}, {placed, without}}, {});
    REQUIRE(scene);
    REQUIRE(scene->points.size() == 1);
    CHECK(scene->points[0].share == near(0.25));
    REQUIRE(scene->rest.size() == 1);
    CHECK(scene->rest[0].source == 1);
    CHECK(scene->rest[0].share == near(0.75));
    ViewState view;
    view.filter = "conv";
    CHECK(make_scene({"t", {plain_machine()}, {placed, without}}, view)->rest.empty());
}

TEST_CASE("a share of the roof is of the visible roofs") {
    const PlotPoint point = plain_point("conv", 200, 50, 3);
    const analysis::PlotMachine machine = plain_machine();
    const PlotInput input{"t", {machine}, {point}};
    ViewState view;
    view.roofs.emplace();
    const auto none = make_scene(input, view);
    REQUIRE(none);
    CHECK(none->points[0].of_bound == 0.0);
    CHECK(none->points[0].roof.empty());
    for (const analysis::Roof& roof : machine.roofs) {
        view.roofs = std::set<std::string>{roof.id};
        const auto scene = make_scene(input, view);
        REQUIRE(scene);
        const double allowed =
            roof.kind == analysis::RoofKind::compute ? roof.value : roof.value * point.intensity();
        CHECK(scene->points[0].roof == roof.name);
        CHECK(scene->points[0].of_bound == near(point.flops_per_s() / allowed));
    }
}

TEST_CASE("layers of one name are joined in their order") {
    PlotPoint first = plain_point("conv", 200, 50, 3);
    PlotPoint second = first;
    second.id = "second";
    second.nth = 1;
    PlotPoint there = second;
    there.id = "there";
    there.measured = true;
    const auto scene = make_scene({"t", {plain_machine()}, {first, second, there}}, {});
    REQUIRE(scene);
    REQUIRE(scene->links.size() == 1);
    CHECK(scene->points[scene->links[0].from].id == "second");
    CHECK(scene->points[scene->links[0].to].id == "there");
}

} // namespace eyeroof::report::test_plot_rows
