// Which rows a fit may see depends on the shape alone.
#include "analysis/calibrate/splits.hpp"

#include <doctest/doctest.h>

namespace test_analysis_splits {

using namespace eyeroof; // NOLINT
using analysis::is_held_out;

TEST_CASE("a shape falls on one side whatever its name and data type") {
    int held = 0;
    for (Count i = 1; i <= 1000; ++i) {
        model::Layer layer;
        layer.shape = model::GemmShape{1, 8 * i, 4096, 64 + i};
        const bool side = is_held_out(layer);
        layer.name = "another";
        layer.types.input = model::DataType::fp32;
        CHECK(is_held_out(layer) == side);
        held += side ? 1 : 0;
    }
    CHECK(held > 450);
    CHECK(held < 550);
}

TEST_CASE("every kind of shape is split, attention and experts too") {
    int attention = 0;
    int experts = 0;
    int pools = 0;
    for (Count i = 1; i <= 200; ++i) {
        model::Layer layer;
        layer.shape = model::AttentionShape{1, 8, 64 * i, 64 * i, 128};
        attention += is_held_out(layer) ? 1 : 0;
        layer.shape = model::MoeShape{64 * i, 4096, 1024, 2, 8};
        experts += is_held_out(layer) ? 1 : 0;
        layer.shape = model::PoolShape{1, i, 56, 56, 3, 3};
        pools += is_held_out(layer) ? 1 : 0;
    }
    for (const int held : {attention, experts, pools}) {
        CHECK(held > 70);
        CHECK(held < 130);
    }
}

} // namespace test_analysis_splits
