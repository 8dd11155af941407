#include "tests/model/random_cases.hpp"
#include "tests/model/simulator.hpp"

#include <doctest/doctest.h>

namespace test_model_simulated {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

void compare(const Problem& p, const Accelerator& a, const Mapping& m) {
    const auto cost = cost_of(p, a, m);
    for (const Diagnostic& d : cost.diagnostics()) {
        INFO(to_string(d));
        CHECK(cost.ok());
    }
    REQUIRE(cost.ok());
    const SimulatedCost walked = simulate(p, a, m);
    CHECK(cost->macs == walked.macs);
    CHECK(cost->compute_steps == walked.compute_steps);
    for (std::size_t i = 0; i < a.levels.size(); ++i) {
        for (const Operand o : kAllOperands) {
            CAPTURE(i);
            CAPTURE(operand_name(o));
            CHECK(cost->levels[i].total[index(o)].reads == walked.levels[i][index(o)].reads);
            CHECK(cost->levels[i].total[index(o)].fills == walked.levels[i][index(o)].fills);
            CHECK(cost->levels[i].total[index(o)].updates == walked.levels[i][index(o)].updates);
            CHECK(cost->edges[i].down[index(o)] == walked.edges[i].down[index(o)]);
            CHECK(cost->edges[i].delivered[index(o)] == walked.edges[i].delivered[index(o)]);
            CHECK(cost->edges[i].up[index(o)] == walked.edges[i].up[index(o)]);
        }
    }
}

} // namespace

TEST_CASE("closed-form counts equal those of a walk over every iteration") {
    Random r(20260101);
    for (int n = 0; n < 600; ++n) {
        Problem p = random_problem(r, 600);
        const Accelerator a = random_machine(r, static_cast<std::size_t>(r.between(2, 4)));
        p.produced = kAllOperands[static_cast<std::size_t>(r.upto(3))];
        const Mapping m = random_mapping(r, p, a);
        CAPTURE(n);
        CAPTURE(to_text(m, a));
        CAPTURE(operand_name(p.produced));
        compare(p, a, m);
    }
}

} // namespace test_model_simulated
