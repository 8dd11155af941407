// The GPU template's space, its closed form and its logs: no compiler, no device.
#include "analysis/trials/gpu_task.hpp"
#include "analysis/trials/log.hpp"
#include "analysis/tune/gpu_source.hpp"
#include "analysis/tune/model_target.hpp"
#include "analysis/tune/search.hpp"
#include "analysis/tune/tuner.hpp"
#include "base/statistics.hpp"
#include "tests/near.hpp"
#include "tests/tune/workloads.hpp"

#include <doctest/doctest.h>

namespace test_tune_gpu_space {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::convolution;
using eyeroof::tests::near;
using eyeroof::tests::product;

namespace {

GpuMachine machine_of_capability(int capability) {
    GpuMachine machine;
    machine.name = "example";
    return with_limits_of(capability, machine);
}

GpuPlan plan_of(Count bm, Count bn, Count bk, Count wm, Count wn, Count tm, Count tn,
                Count stages) {
    GpuPlan plan;
    plan.block_m = bm;
    plan.block_n = bn;
    plan.block_k = bk;
    plan.warp_m = wm;
    plan.warp_n = wn;
    plan.thread_m = tm;
    plan.thread_n = tn;
    plan.stages = stages;
    plan.async = stages > 1;
    return plan;
}

} // namespace

TEST_CASE("each of ResNet-18's layers has over 10^6 valid points on a GPU, of which all keep the "
          "hardware's limits") {
    const GpuMachine machine = machine_of_capability(80);
    for (const Workload& work :
         {convolution(1, 3, 224, 224, 64, 7, 2, 3), convolution(1, 512, 7, 7, 512, 3, 1, 1)}) {
        const Space space = gpu_space(work, machine);
        REQUIRE(space.valid_size());
        CHECK(*space.valid_size() > 1'000'000);
        Rng rng(1);
        for (int n = 0; n < 200; ++n) {
            const GpuPlan plan = gpu_plan(space, *space.draw(rng), work, machine);
            CHECK((plan.warp_m / plan.thread_m) * (plan.warp_n / plan.thread_n) == 32);
            CHECK(plan.block_m % plan.warp_m == 0);
            CHECK(plan.block_n % plan.warp_n == 0);
            CHECK(plan.threads() <= 1024);
            CHECK(plan.shared_bytes() <= machine.cta_shared_bytes);
            CHECK(plan.registers() <= 255);
            CHECK(plan.min_ctas * plan.threads() * plan.registers() <= machine.registers);
            CHECK(work.depth % plan.vector_in == 0);
            CHECK(work.cols % plan.vector_w == 0);
        }
    }
}

TEST_CASE("a smaller SM excludes points that a larger one has") {
    const Workload work = product(1024, 1024, 1024);
    const Count t4 = *gpu_space(work, machine_of_capability(75)).valid_size();
    const Count a100 = *gpu_space(work, machine_of_capability(80)).valid_size();
    CHECK(t4 < a100);
}

TEST_CASE("the seven bounds of a GPU candidate never rise, and its time is that of the last") {
    for (const int capability : {70, 75, 80, 86, 90}) {
        const GpuMachine machine = machine_of_capability(capability);
        for (const Workload& work :
             {product(512, 768, 3072), convolution(1, 128, 28, 28, 256, 3, 2, 1)}) {
            const SearchTask search_task = gpu_task(work, machine);
            Rng rng(static_cast<std::uint64_t>(capability));
            for (int n = 0; n < 200; ++n) {
                const Point point = *search_task.space.draw(rng);
                const Described what = search_task.described(point);
                for (std::size_t step = 1; step < what.bound.size(); ++step) {
                    CHECK_MESSAGE(what.bound[step] <= what.bound[step - 1] * (1.0 + 1e-12),
                                  what.text, " step ", step + 1);
                }
                CHECK(what.seconds ==
                      near(static_cast<double>(work.macs()) / what.bound[6] / machine.clock_hz));
                CHECK(search_task.predicted(point) == near(what.seconds));
            }
        }
    }
}

TEST_CASE("a worked example: 128 x 128 tiles of 1024 x 1024 x 1024 on an A100") {
    // 64 CTAs on 108 SMs: 64 / 108 of 108 x 64 lanes is left by step 4.
    const GpuMachine machine = machine_of_capability(80);
    const GpuChain chain =
        gpu_chain(product(1024, 1024, 1024), plan_of(128, 128, 8, 32, 64, 8, 8, 2), machine);
    CHECK(chain.ctas == near(64.0));
    CHECK(chain.bound[2] == near(108.0 * 64.0));
    CHECK(chain.bound[3] == near(64.0 * 64.0));
    CHECK(chain.conflicts == near(4.0)); // 4 lanes' rows, 64 floats apart: one bank
    CHECK(chain.l2_bytes == near(4.0 * (8.0 * 1048576 + 8.0 * 1048576 + 1048576)));
    CHECK(chain.dram_bytes == near(4.0 * 3.0 * 1048576));
    GpuPlan padded = plan_of(128, 128, 8, 32, 64, 8, 8, 2);
    padded.pad = 1; // 72 floats apart: 4 lanes, 4 banks
    CHECK(gpu_chain(product(1024, 1024, 1024), padded, machine).conflicts == near(1.0));
}

TEST_CASE("a GPU's trials survive their log, and teach another layer") {
    const GpuMachine machine = machine_of_capability(90);
    const Workload work = product(256, 384, 512);
    const SearchTask search_task = gpu_task(work, machine);
    const auto target = synthetic_target(work, machine, search_task, 3, {0.02, 1});
    TrialOrigin origin;
    origin.target = "model";
    origin.machine = machine.name;
    origin.gpu = machine;
    std::string text;
    Rng rng(2);
    for (Count n = 0; n < 40; ++n) {
        const Point point = *search_task.space.draw(rng);
        text += trial_text(
            line_of(search_task, work, origin, {point, target->measure(point), 0, 0, 0}, n));
    }
    const auto lines = parse_trials(text, "log");
    REQUIRE(lines);
    CHECK(lines->front().origin == origin);
    CHECK(point_of(search_task_of(lines->front())->space, lines->front()).has_value());
    const TreeOptions trees;
    CHECK(learn_global(*lines, kAllFeatures, trees, kGpuTemplate));
    CHECK(
        !learn_global(*lines, kAllFeatures, trees, "cpu-blocked/1")); // no training set for another
}

TEST_CASE("a log's GPU that cannot be is told by its key") {
    const GpuMachine machine = machine_of_capability(80);
    const Workload work = product(64, 64, 64);
    const SearchTask search_task = gpu_task(work, machine);
    TrialOrigin origin;
    origin.target = "gpu";
    origin.gpu = machine;
    origin.gpu->sms = -4;
    Rng rng(1);
    const auto lines =
        parse_trials(trial_text(line_of(search_task, work, origin,
                                        {*search_task.space.draw(rng), {1.0, {1.0}}, 0, 0, 0}, 0)),
                     "log");
    REQUIRE(!lines);
    CHECK(lines.diagnostics().items().front().field == "origin.gpu.sms");
}

TEST_CASE("on a computed GPU the learned search is ahead of a random one") {
    const Workload work = product(512, 512, 512);
    const GpuMachine machine = machine_of_capability(80);
    const auto median_best = [&](StrategyKind kind) {
        std::vector<double> best;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            const SearchTask search_task = gpu_task(work, machine);
            const auto target = synthetic_target(work, machine, search_task, 1, {0.05, seed});
            SearchPlan plan;
            plan.strategy.kind = kind;
            plan.strategy.seed = seed;
            plan.strategy.batch = plan.strategy.first = 8;
            plan.trials = 64;
            double least = kNoCost;
            for (const Trial& trial : run_search(search_task, *target, plan).trials) {
                least = std::min(least, trial.outcome.ok() ? trial.outcome.cost : kNoCost);
            }
            best.push_back(least);
        }
        return median(best);
    };
    CHECK(median_best(StrategyKind::learned) < median_best(StrategyKind::random));
}

} // namespace test_tune_gpu_space
