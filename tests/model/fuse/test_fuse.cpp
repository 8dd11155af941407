// Fused products and windows: published values, closed forms, and brute force.
#include "model/fuse/partition.hpp"
#include "model/fuse/products.hpp"
#include "model/fuse/windows.hpp"
#include "tests/model/fuse/least_traffic.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace test_model_fuse_fuse {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::model::fuse;
using eyeroof::tests::least_traffic;
using eyeroof::tests::near;

namespace {

Count product_traffic(const Product& product, Count words) {
    return least_traffic(front_of(product), words).value_or(-1);
}

Count pair_traffic(const Pair& pair, Count words) {
    return least_traffic(front_of(pair), words).value_or(-1);
}

Window window(Count c, Count k, Extent2 in, Count filter, Count stride = 1, Count pad = 0) {
    Layer layer;
    layer.op = Op::conv2d;
    ConvShape shape;
    shape.c = c;
    shape.k = k;
    shape.h = in.h;
    shape.w = in.w;
    shape.r = shape.s = filter;
    shape.stride = {stride, stride};
    shape.pad = {pad, pad};
    layer.shape = shape;
    return *window_of(layer);
}

// FSRCNN at 960 x 540, or as many lines: 8 layers without padding.
std::vector<Window> fsrcnn(Count lines = 540) {
    const auto layer = [&](Count c, Count k, Count more, Count filter) {
        return window(c, k, {lines + more, 960 + more}, filter);
    };
    return {layer(1, 56, 14, 5), layer(56, 12, 10, 1), layer(12, 12, 10, 3), layer(12, 12, 8, 3),
            layer(12, 12, 6, 3), layer(12, 12, 4, 3),  layer(12, 56, 2, 1),  layer(56, 16, 2, 3)};
}

} // namespace

TEST_CASE("least traffic of one product by capacity, to the word") {
    const std::map<Count, Count> cube64 = {{3, 528384},   {8, 266240},   {16, 200704},
                                           {64, 102400},  {256, 53248},  {560, 28672},
                                           {1088, 20480}, {2144, 16384}, {4224, 12288}};
    for (const auto& [words, traffic] : cube64) {
        CHECK(product_traffic({64, 64, 64}, words) == traffic);
    }
    const std::map<Count, Count> cube1024 = {
        {1024, 101711872}, {4096, 51380224},   {16384, 26214400}, {65536, 13631488},
        {262144, 7340032}, {1048576, 4194304}, {1050624, 3145728}};
    for (const auto& [words, traffic] : cube1024) {
        CHECK(product_traffic({1024, 1024, 1024}, words) == traffic);
    }
    CHECK(!least_traffic(front_of(Product{64, 64, 64}), 2));
}

TEST_CASE("least traffic of two fused products by capacity, to the word") {
    const Pair cube{64, 64, 64, 64};
    CHECK(pair_traffic(cube, 256) == 110592);
    CHECK(pair_traffic(cube, 1024) == 53248);
    CHECK(pair_traffic(cube, 2048) == 36864);
    CHECK(pair_traffic(cube, 4096) == 24576);
    CHECK(pair_traffic(cube, 4224) == 16384);
    const Pair attention{1024, 64, 1024, 64};
    const std::map<Count, Count> rows = {{1024, 14614528}, {4096, 6356992},  {8192, 4259840},
                                         {8257, 2228224},  {16384, 2228224}, {32768, 1179648},
                                         {65536, 655360},  {132097, 262144}};
    for (const auto& [words, traffic] : rows) {
        CHECK(pair_traffic(attention, words) == traffic);
    }
    const Pair feed_forward{256, 1024, 4096, 1024};
    CHECK(pair_traffic(feed_forward, 4096) == 117178368);
    CHECK(pair_traffic(feed_forward, 65536) == 29097984);
    CHECK(pair_traffic(feed_forward, 262144) == 14417920);
    CHECK(pair_traffic(feed_forward, 393984) == 10747904);
    CHECK(pair_traffic(feed_forward, 524545) == 8912896);
}

