// Which networks are decoders that can be divided and served, and their sizes.
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

namespace test_scale_decoders {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};
const std::vector<fs::path> kNetworks = {fs::path(tests::source_dir()) / "examples" / "networks"};

model::Network network_named(const std::string& name) {
    const auto network = formats::load_network(name, kNetworks);
    REQUIRE(network.ok());
    return *network;
}

} // namespace

TEST_CASE("weights of every decoder of the catalog are those of its network within 1 %") {
    const auto heads = formats::list_networks(kNetworks);
    REQUIRE(heads.ok());
    int decoders = 0;
    for (const formats::NetworkHead& head : *heads) {
        const model::Network network = network_named(head.id);
        const auto decoder = transformer_of(network);
        const std::string file = head.path.filename().string();
        CAPTURE(head.id);
        const bool is_decoder = file == "llm.yaml" || file == "gpt.yaml" || file == "gpt2.yaml" ||
                                file == "gemma.yaml" || file == "deepseek.yaml" ||
                                file == "moe.yaml" || file == "qwen3-next.yaml";
        CHECK(decoder.ok() == is_decoder);
        if (decoder) {
            ++decoders;
            CHECK(parameters(*decoder) ==
                  tests::near(static_cast<double>(model::totals_of(network)->parameters), 0.01));
        }
    }
    CHECK(decoders > 45);
}

