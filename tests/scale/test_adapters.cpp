// Decoders whose low-rank adapters are trained: what has gradients, and what a step costs.
#include "analysis/scale/transformer_step.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_scale_adapters {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};

TransformerStep step_of(const Transformer& t, const Plan& plan, const TransformerOptions& o) {
    const auto machine = hwdb::load_machine("h100-sxm-80gb", kHwdb);
    const auto fabric = hwdb::load_fabric("dgx-h100-ndr", kHwdb);
    REQUIRE(machine.ok());
    REQUIRE(fabric.ok());
    BlockExams exams(t, *machine, o);
    const auto times = exams.times(plan, {});
    const auto update = exams.update_s(updated_parameters(t, plan, o), {});
    REQUIRE(times.ok());
    REQUIRE(update.ok());
    return transformer_step(t, plan, o, *fabric, *times, *update, exams.capacity());
}

} // namespace

TEST_CASE("adapters by hand: each linear layer has a row and a column of the rank") {
    const Transformer t = gpt(4, 1024, 16, 50304, 1024, true);
    TransformerOptions o;
    o.adapters.rank = 8;
    Plan plan;
    // qkv r (h + 3h), output r (h + h), up r (h + 4h), down r (4h + h).
    CHECK(trained_values(t, plan, o).all() == near(4.0 * 8.0 * 1024.0 * (4 + 2 + 5 + 5)));
    o.adapters.feed_forward = false;
    const double attention = 4.0 * 8.0 * 1024.0 * (4 + 2);
    CHECK(trained_values(t, plan, o).all() == near(attention));
    // Optimizer and gradients of those alone; weights stay.
    const DeviceMemory memory = transformer_memory(t, plan, o, 80e9);
    CHECK(memory.weights == near(2.0 * device_parameters(t, plan)));
    CHECK(memory.optimizer == near(12.0 * attention));
    CHECK(memory.gradients == near(4.0 * attention));
    plan.data = 4;
    plan.zero = 1;
    CHECK(updated_parameters(t, plan, o) == near(attention / 4.0));
    // A tensor group divides the wide side of an adapter and repeats the other.
    plan.tensor = 2;
    CHECK(trained_values(t, plan, o).all() == near(4.0 * 8.0 * 1024.0 * (1 + 1.5 + 0.5 + 1)));
}

TEST_CASE("frozen weights need the gradient of their input alone: a third of the products go") {
    const Transformer t = gpt(16, 4096, 32, 50304, 2048, true);
    TransformerOptions o;
    o.batch = 64;
    o.length = 2048;
    Plan plan;
    plan.data = 8;
    plan.microbatch = 8;
    const TransformerStep all = step_of(t, plan, o);
    o.adapters.rank = 8;
    const TransformerStep adapted = step_of(t, plan, o);
    CHECK(adapted.time_s < all.time_s);
    CHECK(adapted.time_s > 0.6 * all.time_s);
    CHECK(adapted.data_s < 0.05 * all.data_s + 1e-3); // nothing else is summed
    CHECK(adapted.memory.total() < all.memory.total());
    // A larger rank is never faster.
    o.adapters.rank = 512;
    CHECK(step_of(t, plan, o).time_s > adapted.time_s);
    // 4 of 6 FLOP a weight and token.
    CHECK(training_flops(t, 64, 1, true) / training_flops(t, 64, 1) == near(4.0 / 6.0, 1e-3));
}

} // namespace test_scale_adapters
