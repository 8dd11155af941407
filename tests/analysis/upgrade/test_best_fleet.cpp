#include "analysis/upgrade/best_fleet.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>

namespace test_analysis_upgrade_best_fleet {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

analysis::FleetProblem random_problem(std::mt19937& random, std::size_t workloads,
                                      std::size_t types, double most_demand) {
    const auto real = [&](double low, double high) {
        return low + (high - low) * static_cast<double>(random() % 10007) / 10007.0;
    };
    analysis::FleetProblem p;
    for (std::size_t j = 0; j < types; ++j) {
        p.types.push_back({std::to_string(j), real(1.0, 9.0), real(0.2, 1.5)});
    }
    for (std::size_t i = 0; i < workloads; ++i) {
        p.demand.push_back(real(0.5, most_demand));
        p.rate.emplace_back();
        for (std::size_t j = 0; j < types; ++j) {
            p.rate.back().push_back(random() % 6 == 0 ? 0.0 : real(0.5, 4.0));
        }
    }
    return p;
}

// Every number of each type for each workload, up to what covers the demand alone.
class BruteForce {
  public:
    explicit BruteForce(const analysis::FleetProblem& problem) : p_(problem) {}

    std::optional<double> least_cost() {
        visit(0, 0, p_.demand.empty() ? 0.0 : p_.demand[0], 0.0, 0.0);
        return best_;
    }

  private:
    void visit(std::size_t i, std::size_t j, double left, double cost, double power) {
        if (cost > p_.budget.value_or(cost) || power > p_.power.value_or(power)) {
            return;
        }
        if (left <= 1e-9) {
            if (i + 1 == p_.demand.size()) {
                best_ = best_ ? std::min(*best_, cost) : cost;
            } else {
                visit(i + 1, 0, p_.demand[i + 1], cost, power);
            }
            return;
        }
        if (j == p_.types.size()) {
            return;
        }
        const double rate = p_.rate[i][j];
        const int most = rate > 0.0 ? static_cast<int>(std::ceil(left / rate - 1e-9)) : 0;
        for (int n = 0; n <= most; ++n) {
            visit(i, j + 1, left - n * rate, cost + n * p_.types[j].cost,
                  power + n * p_.types[j].power);
        }
    }

    const analysis::FleetProblem& p_;
    std::optional<double> best_;
};

} // namespace

TEST_CASE("the best fleet costs as little as trying every fleet of 300 small questions") {
    std::mt19937 random(7);
    int limited = 0;
    int impossible = 0;
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        auto p = random_problem(random, 1 + random() % 3, 1 + random() % 3, 6.0);
        const auto free = analysis::best_fleet(p);
        if (free && random() % 2 == 0) {
            p.power = free->power * (0.5 + 0.5 * static_cast<double>(random() % 100) / 100.0);
            ++limited;
        }
        if (free && random() % 4 == 0) {
            p.budget = free->cost * (0.9 + 0.4 * static_cast<double>(random() % 100) / 100.0);
        }
        const auto best = analysis::best_fleet(p);
        const auto tried = BruteForce(p).least_cost();
        REQUIRE(best.has_value() == tried.has_value());
        impossible += best ? 0 : 1;
        if (best) {
            CHECK(best->cost == near(*tried, 1e-9));
            CHECK(best->gap == 0.0);
        }
    }
    CHECK(limited > 50);
    CHECK(impossible > 5);
}

TEST_CASE("ten workloads on ten types of machine take seconds, with a proven gap") {
    std::mt19937 random(3);
    auto p = random_problem(random, 10, 10, 40.0);
    const auto free = analysis::best_fleet(p);
    REQUIRE(free);
    CHECK(free->gap == 0.0);
    p.power = 0.8 * free->power;
    const auto start = std::chrono::steady_clock::now();
    const auto best = analysis::best_fleet(p);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
    REQUIRE(best);
    CHECK(best->power <= *p.power);
    CHECK(best->cost >= free->cost);
    CHECK(best->gap < 0.05);
}

} // namespace test_analysis_upgrade_best_fleet
