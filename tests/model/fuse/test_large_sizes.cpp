// Products and windows of sizes that a list of all tiles could not go through.
#include "model/fuse/products.hpp"
#include "model/fuse/windows.hpp"
#include "tests/model/fuse/least_traffic.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

namespace test_model_fuse_large_sizes {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::model::fuse;
using eyeroof::tests::least_traffic;
using eyeroof::tests::near;

namespace {

// Least traffic with so many words: every tile that divides, every order, by walking the loops and
// looking at which tile changes. Written from the definition.
Count walked(const Product& p, const std::array<Count, 3>& tile, const std::array<int, 3>& order) {
    const std::array<Count, 3> trips{p.m / tile[0], p.n / tile[1], p.k / tile[2]};
    std::array<Count, 3> at{}, before{-1, -1, -1};
    Count a = 0, b = 0, c = 0;
    const Count all = trips[0] * trips[1] * trips[2];
    for (Count step = 0; step < all; ++step) {
        Count rest = step;
        for (int place = 2; place >= 0; --place) {
            const auto axis = static_cast<std::size_t>(order[static_cast<std::size_t>(place)]);
            at[axis] = rest % trips[axis];
            rest /= trips[axis];
        }
        const auto changed = [&](std::size_t x, std::size_t y) {
            return at[x] != before[x] || at[y] != before[y];
        };
        a += changed(0, 2) ? 1 : 0;
        b += changed(1, 2) ? 1 : 0;
        c += changed(0, 1) ? 1 : 0;
        before = at;
    }
    return a * tile[0] * tile[2] + b * tile[1] * tile[2] + 2 * c * tile[0] * tile[1] - p.m * p.n;
}

Count brute(const Product& p, Count words) {
    Count best = -1;
    for (Count m = 1; m <= p.m; ++m) {
        for (Count n = 1; n <= p.n; ++n) {
            for (Count k = 1; k <= p.k; ++k) {
                const bool divides = p.m % m == 0 && p.n % n == 0 && p.k % k == 0;
                if (!divides || m * k + k * n + m * n > words) {
                    continue;
                }
                std::array<int, 3> order{0, 1, 2};
                do {
                    const Count traffic = walked(p, {m, n, k}, order);
                    best = best < 0 ? traffic : std::min(best, traffic);
                } while (std::next_permutation(order.begin(), order.end()));
            }
        }
    }
    return best;
}

} // namespace

TEST_CASE("a product's front is that of all tiles in all six orders") {
    std::mt19937_64 random(29);
    const auto draw = [&](Count least, Count most) {
        return std::uniform_int_distribution<Count>(least, most)(random);
    };
    for (int i = 0; i < 300; ++i) {
        const Product product{draw(1, 12), draw(1, 12), draw(1, 12)};
        const Count words = draw(3, 160);
        CAPTURE(product.m);
        CAPTURE(product.n);
        CAPTURE(product.k);
        CAPTURE(words);
        CHECK(least_traffic(front_of(product), words).value_or(-1) == brute(product, words));
    }
}

TEST_CASE("the front of a product with hundreds of divisors a dimension ends, and is one") {
    // 320, 320 and 240 divisors: all tiles in all orders are 147 millions.
    const auto front = front_of(Product{2162160, 2162160, 720720});
    REQUIRE(front.size() > 100);
    CHECK(front.size() < 20000);
    CHECK(front.front().words == 3);
    for (std::size_t i = 1; i < front.size(); ++i) {
        CHECK(front[i].words > front[i - 1].words);
        CHECK(front[i].traffic < front[i - 1].traffic);
    }
    CHECK(front.back().traffic == 2 * 2162160LL * 720720 + 2162160LL * 2162160);
    // The largest prime below 10^9, and a product of two primes beyond what is taken apart.
    CHECK(front_of(Product{999999937, 1, 1}).size() < 10);
    CHECK(!front_of(Product{1000003LL * 1000003LL, 2, 1}).empty());
    CHECK(front_of(Pair{720720, 64, 720720, 64}).size() > 100);
}

TEST_CASE("tile sizes of a plane of any extent are few, fall, and stay near each other") {
    for (const Count extent : {Count{4097}, Count{65536}, Count{2000000}, kMaxDimension}) {
        const auto sizes = tile_sizes(extent);
        CAPTURE(extent);
        CHECK(sizes.size() < 200);
        CHECK(sizes.front() == extent);
        CHECK(ceil_div(extent, sizes.back()) <= 65536);
        CHECK(sizes.back() == ceil_div(extent, 65536));
        for (std::size_t i = 1; i < sizes.size(); ++i) {
            const double more = static_cast<double>(ceil_div(extent, sizes[i])) /
                                static_cast<double>(ceil_div(extent, sizes[i - 1]));
            CHECK(sizes[i] < sizes[i - 1]);
            CHECK((more < 1.2 || ceil_div(extent, sizes[i]) < 16 || sizes[i] + 1 == sizes[i - 1]));
        }
    }
    CHECK(sizes_tried(64) == SizesTried::all);
    CHECK(sizes_tried(4096) == SizesTried::each_number_of_tiles);
    CHECK(sizes_tried(4097) == SizesTried::thinned);
    CHECK(tile_sizes(4096).size() < 130);
}

TEST_CASE("a plane of a thousand million lines has a tile, or does not fit") {
    Layer layer;
    layer.op = Op::conv2d;
    ConvShape shape;
    shape.h = kMaxDimension;
    shape.w = 1;
    layer.shape = shape;
    const Window window = *window_of(layer);
    const auto best = best_tiling({&window, 1}, 1 << 20);
    REQUIRE(best);
    CHECK(best->cost.traffic == 2 * kMaxDimension + 1);
    CHECK(!best_tiling({&window, 1}, 100)); // of 65,536 tiles none is so small
}

} // namespace test_model_fuse_large_sizes
