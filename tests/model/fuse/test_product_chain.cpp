#include "model/fuse/product_chain.hpp"
#include "model/fuse/windows.hpp"
#include "tests/model/random_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

namespace test_model_fuse_product_chain {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::model::fuse;

namespace {

// What a tiling takes when it is carried out step by step: planes are allocated and freed, weights
// fetched word by word as they are used.
struct Walked {
    Count traffic = 0;
    Count peak = 0;
};

Walked walk(const ProductChain& chain, const ChainTiling& tiling) {
    Walked walked;
    std::map<std::size_t, Count> live; // words of the planes of this tile
    std::vector<bool> there(chain.products(), false);
    Count resident = 0;
    Count streams = 0;
    for (std::size_t i = 0; i < chain.products(); ++i) {
        const Count words = chain.widths[i] * chain.widths[i + 1];
        resident += tiling.stays[i] ? words : 0;
        streams = std::max<Count>(streams, tiling.stays[i] ? 0 : 1);
    }
    const auto note = [&] {
        Count now = resident + streams;
        for (const auto& [plane, words] : live) {
            now += words;
        }
        walked.peak = std::max(walked.peak, now);
    };
    const auto fetch = [&](std::size_t product) {
        if (!tiling.stays[product] || !there[product]) {
            for (Count row = 0; row < chain.widths[product]; ++row) {
                walked.traffic += chain.widths[product + 1];
            }
            there[product] = true;
        }
    };
    for (Count first = 0; first < chain.m; first += tiling.rows) {
        const Count rows = std::min(tiling.rows, chain.m - first);
        live.clear();
        const auto whole = [&](std::size_t plane) { live[plane] = rows * chain.widths[plane]; };
        if (!tiling.slices[0]) {
            whole(0);
            note();
        }
        for (Count row = 0; row < rows; ++row) {
            walked.traffic += chain.widths.front() + chain.widths.back();
        }
        for (std::size_t plane = 0; plane < chain.widths.size(); ++plane) {
            const bool last = plane + 1 == chain.widths.size();
            if (!tiling.slices[plane]) {
                if (!last && !tiling.slices[plane + 1]) { // one whole plane into the next
                    whole(plane + 1);
                    note();
                    live.erase(plane);
                }
                continue;
            }
            if (!last) {
                whole(plane + 1); // sums of the next plane
            }
            for (Count column = 0; column < chain.widths[plane]; ++column) {
                live[plane] = rows;
                note();
                live.erase(plane);
            }
            if (plane > 0) {
                live.erase(plane - 1);
            }
        }
        for (std::size_t i = 0; i < chain.products(); ++i) {
            fetch(i);
        }
    }
    return walked;
}

bool allowed(const ProductChain& chain, const std::vector<bool>& slices) {
    for (std::size_t j = 0; j < slices.size(); ++j) {
        if (slices[j] && (chain.whole_rows[j] || (j > 0 && slices[j - 1]))) {
            return false;
        }
    }
    return true;
}

std::optional<Count> brute_force(const ProductChain& chain, Count words) {
    std::optional<Count> least;
    const std::size_t planes = chain.widths.size();
    for (Count rows = 1; rows <= chain.m; ++rows) {
        for (unsigned set = 0; set < 1U << planes; ++set) {
            for (unsigned stay = 0; stay < 1U << chain.products(); ++stay) {
                ChainTiling tiling{rows, std::vector<bool>(planes),
                                   std::vector<bool>(chain.products())};
                for (std::size_t j = 0; j < planes; ++j) {
                    tiling.slices[j] = (set >> j & 1U) != 0;
                }
                for (std::size_t i = 0; i < chain.products(); ++i) {
                    tiling.stays[i] = (stay >> i & 1U) != 0;
                }
                if (!allowed(chain, tiling.slices)) {
                    continue;
                }
                const Walked walked = walk(chain, tiling);
                if (walked.peak <= words && (!least || walked.traffic < *least)) {
                    least = walked.traffic;
                }
            }
        }
    }
    return least;
}

} // namespace

TEST_CASE("the best tiling of 300 random chains of products is that of brute force") {
    std::mt19937_64 random(20260727);
    const auto upto = [&](Count most) {
        return std::uniform_int_distribution<Count>(1, most)(random);
    };
    int found = 0;
    for (int i = 0; i < 300; ++i) {
        ProductChain chain;
        chain.m = upto(9);
        const Count products = upto(4);
        for (Count j = 0; j <= products; ++j) {
            chain.widths.push_back(upto(7));
            chain.whole_rows.push_back(j > 0 && j < products && upto(4) == 1);
        }
        const Count words = upto(140);
        CAPTURE(i);
        const auto best = best_tiling(chain, words);
        const auto least = brute_force(chain, words);
        REQUIRE(best.has_value() == least.has_value());
        if (best) {
            ++found;
            CHECK(best->cost.traffic == *least);
            const Walked walked = walk(chain, best->tiling);
            CHECK(walked.traffic == best->cost.traffic);
            CHECK(walked.peak <= best->cost.capacity);
        }
    }
    CHECK(found > 150);
}

TEST_CASE("three products of 256 rows and 64 columns take their weights three times in 12 KiB") {
    // The widest phase is 128 words a row: one whole plane into the next, the ends in slices.
    const ProductChain chain{256, {64, 64, 64, 64}, {false, false, false, false}};
    const auto with = [&](Count words) { return best_tiling(chain, words).value(); };
    CHECK(with(12'288 + 128).cost.traffic == 2 * 256 * 64 + 3 * 4096);
    // Weights that stay leave no row beside them. With all of them again for each tile, tiles of 86
    // rows make 3 tiles: 9 weights. With one that stays 63 rows make 5 tiles: 11.
    const ChainChoice tight = with(12'288);
    CHECK(std::count(tight.tiling.stays.begin(), tight.tiling.stays.end(), true) == 0);
    CHECK(tight.cost.traffic == 2 * 256 * 64 + 9 * 4096);
}

TEST_CASE("a norm that needs whole rows never lets a chain move less") {
    const ProductChain plain{64, {32, 128, 32}, {false, false, false}};
    ProductChain normed = plain;
    normed.whole_rows[1] = true;
    for (const Count words : {500, 2000, 6000, 9000, 12000}) {
        const auto free = best_tiling(plain, words);
        const auto whole = best_tiling(normed, words);
        if (whole) {
            REQUIRE(free);
            CHECK(free->cost.traffic <= whole->cost.traffic);
            CHECK(whole->tiling.slices[1] == false);
        }
    }
}

} // namespace test_model_fuse_product_chain
