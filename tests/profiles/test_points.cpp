#include "profiles/operator_layer.hpp"
#include "profiles/operator_work.hpp"
#include "profiles/points.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_profiles_points {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

// Two precisions and two levels, in invented counters.
MetricFamily family() {
    MetricFamily made;
    made.name = "invented";
    made.chips = {"XX100"};
    made.compute_capabilities = {"99.0"};
    made.time_counter = "time";
    made.work = {{"fp32", "fma", {{"ffma", 2.0}, {"fadd", 1.0}}},
                 {"fp16", "tensor", {{"hmma", 1.0}}}};
    made.traffic = {{"dram", "all", {{"dram_bytes", 1.0}}}, {"l2", "sectors", {{"sectors", 32.0}}}};
    return made;
}

Launch launch_of(std::uint32_t kernel, double duration_ns, Counters counters) {
    Launch launch;
    launch.kernel = kernel;
    launch.duration_ns = duration_ns;
    launch.counters = std::move(counters);
    return launch;
}

Profile with_launches(std::vector<Launch> launches) {
    ProfileBuilder built;
    built.source("s");
    built.kernel("gemm");
    built.kernel("relu");
    built.op({"aten::mm", {{8, 16}, {16, 4}}, {"c10::Half", "c10::Half"}, {}});
    built.profile.launches = std::move(launches);
    return built.profile;
}

} // namespace

TEST_CASE("counters become operations and bytes with the family's weights") {
    // ffma 100 x 2 + fadd 50 = 250 FLOP; 8 sectors x 32 B = 256 B; 1 us -> 250 MFLOP/s
    const Profile profile = with_launches({launch_of(0, 1000.0,
                                                     {{"ffma", 100.0},
                                                      {"fadd", 50.0},
                                                      {"hmma", 0.0},
                                                      {"dram_bytes", 125.0},
                                                      {"sectors", 8.0}})});
    const MetricFamily metrics = family();
    const auto points = points_of(profile, &metrics);
    REQUIRE(points.ok());
    REQUIRE(points->size() == 1);
    const MeasuredPoint& point = points->front();
    REQUIRE(point.work.size() ==
            1); // no tensor operations were done, so there is no entry for them
    CHECK(point.work[0] == PointWork{"fp32", "fma", 250.0, Evidence::counted});
    CHECK(point.at_level("l2")->bytes == 256.0);
    CHECK(point.intensity("dram") == near(2.0));
    CHECK(point.intensity("l1") == 0.0);
    CHECK(point.flops_per_s() == near(250e6));
}

TEST_CASE("a sum with a counter missing is called partly counted") {
    const Profile profile = with_launches({launch_of(0, 1.0, {{"ffma", 10.0}})});
    const MetricFamily metrics = family();
    const auto points = points_of(profile, &metrics);
    REQUIRE(points.ok());
    CHECK(points->front().main_work()->evidence == Evidence::partly_counted);
    CHECK(points->front().main_work()->flops == 20.0);
}

TEST_CASE("an operator's work stands once, on the longest of its kernels") {
    Launch main = launch_of(0, 900.0, {});
    main.op = 0;
    main.op_call = 5;
    Launch helper = launch_of(1, 100.0, {});
    helper.op = 0;
    helper.op_call = 5;
    const auto points = points_of(with_launches({helper, main}), nullptr);
    REQUIRE(points.ok());
    REQUIRE(points->size() == 2);
    CHECK((*points)[0].name == "relu");
    CHECK((*points)[0].flops() == 0.0);
    // [8,16] x [16,4]: 2 x 8 x 16 x 4 = 1024 FLOP; (128 + 64 + 32) elements x 2 B = 448 B
    CHECK((*points)[1].work[0] == PointWork{"fp16", "", 1024.0, Evidence::from_shape});
    CHECK((*points)[1].at_level("dram")->bytes == 448.0);
    CHECK((*points)[1].share == near(0.9));
}

TEST_CASE("counted operations are not added to those of the shape") {
    Launch main = launch_of(0, 900.0, {{"hmma", 2048.0}});
    main.op = 0;
    main.op_call = 1;
    const MetricFamily metrics = family();
    const auto points = points_of(with_launches({main}), &metrics);
    REQUIRE(points.ok());
    CHECK(points->front().flops() == 2048.0); // tile padding is real work of the machine
}

