// Floors of the exact search: never above what any tiles cost, also when the look at them is cut
// off after one choice.
#include "mapper/lower_bounds.hpp"
#include "tests/mapper/enumerate.hpp"

#include <doctest/doctest.h>

namespace test_mapper_lower_bounds {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

using Leaves = std::array<std::vector<std::uint32_t>, mapper::kGroups>;

// Every leaf of each group's tree.
Leaves leaves_of(const mapper::Space& space) {
    Leaves leaves;
    for (std::size_t g = 0; g < mapper::kGroups; ++g) {
        for (std::uint32_t n = 0; n < space.groups[g].nodes.size(); ++n) {
            if (space.groups[g].nodes[n].children == 0) {
                leaves[g].push_back(n);
            }
        }
    }
    return leaves;
}

std::size_t combinations(const Leaves& leaves) {
    std::size_t all = 1;
    for (const auto& some : leaves) {
        all *= some.size();
    }
    return all;
}

// The least energy of the links into a level over all leaves whose tiles fit there.
double least_by_enumeration(const mapper::Space& space, mapper::Estimator& estimator,
                            const Leaves& leaves, std::size_t level) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<double> product(space.cost_factors, 1.0);
    for (std::size_t n = 0; n < combinations(leaves); ++n) {
        mapper::Factors6 rows{};
        std::size_t rest = n;
        for (std::size_t g = 0; g < mapper::kGroups; ++g) {
            rows[g] = space.cost_factor(g, leaves[g][rest % leaves[g].size()]);
            rest /= leaves[g].size();
        }
        estimator.products().multiply_tiles(rows, product.data());
        estimator.products().multiply_rest(rows, product.data());
        if (estimator.fits().at_level(product.data(), level)) {
            least = std::min(least, estimator.into_level_pj(product.data(), level));
        }
    }
    return least;
}

double lower_bound_of(const mapper::LowerBoundTables& tables, mapper::Estimator& estimator,
                      std::size_t level, std::uint64_t max_nodes) {
    mapper::LowerBoundCache memory; // of this limit alone
    mapper::LowerBoundFinder finder(tables, memory, estimator);
    return finder.has_lower_bound(level) ? finder.lower_bound(level, {}, max_nodes) : 0.0;
}

} // namespace

TEST_CASE("a lower bound is at or below every choice of tiles, cut off after one choice or not") {
    Random r(11);
    int compared = 0;
    int cut = 0;
    int tight = 0;
    for (int n = 0; n < 4000 && compared < 300; ++n) {
        mapper::Task task;
        task.problem = tiny_problem(r);
        task.machine = tiny_machine(r);
        task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
        const auto keeps = mapper::bypass_choices(task);
        const mapper::Space space = mapper::build_space(
            task, keeps[static_cast<std::size_t>(r.upto(static_cast<Count>(keeps.size())))], 1000);
        if (std::any_of(space.groups.begin(), space.groups.end(),
                        [](const mapper::Group& g) { return g.chains.empty(); })) {
            continue;
        }
        const Leaves leaves = leaves_of(space);
        if (combinations(leaves) > 3000) {
            continue;
        }
        mapper::Estimator estimator(space);
        estimator.restrict_to(estimator.orders().families().front());
        mapper::LowerBoundTables tables(space);
        REQUIRE(tables.fill({}));
        for (std::size_t level = 1; level < space.keeps.size(); ++level) {
            const double least = least_by_enumeration(space, estimator, leaves, level);
            const double whole = lower_bound_of(tables, estimator, level, 1'000'000);
            const double one = lower_bound_of(tables, estimator, level, 1);
            CAPTURE(n);
            CAPTURE(level);
            CHECK(whole <= least * (1 + 1e-12));
            CHECK(one <= whole * (1 + 1e-12));
            cut += one < whole * (1 - 1e-12) ? 1 : 0;
            tight += whole > 0.0 && whole >= least * (1 - 1e-12) ? 1 : 0;
            ++compared;
        }
    }
    CHECK(compared >= 300);
    CHECK(tight > 50); // it says something
    CHECK(cut > 10);   // and cutting off loses something
}

} // namespace test_mapper_lower_bounds
