// Distributions of non-zeros in tiles: against closed forms, and against sampling.
#include "model/sparse/nonzeros.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace test_model_sparse_nonzeros {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::model::sparse::NonZeros;
using eyeroof::tests::near;

TEST_CASE("a tile of a tensor with few words is empty less often than one of independent words") {
    // C(48, 4) / C(64, 4) = 0.30624 against 0.75^4 = 0.31641; and so on.
    CHECK(NonZeros::uniform(64, 16, 4).empty() == near(0.30624, 1e-4));
    CHECK(NonZeros::independent(4, 0.25).empty() == near(0.31641, 1e-4));
    CHECK(NonZeros::uniform(64, 32, 4).empty() == near(0.05660, 1e-4));
    CHECK(NonZeros::independent(4, 0.5).empty() == near(0.06250, 1e-4));
    CHECK(NonZeros::uniform(256, 90, 9).empty() == near(0.01874, 1e-3));
    CHECK(NonZeros::uniform(4096, 205, 8).empty() == near(0.66291, 1e-4));
    CHECK(NonZeros::independent(8, 0.05).empty() == near(0.66342, 1e-4));
}

TEST_CASE("four lanes take ceil(X / 4) steps for a vector of X non-zeros") {
    const auto steps = [](Count n, double d) {
        return NonZeros::independent(n, d).steps(4).mean();
    };
    CHECK(steps(8, 0.3) == near(1.0003, 1e-4));
    CHECK(steps(8, 0.5) == near(1.3594, 1e-4));
    CHECK(steps(16, 0.3) == near(1.5725, 1e-4));
    CHECK(steps(36, 0.35) == near(3.5250, 1e-4));
    CHECK(steps(72, 0.35) == near(6.6750, 1e-4));
    CHECK(steps(64, 0.4) == near(6.7750, 1e-4));
    CHECK(steps(9, 0.4) == near(1.2568, 1e-4));
    CHECK(steps(1, 0.4) == near(0.4, 1e-12));
}

TEST_CASE("structured sparsity has no spread over whole groups") {
    const NonZeros tile = NonZeros::structured(4, 2, 16);
    CHECK(tile.mean() == 8.0);
    CHECK(tile.variance() == 0.0);
    CHECK(tile.slowest(1000) == 8.0);
    // Two words of a group of four with two kept: 0, 1 or 2 with 1/6, 4/6, 1/6.
    const NonZeros part = NonZeros::structured(4, 2, 6);
    CHECK(part.least() == 2);
    CHECK(part.at(2) == near(1.0 / 6.0, 1e-9));
    CHECK(part.at(3) == near(4.0 / 6.0, 1e-9));
}

TEST_CASE("a density of 0 or 1 leaves nothing to chance") {
    CHECK(NonZeros::independent(100, 1.0).slowest(64) == 100.0);
    CHECK(NonZeros::independent(100, 0.0).mean() == 0.0);
    CHECK(NonZeros::uniform(100, 100, 10).mean() == 10.0);
    CHECK(NonZeros::uniform(100, 30, 100).mean() == 30.0);
    CHECK(NonZeros::independent(0, 0.5).mean() == 0.0);
}

TEST_CASE("what was counted keeps its shares and its quantiles") {
    const NonZeros tiles = NonZeros::counted({1.0, 0.0, 3.0}); // one empty, three with two
    CHECK(tiles.mean() == near(1.5, 1e-12));
    CHECK(tiles.quantile(0.25) == 0);
    CHECK(tiles.quantile(0.26) == 2);
    CHECK(tiles.slowest(2) == near(2.0 - 2.0 / 16.0, 1e-12));
}

TEST_CASE("sums of tiles add means and variances, short ones exactly") {
    const NonZeros one = NonZeros::independent(3, 0.4);
    const NonZeros six = NonZeros::independent(6, 0.4);
    for (Count k = 0; k <= 6; ++k) {
        CHECK(one.sum_of(2).at(k) == near(six.at(k), 1e-9));
    }
    const NonZeros many = one.sum_of(100000);
    CHECK(many.mean() == near(120000.0, 1e-6));
    CHECK(many.variance() == near(72000.0, 1e-3));
}

TEST_CASE("the slowest of two normals is 1 / sqrt(pi) above the mean") {
    CHECK(sparse::slowest_of_normals(1) == 0.0);
    CHECK(sparse::slowest_of_normals(2) == near(0.5641896, 1e-5));
    CHECK(sparse::slowest_of_normals(64) ==
          near(2.3435, 1e-3)); // tables of normal order statistics
}

} // namespace test_model_sparse_nonzeros
