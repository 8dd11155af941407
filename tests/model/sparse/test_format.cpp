// Bits of compressed stores: closed forms, and counting over random data.
#include "model/sparse/format.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

namespace test_model_sparse_format {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;
using namespace eyeroof::model::sparse;

TEST_CASE("bits a word of run lengths and bitmasks by density") {
    struct Row {
        double d, v1, scnn, csc;
    };
    const Row rows[] = {{0.05, 1.323, 1.786, 1.072},  {0.10, 2.209, 2.455, 1.473},
                        {0.20, 4.270, 4.116, 2.470},  {0.35, 7.467, 7.007, 4.204},
                        {0.50, 10.667, 10.0, 6.0},    {0.75, 16.0, 15.0, 9.0},
                        {1.0, 64.0 / 3.0, 20.0, 12.0}};
    for (const Row& row : rows) {
        CAPTURE(row.d);
        CHECK(run_length_bits(row.d, 5, 64.0 / 3.0) == near(row.v1, 1e-3));
        CHECK(run_length_bits(row.d, 4, 20.0) == near(row.scnn, 1e-3));
        CHECK(run_length_bits(row.d, 4, 12.0) == near(row.csc, 1e-3));
    }
}

TEST_CASE("no format stores independent words in less than their entropy") {
    const auto part = [](double p) { return p < 1.0 ? -p * std::log2(p) : 0.0; };
    for (const double d : {0.01, 0.1, 0.3, 0.5, 0.9, 1.0}) {
        const double entropy = part(d) + (d < 1.0 ? part(1.0 - d) : 0.0) + 16.0 * d;
        CHECK(entropy <= run_length_bits(d, 4, 20.0) + 1e-9);
        const Rank rows_then_columns[] = {{RankKind::offsets, 64, 12},
                                          {RankKind::coordinates, 64, 0}};
        CHECK(64.0 * 64.0 * entropy <= stored(rows_then_columns, d).bits(16) + 1e-6);
    }
}

TEST_CASE("a dense tensor keeps every word, and an uncompressed one has no metadata") {
    const Rank plain[] = {{RankKind::uncompressed, 8, 0}, {RankKind::uncompressed, 8, 0}};
    CHECK(stored(plain, 0.3).words == 64.0);
    CHECK(stored(plain, 0.3).metadata_bits == 0.0);
    const Rank csr[] = {{RankKind::offsets, 8, 7}, {RankKind::coordinates, 8, 0}};
    CHECK(stored(csr, 1.0).words == near(64.0, 1e-12));
    CHECK(stored(csr, 1.0).metadata_bits == near(9.0 * 7.0 + 64.0 * 3.0, 1e-12));
    const Rank blocks[] = {{RankKind::coordinates, 16, 0}, {RankKind::uncompressed, 4, 0}};
    // A block of four words is kept unless all of them are zero.
    CHECK(stored(blocks, 0.25).words == near(64.0 * (1.0 - 0.75 * 0.75 * 0.75 * 0.75), 1e-9));
}

namespace {

struct Counted {
    double words = 0.0, metadata = 0.0;
};

// Two ranks over random words: what each really keeps.
Counted counted(std::mt19937_64& random, const Rank& outer, const Rank& inner, double density) {
    Counted c;
    constexpr int rounds = 400;
    std::bernoulli_distribution word(density);
    for (int round = 0; round < rounds; ++round) {
        std::vector<std::vector<bool>> fibers;
        for (Count i = 0; i < outer.places; ++i) {
            std::vector<bool> fiber;
            bool any = false;
            for (Count j = 0; j < inner.places; ++j) {
                fiber.push_back(word(random));
                any = any || fiber.back();
            }
            if (any || outer.kind == RankKind::offsets) {
                fibers.push_back(std::move(fiber));
            }
        }
        c.metadata += outer.kind == RankKind::offsets
                          ? static_cast<double>((outer.places + 1) * outer.bits)
                          : static_cast<double>(outer.places);
        for (const auto& fiber : fibers) {
            Count kept = 0;
            for (const bool value : fiber) {
                kept += value ? 1 : 0;
            }
            c.words += static_cast<double>(kept);
            c.metadata += inner.kind == RankKind::bitmask ? static_cast<double>(inner.places)
                                                          : 5.0 * static_cast<double>(kept);
        }
    }
    return {c.words / rounds, c.metadata / rounds};
}

} // namespace

TEST_CASE("expected words and metadata agree with counting over random data") {
    std::mt19937_64 random(5);
    for (const double density : {0.02, 0.1, 0.3, 0.7}) {
        for (const RankKind outer : {RankKind::offsets, RankKind::bitmask}) {
            for (const RankKind inner : {RankKind::bitmask, RankKind::coordinates}) {
                const Rank ranks[] = {{outer, 24, 9}, {inner, 32, 0}}; // 5 bits a coordinate of 32
                const Counted real = counted(random, ranks[0], ranks[1], density);
                const Stored expected = stored(ranks, density);
                CAPTURE(density);
                CHECK(real.words == near(expected.words, 0.03));
                CHECK(real.metadata == near(expected.metadata_bits, 0.03));
            }
        }
    }
}

} // namespace test_model_sparse_format
