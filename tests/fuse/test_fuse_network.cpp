// Whole networks, fused: what joins what, that fusing never costs, and what is told.
#include "analysis/exam/run.hpp"
#include "analysis/fuse/fuse.hpp"
#include "analysis/fuse/members.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "report/answer/write.hpp"
#include "report/fuse/fuse_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace test_fuse_fuse_network {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

const std::filesystem::path kSource = tests::source_dir();

model::Network network_of(const std::string& name) {
    const auto loaded = formats::load_network(name, {kSource / "examples/networks"});
    REQUIRE(loaded.ok());
    return *loaded;
}

analysis::Chip chip(double buffer_bytes) {
    return {"a chip", "buffer", buffer_bytes, 1e9, 1e12, 8};
}

analysis::FuseResult fused(const std::string& network, double buffer_bytes,
                           analysis::FuseAim aim = analysis::FuseAim::traffic) {
    const auto result = analysis::fuse_network(network_of(network), chip(buffer_bytes), aim);
    REQUIRE(result.ok());
    return *result;
}

const analysis::FusedGroup* group_with(const analysis::FuseResult& result,
                                       const std::string& layer) {
    for (const analysis::FusedGroup& group : result.groups) {
        if (std::find(group.layers.begin(), group.layers.end(), layer) != group.layers.end()) {
            return &group;
        }
    }
    return nullptr;
}

} // namespace

TEST_CASE("running layers together never moves more than one after the other, and fits") {
    for (const char* network : {"mobilenet-v1", "vgg16", "alexnet"}) {
        for (const double buffer : {256e3, 1e6, 8e6}) {
            const auto result = fused(network, buffer);
            CAPTURE(network);
            CAPTURE(buffer);
            CHECK(result.together.bytes <= result.apart.bytes * (1.0 + 1e-12));
            for (const analysis::FusedGroup& group : result.groups) {
                CHECK(group.together.bytes <= group.apart.bytes * (1.0 + 1e-12));
                CHECK((!group.fits || group.buffer_bytes <= buffer));
            }
        }
    }
}

TEST_CASE("least time is never more than the time of the least traffic") {
    const auto traffic = fused("mobilenet-v1", 128e3);
    const auto latency = fused("mobilenet-v1", 128e3, analysis::FuseAim::latency);
    CHECK(latency.together.time_s <= traffic.together.time_s * (1.0 + 1e-12));
    CHECK(traffic.together.bytes <= latency.together.bytes * (1.0 + 1e-12));
}

TEST_CASE("VGG's convolutions in a large buffer move their weights, an input and an output") {
    const auto result = fused("vgg16", 1e9);
    const analysis::FusedGroup* chain = group_with(result, "CONV3_1");
    REQUIRE(chain != nullptr);
    CHECK(chain->layers.size() == 18); // 13 convolutions and 5 pools
    // 14,710,464 weights, 224 x 224 x 3 inputs, 7 x 7 x 512 outputs, a byte each.
    CHECK(chain->together.bytes == 14710464.0 + 150528.0 + 25088.0);
    CHECK(chain->together.macs == chain->apart.macs);
}

TEST_CASE("both products of attention go together across scale, mask and softmax, queries and keys "
          "do not") {
    const auto result = fused("llama-2-7b:layers=1", 4e6);
    const analysis::FusedGroup* attention = group_with(result, "scores");
    REQUIRE(attention != nullptr);
    CHECK(attention->layers == std::vector<std::string>{"scores", "mix"});
    CHECK(attention->together.bytes < 0.5 * attention->apart.bytes);
    CHECK(group_with(result, "query")->layers.size() == 1);
}

TEST_CASE("an attention in one layer is costed as both products of each head") {
    const auto apart = fused("llama-2-7b:layers=1,fused=0", 4e6);
    const auto one = fused("llama-2-7b:layers=1,fused=1", 4e6);
    const analysis::FusedGroup* two = group_with(apart, "scores");
    const analysis::FusedGroup* attention = nullptr;
    for (const analysis::FusedGroup& group : one.groups) {
        attention = group.how == "products of one head together" ? &group : attention;
    }
    REQUIRE(attention != nullptr);
    CHECK(attention->together.bytes == near(two->together.bytes, 1e-12));
}

