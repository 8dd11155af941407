#include "report/draw/svg.hpp"
#include "tests/near.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

using eyeroof::tests::near;

namespace eyeroof::report::test_roofline_scene {

namespace {

const SceneRoof& roof_named(const RooflineScene& scene, const std::string& id) {
    const auto found = std::find_if(scene.roofs.begin(), scene.roofs.end(),
                                    [&](const SceneRoof& roof) { return roof.roof.id == id; });
    REQUIRE(found != scene.roofs.end());
    return *found;
}

double size_of(const SceneLabel& label) {
    return label.kind == LabelKind::roof ? 12.0 : 11.0;
}

// Do two labels overlap? Counted on the pieces that follow their slopes, a little shrunk.
bool collide(const SceneLabel& a, const SceneLabel& b) {
    for (const Box& one : turned_boxes(a.start, a.width, size_of(a) * 0.9, a.degrees)) {
        for (const Box& other : turned_boxes(b.start, b.width, size_of(b) * 0.9, b.degrees)) {
            if (overlap(one, other)) {
                return true;
            }
        }
    }
    return false;
}

int collisions(const RooflineScene& scene) {
    int count = 0;
    for (std::size_t i = 0; i < scene.labels.size(); ++i) {
        for (std::size_t j = i + 1; j < scene.labels.size(); ++j) {
            count += collide(scene.labels[i], scene.labels[j]) ? 1 : 0;
        }
    }
    return count;
}

} // namespace

TEST_CASE("with all levels in view a series is a level, whatever order points know them in") {
    PlotPoint a = plain_point("a", 200, 50, 4);
    a.bytes.push_back({"L2", 100.0});
    PlotPoint b = plain_point("b", 200, 50, 4);
    b.bytes = {{"L2", 80.0}};
    ViewState view;
    view.level = kAllLevels;
    const auto scene = make_scene({"t", {plain_machine()}, {b, a}}, view);
    REQUIRE(scene);
    REQUIRE(scene->series.size() == 2);
    CHECK(scene->series[0].name == "L2"); // in order of appearance
    CHECK(scene->series[0].count == 2);
    CHECK(scene->series[1].name == "DRAM");
    CHECK(scene->series[1].count == 1);
}

TEST_CASE(
    "the legend names what limits the points of a step as tables do, the most frequent first") {
    const auto limited = [](const char* name, std::size_t step, const char* by) {
        PlotPoint point = plain_point(name, 200, 50, 4);
        point.limiter_step = step;
        point.limiter = by;
        return point;
    };
    PlotInput input{"t",
                    {plain_machine()},
                    {limited("a", 7, "launch"), limited("b", 7, "ramp and latency"),
                     limited("c", 7, "ramp and latency"), limited("d", 6, "DRAM bandwidth")}};
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    REQUIRE(scene->series.size() == 2);
    CHECK(scene->series[0].name == "bound by step 6: DRAM bandwidth");
    CHECK(scene->series[1].name == "bound by step 7: ramp and latency, launch");
    CHECK(scene->series[1].count == 3);
    input.points.push_back(limited("e", 7, "clock under power"));
    input.points.push_back(limited("f", 5, ""));
    const auto more = make_scene(input, {});
    REQUIRE(more);
    CHECK(more->series[0].name == "bound by step 5");
    CHECK(more->series[2].name == // equally often: by name
          "bound by step 7: ramp and latency, clock under power …");
}

TEST_CASE("a point stands at its operations per byte and per second") {
    // 200 FLOP, 50 bytes, 4 s: 4 FLOP/byte, 50 FLOP/s; the memory allows 10 * 4 = 40 FLOP/s.
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 200, 50, 4)}};
    const auto predicted = make_scene(input, {});
    REQUIRE(predicted);
    CHECK_FALSE(predicted->points[0].above_roof); // its bytes may lie in an inner memory
    CHECK(predicted->warnings.empty());
    input.points[0].measured = true;
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    REQUIRE(scene->points.size() == 1);
    const ScenePoint& point = scene->points[0];
    CHECK(point.x == near(4.0));
    CHECK(point.y == near(50.0));
    CHECK(point.of_bound == near(50.0 / 40.0));
    CHECK(point.above_roof);
    CHECK(scene->warnings.size() == 1);
}

