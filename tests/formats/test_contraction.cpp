#include "formats/accelforge.hpp"
#include "formats/contraction.hpp"
#include "model/workload/layer.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

namespace test_formats_contraction {

using namespace eyeroof;
using namespace eyeroof::formats;

namespace {

using Names = std::set<std::string>;
using Sizes = std::map<std::string, Count, std::less<>>;

// The fewest MACs of all orders, pair by pair.
double fewest(const std::vector<Names>& operands, const Names& output, const Sizes& sizes) {
    if (operands.size() == 1) {
        return 0.0;
    }
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < operands.size(); ++a) {
        for (std::size_t b = a + 1; b < operands.size(); ++b) {
            Names pair = operands[a], needed = output;
            pair.insert(operands[b].begin(), operands[b].end());
            std::vector<Names> rest;
            for (std::size_t i = 0; i < operands.size(); ++i) {
                if (i != a && i != b) {
                    needed.insert(operands[i].begin(), operands[i].end());
                    rest.push_back(operands[i]);
                }
            }
            double macs = 1.0;
            for (const std::string& name : pair) {
                macs *= static_cast<double>(sizes.at(name));
            }
            std::erase_if(pair, [&](const std::string& name) { return !needed.contains(name); });
            rest.push_back(pair);
            best = std::min(best, macs + fewest(rest, output, sizes));
        }
    }
    return best;
}

} // namespace

TEST_CASE("tensors are contracted in the order of fewest MACs") {
    std::mt19937 random(7);
    const auto below = [&](unsigned n) { return random() % n; };
    for (int round = 0; round < 300; ++round) {
        const Names all = {"a", "b", "c", "d", "e", "f"};
        Sizes sizes;
        Names output;
        std::vector<Names> operands(2 + below(4));
        for (const std::string& name : all) {
            sizes[name] = 1 + below(9);
            for (Names& operand : operands) {
                if (below(2) == 0) {
                    operand.insert(name);
                }
            }
            if (below(3) == 0) {
                output.insert(name);
            }
        }
        const auto order = contraction_order(operands, output, sizes);
        REQUIRE(order.size() == operands.size() - 1);
        double macs = 0.0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            CHECK(order[i].left < order[i].right);
            CHECK(order[i].right < operands.size() + i); // made before
            macs += order[i].macs;
        }
        CHECK(macs == fewest(operands, output, sizes));
    }
    CHECK(contraction_order({{"a"}}, {}, {{"a", 2}}).empty());
    Sizes huge;
    Names many;
    for (int i = 0; i < 40; ++i) { // MACs above what a double holds
        many.insert("v" + std::to_string(i));
        huge["v" + std::to_string(i)] = 1'000'000'000;
    }
    CHECK(contraction_order({many, many, many}, many, huge).size() == 2);
    CHECK(contraction_order(std::vector<Names>(kMostContracted + 1), {}, {}).empty());
}

TEST_CASE("MTTKRP becomes two products, with the order and its MACs in a warning") {
    // (A C) B: 8 4 16 2 + 8 4 2 = 1,088; (A B) C: 1,024 + 256; (B C) A: 128 + 1,024
    const auto made =
        parse_accelforge_workload("workload:\n  rank_sizes: {I: 8, K: 4, L: 16, J: 2}\n  einsums:\n"
                                  "  - \"Z[i, j] = A[i, k, l] * B[k, j] * C[l, j]\"\n",
                                  "mttkrp.yaml", {});
    REQUIRE(made.ok());
    const auto& layers = made->network.layers;
    REQUIRE(layers.size() == 2);
    CHECK(layers[0].name == "Z.1");
    CHECK(layers[1].name == "Z");
    CHECK(model::work_of(layers[0])->macs == 1024);
    CHECK(model::work_of(layers[1])->macs == 64);
    CHECK(made->edges->steps[1].reads == std::vector<std::size_t>{0});
    REQUIRE(made.diagnostics().size() == 1);
    const Diagnostic& said = made.diagnostics().items().front();
    CHECK(said.code == "contracted");
    CHECK(said.where.line == 4);
    CHECK(said.message == "Z reads 3 tensors and is counted as 2 products of two, in the order of "
                          "fewest MACs: Z.1 = A * C, Z = B * Z.1; 1.09 kMAC, one nest of all has "
                          "1.02 k points");
    const auto window =
        parse_accelforge_workload("workload:\n  rank_sizes: {P: 8, R: 3, K: 4}\n  einsums:\n"
                                  "  - \"Z[p, k] = A[H: p + r] * B[r, k] * C[k]\"\n",
                                  "window.yaml", {});
    REQUIRE_FALSE(window.ok());
    CHECK(window.diagnostics().items().front().message == "Z reads 3 tensors");
}

} // namespace test_formats_contraction
