#include "model/workload/network.hpp"

#include <doctest/doctest.h>

namespace test_model_network {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;

namespace {

Network two_layers() {
    Network network{"toy", "Toy", "made up", {}};
    network.layers.push_back({"fc", Op::gemm, GemmShape{1, 2, 3, 4}, {}, Direction::fwd, 5});
    network.layers.push_back({"bn", Op::batchnorm, RowsShape{8, 10}, {}, Direction::fwd, 1});
    return network;
}

} // namespace

TEST_CASE("a network's totals multiply each layer by its count") {
    const NetworkTotals totals = totals_of(two_layers()).value();
    CHECK(totals.macs == 5 * 24);
    CHECK(totals.flops == 5 * 48 + 7 * 80 + 4 * 8);
    CHECK(totals.weight_bytes == 5 * 24 + 32); // 12 weights, and 2 a channel of batchnorm, 2 bytes
}

TEST_CASE("operators without a cost are counted, products first, with their share") {
    Network network = two_layers();
    CHECK(uncosted_text(network).empty());
    CHECK(uncosted_share(network) == 0.0);
    network.uncosted = {{"NonZero", "nz", "its sizes are not known", 1, false},
                        {"DeformConv", "dcn", "it has no cost here", 1, true},
                        {"NonZero", "nz2", "its sizes are not known", 2, false}};
    sort_uncosted(network.uncosted);
    REQUIRE(network.uncosted.size() == 2);
    CHECK(network.uncosted[0].op == "DeformConv");
    CHECK(network.uncosted[1].name == "nz"); // of the first
    CHECK(uncosted_operators(network) == 4);
    CHECK(uncosted_products(network) == 1);
    CHECK(uncosted_share(network) == 4.0 / 6.0); // beside two layers
    network.operators = 40;
    CHECK(uncosted_text(network) ==
          "4 of 40 operators (10.0 %) are not costed: DeformConv (1: it has no cost here; it may "
          "multiply), NonZero (3: its sizes are not known)");
    CHECK(with_batch(network, 2)->uncosted == network.uncosted);
}

TEST_CASE("a batch multiplies the batch dimension of every operator") {
    const Network grown = with_batch(two_layers(), 6).value();
    CHECK(std::get<GemmShape>(grown.layers[0].shape) == GemmShape{6, 2, 3, 4});
    CHECK(std::get<RowsShape>(grown.layers[1].shape) == RowsShape{8, 60}); // rows are channels
    CHECK(totals_of(grown)->macs == 6 * totals_of(two_layers())->macs);
    CHECK(with_batch(two_layers(), 1).value() == two_layers());
    Network lookup = two_layers(); // more samples look the same lines up
    lookup.layers.resize(1);
    lookup.layers[0].op = Op::embedding;
    lookup.layers[0].shape = RowsShape{100, 8};
    const Count lines = totals_of(lookup)->parameters;
    CHECK(lines == 800 * lookup.layers[0].count);
    CHECK(totals_of(*with_batch(lookup, 64))->parameters == lines);
}

TEST_CASE("a batch reaches more experts and gives each more rows, and reads none twice") {
    Network network{"experts", "Experts", "made up", {}};
    const auto add = [&](Count batch, std::optional<Count> parameters) {
        network.layers.push_back({"up", Op::bmm, GemmShape{batch, 1, 6, 4}, {}});
        network.layers.back().parameters = parameters;
    };
    add(2, 8 * 24 + 8);   // two of eight experts, and biases
    add(8, 8 * 24);       // all of eight matrices
    add(2, std::nullopt); // data
    add(2, 0);            // weights of another layer, or none
    const auto shape = [&](std::size_t layer, Count batch) {
        return std::get<GemmShape>(with_batch(network, batch)->layers[layer].shape);
    };
    CHECK(shape(0, 4) == GemmShape{5, 2, 6, 4});   // 8 (1 - 0.75^4) = 5.5 experts, 8 rows
    CHECK(shape(0, 64) == GemmShape{8, 16, 6, 4}); // all experts, 128 rows
    CHECK(shape(1, 64) == GemmShape{8, 64, 6, 4});
    CHECK(shape(2, 64) == GemmShape{128, 1, 6, 4});
    CHECK(shape(3, 64) == GemmShape{128, 1, 6, 4});
    CHECK_FALSE(with_batch(network, kMaxDimension).ok());
}

TEST_CASE("a batch that is not a batch is refused") {
    CHECK_FALSE(with_batch(two_layers(), 0).ok());
    CHECK_FALSE(with_batch(two_layers(), -4).ok());
    CHECK_FALSE(with_batch(two_layers(), kMaxDimension).ok()); // 10 columns times 1e9
}

TEST_CASE("totals that overflow, and layers that are wrong, are named") {
    Network network = two_layers();
    network.layers[0].count = kMaxDimension;
    network.layers[0].shape = GemmShape{1, 1'000'000, 1'000'000, 1'000};
    CHECK(totals_of(network).diagnostics().items()[0].field == "layers[0]");
    network = two_layers();
    network.layers[1].shape = RowsShape{0, 10};
    CHECK(totals_of(network).diagnostics().items()[0].field == "layers[1].rows");
}

} // namespace test_model_network
