#include "mapper/search.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace test_mapper_exact {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

// How many random cases are compared: few in a usual run, as many as EYEROOF_RANDOM_CASES says in a
// whole one.
int cases(int usual) {
    const char* asked = std::getenv("EYEROOF_RANDOM_CASES");
    return asked == nullptr ? usual : std::max(usual, std::atoi(asked));
}

// Is case n left out, because EYEROOF_RANDOM_ONLY names another?
bool left_out(int n) {
    const char* only = std::getenv("EYEROOF_RANDOM_ONLY");
    return only != nullptr && std::atoi(only) != n;
}
bool past_only(int n) {
    const char* only = std::getenv("EYEROOF_RANDOM_ONLY");
    return only != nullptr && n > std::atoi(only);
}

} // namespace

TEST_CASE("the exact search equals an enumeration of every mapping") {
    Random r(7);
    int compared = 0;
    long mappings = 0;
    const int wanted = cases(500);
    for (int n = 0; compared < wanted && !past_only(n); ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
        task.counting = r.chance(15) ? Counting::timeloop : Counting::eyeroof;
        if (r.chance(15)) { // gradients
            task.counting = Counting::eyeroof;
            task.problem.produced =
                task.problem.has_weight && r.chance(50) ? Operand::weight : Operand::input;
        }
        task.objective = std::array{
            mapper::Objective::latency(), mapper::Objective::energy(), mapper::Objective::edp(),
            mapper::Objective{2.0, 1.0}}[static_cast<std::size_t>(r.upto(4))];
        if (left_out(n)) {
            continue;
        }
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many()) {
            continue;
        }
        mappings += every.mappings;
        CAPTURE(n);
        CAPTURE(every.mappings);
        CAPTURE(task.objective.name());
        CAPTURE(static_cast<int>(task.factors));
        CAPTURE(static_cast<int>(task.counting));
        CAPTURE(operand_name(task.problem.produced));
        const auto found = mapper::search(task);
        if (best < 0) {
            CHECK_FALSE(found.ok());
            continue;
        }
        ++compared;
        REQUIRE(found.ok());
        CAPTURE(to_text(found->mapping, task.machine));
        CAPTURE(to_text(every.best_mapping, task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
        CHECK(found->certificate.lower_bound <= best * (1 + 1e-9));
    }
    MESSAGE("mappings enumerated: " << mappings);
}

namespace {

// Compares searches of random tasks, changed as asked, with enumerations; how many were compared.
template <class Change> void compare_all(unsigned seed, int wanted, Change change) {
    Random r(seed);
    for (int n = 0, compared = 0; compared < wanted; ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
        task.objective = mapper::Objective::edp();
        change(r, task);
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many() || best < 0) {
            continue;
        }
        ++compared;
        CAPTURE(n);
        CAPTURE(task.objective.name());
        CAPTURE(static_cast<int>(task.factors));
        const auto found = mapper::search(task);
        REQUIRE(found);
        CAPTURE(to_text(found->mapping, task.machine));
        CAPTURE(to_text(every.best_mapping, task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
        for (const auto strategy : {mapper::Strategy::random, mapper::Strategy::random_pruned,
                                    mapper::Strategy::annealing, mapper::Strategy::genetic,
                                    mapper::Strategy::exhaustive}) {
            mapper::SearchOptions options;
            options.strategy = strategy;
            options.max_samples = 1500;
            const auto other = mapper::search(task, options);
            CAPTURE(mapper::strategy_name(strategy));
            CHECK((!other || other->certificate.value >= found->certificate.lower_bound));
        }
    }
}

} // namespace

TEST_CASE(
    "with tiles of any size the exact search equals an enumeration, and no baseline beats it") {
    compare_all(21, 120, [](Random& r, mapper::Task& task) {
        task.factors = mapper::Factors::any;
        for (Count& bound : task.problem.bounds) {
            bound += bound > 1 && r.chance(40) ? r.between(1, 3) : 0; // 5 and 7 do not divide well
        }
    });
}

TEST_CASE("with loops in a given order the exact search equals an enumeration") {
    compare_all(22, 120, [](Random& r, mapper::Task& task) {
        task.constraints = mapper::constraints_of(task.machine, nullptr);
        for (mapper::LevelConstraint& level : task.constraints.levels) {
            for (Count d = 0; d < 3 && r.chance(60); ++d) {
                const Dim dim = kAllDims[static_cast<std::size_t>(r.upto(8))];
                if (std::find(level.order.begin(), level.order.end(), dim) == level.order.end()) {
                    level.order.push_back(dim);
                }
            }
        }
    });
}

TEST_CASE(
    "for weighted products and stores that cost nothing the exact search equals an enumeration") {
    compare_all(23, 120, [](Random& r, mapper::Task& task) {
        task.objective = {0.5 * static_cast<double>(1 + r.upto(4)),
                          0.5 * static_cast<double>(1 + r.upto(4))};
        for (Level& level : task.machine.levels) {
            for (Store& store : level.stores) {
                store.read_pj = r.chance(30) ? 0.0 : store.read_pj;
                store.write_pj = r.chance(30) ? 0.0 : store.write_pj;
            }
        }
    });
}

TEST_CASE("with fan-outs above several homes of the sums the exact search equals an enumeration") {
    compare_all(24, 80, [](Random& r, mapper::Task& task) {
        Level middle = level("middle", {store(kAll, r.between(8, 30), 2, 2, 20.0)}, {{"m", 2}});
        task.machine.levels = {level("outer", {store(kAll, 0, 2, 2, 100.0)}, {{"o", 2}}), middle,
                               level("inner", {store(kAll, r.between(3, 12), 2, 2, 3.0)})};
        task.problem.bounds = {1, 1, 2, 1, 1, 1, 1, 1};
        task.problem.bounds[index(Dim::C)] = r.between(2, 8);
        task.objective = r.chance(50) ? mapper::Objective::energy() : mapper::Objective::edp();
    });
}

TEST_CASE("with levels that lack stores the exact search equals an enumeration") {
    compare_all(25, 120, [](Random& r, mapper::Task& task) {
        Level bare = level("network", {}, {{"n", r.between(1, 3)}});
        Channel c;
        c.name = "hops";
        c.operands = kAll;
        c.reduces = r.chance(50);
        c.hop_pj = 2.0;
        bare.channels = {c};
        task.machine.levels.insert(task.machine.levels.begin() + 1, bare);
        if (r.chance(50)) { // the innermost level keeps no inputs
            auto& stores = task.machine.levels.back().stores;
            for (Store& s : stores) {
                s.operands.erase(Operand::input);
            }
            std::erase_if(stores, [](const Store& s) { return s.operands.empty(); });
        }
    });
}

TEST_CASE("with activations kept between layers the exact search equals an enumeration") {
    int inside = 0;
    compare_all(26, 150, [&](Random& r, mapper::Task& task) {
        task.objective = r.chance(50) ? mapper::Objective::edp() : mapper::Objective::energy();
        const std::size_t levels = task.machine.levels.size();
        for (std::size_t i = 1; i < levels; ++i) {
            Level& level = task.machine.levels[i];
            level.keeps_between_layers = r.chance(70);
            for (Store& store : level.stores) { // room for whole tensors
                store.capacity_bytes = *store.capacity_bytes * r.between(1, 12);
            }
        }
        const auto homes = home_levels(task.problem, task.machine);
        inside += homes[index(Operand::input)] > 0 || homes[index(Operand::output)] > 0 ? 1 : 0;
    });
    CHECK(inside > 50);
}

TEST_CASE("with trips fixed or limited the exact search equals an enumeration") {
    int ruled = 0;
    compare_all(27, 150, [&](Random& r, mapper::Task& task) {
        task.constraints = mapper::constraints_of(task.machine, nullptr);
        for (mapper::LevelConstraint& level : task.constraints.levels) {
            for (const Dim d : kAllDims) {
                const Count bound = task.problem.bounds[index(d)];
                if (bound == 1 || r.chance(50)) {
                    continue;
                }
                ++ruled;
                if (r.chance(30)) {
                    level.temporal[index(d)] = r.chance(50) ? 1 : r.between(1, bound);
                } else if (r.chance(60)) {
                    level.temporal_range[index(d)].most = r.between(1, bound);
                } else if (r.chance(50)) {
                    level.spatial_range[index(d)].most = r.between(1, bound);
                } else {
                    level.spatial_range[index(d)].least = r.between(1, 2);
                }
            }
        }
    });
    CHECK(ruled > 300);
}

TEST_CASE("under Timeloop's counting the exact search equals an enumeration of all placements") {
    int placed = 0;
    compare_all(28, cases(60), [&](Random& r, mapper::Task& task) {
        task.counting = Counting::timeloop;
        task.objective = r.chance(50) ? mapper::Objective::energy() : mapper::Objective::edp();
        task.problem.bounds = {1, 1, 1, 1, 1, 1, 1, 1};
        task.problem.bounds[index(Dim::Q)] = r.between(2, 5);
        task.problem.bounds[index(Dim::S)] = r.between(2, 4);
        task.problem.bounds[index(r.chance(50) ? Dim::C : Dim::K)] = r.between(2, 3);
        task.problem.has_weight = true;
        task.problem.stride = {1, 1};
        task.problem.dilation = {1, 1};
        task.machine.levels.front().fanout = {{"x", r.between(2, 4)}, {"y", r.between(2, 4)}};
        placed += task.machine.levels.size() > 1 ? 1 : 0;
    });
    CHECK(placed > 0);
}

TEST_CASE("loops over groups may run innermost, so that no tile is waited for") {
    // G4 K3 N3 on two levels: with groups innermost everything streams.
    compare_all(29, cases(60), [](Random& r, mapper::Task& task) {
        task.problem.bounds = {1, 1, 1, 1, 1, 1, 1, 1};
        task.problem.bounds[index(Dim::G)] = r.between(2, 4);
        task.problem.bounds[index(r.chance(50) ? Dim::K : Dim::C)] = r.between(2, 4);
        task.problem.bounds[index(r.chance(50) ? Dim::N : Dim::Q)] = r.between(2, 3);
        task.objective = r.chance(50) ? mapper::Objective::latency() : mapper::Objective::edp();
        task.machine.pipeline_stages = static_cast<int>(r.between(1, 3));
    });
}

} // namespace test_mapper_exact
