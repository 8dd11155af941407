// Parameters of configurations, as transformers 5.24 counts them on its meta device.
#include "formats/catalog.hpp"
#include "formats/hf/network.hpp"
#include "model/workload/network.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace test_formats_hf_config {

using namespace eyeroof;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kNetworks = {fs::path(tests::source_dir()) / "examples/networks"};

class File {
  public:
    explicit File(const std::string& text)
        : path_(fs::temp_directory_path() / "eyeroof_hf_config.json") {
        std::ofstream(path_) << text;
    }
    ~File() { fs::remove(path_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    Result<model::Network> network(const std::string& sizes = "") const {
        return formats::load_network(path_.string() + sizes, kNetworks);
    }

  private:
    fs::path path_;
};

model::NetworkTotals totals_of(const std::string& text, const std::string& sizes = "") {
    const auto network = File(text).network(sizes);
    for (const Diagnostic& d : network.diagnostics()) {
        INFO(to_string(d));
    }
    REQUIRE(network.ok());
    return *model::totals_of(*network);
}

std::string first_error(const std::string& text) {
    const auto network = File(text).network();
    return network.ok() ? "" : to_string(network.diagnostics().items()[0]);
}

const std::string kSmall = R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 4,
 "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 256,
 "torch_dtype": "bfloat16"})";

std::string with(std::string text, const std::string& more) {
    return text.insert(text.rfind('}'), ", " + more);
}

} // namespace

TEST_CASE("configurations of every family have the parameters that their library counts") {
    std::ifstream lines(fs::path(tests::source_dir()) / "tests/data/hf/configurations.jsonl");
    int tried = 0;
    for (std::string line; std::getline(lines, line); ++tried) {
        const auto entry = nlohmann::json::parse(line);
        CAPTURE(entry["class"].get<std::string>());
        CAPTURE(entry["config"].dump());
        CHECK(totals_of(entry["config"].dump()).parameters == entry["parameters"].get<Count>());
    }
    CHECK(tried > 40);
}

TEST_CASE("work is that of a hand count, and grows with the tokens alone") {
    // a layer: q 64x64, kv 64x64, o 64x64, gate and up 64x192, down 96x64; attention 2 x 4 x 16
    const Count layer = 64 * 64 * 3 + 64 * 192 + 96 * 64;
    const auto one = totals_of(kSmall, ":new=1,context=9");
    CHECK(one.macs == 4 * (layer + 2 * 64 * 10) + 256 * 64);
    CHECK(totals_of(kSmall, ":new=8").parameters == one.parameters);
}

TEST_CASE("quantized weights take the bytes of their type, and what is left out keeps its own") {
    const auto plain = totals_of(kSmall);
    const auto fp8 = totals_of(with(kSmall, R"("quantization_config": {"quant_method": "fp8",
        "modules_to_not_convert": ["lm_head", "model.layers.0.mlp"]})"));
    const Count dense = 64 * 192 + 96 * 64;
    const Count attention = 3 * 64 * 64 + 128; // with biases
    CHECK(plain.weight_bytes == 2 * plain.parameters);
    CHECK(fp8.weight_bytes == plain.weight_bytes - 4 * attention - 3 * dense);
    CHECK(first_error(with(kSmall, R"("quantization_config": {"quant_method": "magic"})"))
              .find("'magic' is not known") != std::string::npos);
}

