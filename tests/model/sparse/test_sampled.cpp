// Five hundred random tiles, formats and arrays beside what sampling finds: means within 1 %, the
// slowest of many within 5 %. Samples are as many as the spread asks for, so that four deviations
// of their mean are below 1 %.
#include "model/sparse/format.hpp"
#include "model/sparse/nonzeros.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace test_model_sparse_sampled {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::model::sparse;
using eyeroof::tests::near;

namespace {

using Random = std::mt19937_64;

Count draw(Random& random, Count least, Count most) {
    return std::uniform_int_distribution<Count>(least, most)(random);
}

double share(Random& random, double least, double most) {
    return std::uniform_real_distribution<double>(least, most)(random);
}

// Non-zeros of one tile, word by word.
using Tile = std::function<Count(Random&)>;

Tile independent_tile(Count words, double density) {
    return [=](Random& random) {
        std::bernoulli_distribution word(density);
        Count found = 0;
        for (Count i = 0; i < words; ++i) {
            found += word(random) ? 1 : 0;
        }
        return found;
    };
}

// Without putting back.
Tile uniform_tile(Count tensor, Count nonzeros, Count words) {
    return [=](Random& random) {
        Count left = tensor, kept = nonzeros, found = 0;
        for (Count i = 0; i < words; ++i, --left) {
            if (draw(random, 1, left) <= kept) {
                ++found;
                --kept;
            }
        }
        return found;
    };
}

Tile structured_tile(Count group, Count kept, Count words) {
    return [=](Random& random) {
        return words / group * kept + uniform_tile(group, kept, words % group)(random);
    };
}

struct Sampled {
    double mean = 0.0, slowest = 0.0;
};

Sampled sampled(Random& random, const Tile& tile, Count lanes, Count workers, int rounds) {
    Sampled s;
    for (int round = 0; round < rounds; ++round) {
        Count most = 0;
        for (Count worker = 0; worker < workers; ++worker) {
            const Count steps = ceil_div(tile(random), lanes);
            s.mean += static_cast<double>(steps);
            most = std::max(most, steps);
        }
        s.slowest += static_cast<double>(most);
    }
    s.mean /= rounds * static_cast<double>(workers);
    s.slowest /= rounds;
    return s;
}

int rounds_for(const NonZeros& steps, Count workers) {
    const double spread = std::sqrt(steps.variance()) / steps.mean();
    const double samples = std::pow(4.0 * spread / 0.01, 2.0);
    return std::clamp(static_cast<int>(samples / static_cast<double>(workers)), 300, 60000);
}

struct Case {
    NonZeros model;
    Tile tile;
};

Case random_case(Random& random, Count kind) {
    const Count words = draw(random, 4, 96);
    if (kind == 0) {
        const double density = share(random, 0.1, 0.95);
        return {NonZeros::independent(words, density), independent_tile(words, density)};
    }
    if (kind == 1) {
        const Count tensor = draw(random, words, 500);
        const Count nonzeros = draw(random, (tensor + 9) / 10, tensor);
        return {NonZeros::uniform(tensor, nonzeros, words), uniform_tile(tensor, nonzeros, words)};
    }
    const Count group = draw(random, 2, 16);
    const Count kept = draw(random, 1, group);
    return {NonZeros::structured(group, kept, words), structured_tile(group, kept, words)};
}

} // namespace

TEST_CASE("300 random tiles on lanes and workers: means and the slowest as sampled") {
    Random random(11);
    int checked = 0;
    while (checked < 300) {
        const Case one = random_case(random, checked % 3);
        const Count lanes = draw(random, 1, 4);
        const Count workers = draw(random, 2, 16);
        const NonZeros steps = one.model.steps(lanes);
        if (steps.mean() < 1.0) {
            continue; // a mean near 0 takes more samples than a test has time for
        }
        const Sampled s = sampled(random, one.tile, lanes, workers, rounds_for(steps, workers));
        CAPTURE(checked);
        CHECK(s.mean == near(steps.mean(), 0.01));
        CHECK(s.slowest == near(steps.slowest(workers), 0.05));
        ++checked;
    }
}