TEST_CASE("the cache of every decoder is the keys and values that its attention reads") {
    const auto heads = formats::list_networks(kNetworks);
    REQUIRE(heads.ok());
    int windowed = 0;
    for (const formats::NetworkHead& head : *heads) {
        const std::string file = head.path.filename().string();
        if (file != "llm.yaml" && file != "gemma.yaml" && file != "moe.yaml" &&
            file != "qwen3-next.yaml") {
            continue;
        }
        CAPTURE(head.id);
        // Shorter and longer than every window, whose size no shape shows at the first two.
        for (const Count tokens : {64, 400, 20'001}) {
            const auto decoder = transformer_of(network_named(head.id));
            REQUIRE(decoder.ok());
            const model::Network step =
                network_named(head.id + ":new=1,context=" + std::to_string(tokens - 1));
            double read = 0.0; // by scores, 2 bytes a value; as many values follow
            for (const model::Layer& layer : step.layers) {
                const auto* g = std::get_if<model::GemmShape>(&layer.shape);
                if (g != nullptr && layer.name.starts_with("scores")) {
                    read += 2.0 * 2.0 * static_cast<double>(layer.count * g->batch * g->n * g->k);
                }
            }
            const StateLayers& s = decoder->states;
            const double states = static_cast<double>(s.layers) *
                                  (4.0 * static_cast<double>(s.values * s.size * s.size) +
                                   2.0 * static_cast<double>(s.mixed() * (s.taps - 1)));
            CHECK(cache_bytes(*decoder, 1, model::DataType::bf16, tokens) == read + states);
            windowed += decoder->window.layers > 0 && tokens > 20'000 ? 1 : 0;
        }
    }
    CHECK(windowed >= 11); // seven of Gemma 2 and 3, two each of gpt-oss and Llama 4
}

// OpenAI, arXiv:2508.10925; Llama 4 model card; Qwen3-Next's config.json.
TEST_CASE("decoders with windows, sinks, and states are read with what their layers see") {
    const auto read = [](const std::string& name) {
        const auto t = transformer_of(network_named(name));
        REQUIRE_MESSAGE(t.ok(), name);
        return *t;
    };
    for (const char* how : {"", ":new=1,context=5000", ":new=16,batch=4,context=100"}) {
        CAPTURE(how);
        const Transformer oss = read(std::string("gpt-oss-120b") + how);
        CHECK(oss.layers == 36);
        CHECK(oss.window == Window{18, 128});
        CHECK(oss.heads == 64);
        CHECK(oss.kv_heads == 8);
        CHECK(oss.experts == 128);
        CHECK(oss.active == 4);
        CHECK(oss.shared == 0);
        CHECK(oss.biases);
        const Transformer scout = read(std::string("llama-4-scout") + how);
        CHECK(scout.layers == 48);
        CHECK(scout.window == Window{36, 8192});
        CHECK(scout.shared == 1);
        CHECK(scout.dense_layers == 0);
        const Transformer maverick = read(std::string("llama-4-maverick") + how);
        CHECK(maverick.window == Window{36, 8192});
        CHECK(maverick.dense_layers == 24);
        CHECK(maverick.dense_inner == 16384);
        CHECK(maverick.shared == 1);
        const Transformer next = read(std::string("qwen3-next-80b-a3b") + how);
        CHECK(next.layers == 48);
        CHECK(next.states == StateLayers{36, 16, 32, 128, 4});
        CHECK(next.attention_layers() == 12);
        CHECK(next.gated_attention);
        CHECK(next.heads == 16);
        CHECK(next.kv_heads == 2);
        CHECK(next.shared == 1);
        CHECK(next.active == 10);
    }
    // Three quarters of Maverick's layers keep 8192 of 100,000 tokens.
    const Transformer maverick = read("llama-4-maverick");
    CHECK(cache_bytes(maverick, 1, model::DataType::bf16, 100'000) ==
          2.0 * 2 * 8 * 128 * (12.0 * 100'000 + 36.0 * 8192));
    CHECK(tensor_degrees(read("qwen3-next-80b-a3b")) == std::vector<Count>{1, 2, 4, 8, 16});
}

TEST_CASE("every decoder of the catalog serves on enough devices, and a window is never slower") {
    const auto machine = *hwdb::load_machine("h200-sxm-141gb", kHwdb);
    const auto fabric = *hwdb::load_fabric("hgx-h200-ndr", kHwdb);
    for (const char* name : {"gpt-oss-20b", "gpt-oss-120b", "llama-4-scout", "llama-4-maverick",
                             "qwen3-next-80b-a3b", "gemma-3-27b", "glm-4.5-air"}) {
        const Transformer t = *transformer_of(network_named(name));
        ServingOptions o;
        o.type = model::DataType::fp8;
        o.tensor = {8};
        o.batches = {16};
        o.prompt = 20'000;
        o.exam.launch = model::Launch::graph;
        CAPTURE(name);
        const auto served = serve(t, machine, fabric, o);
        REQUIRE(served.ok());
        Transformer full = t;
        full.window = {};
        const auto without = serve(full, machine, fabric, o);
        REQUIRE(without.ok());
        CHECK(served->points[0].step_s <= without->points[0].step_s);
        CHECK(served->points[0].prefill_s <= without->points[0].prefill_s * 1.001);
        CHECK(served->points[0].cache_bytes <= without->points[0].cache_bytes);
        CHECK((t.window.layers == 0 ||
               served->points[0].cache_bytes < 0.9 * without->points[0].cache_bytes));
    }
}

TEST_CASE("the cache of a token is what its decoder's operators write") {
    for (const char* name :
         {"llama-2-7b", "llama-3-8b", "llama-3-70b", "llama-3.1-405b", "qwen2.5-7b", "phi-4",
          "mixtral-8x7b", "gemma-2b", "gemma-2-9b", "deepseek-v3"}) {
        const model::Network network = network_named(std::string(name) + ":new=1");
        double written = 0.0; // keys and values of one word in all layers, 2 bytes
        for (const model::Layer& layer : network.layers) {
            const auto* copied = std::get_if<model::ElementwiseShape>(&layer.shape);
            if (layer.name == "cache" && copied != nullptr) {
                written += 2.0 * static_cast<double>(copied->rows * copied->cols * layer.count);
            }
        }
        const auto decoder = transformer_of(network_named(name));
        REQUIRE(decoder.ok());
        CAPTURE(name);
        CHECK(cache_bytes(*decoder, 1, model::DataType::bf16, 1) == written);
    }
    // Every head has keys of its own: 2 x 12 layers x 768 values x 2 bytes.
    CHECK(cache_bytes(*transformer_of(network_named("gpt2")), 1, model::DataType::bf16, 1) ==
          2.0 * 12 * 768 * 2);
}

// DeepSeek-AI, arXiv:2412.19437, section 4.2, and its repository's config_671B.json.
TEST_CASE("DeepSeek-V3 is read with its latents, experts, and dense layers") {
    for (const char* name : {"deepseek-v3", "deepseek-v3:new=1,context=4095,absorbed=1",
                             "deepseek-v3:new=7,batch=3", "deepseek-v3:new=18432"}) {
        const auto t = transformer_of(network_named(name));
        CAPTURE(name);
        REQUIRE(t.ok());
        CHECK(t->latent == Latent{1536, 512, 64, 128});
        CHECK(t->layers == 61);
        CHECK(t->heads == 128);
        CHECK(t->head_size == 192);
        CHECK(t->inner == 2048);
        CHECK(t->experts == 256);
        CHECK(t->active == 8);
        CHECK(t->shared == 1);
        CHECK(t->dense_layers == 3);
        CHECK(t->dense_inner == 18432);
        // Published with the router's biases and the last norm.
        CHECK(parameters(*t) == tests::near(671'026'419'200.0, 1e-6));
        CHECK(active_parameters(*t) == tests::near(37'552'297'472.0, 1e-5));
        CHECK(cache_bytes(*t, 8, model::DataType::bf16, 1) == 70272.0);
    }
    // Weights of 671 B values in 8 bits on eight devices, embedding and head in 16.
    ServingOptions o;
    o.type = model::DataType::fp8;
    o.tensor = {8};
    const auto served = serve(*transformer_of(network_named("deepseek-v3")),
                              *hwdb::load_machine("h200-sxm-141gb", kHwdb),
                              *hwdb::load_fabric("hgx-h200-ndr", kHwdb), o);
    REQUIRE(served.ok());
    const double ends = 2.0 * 129280 * 7168;
    CHECK(served->points[0].weight_bytes == tests::near((671.03e9 + ends) / 8, 0.01));
    // Training FLOP of a token: 6 x 37 B without embedding and routers, and attention of 192 + 128
    // values a pair.
    const auto t = *transformer_of(network_named("deepseek-v3"));
    const double pairs = 61.0 * 128 * (192 + 128) * 4096;
    CHECK(training_flops(t, 1, 4096) ==
          tests::near(6.0 * 4096 * (37.55e9 - 129280.0 * 7168 - 58.0 * 7168 * 256 + pairs), 0.002));
}

TEST_CASE("networks that are no such decoders are refused with what is not modelled") {
    const auto refusal = [&](const char* name) {
        const auto decoder = transformer_of(network_named(name));
        REQUIRE_FALSE(decoder.ok());
        CHECK(decoder.diagnostics().items()[0].code == "no-transformer");
        return decoder.diagnostics().items()[0].message;
    };
    for (const char* name : {"bert-large", "bert-base:fused=1", "bert-large:pretraining=1"}) {
        CHECK(refusal(name).find("no decoder") != std::string::npos);
    }
    for (const char* name :
         {"transformer-big", "whisper-tiny", "t5-small", "dit", "gnmt", "resnet50"}) {
        CHECK_FALSE(refusal(name).empty());
    }
}

TEST_CASE("a machine without memory of its own serves nothing") {
    const auto decoder = transformer_of(network_named("llama-3-8b"));
    REQUIRE(decoder.ok());
    const auto served = serve(*decoder, *hwdb::load_machine("eyeriss-v1", kHwdb),
                              *hwdb::load_fabric("dgx-a100-hdr", kHwdb), {});
    REQUIRE_FALSE(served.ok());
    CHECK(served.diagnostics().items()[0].message.find("no memory of its own") !=
          std::string::npos);
}

TEST_CASE("hints name a degree that works and was not asked for") {
    const auto fabric = *hwdb::load_fabric("dgx-h100-ndr", kHwdb);
    const auto machine = *hwdb::load_machine("h100-sxm-80gb", kHwdb);
    const auto hint_of = [&](const char* name, Count tensor,
                             const std::vector<Count>& batches = {}) {
        ServingOptions o;
        o.tensor = {tensor};
        o.batches = batches;
        const auto served = serve(*transformer_of(network_named(name)), machine, fabric, o);
        REQUIRE_FALSE(served.ok());
        return served.diagnostics().items()[0].hint;
    };
    CHECK(hint_of("qwen2.5-7b", 8).find("--tensor 4") != std::string::npos); // 28 heads, 4 of keys
    CHECK(hint_of("phi-4", 4).find("--tensor 5") != std::string::npos);      // 40 heads, 10 of keys
    CHECK(hint_of("phi-4", 8).find("--tensor 10") != std::string::npos);
    CHECK(hint_of("llama-3-70b", 1).find("--tensor 2") != std::string::npos);
    CHECK(hint_of("llama-3-8b", 1, {100'000}).find("--requests ") == 0);
    // Every degree that a hint can name is one that a plan runs with.
    for (const char* name : {"qwen2.5-7b", "phi-4", "gemma-2b", "llama-3.1-405b"}) {
        const auto decoder = transformer_of(network_named(name));
        REQUIRE(decoder.ok());
        for (const Count tensor : tensor_degrees(*decoder)) {
            CHECK(serving_body(*decoder, {tensor}, 64, {}).layers.size() > 0);
            Plan plan;
            plan.tensor = tensor;
            const BlockCut cut{tensor};
            CAPTURE(name);
            CAPTURE(tensor);
            for (const model::Layer& layer : block_network(*decoder, cut).layers) {
                CHECK_FALSE(model::validate(layer).has_errors());
            }
        }
    }
}

TEST_CASE("ZeRO divides its states over data and context") {
    const Transformer t = gpt(32, 4096, 32, 50257, 2048, true);
    TransformerOptions o;
    o.batch = 8;
    Plan data;
    data.data = 8;
    Plan context;
    context.context = 8;
    Plan both;
    both.data = 2;
    both.context = 4;
    for (const int zero : {0, 1, 2, 3}) {
        data.zero = context.zero = both.zero = zero;
        const DeviceMemory wanted = transformer_memory(t, data, o, 0);
        for (const Plan& plan : {context, both}) {
            const DeviceMemory m = transformer_memory(t, plan, o, 0);
            CAPTURE(zero);
            CHECK(m.optimizer == tests::near(wanted.optimizer));
            CHECK(m.gradients == tests::near(wanted.gradients));
            CHECK(m.weights == tests::near(wanted.weights));
        }
    }
    data.zero = 1;
    // Adam's 12 bytes of 6.66 B values over 8 devices: 10 GB.
    CHECK(transformer_memory(t, data, o, 0).optimizer ==
          tests::near(12.0 * parameters(t) / 8, 1e-3));
}

} // namespace test_scale_decoders
