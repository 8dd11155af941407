// Boosted trees: that they learn, and the same each time.
#include "analysis/trials/rng.hpp"
#include "analysis/tune/trees.hpp"
#include "tests/near.hpp"
#include "tests/tune/rank_correlation.hpp"

#include <doctest/doctest.h>

namespace test_tune_trees {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using eyeroof::tests::near;
using eyeroof::tests::rank_correlation;

namespace {

// Two of three features matter: y = x0 * x1.
TrainingSet products(std::size_t rows, std::uint64_t seed) {
    TrainingSet training_set;
    training_set.table.columns = 3;
    Rng rng(seed);
    for (std::size_t n = 0; n < rows; ++n) {
        const float a = static_cast<float>(rng.unit());
        const float b = static_cast<float>(rng.unit());
        training_set.table.values.insert(training_set.table.values.end(),
                                         {a, b, static_cast<float>(rng.unit())});
        training_set.targets.push_back(a * b);
    }
    return training_set;
}

double learned_order(const TreeOptions& options, std::size_t rows) {
    const TrainingSet training_set = products(rows, 1);
    const TrainingSet held = products(500, 2);
    const auto trees = fit_trees(training_set, options);
    const auto found = trees->predict(held.table);
    return rank_correlation({found.begin(), found.end()},
                            {held.targets.begin(), held.targets.end()});
}

} // namespace

TEST_CASE("rank correlation by hand, with a tie") {
    CHECK(rank_correlation({1, 2, 3}, {10, 20, 30}) == near(1.0));
    CHECK(rank_correlation({1, 2, 3}, {30, 20, 10}) == near(-1.0));
    // ranks 0, 1.5, 1.5 against 0, 1, 2: covariance 1.5, variances 1.5 and 2
    CHECK(rank_correlation({1, 2, 2}, {1, 2, 3}) == near(1.5 / std::sqrt(3.0)));
    CHECK(rank_correlation({1, 1}, {1, 2}) == 0.0);
}

TEST_CASE("one split of one tree is the one with the greatest gain, worked by hand") {
    // targets 0 0 1 1 by x: gradients of 0 are 0 0 -1 -1; left 0, right 2 / (2 + 1), eta 1
    TrainingSet training_set;
    training_set.table = {1, {1.0F, 2.0F, 3.0F, 4.0F}};
    training_set.targets = {0.0F, 0.0F, 1.0F, 1.0F};
    TreeOptions options;
    options.rounds = 1;
    options.depth = 1;
    options.eta = 1.0;
    const auto found = fit_trees(training_set, options)->predict(training_set.table);
    CHECK(found[0] == near(0.0F));
    CHECK(found[1] == near(0.0F));
    CHECK(found[2] == near(2.0 / 3.0, 1e-6));
    CHECK(found[3] == near(2.0 / 3.0, 1e-6));
}

TEST_CASE("trees learn an order from 128 rows with both losses, the same each time") {
    for (const Loss loss : {Loss::regression, Loss::rank}) {
        TreeOptions options;
        options.loss = loss;
        const double found = learned_order(options, 128);
        CHECK_MESSAGE(found > 0.9, loss_name(loss));
        CHECK(learned_order(options, 128) == found);
    }
}

TEST_CASE("margins are what is known before: trees learn the rest alone") {
    TrainingSet training_set = products(200, 3);
    training_set.margins = training_set.targets; // all is known
    for (const float rest : fit_trees(training_set, TreeOptions{})->predict(training_set.table)) {
        CHECK(std::abs(rest) < 1e-6F);
    }
}

} // namespace test_tune_trees