TEST_CASE("fusing a feed-forward pair loses until 393,984 words") {
    const Pair pair{256, 1024, 4096, 1024};
    const auto apart = [&](Count words) {
        return product_traffic(pair.first(), words) + product_traffic(pair.second(), words);
    };
    CHECK(apart(262144) == 13893632);
    CHECK(pair_traffic(pair, 262144) > apart(262144));
    CHECK(pair_traffic(pair, 393983) > apart(393983));
    CHECK(apart(393984) == 11010048);
    CHECK(pair_traffic(pair, 393984) < apart(393984));
}

TEST_CASE("attention's front holds rows of queries and outputs: S = m (K + N + 1) + 1") {
    const Pair pair{1024, 64, 1024, 64};
    const auto front = front_of(pair);
    for (Count m = 8; m <= 1024; m *= 2) {
        const Count words = m * (64 + 64 + 1) + 1;
        const Count closed = 1024 * 128 + 128 * 1024 * (1024 / m);
        const auto least = least_traffic(front, words);
        REQUIRE(least);
        CHECK(*least <= closed);
        CHECK((m < 64 || *least == closed)); // with fewer rows other tilings are better
    }
}

TEST_CASE("more buffer never costs, and no front goes below what must be moved") {
    std::mt19937_64 random(7);
    const auto draw = [&] { return std::uniform_int_distribution<Count>(1, 48)(random); };
    for (int i = 0; i < 40; ++i) {
        const Pair pair{draw(), draw(), draw(), draw()};
        const auto front = front_of(pair);
        for (std::size_t j = 1; j < front.size(); ++j) {
            CHECK(front[j].traffic < front[j - 1].traffic);
        }
        CHECK(front.back().traffic ==
              pair.m * pair.k + pair.k * pair.l + pair.l * pair.n + pair.m * pair.n);
    }
}

namespace {

// All of the pair's space, tile by tile, with tiles along k and n too: written from the definition.
Count brute_pair(const Pair& p, Count words) {
    Count best = -1;
    const auto divides = [](Count n, Count d) { return n % d == 0; };
    for (Count m = 1; m <= p.m; ++m) {
        for (Count l = 1; l <= p.l; ++l) {
            for (Count k = 1; k <= p.k; ++k) {
                for (Count n = 1; n <= p.n; ++n) {
                    if (!divides(p.m, m) || !divides(p.l, l) || !divides(p.k, k) ||
                        !divides(p.n, n)) {
                        continue;
                    }
                    for (int code = 0; code < 32; ++code) {
                        const bool m_outside = code & 16;
                        Count traffic = 0, held = 0, one = 0, two = 0, at[4] = {0, 0, 0, 0};
                        const Count slab[4] = {m * p.k, p.k * l, l * p.n, m * p.n};
                        const Count tile[4] = {m * k, k * l, l * n, m * n};
                        // Walk the shared loops and see which slab changes.
                        Count before[4] = {-1, -1, -1, -1};
                        for (Count i = 0; i < p.m / m * (p.l / l); ++i) {
                            const Count im = m_outside ? i / (p.l / l) : i % (p.m / m);
                            const Count il = m_outside ? i % (p.l / l) : i / (p.m / m);
                            const Count now[4] = {im, il, il, im};
                            for (int t = 0; t < 4; ++t) {
                                at[t] += (code >> t & 1) == 0 || now[t] != before[t] ? 1 : 0;
                                before[t] = now[t];
                            }
                        }
                        for (int t = 0; t < 4; ++t) {
                            const bool stays = code >> t & 1;
                            held += stays ? slab[t] : 0;
                            (t < 2 ? one : two) += stays ? 0 : tile[t];
                            traffic += slab[t] * at[t];
                        }
                        traffic += slab[3] * at[3] - p.m * p.n; // partial sums come back
                        if (m * l + held + std::max(one, two) <= words &&
                            (best < 0 || traffic < best)) {
                            best = traffic;
                        }
                    }
                }
            }
        }
    }
    return best;
}

} // namespace

