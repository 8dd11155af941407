#include "mapper/evaluate.hpp"
#include "mapper/exact.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace test_mapper_evaluate {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

mapper::Task random_task(Random& r) {
    mapper::Task task;
    task.problem = tiny_problem(r);
    task.machine = tiny_machine(r);
    task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
    task.counting = r.chance(30) ? Counting::timeloop : Counting::eyeroof;
    return task;
}

// A leaf of each group, drawn at random.
std::array<std::uint32_t, mapper::kGroups> draw(Random& r, const mapper::Space& space) {
    std::array<std::uint32_t, mapper::kGroups> leaves{};
    for (std::size_t g = 0; g < mapper::kGroups; ++g) {
        const auto& nodes = space.groups[g].nodes;
        std::uint32_t n = 0;
        while (nodes[n].children > 0) {
            n = nodes[n].first_child + static_cast<std::uint32_t>(r.upto(nodes[n].children));
        }
        leaves[g] = n;
    }
    return leaves;
}

} // namespace

TEST_CASE("an evaluation in closed form is the counted cost of the mapping, or a bound of it") {
    Random r(31);
    int exact = 0;
    int bounds = 0;
    for (int n = 0; n < 300; ++n) {
        const mapper::Task task = random_task(r);
        const auto keeps = mapper::bypass_choices(task);
        const auto& some =
            keeps[static_cast<std::size_t>(r.upto(static_cast<Count>(keeps.size())))];
        const mapper::Space space = mapper::build_space(task, some, 1000);
        if (std::any_of(space.groups.begin(), space.groups.end(),
                        [](const mapper::Group& g) { return g.chains.empty(); })) {
            continue;
        }
        const mapper::Estimator estimator(space);
        const mapper::Evaluator evaluator(estimator);
        for (int draws = 0; draws < 12; ++draws) {
            const auto leaves = draw(r, space);
            mapper::Factors6 rows{};
            mapper::Leaf leaf{0, {}, {}};
            for (std::size_t g = 0; g < mapper::kGroups; ++g) {
                rows[g] = space.cost_factor(g, leaves[g]);
                leaf.chains[g] = space.groups[g].nodes[leaves[g]].chain;
            }
            // An order whose window that moves first has no trips stands for another one, which
            // costs less: only the least of all orders is the same.
            double energy = kNone;
            double real_energy = kNone;
            double product = kNone;
            double real_product = kNone;
            for (std::size_t c = 0; c < estimator.orders().combinations().size(); ++c) {
                const mapper::Estimate e = evaluator.evaluate(rows, c);
                energy = std::min(energy, e.energy_pj);
                product = std::min(product, e.energy_pj * e.cycles);
                leaf.orders = estimator.orders().combinations()[c];
                bool all_placed = true;
                if (const auto real = mapper::realise(task, space, leaf, all_placed)) {
                    real_energy = std::min(real_energy, real->cost.energy_pj);
                    real_product = std::min(real_product, real->certificate.value);
                }
            }
            CAPTURE(n);
            if (!std::isfinite(product)) {
                CHECK_FALSE(std::isfinite(real_product));
            } else if (std::isfinite(real_product)) {
                CHECK(product <= real_product * (1 + 1e-9));
                exact += estimator.exact() ? 1 : 0;
                bounds += estimator.exact() ? 0 : 1;
                if (estimator.exact()) {
                    CHECK(energy == near(real_energy, 1e-9));
                }
            }
        }
    }
    CHECK(exact > 500);
    CHECK(bounds > 500);
}

} // namespace test_mapper_evaluate
