// Energy that leaks makes time a part of it: the search weighs both, and proves what it finds.
#include "mapper/baselines.hpp"
#include "mapper/search.hpp"
#include "model/cost/leakage.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace test_mapper_leakage {

using namespace eyeroof; // NOLINT(google-build-using-namespace)
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

int number_of_cases(int usual) {
    const char* asked = std::getenv("EYEROOF_RANDOM_CASES");
    return asked == nullptr ? usual : std::max(usual, std::atoi(asked));
}

mapper::Task leaking_task(Random& r) {
    mapper::Task task;
    task.problem = tiny_problem(r);
    task.machine = tiny_machine(r);
    leak(r, task.machine);
    task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
    task.counting = r.chance(25) ? Counting::timeloop : Counting::eyeroof;
    task.time = r.chance(20) ? mapper::Time::overlapped : mapper::Time::reported;
    task.objective = std::array{mapper::Objective::energy(), mapper::Objective::edp(),
                                mapper::Objective{2.0, 1.0}}[static_cast<std::size_t>(r.upto(3))];
    return task;
}

} // namespace

TEST_CASE("with leakage the exact search equals an enumeration, and no baseline beats it") {
    Random r(41);
    const int wanted = number_of_cases(300);
    int dearer = 0; // where the mapping with the least switching energy is not the best
    for (int n = 0, compared = 0; compared < wanted; ++n) {
        const mapper::Task task = leaking_task(r);
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many() || best < 0) {
            continue;
        }
        ++compared;
        CAPTURE(n);
        CAPTURE(task.objective.name());
        CAPTURE(task.machine.gates_idle);
        CAPTURE(static_cast<int>(task.factors));
        CAPTURE(static_cast<int>(task.counting));
        const auto found = mapper::search(task);
        REQUIRE(found);
        CAPTURE(to_text(found->mapping, task.machine));
        CAPTURE(to_text(every.best_mapping, task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
        CHECK(found->certificate.lower_bound <= best * (1.0 + 1e-9));
        mapper::SearchOptions options;
        options.strategy = n % 2 == 0 ? mapper::Strategy::annealing : mapper::Strategy::exhaustive;
        options.max_samples = 1500;
        const auto other = mapper::search(task, options);
        CHECK((!other || other->certificate.value >= found->certificate.lower_bound));
        mapper::Task still = task;
        still.machine.mac_leak_pj = 0.0;
        for (Level& level : still.machine.levels) {
            for (Store& store : level.stores) {
                store.leak_pj = 0.0;
            }
        }
        const auto blind = mapper::search(still);
        REQUIRE(blind);
        dearer += blind->mapping == found->mapping ? 0 : 1;
    }
    CHECK(dearer > wanted / 20);
}

TEST_CASE("the energy of what is found is that of its accesses and of what leaks in its time") {
    Random r(42);
    int compared = 0;
    for (int n = 0; n < 400 && compared < 40; ++n) {
        mapper::Task task = leaking_task(r);
        task.objective = mapper::Objective::energy();
        Enumerator every(task);
        if (every.run() < 0 || every.too_many()) {
            continue;
        }
        const auto found = mapper::search(task);
        REQUIRE(found);
        ++compared;
        const MappingCost& cost = found->cost;
        CHECK(cost.leakage_pj ==
              near(leak_pj_per_cycle(task.machine, found->mapping) * found->latency.total_cycles(),
                   1e-12));
        const auto bare = cost_of(task.problem, task.machine, found->mapping, task.counting);
        REQUIRE(bare);
        CHECK(cost.energy_pj == near(bare->energy_pj + cost.leakage_pj, 1e-12));
    }
    CHECK(compared == 40);
}

} // namespace test_mapper_leakage
