#include "model/accelerator/mapping.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

namespace test_model_mapping {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using namespace eyeroof::test;

namespace {

Mapping row_stationary() { // F1 of the published study, on vgg3_2
    using enum Operand;
    Mapping m;
    m.levels.resize(5);
    m.levels[0] = {kAll, {{Dim::Q, 4}, {Dim::K, 8}, {Dim::C, 16}}, {}};
    m.levels[1] = {{input, output},
                   {{Dim::K, 2}, {Dim::P, 56}},
                   {{Dim::Q, 14, 0}, {Dim::C, 4, 1}, {Dim::S, 3, 1}}};
    m.levels[2] = {{input}, {}, {}};
    m.levels[3] = {{weight}, {{Dim::C, 4}, {Dim::R, 3}}, {}};
    m.levels[4] = {{output}, {{Dim::K, 16}}, {}};
    return m;
}

Problem vgg3_2() {
    return conv("vgg3_2", {3, 3, 56, 56, 256, 256, 1});
}

bool says(const Diagnostics& d, std::string_view code) {
    for (const Diagnostic& item : d) {
        if (item.code == code) {
            return true;
        }
    }
    return false;
}

} // namespace

TEST_CASE("the tile of a level is the product of its loops and all inner ones") {
    // N G K C P Q R S; GLB: K 2*16, C 4*4, P 56, Q 14, R 3, S 3
    CHECK(tile_at(row_stationary(), vgg3_2(), 1) == Extents{1, 1, 32, 16, 56, 14, 3, 3});
    CHECK(tile_at(row_stationary(), vgg3_2(), 4) == Extents{1, 1, 16, 1, 1, 1, 1, 1});
    CHECK(tile_at(row_stationary(), vgg3_2(), 0) == vgg3_2().bounds);
    CHECK(tile_at(row_stationary(), vgg3_2(), 5) == kOnes);
}

TEST_CASE("a legal mapping has no complaint") {
    CHECK(validate(row_stationary(), vgg3_2(), eyeriss168()).empty());
}

TEST_CASE("ceil-sized tiles may leave the last trip partial but never empty") {
    Problem p = vgg3_2();
    p.bounds[index(Dim::K)] = 250; // 8 * 2 * 16 = 256 covers it; the last trip of K8 has 26 of 32
    CHECK(validate(row_stationary(), p, eyeriss168()).empty());
    p.bounds[index(Dim::K)] = 224; // seven trips of 32 suffice: the eighth is empty
    CHECK(says(validate(row_stationary(), p, eyeriss168()), "empty-trip"));
    p.bounds[index(Dim::K)] = 257;
    CHECK(says(validate(row_stationary(), p, eyeriss168()), "not-covered"));
}

TEST_CASE("every broken rule is named in one go") {
    Mapping m = row_stationary();
    m.levels[1].spatial[0].bound = 15;     // axis x has 14
    m.levels[2].keeps = {Operand::output}; // the input spad cannot hold outputs
    m.levels[3].keeps = {};
    m.levels[0].keeps = {Operand::input}; // no home for the weights
    m.levels[3].temporal[1].bound = 0;    // a loop without a trip
    const Diagnostics d = validate(m, vgg3_2(), eyeriss168());
    CHECK(says(d, "axis-overfull"));
    CHECK(says(d, "no-store"));
    CHECK(says(d, "not-kept"));
    CHECK(says(d, "bad-loop"));
}

TEST_CASE("a tile above its store's capacity is refused, buffers and banks included") {
    Mapping m = row_stationary();
    Accelerator a = eyeriss168();
    m.levels[4].temporal[0].bound = 32; // 32 psums, 24 words
    m.levels[1].temporal[0].bound = 1;
    CHECK(says(validate(m, vgg3_2(), a), "over-capacity"));
    m = row_stationary();
    a.levels[3].stores[0].buffers = 2; // 2 * 192 words do not fit 224
    CHECK(says(validate(m, vgg3_2(), a), "over-capacity"));
    a.levels[3].stores[0].buffers = 1;
    a.levels[3].stores[0].bank_bytes = 300; // 384 bytes take two banks of 300
    CHECK(says(validate(m, vgg3_2(), a), "over-capacity"));
}

TEST_CASE("an operand cannot pass by a store that does not allow it") {
    Accelerator a = eyeriss168();
    a.levels[1].stores[0].may_bypass = false; // GLB, where the mapping lets weights pass
    CHECK(says(validate(row_stationary(), vgg3_2(), a), "cannot-bypass"));
}

TEST_CASE("loops too large for any count are refused and do not overflow") {
    Mapping m = row_stationary();
    m.levels[0].temporal[0].bound = Count{1} << 62;
    m.levels[1].spatial[0].bound = Count{1} << 62;
    CHECK(validate(m, vgg3_2(), eyeriss168()).has_errors());
    m.levels.pop_back();
    CHECK(says(validate(m, vgg3_2(), eyeriss168()), "level-count"));
}

TEST_CASE("a mapping reads as a loop nest, one line a level") {
    const std::string text = to_text(row_stationary(), eyeriss168());
    CHECK(text.find("GLB         keep -IO  for K2 P56  par Q14@x C4@y S3@y") != std::string::npos);
    CHECK(text.find("InputSpad   keep -I-  for -") != std::string::npos);
}

} // namespace test_model_mapping
