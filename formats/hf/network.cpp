#include "formats/hf/network.hpp"

#include "base/json.hpp"
#include "base/json_keys.hpp"
#include "base/suggest.hpp"
#include "formats/hf/decoder.hpp"
#include "formats/hf/encoders.hpp"
#include "formats/hf/families.hpp"
#include "formats/hf/towers.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace eyeroof::formats::hf {

namespace {

using Answer = Result<std::string>;

constexpr std::string_view kParameters =
    "  new: {default: 2048, min: 1, meaning: \"tokens of a sequence that are computed\"}\n"
    "  context: {default: 0, min: 0, meaning: \"tokens in the cache before them\"}\n"
    "  batch: {default: 1, min: 1, meaning: \"sequences\"}\n";

std::string type_of_numbers(Config& config) {
    const char* const key = config.has("torch_dtype") ? "torch_dtype" : "dtype";
    config.read("dtype");
    const std::string said = config.word(key, "auto");
    const std::string_view word = std::string_view(said).substr(said.starts_with("torch.") ? 6 : 0);
    constexpr std::pair<std::string_view, std::string_view> known[] = {
        {"bfloat16", "bf16"}, {"bf16", "bf16"}, {"float32", "fp32"}, {"float", "fp32"},
        {"fp32", "fp32"},     {"auto", "fp16"}, {"", "fp16"},        {"float16", "fp16"},
        {"fp16", "fp16"},     {"half", "fp16"}, {"float64", "fp64"}, {"double", "fp64"}};
    for (const auto& [name, type] : known) {
        if (word == name) {
            return std::string(type);
        }
    }
    if (!word.starts_with("float8")) { // of weights, beside activations of 16 bits
        config.refuse(key, fmt::format("'{}' is not a known type", word.substr(0, 40)),
                      "write bfloat16, float16, float32, float64, or auto");
    }
    return "bf16";
}

// Types of models that others publish or contain, and whose layers are those of a known one.
constexpr std::pair<std::string_view, std::string_view> kSameLayers[] = {
    {"internlm2", "llama"},
    {"qwen2_5_omni_text", "qwen2_5_vl_text"},
    {"qwen3_omni_moe_text", "qwen3_vl_moe_text"},
};

// "gemma3" as "gemma3_text" and the like; empty where no decoder has such a type.
std::string decoder_type(const std::string& type) {
    for (const auto& [other, known] : kSameLayers) {
        if (type == other) {
            return std::string(known);
        }
    }
    for (const char* ending : {"", "_text", "_vl_text"}) {
        if (family_of(type + ending) != nullptr) {
            return type + ending;
        }
    }
    return {};
}

Answer unknown_type(const std::string& type, const std::string& file) {
    std::vector<std::string> known = decoder_types();
    for (std::string& encoder : encoder_types()) {
        known.push_back(std::move(encoder));
    }
    std::ranges::sort(known);
    std::string list;
    for (const std::string& one : known) {
        list += (list.empty() ? "" : ", ") + one;
    }
    const std::string near = closest(type, known);
    return Answer::failure(
        "unsupported", fmt::format("model_type '{}' is not known", type.substr(0, 40)),
        fmt::format("{}known: {}; others come as ONNX or by er.from_torch",
                    near.empty() ? "" : fmt::format("nearest: {}; ", near), list),
        {file, 0, 0});
}

// Learned values that no token of a text meets.
void add_towers(Config& outer, const std::string& type, Count width, Built& built,
                const std::string& file, Diagnostics& found) {
    for (const char* key : {"vision_config", "audio_config"}) {
        const bool vision = std::string_view(key) == "vision_config";
        const bool given = outer.object(key) != nullptr;
        if (!given && !(vision && has_usual_tower(type))) {
            continue;
        }
        Config tower = outer.inner(key);
        const std::string values = tower_parameters(tower, outer, type, width, !vision);
        if (values.empty()) {
            found.warning("image-tower",
                          fmt::format("the tower of {} is not read: its learned values are not in "
                                      "the counts, and a text does not run it",
                                      key),
                          "export it as ONNX to examine it", {file, 0, 0});
        } else {
            built.blocks.add({weights_alone(vision ? "vision_weights" : "audio_weights", values)});
        }
    }
}

std::string yaml_of(const std::string& name, const std::string& parameters,
                    const std::string& names, const std::string& wide, const Blocks& blocks) {
    return fmt::format("name: \"{}\"\n"
                       "source: \"config.json of the model, as Hugging Face libraries read it\"\n"
                       "parameters:\n{}let: {{{}}}\ndefaults: {{dtype: {}}}\n{}",
                       name, parameters, names, wide, blocks.yaml());
}

std::string written(const Built& built, const std::string& type, const std::string& wide) {
    return yaml_of("Decoder of model type " + type,
                   std::string(kParameters) +
                       (built.latent
                            ? "  absorbed: {default: 2, min: 0, max: 2, meaning: \"1: queries "
                              "meet the latent; 0: keys and values are made; 2: 1 for fewer than "
                              "16 words on a cache, else 0\"}\n"
                            : ""),
                   std::string("words: =batch*new, seen: =context+new") +
                       (built.latent ? ", meets: \"=(absorbed == 1)+(absorbed == 2)*(new < 16)*"
                                       "(context > 0)\""
                                     : ""),
                   wide, built.blocks);
}

// Python writes Infinity and NaN, which JSON has not: no size is one.
std::string without_infinities(std::string text) {
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (quoted && text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
                if (std::string_view(text).substr(at).starts_with(word)) {
                    text.replace(at, word.size(), "null");
                }
            }
        }
    }
    return text;
}

