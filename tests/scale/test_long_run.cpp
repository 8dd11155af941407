// The clock at which a device works through a long run.
#include "analysis/program/settled.hpp"
#include "hwdb/catalog.hpp"
#include "model/gpu/matmul.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace test_scale_long_run {

using namespace eyeroof;
using namespace eyeroof::analysis;

TEST_CASE("in a long run a clock is settled for the shortest kernel and never above the board's") {
    for (const char* name : {"h100-sxm-80gb", "a100-sxm-80gb", "t4", "k40m"}) {
        const auto found = hwdb::load_machine(
            name, std::vector{std::filesystem::path(tests::source_dir()) / "hwdb"});
        REQUIRE(found.ok());
        const model::Machine& machine = *found;
        const auto& rows = std::get<model::Gpu>(machine.kind);
        const model::Machine run = settled_machine(machine);
        const auto& gpu = std::get<model::Gpu>(run.kind);
        const double sustained = sustained_clock_share(rows, model::DataType::fp16);
        CHECK(clock_share(gpu.calibration.tensor_gemm, 1e-5) <=
              std::min(sustained, rows.calibration.tensor_gemm.sustained_clock) + 1e-3);
        CHECK(clock_share(gpu.calibration.tensor_gemm, 1e-5) <=
              clock_share(rows.calibration.tensor_gemm, 1e-5));
    }
}

} // namespace test_scale_long_run