TEST_CASE("modules of several types are read from each tool's lists") {
    const auto plain = totals_of(kSmall).weight_bytes;
    const auto saved = [&](const std::string& config) {
        return plain -
               totals_of(with(kSmall, "\"quantization_config\": {" + config + "}")).weight_bytes;
    };
    const Count dense = 64 * 192 + 96 * 64;
    const Count attention = 3 * 64 * 64 + 128; // with biases
    // ModelOpt: attention of fp8 in one layer, feed-forward of 4 bits in two, the rest wide
    CHECK(saved(R"("quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {"model.layers.0.self_attn.qkv_proj": {"quant_algo": "FP8"},
        "model.layers.1.mlp.up_proj": {"quant_algo": "W4A16_AWQ"},
        "model.layers.2.mlp.up_proj": {"quant_algo": "W4A16_AWQ"}})") ==
          attention + 2 * dense * 3 / 2);
    // compressed-tensors: groups by patterns, of which a name goes before a kind
    const std::string four = R"({"weights": {"num_bits": 4, "type": "int"}, "targets": [)";
    const std::string eight = R"({"weights": {"num_bits": 8, "type": "float"}, "targets": [)";
    CHECK(saved(R"("quant_method": "compressed-tensors", "config_groups": {"a": )" + eight +
                R"("Linear"]}, "b": )" + four +
                R"("re:.*layers\\.[0-2]\\.mlp\\.(gate|up|down)_proj$"]}})") ==
          4 * attention + 3 * dense * 3 / 2 + dense);
    CHECK(saved(R"("quant_method": "compressed-tensors", "config_groups": {})") == 0);
    // An ignored router is no gate of a feed-forward part, in names and in patterns.
    for (const char* router : {"model.layers.0.mlp.gate", "re:.*mlp.gate$", "*.mlp.gate"}) {
        CAPTURE(std::string(router));
        CHECK(saved(R"("quant_method": "fp8", "ignore": [")" + std::string(router) + "\"]") ==
              4 * (attention + dense));
    }
    CHECK(saved(R"("quant_method": "gptq", "bits": 4, "dynamic": {"-:.*self_attn.*": {},
        "+:.*layers.3.*": {"bits": 8}})") == 3 * dense * 3 / 2 + dense);
    CHECK(saved(R"("quant_method": "auto-round", "bits": 4, "extra_config":
        {"model.layers.0.mlp": {"bits": 16}})") == (4 * attention + 3 * dense) * 3 / 2);
    CHECK(saved(R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype":
        "fp8_e4m3"}, "input_tensors": {"dtype": "fp8_e4m3"}}, "exclude": ["*.mlp.*"])") ==
          4 * attention);
    CHECK(saved(R"("quant_method": "torchao", "quant_type": {"default": {"_type":
        "Int8WeightOnlyConfig"}})") == 4 * (attention + dense));
    CHECK(first_error(with(kSmall, R"("quantization_config": {"quant_method": "fp8",
        "ignore": ["re:^(?!.*mlp).*"]})"))
              .find("the module 're:^(?!.*mlp).*' is no expression that RE2 reads") !=
          std::string::npos);
    // HQQ: one setting for all, or one for each kind of module
    CHECK(saved(R"("quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 8}},
        "skip_modules": ["self_attn"])") == 4 * dense);
    CHECK(saved(R"("quant_method": "hqq", "quant_config": {"mlp.up_proj": {"weight_quant_params":
        {"nbits": 8}}, "mlp.down_proj": {"weight_quant_params": {"nbits": 4}}})") ==
          4 * (64 * 192 + 96 * 64 * 3 / 2));
    // the second products, by name
    CHECK(saved(R"("quant_method": "fp8", "ignore": ["re:.*down_proj"])") ==
          4 * (attention + 64 * 192));
    CHECK(saved(R"("quant_method": "fp8", "ignore": ["*.o_proj"])") ==
          4 * (attention - 64 * 64 + dense));
    // a module's own entry goes before one beside it, wherever it stands
    CHECK(saved(R"("quant_method": "compressed-tensors", "config_groups": {"a": )" + eight +
                R"("layers.0.mlp.gate_proj"]}, "b": )" + four + R"("layers.0.mlp.up_proj",
        "layers.0.mlp.down_proj"]}})") == dense * 3 / 2);
    // one scale for a channel
    CHECK(saved(R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights":
        {"num_bits": 8, "type": "float", "group_size": -1}, "targets": ["Linear"]}})") ==
          4 * (attention + dense));
}

