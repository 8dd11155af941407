#include "mapper/search.hpp"
#include "tests/mapper/annealer.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace test_mapper_annealed {

// Proofs against simulated annealing on tasks that are too large to enumerate.
// EYEROOF_ANNEALED_CASES asks for more of them.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

Accelerator machine_of(Random& r) {
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    a.pipeline_stages = static_cast<int>(r.between(1, 4));
    Level outer = level("DRAM", {store(kAll, 0, 4, 4, 200.0)});
    Level buffer =
        level("buffer", {store(kAll, 256 << r.upto(5), 16, 16, 6.0)}, {{"x", 4}, {"y", 4}});
    Level unit = level("PE", {store(kAll, r.between(8, 64), 8, 8, 1.0)});
    buffer.stores[0].buffers = r.chance(40) ? 2 : 1;
    unit.stores[0].buffers = r.chance(40) ? 2 : 1;
    for (Level* l : {&outer, &buffer}) {
        Channel c;
        c.name = "net";
        c.operands = kAll;
        c.reduces = r.chance(70);
        c.half_duplex = r.chance(40);
        c.down_bytes_per_cycle = 2.0 + static_cast<double>(r.upto(14));
        c.up_bytes_per_cycle = c.down_bytes_per_cycle;
        l->channels = {c};
    }
    a.levels = {outer, buffer, unit};
    return a;
}

Problem problem_of(Random& r) {
    constexpr std::array<Count, 6> kSizes = {4, 6, 8, 12, 16, 24};
    Problem p;
    for (const Dim d : {Dim::K, Dim::C, Dim::P, Dim::Q}) {
        p.bounds[index(d)] = kSizes[static_cast<std::size_t>(r.upto(6))];
    }
    if (r.chance(50)) {
        p.bounds[index(Dim::R)] = 3;
        p.bounds[index(Dim::S)] = 3;
    }
    return p;
}

} // namespace

TEST_CASE("annealing beats no proof on convolutions that are too large to enumerate") {
    Random r(41);
    const char* asked = std::getenv("EYEROOF_ANNEALED_CASES");
    const int cases = asked == nullptr ? 12 : std::atoi(asked);
    int proved = 0;
    for (int n = 0; n < cases; ++n) {
        mapper::Task task;
        task.machine = machine_of(r);
        task.problem = problem_of(r);
        task.objective = std::array{mapper::Objective::latency(), mapper::Objective::energy(),
                                    mapper::Objective::edp()}[static_cast<std::size_t>(r.upto(3))];
        mapper::SearchOptions options;
        options.max_nodes = 400000;
        const auto found = mapper::search(task, options);
        Annealer annealer(task, static_cast<unsigned>(100 + n));
        const double annealed = annealer.run(6000);
        CAPTURE(n);
        CAPTURE(task.objective.name());
        CAPTURE(to_text(annealer.best_mapping, task.machine));
        CAPTURE(annealed);
        CAPTURE(found.ok() ? std::string() : found.diagnostics().begin()->message);
        REQUIRE(found);
        CAPTURE(to_text(found->mapping, task.machine));
        proved += found->certificate.proved ? 1 : 0;
        CHECK(annealed >= found->certificate.lower_bound * (1 - 1e-9));
        CHECK((!found->certificate.proved || annealed >= found->certificate.value * (1 - 1e-9)));
    }
    MESSAGE("proved: " << proved << " of " << cases);
    CHECK(proved > 0);
}

} // namespace test_mapper_annealed
