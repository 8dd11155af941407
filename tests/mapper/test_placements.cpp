#include "mapper/search.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_mapper_placements {

// Under Timeloop's counting units pass input windows on to the units beside them, so that it
// matters which trips in space lie on which axis, and in which order.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

// Four levels; 13 units in a row.
Accelerator rows_of_units() {
    Accelerator a;
    a.clock_hz = 200e6;
    a.mac_pj = 1.0;
    a.levels = {level("DRAM", {store(kAll, 0, 4, 4, 200.0)}),
                level("GLB", {store(kAll, 775, 16, 16, 17.0)}, {{"x", 13}, {"y", 6}}),
                level("Spad", {store({Operand::input, Operand::weight}, 54, 2, 2, 1.0)}),
                level("Registers", {store({Operand::output}, 13, 2, 2, 1.0)})};
    return a;
}

mapper::Task by_timeloop(Problem problem, Accelerator machine) {
    mapper::Task task;
    task.problem = std::move(problem);
    task.machine = std::move(machine);
    task.counting = Counting::timeloop;
    task.objective = mapper::Objective::energy();
    return task;
}

double energy_of(const mapper::Task& task, const Mapping& mapping) {
    const auto cost = cost_of(task.problem, task.machine, mapping, task.counting);
    return cost ? cost->energy_pj : std::numeric_limits<double>::infinity();
}

// The energies of a mapping with one level in space, in every order and on every axis; those that
// do not fit left out.
std::vector<double> energies_of_placements(const mapper::Task& task, Mapping mapping) {
    std::vector<double> energies;
    const auto less = [](const SpatialLoop& a, const SpatialLoop& b) { return a.dim < b.dim; };
    for (LevelMapping& level : mapping.levels) {
        auto& loops = level.spatial;
        std::sort(loops.begin(), loops.end(), less);
        do {
            for (unsigned axes = 0; axes < 1U << loops.size() && !loops.empty(); ++axes) {
                for (std::size_t n = 0; n < loops.size(); ++n) {
                    loops[n].axis = static_cast<std::uint8_t>(axes >> n & 1U);
                }
                if (const double pj = energy_of(task, mapping); std::isfinite(pj)) {
                    energies.push_back(pj);
                }
            }
        } while (std::next_permutation(loops.begin(), loops.end(), less));
    }
    return energies;
}

// Windows along both sides, on one or two axes.
mapper::Task task_of_windows(Random& r) {
    Problem problem;
    for (const Dim d : {Dim::P, Dim::R, r.chance(70) ? Dim::S : Dim::K}) {
        problem.bounds[index(d)] = r.between(2, 3);
    }
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    a.levels = {level("Far", {store(kAll, 0, 4, 4, 100)}),
                level("Near", {store(kAll, r.between(6, 30), 4, 4, 10)}, {{"x", r.between(2, 8)}}),
                level("Unit", {store(kAll, r.between(3, 12), 4, 4, 1)})};
    if (r.chance(50)) {
        a.levels[1].fanout.push_back({"y", r.between(2, 3)});
    }
    for (Level& level : a.levels) {
        level.stores.front().may_bypass = false;
    }
    mapper::Task task = by_timeloop(problem, a);
    task.objective = r.chance(50) ? mapper::Objective::energy() : mapper::Objective::edp();
    return task;
}

} // namespace

TEST_CASE("a proof under Timeloop's counting holds for every axis that a dimension may lie on") {
    // R S P Q C K N
    const mapper::Task task = by_timeloop(conv("windows", {2, 5, 3, 11, 6, 4, 1}), rows_of_units());
    const auto found = mapper::search(task);
    REQUIRE(found);
    REQUIRE(found->certificate.proved);
    CAPTURE(to_text(found->mapping, task.machine));
    const auto energies = energies_of_placements(task, found->mapping);
    const auto [least, most] = std::minmax_element(energies.begin(), energies.end());
    // C6 R2 on x pass inputs on as P advances; elsewhere they do not.
    CHECK(*least == near(185376.0, 1e-12));
    CHECK(*most == near(221196.0, 1e-12));
    CHECK(found->certificate.value == near(*least, 1e-12));
}

TEST_CASE("no rule about axes makes a mapping cheaper than what was proved without one") {
    mapper::Task task = by_timeloop(conv("windows", {2, 5, 3, 11, 6, 4, 1}), rows_of_units());
    const auto free = mapper::search(task);
    REQUIRE(free);
    REQUIRE(free->certificate.proved);
    task.constraints.levels.resize(task.machine.levels.size());
    const DimSet windows = {Dim::P, Dim::Q, Dim::R, Dim::S};
    const DimSet channels = {Dim::K, Dim::C};
    const DimSet taps = {Dim::R, Dim::S, Dim::C};
    for (const auto& [x, y] : {std::pair(windows, channels), std::pair(channels, windows),
                               std::pair(taps, windows), std::pair(windows, taps)}) {
        task.constraints.levels[1].axis_dims = {x, y};
        const auto ruled = mapper::search(task);
        REQUIRE(ruled);
        CHECK(free->certificate.value <= ruled->certificate.value * (1 + 1e-12));
    }
}

TEST_CASE("a proof under Timeloop's counting holds for every order of the trips on an axis") {
    Random r(7);
    int differ = 0;
    for (int n = 0; n < 400; ++n) {
        const mapper::Task task = task_of_windows(r);
        Enumerator every(task, {}, 20000);
        const double best = every.run();
        REQUIRE_FALSE(every.too_many());
        CAPTURE(n);
        const auto found = mapper::search(task);
        REQUIRE(found);
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
        const auto energies = energies_of_placements(task, found->mapping);
        differ += !energies.empty() && *std::min_element(energies.begin(), energies.end()) <
                                           *std::max_element(energies.begin(), energies.end());
    }
    CHECK(differ > 20);
}

TEST_CASE("more placements than are looked at leave no proof, and the note says so") {
    // Seven dimensions on seven axes can be placed in 7! = 5,040 ways; 4,096 are looked at.
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    a.levels = {level("Far", {store(kAll, 0, 4, 4, 100)}),
                level("Unit", {store(kAll, 8, 4, 4, 1)})};
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
        a.levels[0].fanout.push_back({name, 2});
    }
    mapper::Task task = by_timeloop(conv("seven", {2, 2, 4, 2, 2, 2, 2}), a);
    task.constraints.levels.resize(2);
    for (const Dim d : {Dim::R, Dim::S, Dim::P, Dim::Q, Dim::C, Dim::K, Dim::N}) {
        task.constraints.levels[0].spatial[index(d)] = 2;
    }
    task.constraints.levels[0].temporal[index(Dim::P)] = 2;
    const auto found = mapper::search(task);
    REQUIRE(found);
    CHECK_FALSE(found->certificate.proved);
    CHECK(found->certificate.note.find("axes") != std::string::npos);
    CHECK(found->certificate.lower_bound < found->certificate.value);
    // Without a window that moves in time nothing is passed on, and every placement costs as much.
    task.problem.bounds[index(Dim::P)] = 2;
    task.constraints.levels[0].temporal[index(Dim::P)] = 1;
    const auto still = mapper::search(task);
    REQUIRE(still);
    CHECK(still->certificate.proved);
}

} // namespace test_mapper_placements
