#include "mapper/frontier.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_mapper_frontier {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

mapper::Task small_task() {
    mapper::Task task;
    task.problem.bounds = {1, 1, 4, 2, 6, 1, 3, 1};
    task.machine.clock_hz = 1e9;
    task.machine.mac_pj = 1.0;
    task.machine.levels = {level("DRAM", {store(kAll, 0, 1, 1, 100.0)}),
                           level("buffer", {store(kAll, 40, 1, 1, 6.0)}, {{"x", 4}}),
                           level("PE", {store(kAll, 8, 4, 4, 1.0)})};
    return task;
}

} // namespace

namespace {

using Point = std::pair<double, double>; // energy, cycles

// What no other point is at least as good as.
std::vector<Point> front_of(std::vector<Point> all) {
    std::sort(all.begin(), all.end());
    std::vector<Point> front;
    for (const Point& p : all) {
        if (front.empty() || p.second < front.back().second * (1.0 - 1e-9)) {
            if (!front.empty() && p.first <= front.back().first * (1.0 + 1e-9)) {
                front.pop_back();
            }
            front.push_back(p);
        }
    }
    return front;
}

} // namespace

TEST_CASE("the front equals that of an enumeration of every mapping") {
    Random r(11);
    std::size_t points = 0;
    for (int compared = 0; compared < 60;) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
        std::vector<Point> all;
        Enumerator every(task, [&](const Mapping&, const MappingCost& cost, double cycles) {
            all.push_back({cost.energy_pj, cycles});
        });
        every.run();
        if (every.too_many() || all.empty()) {
            continue;
        }
        ++compared;
        const auto wanted = front_of(all);
        const auto front = mapper::pareto_front(task);
        REQUIRE(front);
        CHECK(front->complete);
        REQUIRE(front->points.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            CHECK(front->points[i].cost.energy_pj == near(wanted[i].first, 1e-9));
            CHECK(front->points[i].latency.total_cycles() == near(wanted[i].second, 1e-9));
        }
        points += wanted.size();
    }
    CHECK(points > 75); // not every front is a single point
}

TEST_CASE("the best weighted product lies on the front") {
    mapper::Task task = small_task();
    const auto front = mapper::pareto_front(task);
    REQUIRE(front);
    for (const mapper::Objective objective :
         {mapper::Objective::edp(), mapper::Objective{2.0, 1.0}, mapper::Objective{1.0, 3.0}}) {
        task.objective = objective;
        const auto best = mapper::search(task);
        REQUIRE(best);
        double least = 1e300;
        for (const auto& point : front->points) {
            least = std::min(least,
                             objective.value(point.cost.energy_pj, point.latency.total_cycles()));
        }
        CHECK(best->certificate.value == near(least, 1e-9));
    }
}

TEST_CASE("limits on energy and cycles hold, and are named where they cannot") {
    mapper::Task task = small_task();
    const auto front = mapper::pareto_front(task);
    REQUIRE(front);
    task.objective = mapper::Objective::energy();
    task.constraints.max_cycles = front->points.back().latency.total_cycles();
    const auto fast = mapper::search(task);
    REQUIRE(fast);
    CHECK(fast->cost.energy_pj == near(front->points.back().cost.energy_pj, 1e-9));
    task.constraints.max_cycles = 3.0;
    const auto never = mapper::search(task);
    REQUIRE_FALSE(never);
    CHECK(never.diagnostics().items().front().message.find("at most 3 cycles") !=
          std::string::npos);
}

TEST_CASE("a larger buffer never brings more traffic, and the largest only what is compulsory") {
    mapper::Task task = small_task();
    for (const auto factors : {mapper::Factors::perfect, mapper::Factors::any}) {
        task.factors = factors;
        const auto curve = mapper::capacity_curve(task);
        REQUIRE(curve);
        CHECK(curve->complete);
        REQUIRE(curve->points.size() >= 3);
        for (std::size_t i = 1; i < curve->points.size(); ++i) {
            CHECK(curve->points[i].capacity_bytes > curve->points[i - 1].capacity_bytes);
            CHECK(curve->points[i].traffic_bytes < curve->points[i - 1].traffic_bytes);
        }
        // 8 x 2 inputs, 4 x 2 x 3 weights, 4 x 6 outputs of two bytes
        CHECK(curve->compulsory_bytes == 2.0 * (16 + 24 + 24));
        CHECK(curve->points.back().traffic_bytes == curve->compulsory_bytes);
    }
}

TEST_CASE("complete results leave for the outermost memory in its words, not the accumulators'") {
    mapper::Task task = small_task();
    task.machine.levels[0].word_bits[index(Operand::output)] = 8;
    const auto curve = mapper::capacity_curve(task);
    REQUIRE(curve);
    CHECK(curve->compulsory_bytes == 2.0 * (16 + 24) + 24);
    CHECK(curve->points.back().traffic_bytes == curve->compulsory_bytes);
}

TEST_CASE(
    "a curve whose search is cut keeps the points that it has, and says that it is not whole") {
    mapper::CurveOptions options;
    options.search.max_nodes = 1; // a bound of whole mappings, never one of them
    const mapper::Task task = small_task();
    const auto whole = mapper::capacity_curve(task);
    REQUIRE(whole);
    for (std::uint64_t nodes = 1; nodes < 400; nodes = nodes * 3 / 2 + 1) {
        options.search.max_nodes = nodes;
        const auto cut = mapper::capacity_curve(task, options);
        if (cut && !cut->complete) {
            CHECK(!cut->points.empty());
            CHECK(cut->points.back().traffic_bytes >= whole->points.back().traffic_bytes);
        }
    }
}

} // namespace test_mapper_frontier