// Keys that make another network, which is not read.
void refuse_others(Config& text) {
    for (const char* key :
         {"is_encoder_decoder", "add_cross_attention", "cross_attention_layers"}) {
        if (text.has(key) && text.flag(key)) {
            text.refuse(key, "a decoder that reads another sequence is not read",
                        "export the model as ONNX, or use er.from_torch");
        }
    }
}

// The name of the language model inside of a configuration of more; null where it is the whole.
const char* language_part(Config& whole) {
    for (const char* name : {"text_config", "llm_config", "language_config"}) {
        if (whole.object(name) != nullptr && !whole.has("num_hidden_layers")) {
            return name;
        }
    }
    return nullptr;
}

// `file_keys`: of the file; `outer`: the part of it that holds the language model and its towers.
Answer of_whole(Config& file_keys, Config& outer, const std::string& whole, const std::string& file,
                Diagnostics& found) {
    const char* const part = language_part(outer);
    Config::Json filled = part != nullptr ? *outer.object(part) : Config::Json::object();
    const Config::Json* named =
        part != nullptr && filled.contains("model_type") ? &filled["model_type"] : nullptr;
    const std::string own =
        named != nullptr && named->is_string() ? named->get<std::string>() : whole;
    std::string type = decoder_type(own);
    type = type.empty() ? decoder_type(whole) : type;
    if (type.empty()) {
        return unknown_type(own, file);
    }
    if (part != nullptr) {
        fill_defaults(filled, type);
    }
    Config inner = outer.with(filled);
    Config& text_config = part != nullptr ? inner : outer;
    text_config.read("model_type");
    const bool typed = text_config.has("dtype") || text_config.has("torch_dtype");
    const std::string wide = type_of_numbers(typed ? text_config : file_keys);
    refuse_others(text_config);
    Built built = build_decoder(text_config, outer, type, wide);
    if (!found.has_errors()) {
        add_towers(outer, whole, text_config.count_or({"hidden_size"}, 1), built, file, found);
    }
    if (part != nullptr) {
        text_config.tell_unread();
        outer.read(part);
        outer.read("projector_hidden_act");
        outer.read("vocab_size"); // the language model's own counts
    }
    outer.tell_unread();
    if (&file_keys != &outer) {
        file_keys.read("thinker_config");
        file_keys.tell_unread();
    }
    if (found.has_errors()) {
        return found;
    }
    return {written(built, type, wide), std::move(found)};
}

} // namespace

bool is_hf_config(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && text[first] == '{' &&
           (text.find("\"model_type\"") != std::string_view::npos ||
            text.find("\"peft_type\"") != std::string_view::npos ||
            text.find("\"_diffusers_version\"") != std::string_view::npos) &&
           text.find("\"traceEvents\"") == std::string_view::npos;
}

Result<std::string> read_hf_config(const std::string& text, const std::string& file) {
    const std::string finite = without_infinities(text);
    const Config::Json json = parse_json(finite);
    if (!json.is_object()) {
        return Answer::failure("not-json", "this is not one JSON object",
                               "is the config.json complete?", {file, 0, 0});
    }
    const auto word = [&json](const char* key) {
        const auto at = json.find(key);
        return at != json.end() && at->is_string() ? at->get<std::string>().substr(0, 60) : "";
    };
    const auto behind_colon = [](const std::string& name) {
        return name.empty() ? std::string() : ": " + name;
    };
    if (const std::string twice = repeated_key(finite); !twice.empty()) {
        return Answer::failure("duplicate-key",
                               fmt::format("the key \"{}\" stands twice", twice.substr(0, 60)),
                               "keep one of them", {file, 0, 0});
    }
    if (json.contains("peft_type")) {
        return Answer::failure("unsupported", "this configures an adapter (PEFT), and no layers",
                               "name the config.json of its model" +
                                   behind_colon(word("base_model_name_or_path")),
                               {file, 0, 0});
    }
    if (json.contains("_diffusers_version")) {
        return Answer::failure(
            "unsupported",
            "this configures a part of a diffusers pipeline" + behind_colon(word("_class_name")),
            "export the part: torch.onnx.export, or er.from_torch in Python", {file, 0, 0});
    }
    Diagnostics found;
    Config outer(json, text, file, found);
    const std::string whole = outer.word("model_type");
    if (is_encoder(whole)) {
        const BuiltEncoder built = build_encoder(outer, whole);
        std::string yaml = yaml_of("Encoder of model type " + whole, built.parameters, built.names,
                                   type_of_numbers(outer), built.blocks);
        outer.tell_unread();
        return found.has_errors() ? Answer(found) : Answer(std::move(yaml), std::move(found));
    }
    Config thinker = outer.inner("thinker_config"); // of models that listen and speak
    const bool thinks = outer.object("thinker_config") != nullptr;
    return of_whole(outer, thinks ? thinker : outer, whole, file, found);
}

} // namespace eyeroof::formats::hf