TEST_CASE("fused pairs equal brute force over their whole space on random small shapes") {
    std::mt19937_64 random(23);
    const auto draw = [&](Count most) {
        return std::uniform_int_distribution<Count>(1, most)(random);
    };
    for (int i = 0; i < 300; ++i) {
        const Pair pair{draw(8), draw(6), draw(8), draw(6)};
        const Count words = draw(90);
        CAPTURE(i);
        CHECK(pair_traffic(pair, words) == brute_pair(pair, words));
    }
}

TEST_CASE("FSRCNN: MACs, planes and recomputation by tile as published") {
    const auto layers = fsrcnn();
    const Extent2 whole{540, 960};
    const GroupCost once = cost_of(layers, {whole, Overlap::recomputed, true});
    CHECK(once.macs == near(8.3626e9, 1e-5));
    CHECK(once.weight_traffic == 15992);
    CHECK(once.input_traffic + once.output_traffic == 554 * 974 + 540 * 960 * 16);
    struct Row {
        Count x, y;
        double factor;
        Count height; // of the plane: the next multiple of y, for the published tiles are all whole
    };
    const Row rows[] = {{1, 1, 29.592, 540},  {4, 4, 3.894, 540},   {4, 72, 1.979, 576},
                        {16, 18, 1.421, 540}, {60, 72, 1.160, 576}, {240, 270, 1.015, 540},
                        {960, 1, 3.993, 540}, {960, 540, 1.0, 540}};
    for (const Row& row : rows) {
        CAPTURE(row.x);
        CAPTURE(row.y);
        const Tiling tiling{{row.y, row.x}, Overlap::recomputed, true};
        const auto macs = static_cast<double>(cost_of(fsrcnn(row.height), tiling).macs);
        CHECK(macs / static_cast<double>(once.macs) == near(row.factor, 5e-4));
    }
    // Rows that stay when the whole width is taken: sum of (filter - stride) W C.
    const Tiling rows_kept{{1, 960}, Overlap::kept, true};
    const Tiling all{{1, 960}, Overlap::recomputed, true};
    CHECK(cost_of(layers, rows_kept).capacity - cost_of(layers, all).capacity == 204472);
    CHECK(cost_of(layers, rows_kept).macs == once.macs);
}

TEST_CASE("the first five convolutions of VGG-19 move 77.14 MiB apart and 3.64 MiB together") {
    Layer pool;
    pool.op = Op::maxpool;
    const auto pooled = [&](Count c, Count h) {
        PoolShape shape;
        shape.c = c;
        shape.h = shape.w = h;
        shape.r = shape.s = 2;
        shape.stride = {2, 2};
        pool.shape = shape;
        return *window_of(pool);
    };
    const std::vector<Window> layers = {window(3, 64, {224, 224}, 3, 1, 1),
                                        window(64, 64, {224, 224}, 3, 1, 1),
                                        pooled(64, 224),
                                        window(64, 128, {112, 112}, 3, 1, 1),
                                        window(128, 128, {112, 112}, 3, 1, 1),
                                        pooled(128, 112),
                                        window(128, 256, {56, 56}, 3, 1, 1)};
    const double mib = 4.0 / 1048576.0;
    double apart = 0.0;
    for (const Window& w : layers) { // pooling is merged into the next read
        if (w.weights > 0) {
            const GroupCost cost = cost_of({&w, 1}, {w.out, Overlap::kept, true});
            apart += static_cast<double>(cost.input_traffic + cost.output_traffic) * mib;
        }
    }
    // Inputs after pooling are a quarter of what was written before it.
    const GroupCost together = cost_of(layers, {{1, 56}, Overlap::kept, true});
    CHECK(static_cast<double>(together.input_traffic + together.output_traffic) * mib ==
          near(3.64, 2e-3));
    const double pooled_reads = (64.0 * 112 * 112 + 128.0 * 56 * 56) * 3.0 * mib;
    CHECK(apart + pooled_reads == near(77.14, 1e-2));
}

