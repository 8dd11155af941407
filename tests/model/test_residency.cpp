// Where operands are at home when layers hand their activations over on chip.
#include "model/accelerator/residency.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

namespace test_model_residency {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;

TEST_CASE("activations stay on chip between layers only where all of them fit") {
    // 32 inputs and 32 outputs of 16 bits: 128 bytes, 64 words.
    const Problem problem = test::conv("small", {1, 1, 8, 1, 4, 4, 1});
    const auto homes = [&](Count words, bool hand_over) {
        Accelerator a;
        a.levels = {test::level("memory", {test::store(test::kAll, 0, 1, 1, 0)}),
                    test::level("buffer", {test::store(test::kAll, words, 1, 1, 0)})};
        a.levels[1].keeps_between_layers = true;
        return home_levels(problem, a, hand_over);
    };
    CHECK(homes(64, true)[index(Operand::input)] == 1);
    CHECK(homes(64, true)[index(Operand::output)] == 1);
    CHECK(homes(64, true)[index(Operand::weight)] == 0); // read again for every layer
    CHECK(homes(63, true)[index(Operand::input)] == 0);
    CHECK(homes(64, false)[index(Operand::input)] == 0);
}

} // namespace test_model_residency
