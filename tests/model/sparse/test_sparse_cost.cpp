// Effectual work and the Cartesian-product machine: worked examples, sampling, published shares.
#include "model/sparse/cartesian.hpp"
#include "model/sparse/work.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace test_model_sparse_sparse_cost {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;
using namespace eyeroof::model::sparse;

namespace {

Layer conv(Count c, Count h, Count k, Count r, Count stride = 1, Count pad = 0) {
    Layer layer;
    layer.name = "conv";
    layer.op = Op::conv2d;
    ConvShape shape;
    shape.c = c;
    shape.h = shape.w = h;
    shape.k = k;
    shape.r = shape.s = r;
    shape.stride = {stride, stride};
    shape.pad = {pad, pad};
    layer.shape = shape;
    return layer;
}

Layer product(Count m, Count n, Count k) {
    Layer layer;
    layer.name = "fc";
    layer.op = Op::gemm;
    layer.shape = GemmShape{1, m, n, k};
    return layer;
}

// One row a value of the shared index, one column a value of the other.
using Mask = std::vector<std::vector<bool>>;

Mask random_mask(std::mt19937_64& random, std::size_t rows, std::size_t columns, double density) {
    std::bernoulli_distribution word(density);
    Mask mask(rows, std::vector<bool>(columns));
    for (auto& row : mask) {
        for (std::size_t i = 0; i < columns; ++i) {
            row[i] = word(random);
        }
    }
    return mask;
}

} // namespace

TEST_CASE(
    "1x1 layers of a sparse MobileNet have MACs x dI x dW effectual ones, to two in a million") {
    struct Row {
        Count m, c, plane;
        double input, weight;
        double expected;
    };
    const Row rows[] = {{64, 64, 1024, 0.73, 0.52, 1592158}, {128, 64, 256, 0.86, 0.82, 1478912},
                        {256, 128, 64, 0.83, 0.64, 1114008}, {256, 256, 64, 0.61, 0.55, 1407190},
                        {256, 256, 64, 0.64, 0.60, 1610614}, {256, 256, 64, 0.61, 0.70, 1790969},
                        {512, 256, 16, 0.68, 0.65, 926942},  {512, 512, 16, 0.58, 0.30, 729810}};
    for (const Row& row : rows) {
        const double macs = static_cast<double>(row.m * row.c * row.plane);
        // printed in whole cycles, rounded up level by level: at most two more
        const double left = row.expected - effectual_macs(macs, row.input, row.weight);
        CHECK(left >= 0.0);
        CHECK(left <= 2.0);
    }
}

TEST_CASE("a follower is skipped only where the whole tile of its leader is empty") {
    CHECK(followed_words(100.0, NonZeros::independent(1, 0.25)) == near(25.0, 1e-12));
    CHECK(followed_words(100.0, NonZeros::independent(4, 0.25)) ==
          near(100.0 * (1.0 - 0.31640625), 1e-9));
}

TEST_CASE("a dense layer whose vectors are full runs at the dense machine's time") {
    // 32 x 32 plane: 4 x 4 tiles on 8 x 8 PEs; 1 x 1 filters, 8 channels a group: two full vectors.
    const auto cost = cost_of(Cartesian{}, conv(64, 32, 64, 1), Densities{});
    REQUIRE(cost.ok());
    CHECK(cost->cycles() == near(64.0 * 64.0 * 1024.0 / 1024.0, 1e-9));
    CHECK(cost->dense_cycles == near(cost->cycles(), 1e-9));
}

TEST_CASE("one activation a channel leaves at most a quarter of the multipliers busy") {
    for (const double d : {0.2, 0.5, 1.0}) {
        const auto cost = cost_of(Cartesian{}, product(1, 4096, 4096), {d, d, 1.0});
        REQUIRE(cost.ok());
        CHECK(cost->effectual / (1024.0 * cost->cycles()) <= 0.25 + 1e-12);
    }
}

TEST_CASE("a plane of 7 x 7 leaves 15 of 64 PEs without a tile") {
    const auto cost = cost_of(Cartesian{}, conv(832, 7, 256, 1), {0.4, 0.4, 1.0});
    REQUIRE(cost.ok());
    CHECK(cost->chain[2].why == "49 of 64 PEs have a tile");
    CHECK(cost->chain[2].cycles / cost->chain[1].cycles == near(64.0 / 49.0, 1e-9));
    CHECK(cost->effectual / (1024.0 * cost->cycles()) < 0.2); // published: below 20 %
}

TEST_CASE("the cycles of the slowest PE agree with counting over random tensors") {
    std::mt19937_64 random(17);
    Cartesian machine;
    machine.rows = machine.columns = 4;
    for (const double d : {0.2, 0.4, 0.8}) {
        const Count channels = 24, plane = 16, outputs = 16;
        const auto cost = cost_of(machine, conv(channels, plane, outputs, 1), {d, d, 1.0});
        REQUIRE(cost.ok());
        double cycles = 0.0;
        constexpr int rounds = 60;
        for (int round = 0; round < rounds; ++round) {
            for (Count group = 0; group < outputs / 8; ++group) {
                const Mask weights = random_mask(random, 24, 8, d);
                Count slowest = 0;
                for (int pe = 0; pe < 16; ++pe) { // a tile of 4 x 4 positions each
                    const Mask inputs = random_mask(random, 24, 16, d);
                    Count sum = 0;
                    for (std::size_t c = 0; c < 24; ++c) {
                        const auto vectors = [](const std::vector<bool>& row) {
                            return ceil_div(std::count(row.begin(), row.end(), true), 4);
                        };
                        sum += vectors(inputs[c]) * vectors(weights[c]);
                    }
                    slowest = std::max(slowest, sum);
                }
                cycles += static_cast<double>(slowest) / rounds;
            }
        }
        CAPTURE(d);
        CHECK(cycles == near(cost->cycles(), 0.05));
    }
}

TEST_CASE("chains never fall, and less dense tensors never take longer") {
    for (const Count plane : {7, 14, 28, 55}) {
        double before = 1e300;
        for (const double d : {1.0, 0.8, 0.6, 0.4, 0.2, 0.1}) {
            const auto cost = cost_of(Cartesian{}, conv(96, plane, 128, 3, 1, 1), {d, d, d});
            REQUIRE(cost.ok());
            for (std::size_t i = 1; i < cost->chain.size(); ++i) {
                CHECK(cost->chain[i].cycles >= cost->chain[i - 1].cycles);
            }
            CHECK(cost->cycles() <= before);
            before = cost->cycles();
        }
    }
}

TEST_CASE("what cannot be costed is named") {
    Layer pool = product(1, 8, 8);
    pool.op = Op::bmm;
    CHECK(cost_of(Cartesian{}, pool, {}).diagnostics().has_errors());
    CHECK(cost_of(Cartesian{}, product(1, 8, 8), {2.0, 1.0, 1.0}).diagnostics().has_errors());
    CHECK(cost_of(Cartesian{}, product(1, 8, 8), {std::nan(""), 1.0, 1.0})
              .diagnostics()
              .has_errors());
}

} // namespace test_model_sparse_sparse_cost