TEST_CASE("roofs meet at the ridge") {
    const PlotInput input{"t", {plain_machine()}, {plain_point("a", 20, 50, 8)}};
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    REQUIRE(scene->ridges.size() == 1);
    CHECK(scene->ridges[0].x == near(10.0)); // 100 / 10
    CHECK(roof_named(*scene, "m/d").to_x == near(10.0));
    CHECK(roof_named(*scene, "m/c").from_x == near(10.0));
    CHECK_FALSE(scene->points[0].above_roof);
    CHECK(scene->warnings.empty());
}

TEST_CASE("a prediction and its measurement are joined by the gain") {
    const PlotInput input{"t",
                          {plain_machine()},
                          {plain_point("a", 20, 50, 4), plain_point("a", 20, 50, 8, true),
                           plain_point("b", 20, 50, 4)}};
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    REQUIRE(scene->links.size() == 1);
    CHECK(scene->points[scene->links[0].from].id == "m/predicted/a");
    CHECK(scene->points[scene->links[0].to].id == "m/measured/a");
    CHECK(scene->links[0].ratio == near(0.5));
}

TEST_CASE("the heaviest points are counted by names and by share of the time") {
    // 6, 3 and 1 s: the first alone is 60 %, the first two are 90 %.
    const PlotInput input{"t",
                          {plain_machine()},
                          {plain_point("light", 1, 1, 1), plain_point("heavy", 1, 1, 6),
                           plain_point("middle", 1, 1, 3)}};
    ViewState view;
    view.top = 1;
    CHECK(make_scene(input, view)->points.size() == 1);
    CHECK(make_scene(input, view)->points[0].name == "heavy");
    view.top.reset();
    view.top_share = 0.6;
    CHECK(make_scene(input, view)->points.size() == 1);
    view.top_share = 0.61;
    CHECK(make_scene(input, view)->points.size() == 2);
    view.filter = "^l";
    CHECK(make_scene(input, view)->points.size() == 1);
    CHECK(active_filters(view).size() == 2);
    remove_filter(view, "top_share");
    CHECK(active_filters(view).size() == 1);
}

TEST_CASE("a broken expression is an error, not a crash") {
    ViewState view;
    view.filter = "conv(";
    const auto scene = make_scene(scattered(3), view);
    REQUIRE_FALSE(scene);
    CHECK(scene.diagnostics().items()[0].code == "bad-regex");
}

TEST_CASE("with several machines colour tells the machine and the same layer is joined") {
    const PlotInput input{
        "t",
        {plain_machine("a"), plain_machine("b")},
        {plain_point("l", 20, 50, 4, false, "a"), plain_point("l", 20, 50, 2, false, "b")}};
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    REQUIRE(scene->series.size() == 2);
    CHECK(scene->series[0].name == "a machine");
    CHECK(scene->series[0].colour != scene->series[1].colour);
    CHECK(scene->series[0].marker != scene->series[1].marker);
    CHECK(scene->roofs.size() == 4);
    REQUIRE(scene->links.size() == 1);
    CHECK(scene->links[0].ratio == near(2.0));
}

TEST_CASE("each level has its own intensity, and all can be seen at once") {
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 20, 50, 4)}};
    input.machines[0].roofs.push_back(
        {"m/g", "m", "GLB", analysis::RoofKind::memory, "GLB", 1000.0, false, ""});
    input.points[0].bytes.push_back({"GLB", 200.0});
    ViewState view;
    view.level = "GLB";
    CHECK(make_scene(input, view)->points[0].x == near(0.1)); // 20 / 200
    CHECK(make_scene(input, view)->roofs.size() == 2);
    view.level = kAllLevels;
    CHECK(make_scene(input, view)->points.size() == 2);
    CHECK(make_scene(input, view)->roofs.size() == 3);
}

TEST_CASE("labels never collide, however many points there are") {
    for (const std::size_t n : {3U, 30U, 100U, 1000U, 10000U}) {
        for (const Canvas canvas : {Canvas{1000, 640}, Canvas{420, 300}, Canvas{1900, 1000}}) {
            const auto scene = make_scene(scattered(n), {}, canvas);
            REQUIRE(scene);
            CAPTURE(n);
            CAPTURE(canvas.width);
            CHECK(collisions(*scene) == 0);
            for (const SceneLabel& label : scene->labels) {
                CHECK(label.start.x >= scene->area.box.left);
                if (label.degrees == 0.0) {
                    CHECK(label.start.x + label.width <= scene->area.box.right() + 1.0);
                }
            }
        }
    }
}

