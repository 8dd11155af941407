#include "mapper/achievable_bounds.hpp"
#include "model/eyexam/examine.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_mapper_achievable_bounds {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

// A dataflow that lets each axis, which it renames, carry some dimensions.
Dataflow random_dataflow(Random& r, Accelerator& machine) {
    Dataflow dataflow;
    for (Level& level : machine.levels) {
        for (Axis& axis : level.fanout) {
            axis.name = "axis " + std::to_string(dataflow.spatial.size());
            DimSet dims;
            for (const Dim d : kAllDims) {
                if (r.chance(60)) {
                    dims.insert(d);
                }
            }
            dataflow.spatial.push_back({axis.name, dims});
        }
    }
    return dataflow;
}

} // namespace

TEST_CASE("what the search reaches step by step is the machine's chain, or below its bounds") {
    Random r(41);
    int same = 0;
    int below = 0;
    int reached_some = 0; // the others have no mapping: stores too small for one word of each
    for (int n = 0; n < 250; ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = mapper::Factors::any;
        const bool ruled = r.chance(50);
        const Dataflow dataflow =
            ruled ? random_dataflow(r, task.machine) : unrestricted_dataflow(task.machine);
        task.constraints = mapper::constraints_of(task.machine, &dataflow);
        const auto reach = mapper::achievable_bounds(task);
        if (!reach) {
            CHECK(reach.diagnostics().begin()->code == "no-mapping");
            continue;
        }
        ++reached_some;
        CAPTURE(n);
        CHECK(reach->proved);
        const Chain chain = machine_chain(task.problem, task.machine, dataflow);
        const auto& reached = reach->macs_per_cycle;
        for (std::size_t step = 0; step < 6; ++step) {
            CAPTURE(step);
            const double bound = chain[step].macs_per_cycle;
            CHECK(reached[step] <= bound * (1 + 1e-9));
            CHECK((step == 0 || reached[step] <= reached[step - 1] * (1 + 1e-9)));
            if (step < 4) { // these bounds are tight: some mapping reaches them
                CHECK(reached[step] == near(bound, 1e-9));
            } else {
                const bool tight = reached[step] >= bound * (1 - 1e-9);
                same += tight ? 1 : 0;
                below += tight ? 0 : 1;
            }
        }
    }
    MESSAGE("storage and bandwidth: reached " << same << " times, " << below << " times not");
    CHECK(reached_some > 200);
    CHECK(same > below);
}

} // namespace test_mapper_achievable_bounds
