#include "mapper/search.hpp"
#include "tests/mapper/enumerate.hpp"

#include <doctest/doctest.h>

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;

TEST_CASE("the exact search equals an enumeration of every mapping") {
    Random r(7);
    int compared = 0;
    long mappings = 0;
    for (int n = 0; compared < 500; ++n) {
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
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == doctest::Approx(best).epsilon(1e-9));
        CHECK(found->certificate.lower_bound <= best * (1 + 1e-9));
    }
    MESSAGE("mappings enumerated: " << mappings);
}
