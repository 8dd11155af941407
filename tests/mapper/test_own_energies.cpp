// Stores in which operands cost different energies: no choice of what is kept is left because of
// what another operand would cost there.
#include "mapper/bypass_queue.hpp"
#include "mapper/search.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_mapper_own_energies {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

// Up to three levels that all operands may pass by, with an energy for each, and a few units.
Accelerator machine_of(Random& r) {
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    const auto levels = static_cast<std::size_t>(r.between(2, 3));
    for (std::size_t i = 0; i < levels; ++i) {
        Level l = level("L" + std::to_string(i),
                        {store(kAll, i == 0 ? 0 : r.between(4, 40), 0, 0, i == 0 ? 100.0 : 30.0)});
        l.stores[0].read_bytes_per_cycle = 8.0;
        l.stores[0].write_bytes_per_cycle = 8.0;
        l.stores[0].may_bypass = i > 0;
        for (const Operand o : kAllOperands) {
            if (r.chance(60)) {
                l.stores[0].own_read_pj[index(o)] = static_cast<double>(r.between(0, 60));
                l.stores[0].own_write_pj[index(o)] = static_cast<double>(r.between(0, 60));
            }
        }
        if (r.chance(70)) {
            l.fanout.push_back({"x", r.between(2, 4)});
        }
        a.levels.push_back(l);
    }
    return a;
}

} // namespace

TEST_CASE("with an energy for each operand a search finds what an enumeration finds") {
    Random r(5);
    int compared = 0;
    for (int n = 0; n < 4000 && compared < 150; ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = machine_of(r);
        task.factors = r.chance(30) ? mapper::Factors::any : mapper::Factors::perfect;
        task.objective = r.chance(50) ? mapper::Objective::energy() : mapper::Objective::edp();
        if (validate(task.machine).has_errors()) {
            continue;
        }
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many() || best < 0) {
            continue;
        }
        ++compared;
        CAPTURE(n);
        const auto found = mapper::search(task);
        REQUIRE(found);
        CAPTURE(to_text(every.best_mapping, task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
    }
    CHECK(compared >= 100);
}

TEST_CASE("units that share one operand do not share the others: the lower bound of what is kept") {
    // 8 x 8 x 8 multiplications served by one store of 10 pJ to 64 units, nothing kept further in.
    // Every operand shared by all units would cost 3 * 64 words; together the three shares are 64
    // at most, so that each word goes to 4 units and 3 * 512 / 4 words are served.
    mapper::Task task;
    task.machine.clock_hz = 1e9;
    task.machine.levels = {level("L0", {store(kAll, 0, 1e9, 1e9, 10.0)}, {{"x", 64}})};
    task.problem.bounds = {1, 1, 8, 8, 8, 1, 1, 1};
    task.objective = mapper::Objective::energy();
    const mapper::BypassQueue queue(task);
    CHECK(queue.lower_bound() == near(10.0 * 3 * 512 / 4, 1e-6));
    const auto found = mapper::search(task);
    REQUIRE(found);
    CHECK(found->certificate.value >= queue.lower_bound());
}

} // namespace test_mapper_own_energies
