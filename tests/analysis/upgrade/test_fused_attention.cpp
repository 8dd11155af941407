// Attention written out as operators, taken as one kernel.
#include "analysis/program/fusion.hpp"
#include "formats/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_analysis_upgrade_fused_attention {

using namespace eyeroof;

namespace {

model::Network network(const std::string& name) {
    const std::filesystem::path source = tests::source_dir();
    return formats::load_network(name, {source / "examples/networks"}).value();
}

std::vector<model::AttentionShape> attentions(const model::Network& net) {
    std::vector<model::AttentionShape> all;
    for (const model::Layer& layer : net.layers) {
        if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
            all.push_back(*a);
        }
    }
    return all;
}

model::Layer matrices(const char* name, Count m, Count n, Count k) {
    model::Layer layer;
    layer.name = name;
    layer.op = model::Op::bmm;
    layer.shape = model::GemmShape{12, m, n, k};
    return layer;
}

model::Layer softmax(Count rows, Count cols) {
    model::Layer layer;
    layer.name = "softmax";
    layer.op = model::Op::softmax;
    layer.shape = model::RowsShape{rows, cols};
    return layer;
}

// By neighbors, as of a network without edges.
model::Network fused(const model::Network& net) {
    return analysis::step::with_attention(net, std::nullopt).network;
}

} // namespace

TEST_CASE("attention written out becomes the kernel that the catalog writes for it") {
    for (const char* name : {"bert-base", "vit-b-16", "gpt-3-6.7b"}) {
        CAPTURE(name);
        const model::Network made = fused(network(name));
        const model::Network own = network(std::string(name) + ":fused=1");
        CHECK(made.layers.size() == own.layers.size());
        CHECK(attentions(made) == attentions(own));
        CHECK_FALSE(attentions(own).empty());
    }
}

TEST_CASE("grouped queries are one attention of as many heads as there are keys") {
    const auto found = attentions(fused(network("llama-3-8b")));
    REQUIRE(found.size() == 1);
    CHECK(found[0] == model::AttentionShape{1, 8, 8192, 2048, 128});
}

TEST_CASE("products that are no attention stay what they are") {
    model::Network net;
    net.layers = {matrices("scores", 128, 128, 64), softmax(12 * 128, 128),
                  matrices("mix", 128, 64, 128)};
    CHECK(fused(net).layers.size() == 1);
    auto apart = net;
    apart.layers[1].count = 2; // runs twice for each product
    CHECK(fused(apart) == apart);
    auto other = net;
    other.layers[1] = softmax(12 * 128, 64); // not over the scores
    CHECK(fused(other) == other);
    auto unlike = net;
    unlike.layers[2] = matrices("mix", 128, 32, 128); // values narrower than keys
    CHECK(fused(unlike).layers.size() == 1);          // values of a size of their own
    auto plain = net;
    plain.layers.erase(plain.layers.begin() + 1); // no softmax between them
    CHECK(fused(plain) == plain);
    CHECK(fused(network("resnet50")) == network("resnet50"));
    const auto relative = network("transformer-xl"); // scores of contents plus those of positions
    CHECK(fused(relative) == relative);
}

} // namespace test_analysis_upgrade_fused_attention
