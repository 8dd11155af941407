// Plan files: arguments that a shell reads, and comments on what they do not say.
#include "analysis/scale/plan.hpp"
#include "analysis/scale/serving.hpp"
#include "analysis/scale/transformer_step.hpp"
#include "formats/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace test_scale_plan_files {

using namespace eyeroof;
using namespace eyeroof::analysis;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kNetworks = {fs::path(tests::source_dir()) / "examples" / "networks"};

Transformer decoder(const char* network) {
    return *transformer_of(*formats::load_network(network, kNetworks));
}

// Words as a POSIX shell splits them, of text without double quotes outside of single ones; empty
// where a quote stays open.
std::vector<std::string> shell_words(const std::string& text) {
    std::vector<std::string> words(1);
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\'') {
            quoted = !quoted;
        } else if (!quoted && text[i] == '\\') {
            words.back() += text[++i];
        } else if (!quoted && (text[i] == ' ' || text[i] == '\n')) {
            if (!words.back().empty()) {
                words.emplace_back();
            }
        } else {
            words.back() += text[i];
        }
    }
    if (words.back().empty()) {
        words.pop_back();
    }
    return quoted ? std::vector<std::string>() : words;
}

// The words of a folded scalar of a plan file.
std::vector<std::string> arguments(const std::string& yaml, const std::string& key) {
    std::istringstream in(yaml);
    std::string text;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        inside = line == key + ": >-" || (inside && line.starts_with("  "));
        text += inside && line.starts_with("  ") ? line + "\n" : "";
    }
    const auto words = shell_words(text);
    CAPTURE(text);
    CHECK_FALSE(words.empty());
    return words;
}

void check_has(const std::vector<std::string>& words, const std::string& wanted) {
    const auto all = shell_words(wanted);
    CAPTURE(wanted);
    CHECK(std::ranges::search(words, all).size() == all.size());
}

std::string server(const ServingOptions& o, Count data = 1) {
    ServingPoint p;
    p.tensor = 4;
    p.data = data;
    p.batch = 96;
    return server_yaml(p, o);
}