TEST_CASE("neutral counters need no family") {
    const Profile profile = with_launches({launch_of(
        0, 10.0, {{"flops.fp64", 40.0}, {"flops.fp16.tensor", 80.0}, {"bytes.l1", 6.0}})});
    const auto points = points_of(profile, nullptr);
    REQUIRE(points.ok());
    CHECK(points->front().flops() == 120.0);
    CHECK(points->front().main_work()->pipe == "tensor");
    CHECK(points->front().at_level("l1")->evidence == Evidence::given);
}

TEST_CASE("launches without a time are left out with one warning") {
    const auto points = points_of(
        with_launches({launch_of(0, kUnknown, {}), launch_of(0, 0.0, {}), launch_of(1, 5.0, {})}),
        nullptr);
    REQUIRE(points.ok());
    CHECK(points->size() == 1);
    REQUIRE(points.diagnostics().size() == 1);
    CHECK(points.diagnostics().items()[0].code == "no-time");
}

TEST_CASE("grouping loses no time and no operations, however it is done") {
    std::vector<Launch> launches;
    for (int i = 0; i < 20; ++i) {
        launches.push_back(
            launch_of(static_cast<std::uint32_t>(i % 2), 10.0 + i, {{"hmma", 8.0 * i}}));
        launches.back().op = i % 3 == 0 ? 0 : kNone;
    }
    const MetricFamily metrics = family();
    for (const GroupBy group : {GroupBy::launch, GroupBy::kernel, GroupBy::range, GroupBy::op}) {
        const auto points = points_of(with_launches(launches), &metrics, {.group = group});
        REQUIRE(points.ok());
        double time_s = 0.0;
        double flops = 0.0;
        double share = 0.0;
        for (const MeasuredPoint& point : *points) {
            time_s += point.time_s;
            flops += point.flops();
            share += point.share;
        }
        CHECK(time_s == near(390e-9)); // 20 x 10 + (0 + … + 19)
        CHECK(flops == near(8.0 * 190.0));
        CHECK(share == near(1.0));
    }
}

TEST_CASE("a family is found by chip, and else by compute capability") {
    const std::vector<MetricFamily> families = {family()};
    CHECK(find_family(families, {.chip = "XX100"}) == &families[0]);
    CHECK(find_family(families, {.compute_capability = "99.0"}) == &families[0]);
    CHECK(find_family(families, {.chip = "YY100"}) == nullptr);
    CHECK(find_family(families, {}) == nullptr);
}

TEST_CASE("matrix products are told from their operands, whatever the operator is called") {
    const auto shape = [](const Operator& op) {
        const auto found = layer_of(op);
        return found ? std::get<model::GemmShape>(found->layer.shape)
                     : model::GemmShape{0, 0, 0, 0};
    };
    CHECK(shape({"aten::linear", {{2, 5, 64}, {10, 64}, {10}}, {}, {}}) ==
          model::GemmShape{1, 10, 10, 64});
    CHECK(shape({"aten::addmm", {{10}, {32, 64}, {64, 10}}, {}, {}}) ==
          model::GemmShape{1, 32, 10, 64});
    CHECK(shape({"aten::bmm", {{6, 7, 8}, {6, 8, 9}}, {}, {}}) == model::GemmShape{6, 7, 9, 8});
    CHECK(shape({"aten::matmul", {{3, 4, 7, 8}, {3, 4, 8, 9}}, {}, {}}) ==
          model::GemmShape{12, 7, 9, 8});
    CHECK_FALSE(layer_of({"aten::mm", {{2, 3}, {4, 5}}, {}, {}}));
    CHECK_FALSE(layer_of({"aten::mm", {{2, 3}}, {}, {}}));
    CHECK_FALSE(layer_of({"aten::mm", {{2, -3}, {-3, 5}}, {}, {}}));
    CHECK_FALSE(layer_of({"aten::relu", {{2, 3}}, {}, {}}));
}

