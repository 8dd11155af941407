// The cases of step 7: tiles that arrive early and tiles that are waited for.
#include "mapper/prefetch.hpp"
#include "mapper/search.hpp"
#include "mapper/space.hpp"
#include "model/cost/arrival.hpp"
#include "tests/mapper/enumerate.hpp"

#include <doctest/doctest.h>

namespace test_mapper_prefetch {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

// A memory, a buffer of one tile each, and four units with a store.
mapper::Task buffered_task() {
    mapper::Task task;
    task.machine.clock_hz = 1e9;
    task.machine.mac_pj = 1.0;
    task.machine.levels = {level("DRAM", {store(kAll, 0, 4, 4, 100.0)}),
                           level("GLB", {store(kAll, 512, 8, 8, 6.0)}, {{"x", 4}}),
                           level("PE", {store(kAll, 64, 8, 8, 1.0)})};
    task.problem.bounds = {1, 1, 8, 8, 8, 1, 1, 1};
    task.objective = mapper::Objective::latency();
    return task;
}

// Case and splits of a mapping agree: what arrives early in a mapping is not cut on its way.
bool belongs(const mapper::Task& task, const Mapping& mapping,
             const mapper::PrefetchCase& prefetch) {
    std::vector<OperandSet> keeps;
    for (const LevelMapping& one : mapping.levels) {
        keeps.push_back(one.keeps);
    }
    for (std::size_t i = 1; i < keeps.size(); ++i) {
        for (const Operand o : kAllOperands) {
            const bool early = arrives_early(task.problem, task.machine, mapping, i - 1, o);
            if (keeps[i].contains(o) && (prefetch.early[i].contains(o) ? !early : false)) {
                return false;
            }
            if (keeps[i].contains(o) && prefetch.late[i].contains(o) && early) {
                return false;
            }
        }
    }
    for (const Dim d : kAllDims) {
        mapper::Split split;
        for (std::size_t i = 0; i < keeps.size(); ++i) {
            for (const TemporalLoop& loop : mapping.levels[i].temporal) {
                split.temporal[i] *= loop.dim == d ? loop.bound : 1;
            }
            for (const SpatialLoop& loop : mapping.levels[i].spatial) {
                split.spatial[i] *= loop.dim == d ? loop.bound : 1;
            }
        }
        if (!mapper::suits(task, keeps, prefetch, d, split)) {
            return false;
        }
    }
    return true;
}

} // namespace

TEST_CASE("every operand in a single buffer with stores further in arrives early or late") {
    mapper::Task task = buffered_task();
    const std::vector<OperandSet> all = {kAll, kAll, kAll};
    CHECK(mapper::prefetch_cases(task, all, 64).size() == 8);
    CHECK(mapper::prefetch_cases(task, all, 4).size() == 4); // the third operand is left open
    CHECK(mapper::prefetch_cases(task, all, 1).size() == 1);
    // What passes the buffer by, or has two tiles in it, is no question.
    const std::vector<OperandSet> past = {kAll, {Operand::weight}, kAll};
    CHECK(mapper::prefetch_cases(task, past, 64).size() == 2);
    task.machine.levels[1].stores[0].buffers = 2;
    CHECK(mapper::prefetch_cases(task, all, 64).size() == 1);
    task.machine.levels[1].stores[0].buffers = 1;
    task.objective = mapper::Objective::energy(); // no time, no wait
    CHECK(mapper::prefetch_cases(task, all, 64).size() == 1);
}

TEST_CASE("the best mapping of every random task belongs to one of its cases") {
    Random r(77);
    int compared = 0;
    int early = 0;
    for (int n = 0; n < 600 && compared < 150; ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
        task.objective = mapper::Objective::latency();
        Enumerator enumerator(task);
        enumerator.run();
        std::vector<OperandSet> keeps;
        for (const LevelMapping& one : enumerator.best_mapping.levels) {
            keeps.push_back(one.keeps);
        }
        if (keeps.empty()) {
            continue;
        }
        const auto cases = mapper::prefetch_cases(task, keeps, 64);
        if (cases.size() < 2) {
            continue;
        }
        ++compared;
        int homes = 0;
        for (const mapper::PrefetchCase& one : cases) {
            const bool here = belongs(task, enumerator.best_mapping, one);
            homes += here ? 1 : 0;
            for (const OperandSet& some : one.early) {
                early += here && !some.empty() ? 1 : 0;
            }
        }
        CAPTURE(n);
        CHECK(homes == 1);
    }
    CHECK(compared >= 50);
    CHECK(early > 5);
}

TEST_CASE("with early and late tiles apart a proof takes few nodes") {
    // 64 x 64 outputs of 16 inputs each, two bytes a word and one a cycle: outputs that wait for
    // the link cost 8,192 cycles on top of 16,384 of computing on four units; they need not, but a
    // bound for both cases is blind to that (93,000 nodes).
    mapper::Task task = buffered_task();
    Channel link;
    link.name = "link";
    link.operands = kAll;
    link.down_bytes_per_cycle = 1.0;
    link.half_duplex = true;
    task.machine.levels[0].channels = {link};
    task.machine.levels[2] = level("PE", {store(kAll, 16, 8, 8, 1.0)});
    task.problem.bounds = {1, 1, 64, 16, 64, 1, 1, 1};
    mapper::SearchOptions some;
    some.max_nodes = 40000;
    const auto found = mapper::search(task, some);
    REQUIRE(found);
    CHECK(found->certificate.proved);
}

} // namespace test_mapper_prefetch