TEST_CASE("quantization that is not read is refused, and says why") {
    const auto error = [](const std::string& config) {
        return first_error(with(kSmall, "\"quantization_config\": {" + config + "}"));
    };
    CHECK(error(R"("quant_method": "quanto", "weights": "int8", "activations": "int8")")
              .find("'quanto' is not known with these types") != std::string::npos);
    CHECK(error(R"("quant_method": "quark", "layer_type_quant_config": {"Linear": {}},
        "global_quant_config": {"weight": {"dtype": "int4"}})")
              .find("'quark' is not known with these types") != std::string::npos);
    CHECK(error(R"("quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 3}})")
              .find("'hqq' is not known with these types") != std::string::npos);
    CHECK(error("\"quant_method\": \"fp8\", \"ignore\": [\"" + std::string(401, 'a') + "\"]")
              .find("has more than 400 characters") != std::string::npos);
    CHECK(error(R"("quant_method": "fp8", "ignore": ["re:(a{1000}){1000}"])")
              .find("is no expression that RE2 reads") != std::string::npos);
    CHECK(error(R"("quant_method": "fp8", "ignore": ["re:(.{1,30}){1,30}"])")
              .find("is no expression that RE2 reads") != std::string::npos);
    std::string many;
    for (int i = 0; i < 257; ++i) {
        many += std::string(i == 0 ? "" : ",") + "\"*.a" + std::to_string(i) + "\"";
    }
    CHECK(error("\"quant_method\": \"fp8\", \"ignore\": [" + many + "]")
              .find("is one of more than 256 patterns") != std::string::npos);
    std::string groups;
    for (int i = 0; i < 65; ++i) {
        groups += std::string(i == 0 ? "" : ",") + "\"" + std::to_string(i) +
                  R"(": {"weights": {"num_bits": 8}})";
    }
    CHECK(error("\"quant_method\": \"compressed-tensors\", \"config_groups\": {" + groups + "}")
              .find("it has more than 64 groups") != std::string::npos);
}

TEST_CASE("activations have the bits of their own entry") {
    const auto types = [](const std::string& config) {
        const auto network =
            File(with(kSmall, "\"quantization_config\": {" + config + "}")).network();
        REQUIRE(network.ok());
        const auto query = std::ranges::find(network->layers, "query", &model::Layer::name);
        REQUIRE(query != network->layers.end());
        return query->types;
    };
    using model::DataType;
    for (const auto& [config, input, weight] :
         {std::tuple{R"("quant_method": "compressed-tensors", "config_groups": {"group_0":
          {"weights": {"num_bits": 4, "type": "int"}, "input_activations": {"num_bits": 8,
          "type": "float"}, "targets": ["Linear"]}})",
                     DataType::fp8, DataType::int4},
          {R"("quant_method": "modelopt", "quant_algo": "W4A8_AWQ")", DataType::fp8,
           DataType::int4},
          {R"("quant_method": "modelopt", "quant_algo": "W4A8_MXFP4_FP8")", DataType::fp8,
           DataType::mxfp4},
          {R"("quant_method": "modelopt", "quant_algo": "FP8_PB_WO")", DataType::bf16,
           DataType::fp8},
          {R"("quant_method": "modelopt", "kv_cache_quant_algo": "FP8")", DataType::bf16,
           DataType::bf16}}) {
        CAPTURE(std::string(config));
        CHECK(types(config).input == input);
        CHECK(types(config).weight == weight);
    }
}

TEST_CASE("keys that change layers change the answer") {
    const auto plain = totals_of(kSmall);
    CHECK(totals_of(with(kSmall, R"("tie_word_embeddings": true)")).parameters ==
          plain.parameters - 256 * 64);
    const auto near = totals_of(
        with(kSmall, R"("sliding_window": 16, "use_sliding_window": true, "max_window_layers": 0)"),
        ":new=1,context=99");
    CHECK(near.macs == totals_of(kSmall, ":new=1,context=15").macs);
    const std::string moe =
        R"({"model_type": "qwen3_moe", "hidden_size": 64, "num_hidden_layers": 4,
 "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 96,
 "moe_intermediate_size": 32, "num_experts": 8, "num_experts_per_tok": 2, "vocab_size": 256)";
    const Count expert = 8 * 3 * 64 * 32 + 8 * 64;
    const Count dense = 3 * 64 * 96;
    const Count all = totals_of(moe + "}").parameters;
    CHECK(totals_of(moe + R"(, "mlp_only_layers": [0, 3]})").parameters ==
          all - 2 * (expert - dense));
    CHECK(totals_of(moe + R"(, "decoder_sparse_step": 2})").parameters ==
          all - 2 * (expert - dense));
}

TEST_CASE("layers of two kinds share what they have in common") {
    const auto network =
        File(with(kSmall, R"("sliding_window": 16, "layer_types": ["sliding_attention",
 "full_attention", "sliding_attention", "sliding_attention"])"))
            .network(":new=1,context=99");
    REQUIRE(network.ok());
    const auto count_of = [&network](const std::string& name) {
        const auto layer = std::ranges::find(network->layers, name, &model::Layer::name);
        return layer == network->layers.end() ? Count{0} : layer->count;
    };
    CHECK(count_of("query") == 4);
    CHECK(count_of("scores") == 3);
    CHECK(count_of("scores_2") == 1);
    CHECK(count_of("gate_up") == 4);
    CHECK(count_of("gate_up_2") == 0);
}

