// Strategies on computed targets: what they propose, and how soon they find what is best.
#include "analysis/tune/model_target.hpp"
#include "analysis/tune/search.hpp"
#include "tests/near.hpp"
#include "tests/tune/workloads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace test_tune_strategies {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::near;
using eyeroof::tests::product;
namespace model = eyeroof::model;

namespace {

CpuMachine wide_machine() {
    CpuMachine machine;
    machine.lanes = 16;
    machine.registers = 32;
    return machine;
}

std::vector<Trial> searched(const Workload& work, const StrategyOptions& strategy,
                            std::size_t trials, double noise = 0.05) {
    const SearchTask search_task = cpu_task(work, wide_machine());
    const auto target =
        synthetic_target(work, wide_machine(), search_task, 11, {noise, strategy.seed});
    SearchPlan plan;
    plan.strategy = strategy;
    plan.trials = trials;
    return run_search(search_task, *target, plan).trials;
}

StrategyOptions options_of(StrategyKind kind, std::uint64_t seed) {
    StrategyOptions options;
    options.kind = kind;
    options.seed = seed;
    return options;
}

double median_best(StrategyKind kind, std::size_t trials, unsigned features = kAllFeatures) {
    std::vector<double> best;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        StrategyOptions options = options_of(kind, seed);
        options.features = features;
        best.push_back(best_cost(searched(product(512, 512, 512), options, trials)));
    }
    std::nth_element(best.begin(), best.begin() + 2, best.end());
    return best[2];
}

// Falls with the distance from a point of a space of 10^5.
class Bowl final : public Target {
  public:
    explicit Bowl(const Space& space) : space_(space) {}
    Outcome measure(const Point& point) override {
        double sum = 1.0;
        for (std::size_t k = 0; k < space_.knobs().size(); ++k) {
            sum += std::abs(static_cast<double>(space_.value(point, k)) - 7.0);
        }
        return {sum, {sum}};
    }

  private:
    const Space& space_;
};

SearchTask bowl_task() {
    SearchTask search_task;
    search_task.name = "bowl";
    std::vector<Knob> knobs;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        knobs.push_back({name, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
    }
    search_task.space = Space(knobs, {});
    const auto space = std::make_shared<const Space>(search_task.space);
    search_task.features = [space](const Point& point, unsigned, std::vector<float>& out) {
        for (std::size_t k = 0; k < 5; ++k) {
            out.push_back(static_cast<float>(space->value(point, k)));
        }
    };
    search_task.predicted = [](const Point&) { return 1.0; };
    return search_task;
}

} // namespace

TEST_CASE("the weight of transfer is 1, halves with 64 measurements, and is dropped at 277") {
    CHECK(transfer_weight(0) == near(1.0));
    CHECK(transfer_weight(64) == near(0.5));
    CHECK(transfer_weight(276) > 0.05);
    CHECK(transfer_weight(277) == 0.0);
}

TEST_CASE("every strategy proposes valid points, none twice, the same for the same seed") {
    for (const std::string& name : strategy_names()) {
        const auto options = options_of(*strategy_from_name(name), 3);
        const auto trials = searched(product(96, 200, 33), options, 70);
        const SearchTask search_task = cpu_task(product(96, 200, 33), wide_machine());
        std::set<Count> seen;
        for (const Trial& trial : trials) {
            CHECK_MESSAGE(search_task.space.valid(trial.point), name);
            CHECK_MESSAGE(seen.insert(search_task.space.index_of(trial.point)).second, name);
        }
        CHECK_MESSAGE(trials.size() == 70, name);
        const auto again = searched(product(96, 200, 33), options, 70);
        for (std::size_t n = 0; n < trials.size(); ++n) {
            CHECK_MESSAGE(again[n].point == trials[n].point, name);
        }
    }
}

TEST_CASE("strategies that begin at random begin with the same points") {
    const auto random = searched(product(96, 200, 33), options_of(StrategyKind::random, 5), 16);
    for (const StrategyKind kind :
         {StrategyKind::genetic, StrategyKind::anneal, StrategyKind::learned}) {
        const auto other = searched(product(96, 200, 33), options_of(kind, 5), 16);
        for (std::size_t n = 0; n < random.size(); ++n) {
            CHECK(other[n].point == random[n].point);
        }
    }
}