namespace {

struct RandomChain {
    std::vector<Window> windows;
    Count words = 0;
};

RandomChain random_chain(std::mt19937_64& random) {
    const auto draw = [&](Count least, Count most) {
        return std::uniform_int_distribution<Count>(least, most)(random);
    };
    RandomChain chain;
    Extent2 plane{draw(4, 10), draw(4, 10)};
    Count c = draw(1, 4);
    const Count length = draw(1, 4);
    for (Count i = 0; i < length; ++i) {
        const Count filter = draw(1, std::min<Count>(3, std::min(plane.h, plane.w)));
        const Count k = draw(1, 4);
        chain.windows.push_back(window(c, k, plane, filter, draw(1, 2), filter / 2));
        plane = chain.windows.back().out;
        c = k;
    }
    chain.words = draw(20, 400);
    return chain;
}

double brute_group(const std::vector<Window>& all, std::size_t first, std::size_t last,
                   Count words) {
    const std::span<const Window> group(all.data() + first, last - first + 1);
    double best = -1.0;
    for (Count h = 1; h <= group.back().out.h; ++h) {
        for (Count w = 1; w <= group.back().out.w; ++w) {
            for (const Overlap overlap :
                 {Overlap::kept, Overlap::kept_along_x, Overlap::recomputed}) {
                for (Count way = 0; way <= (group.size() == 1 ? group.front().k : 1); ++way) {
                    const GroupCost cost =
                        cost_of(group, {{h, w}, overlap, way > 0, std::max<Count>(way, 1)});
                    const auto traffic = static_cast<double>(cost.traffic);
                    if (cost.capacity <= words && (best < 0.0 || traffic < best)) {
                        best = traffic;
                    }
                }
            }
        }
    }
    return best;
}

double brute_chain(const std::vector<Window>& all, std::size_t from, Count words) {
    if (from == all.size()) {
        return 0.0;
    }
    double best = -1.0;
    for (std::size_t last = from; last < all.size(); ++last) {
        const double own = brute_group(all, from, last, words);
        const double rest = own < 0.0 ? -1.0 : brute_chain(all, last + 1, words);
        if (own >= 0.0 && rest >= 0.0 && (best < 0.0 || own + rest < best)) {
            best = own + rest;
        }
    }
    return best;
}

} // namespace

TEST_CASE("partitions, tiles and overlap modes equal brute force on random small chains") {
    std::mt19937_64 random(41);
    int possible = 0;
    for (int i = 0; i < 300; ++i) {
        const RandomChain chain = random_chain(random);
        double sum = 0.0;
        const auto cost = [&](Group g) -> std::optional<double> {
            const auto best =
                best_tiling({chain.windows.data() + g.first, g.last - g.first + 1}, chain.words);
            return best ? std::optional(static_cast<double>(best->cost.traffic)) : std::nullopt;
        };
        const auto partition = cheapest_partition(chain.windows.size(), cost);
        const double brute = brute_chain(chain.windows, 0, chain.words);
        CAPTURE(i);
        REQUIRE(partition.has_value() == (brute >= 0.0));
        if (partition) {
            for (const Group& group : *partition) {
                sum += *cost(group);
            }
            CHECK(sum == brute);
            ++possible;
        }
    }
    CHECK(possible > 150);
}

TEST_CASE("a group costs the longer of its MACs and its traffic") {
    const Aim aim{2.0, 3.0};
    GroupCost cost;
    cost.macs = 10;
    cost.traffic = 4;
    CHECK(aim.of(cost) == 20.0);
    cost.traffic = 8;
    CHECK(aim.of(cost) == 24.0);
}

TEST_CASE("every number of tiles is among the sizes that are tried") {
    for (Count extent = 1; extent <= 60; ++extent) {
        const auto sizes = tile_sizes(extent);
        for (Count size = 1; size <= extent; ++size) {
            CHECK(std::any_of(sizes.begin(), sizes.end(), [&](Count s) {
                return s <= size && ceil_div(extent, s) == ceil_div(extent, size);
            }));
        }
    }
}

} // namespace test_model_fuse_fuse
