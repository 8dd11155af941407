// Who reads what, from a network's graph: what several layers read leaves the chip.
#include "analysis/fuse/fuse.hpp"
#include "base/lines.hpp"
#include "formats/catalog.hpp"
#include "report/answer/write.hpp"
#include "report/fuse/fuse_answer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace test_fuse_fuse_edges {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

formats::NetworkGraph wired(const std::string& name) {
    auto loaded = formats::load_wired_network(
        name, {std::filesystem::path(tests::source_dir()) / "examples/networks"});
    REQUIRE(loaded.ok());
    REQUIRE(loaded->edges);
    return *std::move(loaded);
}

analysis::FuseResult fused(const model::Network& network,
                           const std::optional<analysis::OnlyReaders>& readers,
                           double buffer = 4e6) {
    const analysis::Chip chip{"a chip", "buffer", buffer, 1e9, 1e12, 8};
    const auto result =
        analysis::fuse_network(network, chip, analysis::FuseAim::traffic, {}, {}, readers);
    REQUIRE(result.ok());
    return *result;
}

bool together(const analysis::FuseResult& result, const std::string& a, const std::string& b) {
    return std::any_of(result.groups.begin(), result.groups.end(), [&](const auto& group) {
        const auto has = [&](const std::string& name) {
            return std::find(group.layers.begin(), group.layers.end(), name) != group.layers.end();
        };
        return has(a) && has(b);
    });
}

} // namespace

TEST_CASE("a skip connection keeps what both of its readers need from staying on the chip") {
    const auto resnet = wired("resnet50");
    const auto readers = analysis::only_readers(resnet.network, *resnet.edges);
    CHECK(readers.at("conv2_1_a") == "conv2_1_b");
    CHECK(!readers.contains("maxpool")); // conv2_1_a and conv2_1_proj read it
    CHECK(!analysis::reads_alone(readers, "conv2_1_c", "conv2_1_proj"));
    const auto by_order = fused(resnet.network, {});
    const auto by_graph = fused(resnet.network, readers);
    CHECK(together(by_order, "maxpool", "conv2_1_a"));
    CHECK(!together(by_graph, "maxpool", "conv2_1_a"));
    CHECK(together(by_graph, "conv2_2_a", "conv2_2_b"));
    CHECK(by_graph.together.bytes > by_order.together.bytes);
}

TEST_CASE("an inverted residual's input leaves the chip, what is inside the block does not") {
    const auto mobile = wired("mobilenet-v2");
    const auto readers = analysis::only_readers(mobile.network, *mobile.edges);
    CHECK(!readers.contains("block2_project")); // block3 reads and adds it
    CHECK(readers.at("block3_expand") == "block3_depthwise");
    const auto result = fused(mobile.network, readers, 1e6);
    CHECK(!together(result, "block2_project", "block3_expand"));
    CHECK(together(result, "block3_expand", "block3_depthwise"));
}

TEST_CASE("both products of attention are neighbours through scale, mask and softmax in a graph") {
    const auto bert = wired("bert-base");
    const auto readers = analysis::only_readers(bert.network, *bert.edges);
    const bool separate = readers.contains("scores");
    CHECK((!separate || readers.at("scores") == "context"));
    CHECK(readers.at("ffn1") == "ffn2");
    CHECK(!readers.contains("layernorm"));
}

TEST_CASE("the last lines say what is proved, among what, and from where edges are known") {
    const auto mobile = wired("mobilenet-v2");
    const auto readers = analysis::only_readers(mobile.network, *mobile.edges);
    const auto ends_with = [](const analysis::FuseResult& result, const std::string& words) {
        std::string text = report::to_text(report::fuse_answer(result), kTextColumns);
        std::ranges::replace(text, '\n', ' '); // a sentence may go over several lines
        return text.find(words) != std::string::npos;
    };
    CHECK(ends_with(fused(mobile.network, readers), "proven optimal among partitions"));
    CHECK(ends_with(fused(mobile.network, readers), "the network's graph"));
    CHECK(ends_with(fused(mobile.network, readers), "beyond one for each number of tiles"));
    CHECK(ends_with(fused(mobile.network, {}), "the order of the layers"));
    const auto unfit = fused(mobile.network, readers, 40.0);
    CHECK(unfit.unfit() > 0);
    CHECK(ends_with(unfit, "the sums are lower bounds"));
    CHECK(!ends_with(unfit, "proved"));
}

TEST_CASE("energy is that of the MACs and of what crosses the outermost memory") {
    const auto mobile = wired("mobilenet-v2");
    analysis::Chip chip{"a chip", "buffer", 1e6, 1e9, 1e12, 8};
    chip.mac_pj = 2.0;
    chip.outer_pj_per_byte = 100.0;
    const auto result = analysis::fuse_network(mobile.network, chip, analysis::FuseAim::traffic);
    REQUIRE(result.ok());
    CHECK(result->together.energy_j ==
          near(1e-12 * (2.0 * result->together.macs + 100.0 * result->together.bytes), 1e-9));
    CHECK(result->together.energy_j < result->apart.energy_j);
    CHECK(report::to_text(report::fuse_answer(*result), kTextColumns)
              .find("in MACs and the outermost") != std::string::npos);
}

TEST_CASE("what is not proven is not called least") {
    const auto mobile = wired("mobilenet-v2");
    analysis::FuseResult result = fused(mobile.network, {});
    const auto least = [&] {
        return report::to_json(report::fuse_answer(result)).find("\"least\": true") !=
               std::string::npos;
    };
    CHECK(result.lone_proved);
    CHECK(least());
    result.lone_proved = false;
    CHECK(!least());
    const std::string text = report::to_text(report::fuse_answer(result), kTextColumns);
    CHECK(text.find("some single layers are not proven optimal") != std::string::npos);
    CHECK(text.rfind("proven optimal") == text.find("proven optimal")); // there alone
    CHECK(text.find("best found") != std::string::npos);
}

} // namespace test_fuse_fuse_edges