TEST_CASE("a small space is exhausted, not asked for ever") {
    SearchTask search_task = bowl_task();
    search_task.space = Space({{"a", {6, 7, 8}}, {"b", {7}}}, {});
    search_task.features = [](const Point& point, unsigned, std::vector<float>& out) {
        out.push_back(static_cast<float>(point.digit[0]));
    };
    Bowl bowl(search_task.space);
    for (const std::string& name : strategy_names()) {
        SearchPlan plan;
        plan.strategy = options_of(*strategy_from_name(name), 1);
        const SearchEnd end = run_search(search_task, bowl, plan);
        CHECK_MESSAGE(end.exhausted, name);
        CHECK_MESSAGE(end.trials.size() == 3, name);
        CHECK(best_cost(end.trials) == near(1.0));
    }
}

TEST_CASE("the learned search finds the bottom of a known function among 10^5 points") {
    const SearchTask search_task = bowl_task();
    Bowl bowl(search_task.space);
    SearchPlan plan;
    plan.trials = 256;
    plan.strategy.kind = StrategyKind::learned;
    plan.strategy.seed = 1;
    CHECK(best_cost(run_search(search_task, bowl, plan).trials) == near(1.0));
}

TEST_CASE("a failed candidate costs one trial and the search goes on") {
    class Half final : public Target {
      public:
        Outcome measure(const Point& point) override {
            if (point.digit[0] % 2 == 0) {
                return {kNoCost, {}, "crash", "SIGSEGV"};
            }
            return {1.0 + point.digit[1], {}};
        }
    };
    const SearchTask search_task = bowl_task();
    Half half;
    SearchPlan plan;
    plan.trials = 64;
    const auto trials = run_search(search_task, half, plan).trials;
    CHECK(trials.size() == 64);
    const auto failed = std::count_if(trials.begin() + 32, trials.end(),
                                      [](const Trial& t) { return !t.outcome.ok(); });
    CHECK(failed < 12); // of 32: it has learned which those are
}

TEST_CASE("on the synthetic target the learned search is ahead of random and genetic ones") {
    const double random = median_best(StrategyKind::random, 96);
    const double genetic = median_best(StrategyKind::genetic, 96);
    const double learned = median_best(StrategyKind::learned, 96);
    CHECK(learned < random);
    CHECK(learned < genetic);
}

TEST_CASE("a synthetic target's noise belongs to the point, whatever was measured before") {
    const Workload work = product(64, 64, 64);
    const SearchTask search_task = cpu_task(work, wide_machine());
    Rng rng(1);
    const Point a = *search_task.space.draw(rng);
    const Point b = *search_task.space.draw(rng);
    const auto one = synthetic_target(work, wide_machine(), search_task, 1, {0.05, 9});
    const auto two = synthetic_target(work, wide_machine(), search_task, 1, {0.05, 9});
    const double first = one->measure(a).cost;
    (void)two->measure(b);
    CHECK(two->measure(a).cost == first);
}

TEST_CASE(
    "the default strategy is the best of its table on synthetic targets that no one has seen") {
    StrategyOptions usual = options_of(StrategyKind::learned, 1); // what `tune` takes
    usual.prior = true;
    const std::vector<Workload> layers = {tests::convolution(1, 64, 28, 28, 64, 3, 1, 1),
                                          tests::convolution(1, 128, 14, 14, 256, 1, 2, 0),
                                          product(196, 256, 512), product(64, 1000, 512)};
    // Costs of the best after so many trials, of all layers and synthetic targets, as a geometric
    // mean.
    const auto after = [&](const StrategyOptions& strategy, std::size_t trials) {
        double sum = 0.0;
        for (const Workload& work : layers) {
            for (std::uint64_t machine = 21; machine < 24; ++machine) {
                const SearchTask search_task = cpu_task(work, wide_machine());
                const auto target =
                    synthetic_target(work, wide_machine(), search_task, machine, {0.0, machine});
                SearchPlan plan;
                plan.strategy = strategy;
                plan.strategy.seed = machine;
                plan.trials = trials;
                sum += std::log(best_cost(run_search(search_task, *target, plan).trials));
            }
        }
        return sum / static_cast<double>(3 * layers.size());
    };
    for (const std::size_t trials : {std::size_t{16}, std::size_t{48}}) {
        const double best = after(usual, trials);
        for (const StrategyKind kind :
             {StrategyKind::random, StrategyKind::grid, StrategyKind::genetic, StrategyKind::anneal,
              StrategyKind::analytic}) {
            CAPTURE(strategy_name(kind));
            CHECK(best <= after(options_of(kind, 1), trials) + 0.01);
        }
        StrategyOptions whole = usual;
        whole.prior = false;
        CHECK(best <= after(whole, trials) + 0.01);
    }
}

} // namespace test_tune_strategies