TEST_CASE("a layer that fits nowhere is told, and counted with each tensor once") {
    const auto result = fused("vgg16", 4.0);
    const analysis::FusedGroup* group = group_with(result, "POOL1");
    REQUIRE(group != nullptr);
    CHECK(!group->fits);
    CHECK(group->how.find("does not fit") != std::string::npos);
    CHECK(group->buffer_bytes == 0.0);
}

TEST_CASE("a convolution alone moves what the mapper's best mapping moves, not more") {
    // AlexNet's third convolution in 100 KiB: 2.13 MB, as `map --capacity-curve` and an exam say;
    // tiles of its plane alone would move 3.89 MB.
    analysis::Chip own = chip(100 * 1024.0);
    own.word_bits = 16;
    const auto result =
        analysis::fuse_network(network_of("alexnet"), own, analysis::FuseAim::traffic);
    REQUIRE(result.ok());
    const analysis::FusedGroup* group = group_with(*result, "CONV3");
    REQUIRE(group != nullptr);
    CHECK(group->apart.bytes == near(2129664.0, 1e-9));
    // Words of half the size in half the buffer.
    own.buffer_bytes /= 2.0;
    own.word_bits = 8;
    const auto narrow =
        analysis::fuse_network(network_of("alexnet"), own, analysis::FuseAim::traffic);
    REQUIRE(narrow.ok());
    CHECK(group_with(*narrow, "CONV3")->apart.bytes == near(2129664.0 / 2.0, 1e-9));
}

