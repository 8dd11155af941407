#include "base/suggest.hpp"

#include <doctest/doctest.h>

#include <array>

namespace test_model_suggest {

using namespace eyeroof;

TEST_CASE("an edit is an insertion, a deletion, a replacement or a swap of neighbours") {
    CHECK(edit_distance("conv2d", "conv2d") == 0);
    CHECK(edit_distance("conv2", "conv2d") == 1);
    CHECK(edit_distance("cnov2d", "conv2d") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3); // k>s, e>i, +g
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("GEMM", "gemm") == 0);
}

TEST_CASE("the nearest name is offered only when it is near") {
    const std::array<std::string_view, 3> names = {"eyeriss-v1", "eyeriss-v2", "tpu-v1"};
    CHECK(closest("eyeris-v2", names) == "eyeriss-v2");
    CHECK(closest("shidiannao", names).empty());
    CHECK(closest("", names).empty());
    CHECK(closest(std::string(100'000, 'x'), names).empty());
    CHECK(suggestion("tpuv1", names) == "did you mean 'tpu-v1'?");
    CHECK(suggestion("zzz", names, 2) == "known: eyeriss-v1, eyeriss-v2, …");
}

} // namespace test_model_suggest
