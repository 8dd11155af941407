#include "analysis/sweep/fields.hpp"
#include "tests/sweep/sources.hpp"

#include <doctest/doctest.h>

namespace test_sweep_fields {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;

namespace {

std::vector<double> spread(const std::string& text) {
    return spread_values({text}, nullptr, "x").value();
}

std::string first_code(const Diagnostics& diagnostics) {
    return diagnostics.empty() ? "" : diagnostics.items().front().code;
}

} // namespace

TEST_CASE("a range runs to its end, up, down and by a factor") {
    CHECK(spread("8:32:8") == std::vector<double>{8, 16, 24, 32});
    CHECK(spread("8:33:8") == std::vector<double>{8, 16, 24, 32});
    CHECK(spread("3:1:1") == std::vector<double>{3, 2, 1});
    CHECK(spread("1:8:x2") == std::vector<double>{1, 2, 4, 8});
    CHECK(spread("0.1:0.5:0.1").size() ==
          5); // 0.1 has no exact double: the end is met all the same
}

TEST_CASE("a range that never ends is refused, and says how ranges are written") {
    for (const char* text :
         {"8:32", "8:32:0", "8:4:x2", "0:8:x2", "8:32:x1", "1:2:3:4", "0:1e9:1"}) {
        CAPTURE(text);
        const auto values = spread_values({text}, nullptr, "x");
        REQUIRE(!values);
        CHECK(first_code(values.diagnostics()) == "bad-range");
        CHECK(values.diagnostics().items().front().hint.find("8:32:4") != std::string::npos);
    }
    CHECK(first_code(spread_values({"8:nine:1"}, nullptr, "x").diagnostics()) == "bad-value");
}

TEST_CASE("a field is named as --set names it, as axes.NAME, or by its place in the description") {
    const auto machine = tests::catalog_sources().machine("npu-int8").value();
    for (const char* name : {"axis-kernel", "machine.axis-kernel", "axes.kernel",
                             "machine.axes.kernel", "Axis_Kernel"}) {
        CAPTURE(name);
        const auto field = resolve_field({name, {"8", "16"}}, {machine});
        REQUIRE(field);
        CHECK(field->key == "axis-kernel");
        CHECK(field->numbers.front() == std::vector<double>{8, 16});
    }
    const analysis::Parameter* some = nullptr;
    const auto parameters = parameters_of(machine);
    for (const analysis::Parameter& parameter : parameters) {
        some = parameter.key == "axis-kernel" ? &parameter : some;
    }
    REQUIRE(some != nullptr);
    CHECK(resolve_field({some->fields.front(), {"8"}}, {machine})->key == "axis-kernel");
}

TEST_CASE("units of values are those of --set, and columns carry the unit") {
    const auto machine = tests::catalog_sources().machine("npu-int8").value();
    const auto field = resolve_field({"dram-link-bandwidth", {"10 GB/s", "x2"}}, {machine});
    REQUIRE(field);
    CHECK(field->column == "dram_link_bandwidth_bytes_per_cycle");
    CHECK(field->numbers.front() == std::vector<double>{10, 102.4}); // at 1 GHz; 51.2 twice
}

TEST_CASE("a field that is not there is told with the nearest name") {
    const auto grid =
        SweepGrid::make(tests::question("alexnet", "npu-int8", {"axis-kernal=8,16", "bacth=1"}),
                        tests::catalog_sources());
    REQUIRE(!grid);
    REQUIRE(grid.diagnostics().items().size() == 2); // both at once
    CHECK(grid.diagnostics().items()[0].code == "unknown-field");
    CHECK(grid.diagnostics().items()[0].hint == "did you mean 'axis-kernel'?");
    CHECK(grid.diagnostics().items()[1].hint == "did you mean 'batch'?");
}

TEST_CASE("a step of zero is refused as a step, not as a value of the field") {
    const auto grid = SweepGrid::make(
        tests::question("alexnet", "npu-int8", {"axes.kernel=8:64:0"}), tests::catalog_sources());
    REQUIRE_FALSE(grid);
    CHECK(grid.diagnostics().items().front().message == "'0' is no step of axis kernel");
}

TEST_CASE("values that an option does not have, and fields varied twice, are refused") {
    const auto code = [](std::vector<std::string> vary) {
        const auto grid = SweepGrid::make(tests::question("alexnet", "npu-int8", std::move(vary)),
                                          tests::catalog_sources());
        return grid ? std::string("none") : first_code(grid.diagnostics());
    };
    CHECK(code({"batch=0"}) == "bad-value");
    CHECK(code({"batch=1.5"}) == "bad-value");
    CHECK(code({"dataflow=sw"}) == "bad-value");
    CHECK(code({"batch=1", "options.batch=2"}) == "bad-sweep");
    CHECK(code({"batch"}) == "bad-sweep");
    CHECK(code({"batch=1,,2"}) == "bad-sweep");
    CHECK(code({"network.depth=1"}) != "none");
    CHECK(code({"compiled=maybe"}) == "bad-value");
    CHECK(code({"power-cap=100W"}) == "no-power-cap"); // of an accelerator
    CHECK(code({"clock=1 MHz:100 MHz:1 Hz"}) == "bad-range");
    CHECK(code({"batch=1:100000:1", "clock=1 MHz:100 MHz:1 kHz"}) == "too-many");
}

} // namespace test_sweep_fields