TEST_CASE("a convolution takes stride, padding and groups from its arguments") {
    const Operator op{"aten::convolution",
                      {{8, 32, 56, 56}, {64, 16, 3, 3}, {}, {}, {}, {}, {}, {}, {}},
                      {"float", "float"},
                      {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "2"}};
    const auto found = layer_of(op);
    REQUIRE(found);
    const auto& shape = std::get<model::ConvShape>(found->layer.shape);
    CHECK(shape.groups == 2);
    CHECK(shape.stride == model::Extent2{2, 2});
    CHECK(shape.pad == model::Extent2{1, 1});
    CHECK_FALSE(found->approximate);
    Operator unsaid = op;
    unsaid.concrete_inputs.clear();
    CHECK(layer_of(unsaid)->approximate);
}

TEST_CASE("a sum along an outer axis is a column of a plane, one along rows a row") {
    const auto shape = [](std::vector<std::int64_t> dims, const char* axes) {
        const auto found = any_layer_of(
            {"aten::sum", {std::move(dims), {}, {}, {}}, {"float"}, {"", axes, "", ""}});
        REQUIRE(found);
        return std::get<model::PoolShape>(found->layer.shape);
    };
    CHECK(shape({1024, 512}, "[0]") == model::PoolShape{1, 1, 1024, 512, 1024, 1});
    CHECK(shape({1024, 512}, "[1]") == model::PoolShape{1024, 1, 1, 512, 1, 512});
    CHECK(shape({2, 3, 4}, "[1]") == model::PoolShape{2, 1, 3, 4, 3, 1});
    CHECK(shape({2, 3, 4}, "[0, 1]") == model::PoolShape{1, 1, 6, 4, 6, 1});
    CHECK(shape({2, 3, 4}, "[0, 2]") == model::PoolShape{3, 1, 1, 8, 1, 8});
    CHECK(shape({2, 3, 4}, "[-1]") == model::PoolShape{6, 1, 1, 4, 1, 4});
    CHECK(shape({2, 3, 4}, "") ==
          model::PoolShape{1, 1, 6, 4, 6, 1}); // not recorded: all but the last
}

TEST_CASE("a transposed convolution is the data gradient of the one from its output") {
    Operator op{"aten::convolution",
                {{8, 32, 28, 28}, {32, 16, 3, 3}, {}, {}, {}, {}, {}, {}, {}},
                {"float", "float"},
                {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "2"}};
    const auto found = layer_of(op);
    REQUIRE(found);
    CHECK(found->layer.direction == model::Direction::bwd_data);
    const auto& shape = std::get<model::ConvShape>(found->layer.shape);
    // (28 - 1) 2 - 2 + 2 + 1 + 1 = 56, two groups of 16 results
    CHECK(shape == model::ConvShape{8, 32, 56, 56, 32, 3, 3, {2, 2}, {1, 1}, {1, 1}, 2});
    CHECK(shape.p() == 28);
    op.input_dims[1] = {16, 16, 3, 3};
    CHECK_FALSE(layer_of(op)); // not the channels of the input
    op.input_dims = {{2, 8, 10, 12, 14}, {8, 4, 3, 5, 7}, {}, {}, {}, {}, {}, {}, {}};
    op.concrete_inputs = {"", "", "", "[2]", "[1, 2, 3]", "[1]", "True", "[1, 1, 1]", "1"};
    const auto volume = layer_of(op);
    REQUIRE(volume);
    const auto& planes = std::get<model::ConvShape>(volume->layer.shape);
    CHECK(planes.n == 2 * 10);
    CHECK(planes.k == 8 * 3);
    CHECK(planes.depth == 3);
    CHECK(planes.h == 24); // 11 * 2 - 4 + 4 + 1 + 1
    CHECK(planes.w == 28); // 13 * 2 - 6 + 6 + 1 + 1
}

TEST_CASE("a backward convolution counts the gradients that were asked for") {
    Operator op{"aten::convolution_backward",
                {{8, 64, 54, 54}, {8, 32, 56, 56}, {64, 32, 3, 3}},
                {},
                {"", "", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1",
                 "[True, True, False]"}};
    CHECK(layer_of(op)->repeats == 2);
    op.concrete_inputs[10] = "[False, True, False]";
    CHECK(layer_of(op)->repeats == 1);
    CHECK(layer_of(op)->layer.direction == model::Direction::bwd_weight);
    op.concrete_inputs[10] = "[True, False, False]";
    CHECK(layer_of(op)->layer.direction == model::Direction::bwd_data);
}

} // namespace test_profiles_points
