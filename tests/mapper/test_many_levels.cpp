// Machines with more levels than were ever built: the rules of a dataflow still end.
#include "mapper/preset/stationary.hpp"
#include "model/accelerator/mapping.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_mapper_many_levels {

using namespace eyeroof;

namespace {

// A memory and buffers of falling size above one unit with a word of its own for each operand.
model::Accelerator deep(std::size_t buffers) {
    model::Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    a.levels = {test::level("memory", {test::store(test::kAll, 0, 4, 4, 200.0)})};
    for (std::size_t i = 0; i < buffers; ++i) {
        const auto words = static_cast<Count>(64 * (buffers - i));
        a.levels.push_back(
            test::level("buffer" + std::to_string(i), {test::store(test::kAll, words, 4, 4, 6.0)}));
    }
    return a;
}

} // namespace

TEST_CASE("orders of loops are different ones, and their number is bounded at any depth") {
    const model::Problem problem = test::conv("layer", {3, 3, 56, 56, 64, 128, 2});
    const model::Dataflow dataflow{};
    for (const std::size_t buffers : {2, 5, 12, 60}) {
        const auto candidates = mapper::stationary_candidates(problem, deep(buffers), dataflow);
        CAPTURE(buffers);
        CHECK(candidates.size() >= 3);
        CHECK(candidates.size() <= 4 * 6561); // 3 orders on 8 levels, of each tiling
        for (std::size_t i = 0; i < std::min<std::size_t>(candidates.size(), 200); ++i) {
            CHECK(std::find(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(i),
                            candidates[i]) == candidates.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }
}

} // namespace test_mapper_many_levels
