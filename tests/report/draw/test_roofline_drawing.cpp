#include "report/draw/fitted_text.hpp"
#include "report/draw/roofline_drawing.hpp"
#include "report/draw/svg.hpp"
#include "tests/near.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using eyeroof::tests::near;

namespace eyeroof::report::test_roofline_drawing {

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

RooflineScene three_points(const ViewState& view = {}) {
    const PlotInput input{
        "three",
        {plain_machine()},
        {plain_point("a", 200, 50, 4), plain_point("b", 100, 50, 3), plain_point("c", 400, 20, 9)}};
    auto scene = make_scene(input, view);
    REQUIRE(scene);
    return *std::move(scene);
}

} // namespace

TEST_CASE("a roofline's drawing has its points as markers that count, in the scene's order") {
    const RooflineScene scene = three_points();
    const Drawing drawing = drawn(scene);
    REQUIRE(drawing.layers.size() == 1);
    const ClippedLayer& inside = drawing.layers.front();
    CHECK(inside.clip == scene.area.box);
    std::vector<const DrawnMarker*> points;
    for (const DrawnMarker& marker : inside.markers) {
        if (inside.looks.at(marker.look).counts) {
            points.push_back(&marker);
        }
    }
    REQUIRE(points.size() == scene.points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Place wanted = scene.area.place_of(scene.points[i].x, scene.points[i].y);
        CHECK(points[i]->at.x == near(wanted.x));
        CHECK(points[i]->at.y == near(wanted.y));
        CHECK(inside.tips.at(points[i]->tip).starts_with(scene.points[i].name + ": "));
    }
    const std::string svg = to_svg(scene);
    CHECK(count_of(svg, "class=\"p ") == points.size());
    CHECK(count_of(svg, "<title>a: ") == 1);
}

TEST_CASE("what is selected has a ring of the selection's colour right above its marker") {
    const RooflineScene plain = three_points();
    ViewState view;
    view.selection = {plain.points[1].id};
    const RooflineScene scene = three_points(view);
    const ClippedLayer inside = drawn(scene).layers.front();
    CHECK(inside.markers.size() == drawn(plain).layers.front().markers.size() + 1);
    const auto ring =
        std::find_if(inside.markers.begin(), inside.markers.end(), [&](const DrawnMarker& marker) {
            return inside.looks[marker.look].edge == ColourRole::selection;
        });
    REQUIRE(ring != inside.markers.end());
    REQUIRE(ring != inside.markers.begin());
    CHECK(!inside.looks[ring->look].fill);
    CHECK(inside.tips.at((ring - 1)->tip).starts_with(scene.points[1].name));
    CHECK(ring->at == (ring - 1)->at);
    CHECK(ring->radius > (ring - 1)->radius);
}

TEST_CASE("points far outside of the axes are not in the drawing, and the SVG says which") {
    const RooflineScene all = three_points();
    ViewState view; // from where the first point of the scene stands to the right
    view.x = LogRange{all.points[0].x * 5.0, all.points[0].x * 500.0};
    const RooflineScene scene = three_points(view);
    const auto seen =
        std::count_if(scene.points.begin(), scene.points.end(),
                      [&](const ScenePoint& point) { return is_drawn(scene, point); });
    CHECK(seen < 3);
    CHECK(count_of(to_svg(scene), "class=\"p ") == static_cast<std::size_t>(seen));
}

TEST_CASE("arrows lead from where points were, those that hardly moved have none") {
    const RooflineScene scene = three_points();
    const ScenePoint& moved = scene.points[0];
    const ScenePoint& stays = scene.points[1];
    const auto arrows = before_arrows(scene, {{moved.id, {moved.x, moved.y / 2.0}},
                                              {stays.id, {stays.x, stays.y}},
                                              {"not there", {1.0, 1.0}}});
    REQUIRE(arrows.size() == 1);
    CHECK(arrows[0].to.x == near(scene.area.place_of(moved.x, moved.y).x));
    CHECK(arrows[0].to.y == near(scene.area.place_of(moved.x, moved.y).y));
    CHECK(arrows[0].from.x == near(arrows[0].to.x));
    CHECK(arrows[0].from.y > arrows[0].to.y); // it was lower
    const Drawing drawing = with_arrows(drawn(scene), arrows);
    REQUIRE(drawing.layers.size() == 2);
    CHECK(drawing.layers[1].clip == scene.area.box);
    CHECK(drawing.layers[1].lines.size() == 2); // the shaft and the head
    CHECK(with_arrows(drawn(scene), {}) == drawn(scene));
}

TEST_CASE("a heading that is too long for the canvas is shortened or wrapped, never cut") {
    CHECK(fitted("short", 12.0, 500.0) == "short");
    const std::string name = "a network of a long name on a machine with a name as long as that";
    const std::string shown = fitted(name, 12.0, 200.0);
    CHECK(text_width(shown, 12.0) <= 200.0);
    CHECK(shown.starts_with("a net"));
    CHECK(shown.ends_with("that"));
    std::string again;
    for (const std::string& line : wrapped_to_width(name, 12.0, 200.0)) {
        CHECK(text_width(line, 12.0) <= 200.0);
        again += (again.empty() ? "" : " ") + line;
    }
    CHECK(again == name);
    CHECK(wrapped_to_width("", 12.0, 200.0).size() == 1);
    CHECK(wrapped_to_width("unbreakablyunbreakablylong word", 12.0, 40.0).size() == 2);
}

TEST_CASE("notes above a narrow roofline take the lines that they need, and the axes give way") {
    RooflineScene scene = three_points();
    scene.notes = {"a note that says in many words why something that looks wrong is none the less "
                   "as it should be, and where the reader finds more about it"};
    lay_out(scene, {}, {1400.0, 600.0});
    const double wide = scene.area.box.top;
    lay_out(scene, {}, {420.0, 600.0});
    CHECK(scene.area.box.top > wide + 20.0);
    for (const DrawnText& text : drawn(scene).texts) {
        CHECK(text.at.x - text.anchor * text_width(text.text, text.px) +
                  text_width(text.text, text.px) <=
              scene.canvas.width + 4.0);
    }
}

TEST_CASE("text that is turned is turned around its start") {
    Drawing drawing;
    DrawnText text;
    text.at = {10.0, 20.0};
    text.text = "along a roof";
    text.degrees = -30.0;
    drawing.texts = {text};
    CHECK(to_svg(drawing).find("transform=\"rotate(-30.00 10.0 20.0)\"") != std::string::npos);
}

} // namespace eyeroof::report::test_roofline_drawing