std::string trained(const Transformer& t, const Plan& plan, const TransformerOptions& o = {}) {
    return plan_yaml(plan, t, o);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("arguments of servers are words of a shell, with the draft that was asked for") {
    ServingOptions o;
    o.speculation.tokens = 3;
    check_has(arguments(server(o), "vllm"),
              R"(--speculative-config '{"method": "ngram", "num_speculative_tokens": 3}')");
    draft_by_own_layer(decoder("deepseek-v3"), o.speculation);
    check_has(arguments(server(o), "vllm"),
              R"(--speculative-config '{"method": "mtp", "num_speculative_tokens": 3}')");
    o.speculation = {2, 0.7, decoder("llama-3.2-1b")};
    o.speculation.draft->name = "it's \"small\"";
    const auto quoted = arguments(server(o), "vllm");
    CHECK(quoted.back() == R"({"model": "it's \"small\"", "num_speculative_tokens": 2})");
    for (const char* engine : {"sglang", "trtllm"}) {
        arguments(server(o), engine);
    }
    CHECK(has(server(o), "# Not in the arguments: 2 drafted tokens.\nsglang"));
    CHECK(has(server(o), "# Not in the arguments: 2 drafted tokens.\ntrtllm"));
}

TEST_CASE("what no argument of a server says stands in comments") {
    ServingOptions o;
    CHECK_FALSE(has(server(o), "Not in the arguments"));
    o.type = model::DataType::fp8;
    check_has(arguments(server(o), "sglang"), "--quantization fp8");
    CHECK(has(server(o), "# Not in the arguments: weights in fp8.\ntrtllm"));
    o.type = model::DataType::nvfp4;
    const std::string narrow = server(o);
    CHECK_FALSE(has(narrow, "--quantization"));
    for (const char* engine : {"vllm", "sglang", "trtllm"}) {
        CHECK(has(narrow, std::string("# Not in the arguments: weights in nvfp4.\n") + engine));
    }
    ServingOptions apart;
    apart.prefill_groups = 2;
    apart.decode_groups = 3;
    CHECK(has(server(apart),
              "# Of one of 3 servers that decode. Not in the arguments: 2 servers of "
              "4 devices that compute prompts.\nvllm"));
    ServingOptions experts;
    experts.expert = 2;
    CHECK(has(server(experts), "# vLLM spreads experts over all 4 devices, not 2.\n"));
}

TEST_CASE("arguments of Megatron-LM hold the decoder's sizes") {
    Plan plan;
    plan.expert = 8;
    plan.data = 8;
    const auto mixtral = arguments(trained(decoder("mixtral-8x7b"), plan), "megatron");
    for (const char* wanted :
         {"--ffn-hidden-size 14336", "--group-query-attention --num-query-groups 8",
          "--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 14336", "--swiglu",
          "--untie-embeddings-and-output-weights --disable-bias-linear"}) {
        check_has(mixtral, wanted);
    }
    const auto deepseek = arguments(trained(decoder("deepseek-v3"), plan), "megatron");
    for (const char* wanted :
         {"--ffn-hidden-size 18432",
          "--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank "
          "512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim "
          "128",
          "--num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 "
          "--moe-shared-expert-intermediate-size 2048 --moe-layer-freq '([0]*3+[1]*58)'"}) {
        check_has(deepseek, wanted);
    }
}

TEST_CASE("types and adapters of training are arguments or comments") {
    TransformerOptions o;
    const Transformer t = decoder("llama-3-8b");
    o.type = model::DataType::mxfp8;
    check_has(arguments(trained(t, {}, o), "megatron"),
              "--bf16 --fp8-format hybrid --fp8-recipe mxfp8");
    o.type = model::DataType::nvfp4;
    check_has(arguments(trained(t, {}, o), "megatron"),
              "--bf16 --fp4-format e2m1 --fp4-recipe nvfp4");
    CHECK(has(trained(t, {}, o), "# Not in the arguments: GEMMs in nvfp4.\ndeepspeed"));
    o.type = model::DataType::int8;
    CHECK(has(trained(t, {}, o), "# Not in the arguments: GEMMs in int8.\nmegatron"));
    o.type = model::DataType::bf16;
    CHECK_FALSE(has(trained(t, {}, o), "Not in the arguments"));
    o.adapters = {16, false};
    const char* lora = "# Not in the arguments: LoRA of rank 16, of attention alone.\n";
    CHECK(has(trained(t, {}, o), std::string(lora) + "megatron"));
    CHECK(has(trained(t, {}, o), std::string(lora) + "deepspeed"));
}

TEST_CASE("stages are those that Megatron-LM takes, or it is said to refuse them") {
    Transformer t = decoder("llama-3.1-405b");
    Plan plan;
    for (const Count layers : {126, 61, 80, 33, 47}) {
        for (const Count stages : {2, 4, 8, 12, 16}) {
            for (const bool balanced : {false, true}) {
                CAPTURE(layers);
                CAPTURE(stages);
                CAPTURE(balanced);
                t.layers = layers;
                plan.pipeline = stages;
                plan.balanced = balanced;
                const std::string text = trained(t, plan);
                const auto words = arguments(text, "megatron");
                Count rest = layers;
                Count left = stages;
                for (const char* end : {"first", "last"}) {
                    const auto at = std::ranges::find(words, std::string("--decoder-") + end +
                                                                 "-pipeline-num-layers");
                    if (at != words.end()) {
                        rest -= std::stoll(*std::next(at));
                        --left;
                    }
                }
                const bool takes = left == 0 ? rest == 0 : rest > 0 && rest % left == 0;
                CHECK((takes || has(text, "# Megatron-LM refuses this division")));
            }
        }
    }
    t.layers = 126;
    plan.pipeline = 16;
    plan.balanced = false;
    check_has(arguments(trained(t, plan), "megatron"), "--decoder-first-pipeline-num-layers 7 "
                                                       "--decoder-last-pipeline-num-layers 7");
    CHECK_FALSE(has(trained(t, plan), "refuses"));
    plan.interleave = 4; // seven layers on four virtual stages
    CHECK(has(trained(t, plan), "# Megatron-LM refuses this division of 126 layers into 16 stages "
                                "of 4 virtual ones.\nmegatron"));
}

} // namespace test_scale_plan_files