TEST_CASE("the curve is drawn with both traffics and the machine's own buffer") {
    const analysis::Chip own = chip(64 * 1024.0);
    const auto curve = analysis::fuse_curve(network_of("alexnet"), own);
    REQUIRE(curve.ok());
    const std::string svg =
        report::to_svg_picture(report::fuse_curve_answer("alexnet", own, *curve));
    CHECK(svg.find("<svg") == 0);
    CHECK(svg.find("layers together") != std::string::npos);
    CHECK(svg.find("layer by layer") != std::string::npos);
    CHECK(svg.find("64 KiB") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
}

TEST_CASE("the curve never rises where everything fits") {
    const auto curve = analysis::fuse_curve(network_of("alexnet"), chip(1.0));
    REQUIRE(curve.ok());
    double before = 1e300;
    int fitting = 0;
    for (const analysis::FusePoint& point : *curve) {
        if (point.fits) {
            CHECK(point.together_bytes <= before);
            before = point.together_bytes;
            ++fitting;
        }
    }
    CHECK(fitting > 8);
}

TEST_CASE(
    "the curve has a point for each power of two from 1 KiB to 256 MiB, and says how far it is") {
    std::vector<double> done;
    const auto curve =
        analysis::fuse_curve(network_of("alexnet"), chip(1.0), {},
                             [&](const Progress& progress) { done.push_back(progress.fraction); });
    REQUIRE(curve.ok());
    REQUIRE(curve->size() == 19);
    REQUIRE(done.size() == 19);
    double bytes = 1024.0;
    for (std::size_t i = 0; i < 19; ++i) {
        CHECK((*curve)[i].buffer_bytes == bytes);
        CHECK(done[i] == near((static_cast<double>(i) + 1.0) / 19.0));
        bytes *= 2.0;
    }
}

TEST_CASE("fusing says which layer it starts from, each once") {
    std::vector<std::string> from;
    const auto result = analysis::fuse_network(
        network_of("alexnet"), chip(256e3), analysis::FuseAim::traffic, {},
        [&](const Progress& progress) { from.push_back(progress.activity); });
    REQUIRE(result.ok());
    CHECK(std::count(from.begin(), from.end(), "fusing from CONV3") == 1);
}

TEST_CASE("a machine lends its largest store, its link and its peak") {
    const std::vector<std::filesystem::path> folders{kSource / "hwdb"};
    const auto eyeriss = hwdb::load_machine("eyeriss-v1", folders);
    REQUIRE(eyeriss.ok());
    const auto chip = analysis::chip_of(*eyeriss, model::DataType::int16);
    REQUIRE(chip.ok());
    CHECK(chip->buffer == "GLB");
    CHECK(chip->dram_bytes_per_s == near(480e6, 1e-9));
    CHECK(chip->macs_per_s == near(168 * 200e6, 1e-9));
    CHECK(chip->outer_pj_per_byte == near(100.0));          // 200 for a word of two bytes
    const auto tpu = hwdb::load_machine("tpu-v1", folders); // weights, and a link of both ways
    CHECK(analysis::chip_of(*tpu, model::DataType::int8)->dram_bytes_per_s ==
          near(34e9 + 2 * 14e9));
    auto frugal = *eyeriss;
    std::get<model::Accelerator>(frugal.kind).levels[0].stores[0].read_pj = 1.0;
    CHECK(analysis::chip_of(frugal, model::DataType::int16)->outer_pj_per_byte == near(0.5));
    const auto gpu = hwdb::load_machine("v100-sxm2-16gb", folders);
    REQUIRE(gpu.ok());
    CHECK(analysis::chip_of(*gpu, model::DataType::fp16)->buffer == "L2");
    CHECK(!analysis::chip_of(*gpu, model::DataType::fp8).ok());
}

TEST_CASE(
    "what a layer cannot avoid moving is what an exam counts where nothing stays on the chip") {
    const std::vector<std::filesystem::path> folders{kSource / "hwdb"};
    int compared = 0;
    for (const char* machine : {"eyeriss-v1", "npu-int8", "tpu-v1", "nvdla-small", "bm1688-core"}) {
        auto alone = hwdb::load_machine(machine, folders);
        REQUIRE(alone.ok());
        const auto chip = analysis::chip_of(*alone, model::DataType::int8);
        REQUIRE(chip.ok());
        for (model::Level& level : std::get<model::Accelerator>(alone->kind).levels) {
            level.keeps_between_layers = level.keeps_weights = false;
        }
        for (const char* network : {"alexnet", "mobilenet-v1", "resnet18", "six-products"}) {
            CAPTURE(machine);
            CAPTURE(network);
            auto question = tests::question_of(network_of(network), *alone);
            question.scenario.policy = analysis::MappingPolicy::dataflow;
            for (model::Layer& layer : question.network.layers) { // fusion codes no zeros
                layer.input_zeros = layer.output_zeros = 0.0;
            }
            const auto report = analysis::run(question);
            const auto chains = analysis::chains_of(question.network, *chip);
            REQUIRE(report.ok());
            REQUIRE(chains.ok());
            for (const analysis::ChainMember& member : chains->members) {
                const auto row = std::find_if(
                    report->layers.begin(), report->layers.end(),
                    [&](const auto& layer) { return layer.layer.name == member.name; });
                REQUIRE(row != report->layers.end());
                if (model::multiplies(row->layer.op)) {
                    CAPTURE(member.name);
                    CHECK(std::abs(static_cast<double>(row->bytes) - member.compulsory_bytes) <=
                          1.0);
                    ++compared;
                }
            }
        }
    }
    CHECK(compared > 300);
}

TEST_CASE("the JSON is as its schema says, and its groups add up to its totals") {
    const auto json =
        nlohmann::json::parse(report::to_json(report::fuse_answer(fused("alexnet", 1e6))));
    const auto schema = nlohmann::json::parse(report::to_schema(report::fuse_answer({})));
    CHECK(tests::SchemaCheck(schema).faults(json).empty());
    double sum = 0.0;
    for (const auto& group : json["groups"]) {
        sum += group["together"]["dram_bytes"].get<double>();
    }
    CHECK(sum == near(json["totals"]["together"]["dram_bytes"].get<double>(), 1e-12));
}

namespace {

model::Layer product(const std::string& name, Count m, Count n, Count k) {
    model::Layer layer;
    layer.name = name;
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, m, n, k};
    layer.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    return layer;
}

// The same arithmetic: rows are positions, columns channels.
model::Layer pointwise(const std::string& name, Count m, Count n, Count k) {
    model::Layer layer = product(name, m, n, k);
    layer.op = model::Op::conv2d;
    model::ConvShape shape;
    shape.h = m;
    shape.c = k;
    shape.k = n;
    layer.shape = shape;
    return layer;
}

model::Layer norm(Count rows, Count columns) {
    model::Layer layer = product("norm", 1, 1, 1);
    layer.op = model::Op::layernorm;
    layer.shape = model::RowsShape{rows, columns, 0};
    return layer;
}

double together(const std::vector<model::Layer>& layers, double buffer, std::size_t groups) {
    const auto result =
        analysis::fuse_network({"n", "n", "", layers}, chip(buffer), analysis::FuseAim::traffic);
    REQUIRE(result.ok());
    CHECK(result->groups.size() == groups);
    CHECK(result->together.bytes <= result->apart.bytes);
    return result->together.bytes;
}

} // namespace