TEST_CASE("next tokens of a latent cache meet the latent itself") {
    const std::string latent =
        R"({"model_type": "deepseek_v3", "hidden_size": 64, "num_hidden_layers": 2,
 "num_attention_heads": 4, "kv_lora_rank": 16, "q_lora_rank": 24, "qk_nope_head_dim": 8,
 "qk_rope_head_dim": 4, "v_head_dim": 8, "intermediate_size": 96, "vocab_size": 256})";
    const auto decode = totals_of(latent, ":new=1,context=999");
    CHECK(decode.macs == totals_of(latent, ":new=1,context=999,absorbed=1").macs);
    CHECK(decode.macs < totals_of(latent, ":new=1,context=999,absorbed=0").macs);
    CHECK(totals_of(latent).macs == totals_of(latent, ":absorbed=0").macs);
    CHECK(decode.parameters == totals_of(latent).parameters);
}

TEST_CASE("a tower of more values than are counted exactly is refused") {
    const std::string text = R"({"model_type": "qwen3_vl", "text_config": {"model_type":
 "qwen3_vl_text", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
 "num_key_value_heads": 4, "intermediate_size": 96, "vocab_size": 256}, "vision_config": {"hidden_size": 900000000,
 "intermediate_size": 900000000, "out_hidden_size": 64, "depth": 9}})";
    CHECK(first_error(text).find("2^53") != std::string::npos);
}

TEST_CASE("what is not read is named, and what is wrong is placed") {
    CHECK(first_error(R"({"model_type": "rwkv7", "hidden_size": 64})")
              .find("model_type 'rwkv7' is not known") != std::string::npos);
    CHECK(first_error(R"({"peft_type": "LORA", "base_model_name_or_path": "org/llama-2-7b"})")
              .find("adapter (PEFT)") != std::string::npos);
    CHECK(first_error(R"({"_class_name": "UNet2DConditionModel", "_diffusers_version": "0.30"})")
              .find("a diffusers pipeline: UNet2DConditionModel") != std::string::npos);
    CHECK(first_error(R"({"model_type": "llama", "hidden_size": 64})").find("missing-key") !=
          std::string::npos);
    CHECK(first_error("{\n\"model_type\": \"llama\",\n\"hidden_size\": \"wide\"}")
              .find(":3:1: error: hidden_size: \"wide\" is not a whole number") !=
          std::string::npos);
    const auto odd = File(with(kSmall, R"("new_kind_of_layer": 3)")).network();
    REQUIRE(odd.ok());
    CHECK(odd.diagnostics().items()[0].code == "unread-key");
    CHECK(odd.diagnostics().items()[0].message.find("new_kind_of_layer") != std::string::npos);
    CHECK_FALSE(File(R"({"model_type": "llama", "num_hidden_layers": 9999999999})").network().ok());
    CHECK_FALSE(File(R"({"model_type": "llama")").network().ok());
}

TEST_CASE("a wrong type, an unknown word, and a key that stands twice are errors at their key") {
    for (const char* more :
         {R"("layer_types": "full_attention")", R"("torch_dtype": 16)",
          R"("tie_word_embeddings": 7)",
          R"("layer_types": ["full_attention", "telepathy", "mlp", "mlp"])",
          R"("dtype": "float17")", R"("quantization_config": "fp8")",
          R"("architectures": "Qwen2ForCausalLM")",
          R"("quantization_config": {"quant_method": "fp8", "activation_scheme": "psychic"})",
          R"("quantization_config": {"quant_method": "modelopt", "quant_algo": "FP99"})",
          R"("quantization_config": {"quant_method": "fp8", "ignored_layers": [3]})",
          R"("mlp_layer_types": ["dense", "dense", "dense", "dance"])", R"("vocab_size": 256)",
          R"("id2label": ["a", "b"], "architectures": ["Qwen2ForSequenceClassification"])"}) {
        CAPTURE(more);
        std::string text = kSmall;
        const std::string typed = R"("torch_dtype": "bfloat16")";
        text.replace(text.find(typed), typed.size(), R"("use_cache": true)");
        const std::string error = first_error(with(text, more));
        CHECK(error.find("error: ") != std::string::npos);
        CHECK(error.find("hint: ") != std::string::npos);
    }
    CHECK(first_error(R"({"peft_type": "LORA"})").find("of its model:") == std::string::npos);
    CHECK(first_error(R"({"_diffusers_version": "0.30"})").find("pipeline:") == std::string::npos);
}

