// How many CTAs an SM holds, by hand.
#include "model/gpu/occupancy.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_gpu_occupancy {

using namespace eyeroof;
using eyeroof::tests::near;
using model::CtaTile;
using model::DataType;

TEST_CASE("registers, shared memory and slots: whichever holds least, by name") {
    model::Gpu gpu = test::a100_sxm_40();
    gpu.registers_bytes_per_sm = 256.0 * 1024;
    gpu.shared_bytes_per_sm = 164.0 * 1024;
    gpu.max_threads_per_sm = 2048;
    // 128 x 128 sums of 4 B, twice: 128 KiB of registers; two stages of 256 x 32 x 2 B: 32 KiB.
    const auto large = model::occupancy_of(gpu, DataType::fp16, CtaTile{128, 128, 1}, 2.0, 4.0);
    CHECK(large.ctas == 2);
    CHECK(large.by == "registers");
    CHECK(large.busy == 1.0);
    gpu.shared_bytes_per_sm = 48.0 * 1024;
    const auto little = model::occupancy_of(gpu, DataType::fp16, CtaTile{128, 128, 1}, 2.0, 4.0);
    CHECK(little.ctas == 1);
    CHECK(little.by == "shared memory");
    gpu.shared_bytes_per_sm = 24.0 * 1024;
    CHECK(model::occupancy_of(gpu, DataType::fp16, CtaTile{128, 128, 1}, 2.0, 4.0).ctas == 0);
    // 32 x 32 sums: 32 threads at least of 64; 8 KiB of registers, 8 KiB of shared memory.
    gpu.shared_bytes_per_sm = 0.0; // not told: limits nothing
    gpu.max_threads_per_sm = 64;
    const auto small = model::occupancy_of(gpu, DataType::fp16, CtaTile{32, 32, 1}, 2.0, 4.0);
    CHECK(small.ctas == 2);
    CHECK(small.by == "slots");
}

TEST_CASE("too few sums in flight leave a pipe idle") {
    model::Gpu gpu = test::a100_sxm_40();
    // 1024 MAC/cycle and SM x 16 cycles / 16 of k an instruction: 1024 sums keep it busy.
    CHECK(model::occupancy_of(gpu, DataType::fp16, CtaTile{16, 32, 1}, 2.0, 1.0).busy ==
          near(0.5, 0.001));
    CHECK(model::occupancy_of(gpu, DataType::fp16, CtaTile{16, 32, 1}, 2.0, 2.0).busy ==
          near(1.0, 0.001));
}

} // namespace test_model_gpu_occupancy
