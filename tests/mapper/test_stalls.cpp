#include "mapper/search.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

namespace test_mapper_stalls {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

Channel link(double bytes) {
    Channel c;
    c.name = "link";
    c.operands = kAll;
    c.down_bytes_per_cycle = bytes;
    c.half_duplex = true;
    return c;
}

} // namespace

TEST_CASE("what the outermost memory brings to single buffers is waited for, and the proof knows") {
    // 64 outputs of 64 inputs and 64 x 64 weights, two bytes each, over a link of two bytes a
    // cycle: 4,224 cycles, then 1,024 of computing on four units, and the pipeline.
    mapper::Task task;
    task.machine.clock_hz = 1e9;
    task.machine.mac_pj = 1.0;
    task.machine.pipeline_stages = 3;
    task.machine.levels = {level("DRAM", {store(kAll, 0, 2, 2, 100.0)}),
                           level("array", {}, {{"x", 4}}),
                           level("PE", {store(kAll, 16, 8, 8, 1.0)})};
    task.machine.levels[0].channels = {link(2.0)};
    task.problem.bounds = {1, 1, 64, 64, 1, 1, 1, 1};
    task.objective = mapper::Objective::latency();
    const auto found = mapper::search(task);
    REQUIRE(found);
    CHECK(found->certificate.proved);
    CHECK(found->latency.total_cycles() >= 4224.0 + 1024.0 + 3.0);

    mapper::SearchOptions few; // the bound of the first nodes alone
    few.max_nodes = 1;
    const auto cut = mapper::search(task, few);
    REQUIRE(cut);
    CHECK(cut->certificate.lower_bound <= found->certificate.value * (1 + 1e-9));
}

} // namespace test_mapper_stalls
