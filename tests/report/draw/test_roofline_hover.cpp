#include "report/draw/roofline_hover.hpp"
#include "report/draw/roofline_series.hpp"
#include "tests/near.hpp"
#include "tests/report/draw/plots.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using eyeroof::tests::near;

namespace eyeroof::report::test_roofline_hover {

namespace {

// 200 FLOP in 4 s; 50 bytes of DRAM at 10 B/s, 400 of L2 at 1000 B/s.
PlotInput two_levels() {
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 200, 50, 8)}};
    input.machines[0].roofs.push_back(
        {"m/l2", "m", "L2", analysis::RoofKind::memory, "L2", 1000.0, false, ""});
    input.points[0].bytes.push_back({"L2", 400.0});
    return input;
}

} // namespace

TEST_CASE("the headroom of a level is the time beyond what its roof allows") {
    const PlotInput input = two_levels();
    const auto levels = ceilings_of(input, input.points[0]);
    REQUIRE(levels.size() == 2);
    CHECK(levels[0].level == "DRAM");
    CHECK(levels[0].intensity == near(4.0));
    CHECK(levels[0].allowed == near(40.0)); // 10 B/s x 4 FLOP/B, below the arithmetic
    CHECK(levels[0].headroom_s == near(8.0 - 200.0 / 40.0));
    CHECK(levels[1].intensity == near(0.5));
    CHECK(levels[1].allowed == near(100.0)); // the arithmetic, below 1000 B/s x 0.5 FLOP/B
    CHECK(levels[1].headroom_s == near(8.0 - 2.0));
    const std::set<std::string> none;
    CHECK(ceilings_of(input, input.points[0], &none)[0].allowed == 0.0);
}

TEST_CASE("a hovered kernel joins its levels and leads from each to its roof") {
    const PlotInput input = two_levels();
    ViewState view;
    view.level = kAllLevels;
    const auto scene = make_scene(input, view);
    REQUIRE(scene);
    REQUIRE(scene->points.size() == 2);
    const ClippedLayer layer = hover_layer(input, *scene, 0);
    CHECK(layer.clip == scene->area.box);
    CHECK(layer.markers.size() == 2); // a ring around each level
    REQUIRE(layer.lines.size() == 3); // two drops, and the line that joins
    const DrawnLine& joined = layer.lines.back();
    CHECK(joined.through[0].y == near(joined.through[1].y)); // the rate is the same
    CHECK(joined.through[0].x == near(scene->area.place_of(0.5, 25.0).x));
    CHECK(joined.through[1].x == near(scene->area.place_of(4.0, 25.0).x));
    std::vector<std::string> texts;
    for (const DrawnText& text : layer.texts) {
        texts.push_back(text.text);
    }
    std::sort(texts.begin(), texts.end());
    CHECK(texts == std::vector<std::string>{"3 s to DRAM", "6 s to units"});
}

TEST_CASE("a point at its roof has no way to it") {
    PlotInput input{"t", {plain_machine()}, {plain_point("a", 200, 50, 5)}}; // 40 FLOP/s
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    const ClippedLayer layer = hover_layer(input, *scene, 0);
    CHECK(layer.lines.empty());
    CHECK(layer.markers.size() == 1);
}

TEST_CASE("a card lists every level with its bytes, intensity, and time to the roof") {
    PlotInput input = two_levels();
    input.points[0].bytes[1].at_least = true;
    const auto scene = make_scene(input, {});
    REQUIRE(scene);
    const auto card = card_of(input, scene->points[0]);
    const auto value = [&](const char* what) {
        const auto row = std::ranges::find(card, std::string(what), &CardRow::what);
        return row == card.end() ? std::string() : row->value;
    };
    CHECK(value("DRAM") == "50 B, 4 FLOP/byte, 3 s more than at DRAM");
    CHECK(value("L2") == "at least 400 B, 0.5 FLOP/byte, 6 s more than at units");
}

TEST_CASE("the paths of SMs to L1 and shared memory are roofs where they are known") {
    const auto roof = [](model::GpuArch arch, const char* key) {
        model::Gpu gpu;
        gpu.arch = arch;
        gpu.sms = 10;
        gpu.boost_hz = 1e9;
        model::Machine machine;
        machine.kind = gpu;
        const auto roofs = analysis::roofs_of(machine).roofs;
        const auto found = std::ranges::find(roofs, std::string(key), &analysis::Roof::key);
        return found == roofs.end() ? 0.0 : found->value;
    };
    CHECK(roof(model::GpuArch::ampere, "L1") == near(128.0 * 10 * 1e9)); // bytes, SMs, cycles/s
    CHECK(roof(model::GpuArch::ampere, "shared") == near(128.0 * 10 * 1e9));
    CHECK(roof(model::GpuArch::turing, "L1") == near(64.0 * 10 * 1e9));
    CHECK(roof(model::GpuArch::pascal, "L1") == 0.0);
    CHECK(roof(model::GpuArch::amd, "shared") == 0.0);
}

TEST_CASE("modules are the deepest beginnings of names of which there are few enough") {
    const std::vector<std::string> names = {"encoder.0.query", "encoder.0.key", "encoder.1.query",
                                            "head"};
    auto modules = modules_of(names, 3);
    CHECK(modules["encoder.0.query"] == "encoder.0");
    CHECK(modules["encoder.0.key"] == "encoder.0");
    CHECK(modules["encoder.1.query"] == "encoder.1");
    CHECK(modules["head"] == "head");
    CHECK(modules_of(names, 2)["encoder.1.query"] == "encoder");
    CHECK(modules_of(names, 4)["encoder.1.query"] == "encoder.1.query");
    modules = modules_of({"CONV1", "CONV2", "FC6"}, 2); // without their numbers
    CHECK(modules["CONV2"] == "CONV");
    CHECK(modules["FC6"] == "FC");
}

TEST_CASE("with every level in view markers are levels and colors what was chosen") {
    PlotInput input = two_levels();
    input.points[0].precision = "fp32";
    input.points.push_back(input.points[0]);
    input.points[1].id = "b";
    input.points[1].name = "b";
    input.points[1].precision = "fp16";
    ViewState view;
    view.level = kAllLevels;
    view.colour_by = ColourBy::type;
    const auto scene = make_scene(input, view);
    REQUIRE(scene);
    REQUIRE(scene->series.size() == 4);
    CHECK(scene->series[0].name == "DRAM, fp32");
    CHECK(scene->series[1].name == "L2, fp32");
    CHECK(scene->series[0].colour == scene->series[1].colour);
    CHECK(scene->series[0].marker != scene->series[1].marker);
    CHECK(scene->series[2].name == "DRAM, fp16");
    CHECK(scene->series[2].marker == scene->series[0].marker);
    CHECK(scene->series[2].colour != scene->series[0].colour);
    // several machines keep their colors
    view.colour_by = ColourBy::automatic;
    input.machines.push_back(input.machines[0]);
    input.machines[1].id = "n";
    input.machines[1].name = "N";
    input.points[1].machine = "n";
    const auto two = make_scene(input, view);
    REQUIRE(two);
    for (const ScenePoint& point : two->points) {
        const bool first = input.points[point.source].machine == "m";
        CHECK(two->series[point.series].colour == series_role(first ? 0 : 1));
    }
}

} // namespace eyeroof::report::test_roofline_hover