TEST_CASE("encoders have sizes of their own, and the head that their class names") {
    const std::string bert = R"({"model_type": "bert", "hidden_size": 64, "num_hidden_layers": 2,
 "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 256, "id2label": {"0": "a",
 "1": "b", "2": "c"}, "architectures": ["Bert)";
    const auto plain = totals_of(bert + R"(Model"]})", ":seq=16,batch=3");
    // a layer: q, k, v, and output 64x64 each, up and down 64x96, 4 heads of 16x16x16 twice
    const Count layer = 16 * (4 * 64 * 64 + 2 * 64 * 96) + 2 * 4 * 16 * 16 * 16;
    CHECK(plain.macs == 3 * (2 * layer + 64 * 64)); // with a pooler
    const auto classes = totals_of(bert + R"(ForSequenceClassification"]})", ":seq=16,batch=3");
    CHECK(classes.parameters == plain.parameters + 3 * 65);
    const auto words = totals_of(bert + R"(ForMaskedLM"]})", ":seq=16,batch=3");
    CHECK(words.macs == 3 * (2 * layer + 16 * (64 * 64 + 64 * 256)));
    const std::string albert = R"({"model_type": "albert", "hidden_size": 64, "embedding_size": 16,
 "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 256, "num_hidden_layers": )";
    CHECK(totals_of(albert + "2}").parameters == totals_of(albert + "9}").parameters);
    CHECK(totals_of(albert + "2}").macs < totals_of(albert + "9}").macs);
}

TEST_CASE("a sequence is read once and continued by new tokens") {
    const std::string t5 = R"({"model_type": "t5", "d_model": 64, "d_kv": 16, "d_ff": 96,
 "num_layers": 2, "num_heads": 4, "vocab_size": 256})";
    const auto macs = [&](const char* sizes) { return totals_of(t5, sizes).macs; };
    const Count encoder = 32 * (4 * 64 * 64 + 2 * 64 * 96) + 2 * 4 * 32 * 32 * 16;
    const Count decoder = 8 * (4 * 64 * 64 + 2 * 64 * 96) + 2 * 4 * 8 * 8 * 16;
    const Count cross = 8 * 2 * 64 * 64 + 32 * 2 * 64 * 64 + 2 * 4 * 8 * 32 * 16;
    CHECK(macs(":source=32,new=8") == 2 * (encoder + decoder + cross) + 8 * 64 * 256);
}

TEST_CASE("patches of an image are tokens") {
    const std::string vit = R"({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 2,
 "num_attention_heads": 4, "intermediate_size": 96, "image_size": 64, "patch_size": 16})";
    const Count layer = 17 * (4 * 64 * 64 + 2 * 64 * 96) + 2 * 4 * 17 * 17 * 16;
    CHECK(totals_of(vit).macs == 2 * layer + 16 * 64 * 3 * 16 * 16);
}

TEST_CASE("a language model inside of a configuration has its class's sizes where none are given") {
    const std::string outer = R"({"model_type": "llava", "tie_word_embeddings": false,
 "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336,
 "intermediate_size": 4096, "num_hidden_layers": 24, "patch_size": 14}, "text_config": )";
    // Vicuna 7B with 32064 words: 6,738,939,904; CLIP 303,507,456; projector 20,979,712
    const std::string text = R"({"model_type": "llama", "vocab_size": 32064}})";
    CHECK(totals_of(outer + text).parameters == Count{7063427072});
    CHECK(first_error(R"({"model_type": "llama", "vocab_size": 32064})").find("missing-key") !=
          std::string::npos);
    // Gemma 3 4B: heads and words are not in its file
    CHECK(totals_of(R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560,
 "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
 "sliding_window": 1024}})")
              .parameters == Count{3880263168});
}

TEST_CASE("a language model stands under the names that publishers use") {
    const std::string inner = R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 4,
 "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 256})";
    const Count all = totals_of(inner).parameters;
    for (const char* name : {"text_config", "llm_config", "language_config"}) {
        CAPTURE(std::string(name));
        CHECK(totals_of(std::string(R"({"model_type": "my_vl", ")") + name + "\": " + inner + "}")
                  .parameters == all);
    }
    CHECK(totals_of(R"({"model_type": "omni", "thinker_config": {"text_config": )" + inner + "}}")
              .parameters == all);
}

} // namespace test_formats_hf_config