TEST_CASE("a hundred points have their roofs and the heaviest of them named") {
    const auto scene = make_scene(scattered(100), {});
    const auto roofs = std::count_if(scene->labels.begin(), scene->labels.end(),
                                     [](const SceneLabel& l) { return l.kind == LabelKind::roof; });
    CHECK(roofs == 2);
    CHECK(scene->labels.size() >= 12);
    CHECK(std::any_of(scene->labels.begin(), scene->labels.end(), [&](const SceneLabel& label) {
        return label.id == scene->points.back().id;
    }));
}

TEST_CASE("the pointer finds the point and the roof below it") {
    const PlotInput input{"t", {plain_machine()}, {plain_point("a", 20, 50, 4)}};
    const auto scene = make_scene(input, {});
    const Place at = scene->area.place_of(0.4, 5.0);
    CHECK(point_at(*scene, at) == 0U);
    CHECK_FALSE(point_at(*scene, {at.x + 60.0, at.y}));
    CHECK(points_in(*scene, {at.x - 1, at.y - 1, 2, 2}).size() == 1);
    CHECK(roof_at(*scene, scene->area.place_of(2.0, 20.0)));
    CHECK_FALSE(roof_at(*scene, scene->area.place_of(2.0, 80.0)));
}

TEST_CASE("zooming moves axes and labels and nothing else") {
    auto scene = make_scene(scattered(50), {});
    ViewState view;
    view.x = LogRange{1.0, 10.0};
    view.y = LogRange{10.0, 100.0};
    const auto anew = make_scene(scattered(50), view);
    lay_out(*scene, view, Canvas{});
    CHECK(*scene == *anew);
}

TEST_CASE("a card tells name, rate, roof, share and source") {
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 20, 50, 4)}};
    input.points[0].source = "by hand";
    const auto scene = make_scene(input, {});
    std::string text;
    for (const CardRow& row : card_of(input, scene->points[0])) {
        text += row.what + "=" + row.value + "\n";
    }
    CHECK(text.find("name=a") != std::string::npos);
    CHECK(text.find("roof there=4 FLOP/s (DRAM)") != std::string::npos); // 10 B/s * 0.4
    CHECK(text.find("of the roof=125.0 %") != std::string::npos);        // 5 / 4
    CHECK(text.find("source=by hand") != std::string::npos);
}

TEST_CASE("a card counts an integer type's operations in one unit, at the roof of a memory, too") {
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 20, 50, 4)}};
    input.points[0].precision = "int8";
    std::string text;
    for (const CardRow& row : card_of(input, make_scene(input, {})->points[0])) {
        text += row.what + "=" + row.value + "\n";
    }
    CHECK(text.find("predicted=5 OP/s") != std::string::npos);
    CHECK(text.find("roof there=4 OP/s (DRAM)") != std::string::npos);
    CHECK(text.find("intensity=0.4 OP/byte") != std::string::npos);
    CHECK(text.find("FLOP") == std::string::npos);
}

TEST_CASE("an empty plot is a plot") {
    const auto scene = make_scene({}, {});
    REQUIRE(scene);
    CHECK(to_svg(*scene).find("</svg>") != std::string::npos);
    const auto tiny = make_scene(scattered(10), {}, {1, 1});
    CHECK(to_svg(*tiny).find("</svg>") != std::string::npos);
}

TEST_CASE("the SVG has text as text, no foreign parts, and escapes what files say") {
    PlotInput input = scattered(5);
    input.title = "<script>alert('&')</script>";
    const std::string svg = to_svg(*make_scene(input, {}), SvgTheme::automatic);
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find("&lt;script&gt;") != std::string::npos);
    CHECK(svg.find(">DRAM 10 B/s</text>") != std::string::npos);
    CHECK(svg.find("href") == std::string::npos);
    CHECK(svg.find("prefers-color-scheme: dark") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("ten thousand points make a file of a size that viewers bear") {
    const std::string svg = to_svg(*make_scene(scattered(10000), {}));
    CHECK(svg.size() < 3'000'000);
}

} // namespace eyeroof::report::test_roofline_scene