TEST_CASE("100 random arrays whose rows share inputs and columns weights wait as sampled") {
    // model/sparse/waiting.hpp: a unit's work is the product of both its shares.
    Random random(12);
    for (int i = 0; i < 100; ++i) {
        const Count rows = draw(random, 1, 12), columns = draw(random, 1, 12);
        const Case inputs = random_case(random, i % 3), weights = random_case(random, (i + 1) % 3);
        const double expected = inputs.model.slowest(rows) * weights.model.slowest(columns);
        const double mean = inputs.model.mean() * weights.model.mean();
        const int rounds = std::max(rounds_for(inputs.model, 1), rounds_for(weights.model, 1)) / 4;
        double slowest = 0.0, all = 0.0;
        for (int round = 0; round < rounds; ++round) {
            Count most_rows = 0, most_columns = 0;
            double sum_rows = 0.0, sum_columns = 0.0;
            for (Count r = 0; r < rows; ++r) {
                const Count found = inputs.tile(random);
                most_rows = std::max(most_rows, found);
                sum_rows += static_cast<double>(found);
            }
            for (Count c = 0; c < columns; ++c) {
                const Count found = weights.tile(random);
                most_columns = std::max(most_columns, found);
                sum_columns += static_cast<double>(found);
            }
            slowest += static_cast<double>(most_rows) * static_cast<double>(most_columns);
            all += sum_rows * sum_columns / static_cast<double>(rows * columns);
        }
        CAPTURE(i);
        CHECK(slowest / rounds == near(expected, 0.05));
        CHECK(all / rounds == near(mean, 0.03)); // a quarter of the samples
    }
}

TEST_CASE("100 random formats of two ranks take the words and bits that counting finds") {
    Random random(13);
    for (int i = 0; i < 100; ++i) {
        const double density = share(random, 0.05, 0.9);
        const RankKind outers[] = {RankKind::offsets, RankKind::bitmask, RankKind::uncompressed};
        const RankKind inners[] = {RankKind::bitmask, RankKind::coordinates};
        const Rank ranks[] = {{outers[i % 3], draw(random, 2, 24), 6},
                              {inners[i % 2], draw(random, 2, 24), 0}};
        const Stored expected = stored(ranks, density);
        const int index_bits =
            static_cast<int>(std::ceil(std::log2(static_cast<double>(ranks[1].places))));
        const int rounds = std::max(6000, static_cast<int>(400000.0 / expected.words));
        double words = 0.0, metadata = 0.0;
        std::bernoulli_distribution word(density);
        for (int round = 0; round < rounds; ++round) {
            metadata += ranks[0].kind == RankKind::bitmask ? static_cast<double>(ranks[0].places)
                        : ranks[0].kind == RankKind::offsets
                            ? 6.0 * static_cast<double>(ranks[0].places + 1)
                            : 0.0;
            for (Count fiber = 0; fiber < ranks[0].places; ++fiber) {
                Count kept = 0;
                for (Count slot = 0; slot < ranks[1].places; ++slot) {
                    kept += word(random) ? 1 : 0;
                }
                if (kept == 0 && ranks[0].kind == RankKind::bitmask) {
                    continue; // the whole fiber is left out
                }
                words += static_cast<double>(kept);
                metadata += ranks[1].kind == RankKind::bitmask
                                ? static_cast<double>(ranks[1].places)
                                : static_cast<double>(index_bits * kept);
            }
        }
        CAPTURE(i);
        CHECK(words / rounds == near(expected.words, 0.01));
        CHECK(metadata / rounds == near(expected.metadata_bits, 0.01));
    }
}

TEST_CASE("tiles of thousands of millions of words are their mean, and cost nothing to make") {
    const NonZeros tile = NonZeros::independent(40'000'000'000, 0.3);
    CHECK(tile.mean() == 12'000'000'000.0);
    CHECK(tile.slowest(64) == tile.mean());
    CHECK(NonZeros::uniform(80'000'000'000, 40'000'000'000, 40'000'000'000).mean() ==
          20'000'000'000.0);
    // Below the limit the spread stays.
    CHECK(NonZeros::independent(1'000'000, 0.3).variance() == near(210000.0, 1e-3));
}

} // namespace test_model_sparse_sampled