TEST_CASE("plain products in a row run together, never worse than as convolutions of one tap") {
    const auto all = [](auto make) {
        return std::vector{make("a", 256, 64, 64), make("b", 256, 64, 64), make("c", 256, 64, 64)};
    };
    const double products = together(all(product), 12'288, 1);
    CHECK(products == near(2.0 * 256 * 64 + 9 * 4096)); // see test_product_chain.cpp
    for (const double buffer : {6e3, 12'288.0, 13e3, 20e3, 64e3}) {
        CAPTURE(buffer);
        const auto one = analysis::fuse_network({"n", "n", "", all(product)}, chip(buffer),
                                                analysis::FuseAim::traffic);
        const auto taps = analysis::fuse_network({"n", "n", "", all(pointwise)}, chip(buffer),
                                                 analysis::FuseAim::traffic);
        CHECK(one->together.bytes <= taps->together.bytes);
    }
}

TEST_CASE(
    "a product in a buffer that holds it all moves each word once, of as many bytes as it has") {
    const auto alone = [](int bits) {
        analysis::Chip wide = chip(64e3);
        wide.word_bits = bits;
        const auto result = analysis::fuse_network({"n", "n", "", {product("p", 64, 64, 64)}}, wide,
                                                   analysis::FuseAim::traffic);
        REQUIRE(result.ok());
        REQUIRE(result->groups.size() == 1);
        CHECK(result->together.bytes == near(bits / 8.0 * 3 * 64 * 64));
        return result->groups.front().buffer_bytes;
    };
    CHECK(alone(8) > 0.0);
    CHECK(alone(16) == near(2.0 * alone(8)));
}

TEST_CASE("a norm between products keeps them together where whole rows fit") {
    const std::vector<model::Layer> layers = {product("up", 64, 512, 64), norm(64, 512),
                                              product("down", 64, 64, 512)};
    // One tile of 64 rows: the norm needs 512 words of each row, beside 64 sums.
    CHECK(together(layers, 64.0 * (512 + 64) + 1, 1) == near(2.0 * 64 * 64 + 2 * 64 * 512));
    together(layers, 2e3, 2); // not even a few rows pay
}

TEST_CASE("products beside an attention are joined only where something tells that they are") {
    std::vector<model::Layer> layers = {product("q", 64, 64, 64), product("k", 64, 64, 64)};
    model::Layer attention = product("attention", 1, 1, 1);
    attention.op = model::Op::attention;
    attention.shape = model::AttentionShape{1, 1, 64, 64, 64};
    layers.push_back(attention);
    together(layers, 64e3, 3);
    const analysis::OnlyReaders readers = {{"q", "k"}};
    const auto known = analysis::fuse_network({"n", "n", "", layers}, chip(64e3),
                                              analysis::FuseAim::traffic, {}, {}, readers);
    REQUIRE(known.ok());
    CHECK(known->groups.front().layers == std::vector<std::string>{"q", "k"});
}

TEST_CASE("a classifier's softmax keeps no products apart, and windows end before them") {
    std::vector<model::Layer> layers = {product("FC6", 1, 64, 64), product("FC7", 1, 64, 64)};
    model::Layer softmax = norm(1, 64);
    softmax.op = model::Op::softmax;
    layers.push_back(softmax);
    together(layers, 64e3, 1);
    layers.push_back(product("after", 1, 32, 64)); // what an attention's second product looks like
    const auto apart =
        analysis::fuse_network({"n", "n", "", layers}, chip(64e3), analysis::FuseAim::traffic);
    REQUIRE(apart.ok());
    CHECK(apart->groups.front().layers == std::vector<std::string>{"FC6"});
    const auto vgg = fused("vgg16", 256e3);
    const analysis::FusedGroup* last = group_with(vgg, "POOL5");
    REQUIRE(last != nullptr);
    CHECK(last->ends == "products and windows are not fused");
}

} // namespace test_fuse_fuse_network
