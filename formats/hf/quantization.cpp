#include "formats/hf/quantization.hpp"

#include "base/ascii.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

bool holds(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

std::string of_bits(Count bits, bool is_float, Count group = 0) {
    constexpr Count kMicroscaled = 32, kTwoScales = 16; // values of one scale
    if (bits == 8) {
        return !is_float ? "int8" : group == kMicroscaled ? "mxfp8" : "fp8";
    }
    if (bits == 4) {
        return !is_float               ? "int4"
               : group == kMicroscaled ? "mxfp4"
               : group == kTwoScales   ? "nvfp4"
                                       : "fp4";
    }
    return "";
}

// Types of a product; empty where one of its operands' is not known.
std::string joined(const std::string& input, const std::string& weight, const std::string& wide) {
    return input.empty() || weight.empty() ? "" : fmt::format("{}/{}/{}", input, weight, wide);
}

// "W4A8_AWQ", "NVFP4", "FP8_PB_WO": names that ModelOpt and TensorRT-LLM give.
std::string of_algorithm(const std::string& name, const std::string& wide) {
    const std::string weight = holds(name, "mxfp4")                            ? "mxfp4"
                               : holds(name, "fp4")                            ? "nvfp4"
                               : name.starts_with("w4") || holds(name, "int4") ? "int4"
                               : holds(name, "mxfp8")                          ? "mxfp8"
                               : holds(name, "fp8")                            ? "fp8"
                               : name.starts_with("w8") || holds(name, "int8") ? "int8"
                                                                               : "";
    const std::string eight = holds(name, "mxfp8")                       ? "mxfp8"
                              : holds(name, "fp8") || holds(name, "awq") ? "fp8"
                                                                         : "int8";
    const std::string input = holds(name, "a16") || name.ends_with("_wo") ? wide
                              : holds(name, "a8")                         ? eight
                              : weight == "int4"                          ? wide
                                                                          : weight;
    return joined(input, weight, wide);
}

// "Float8DynamicActivationInt4WeightConfig", "int8_weight_only" of torchao.
std::string of_torchao(std::string name, const std::string& wide) {
    std::erase(name, '_');
    name = lowered(name);
    const auto type_in = [](const std::string& part) {
        return holds(part, "float8") || holds(part, "fp8") ? "fp8"
               : holds(part, "int8")                       ? "int8"
               : holds(part, "int4")                       ? "int4"
                                                           : "";
    };
    const std::size_t both = name.find("activation");
    return both == std::string::npos
               ? joined(wide, type_in(name), wide)
               : joined(type_in(name.substr(0, both)), type_in(name.substr(both)), wide);
}

// -1 is one scale for a whole channel.
Count group_size(Config& tensor) {
    return static_cast<Count>(std::clamp(tensor.number("group_size", 0.0), -1.0, 1e9));
}

// Values of one tensor in compressed-tensors and ModelOpt; `otherwise` where they are not given.
std::string of_tensor(Config& group, const char* key, const std::string& otherwise) {
    if (!group.has(key)) {
        return otherwise;
    }
    Config tensor = group.inner(key);
    const std::string kind = tensor.word("type", "int");
    return kind == "float" || kind == "int"
               ? of_bits(tensor.count_or({"num_bits"}, 8), kind == "float", group_size(tensor))
               : "";
}

// The same in Quark: "fp8_e4m3", "fp4" in groups of 32.
std::string of_quark(Config& scheme, const char* key, const std::string& otherwise) {
    if (!scheme.has(key)) {
        return otherwise;
    }
    Config tensor = scheme.inner(key);
    const std::string type = lowered(tensor.word("dtype"));
    const Count bits = holds(type, "fp8") || holds(type, "int8")   ? 8
                       : holds(type, "fp4") || holds(type, "int4") ? 4
                                                                   : 0;
    return of_bits(bits, holds(type, "fp"), group_size(tensor));
}

// Adds the name; an error at the key says why where it is not taken.
void add_module(ModuleNames& modules, Config& q, const char* key, const std::string& name) {
    if (const std::string why = modules.add(name); !why.empty()) {
        q.refuse(key, fmt::format("the module '{}' {}", name.substr(0, 60), why),
                 "write the modules' names, or fewer and simpler patterns");
    }
}

} // namespace

bool Quantization::add(std::string types, Config& q, const char* key,
                       const std::vector<std::string>& targets) {
    if (types.empty()) {
        return false;
    }
    Group group;
    group.types = std::move(types);
    group.rest = targets.empty();
    for (const std::string& target : targets) {
        const bool kind = !target.empty() && target[0] >= 'A' && target[0] <= 'Z'; // "Linear"
        group.rest = group.rest || kind;
        if (!kind) {
            add_module(group.modules, q, key, target);
        }
    }
    groups_.push_back(std::move(group));
    return true;
}

bool Quantization::add_all(const Named& named, Config& q, const char* key) {
    return std::ranges::all_of(
        named, [&](const auto& entry) { return add(entry.first, q, key, entry.second); });
}

// config_groups of compressed-tensors and ModelOpt; none: weights are as they were trained.
bool Quantization::take_groups(Config& q) {
    constexpr std::size_t kMostGroups = 64;
    if (q.entries("config_groups").size() > kMostGroups) {
        q.refuse("config_groups", fmt::format("it has more than {} groups", kMostGroups),
                 "join groups of equal types");
        return true;
    }
    for (const auto& [name, json] : q.entries("config_groups").items()) {
        Config group = q.with(json);
        const std::string types = joined(of_tensor(group, "input_activations", wide_),
                                         of_tensor(group, "weights", wide_), wide_);
        if (!add(types, q, "config_groups", group.words("targets"))) {
            return false;
        }
    }
    return q.is_object("config_groups");
}

// ModelOpt's mixed precision: an algorithm for each module.
bool Quantization::take_layers(Config& q) {
    Named modules;
    for (const auto& [name, json] : q.entries("quantized_layers").items()) {
        Config layer = q.with(json);
        modules[of_algorithm(lowered(layer.word("quant_algo")), wide_)].push_back(name);
    }
    return add_all(modules, q, "quantized_layers");
}

// Modules of other bits than the rest: "dynamic" of GPTQModel, "extra_config" of AutoRound.
bool Quantization::take_overrides(Config& q) {
    constexpr Count kPlain = 16;
    const Count usual = q.count_or({"bits"}, 4);
    Named dynamic;
    for (const auto& [name, json] : q.entries("dynamic").items()) {
        const bool left_out = name.starts_with("-:");
        const std::string pattern = "re:" + name.substr(left_out || name.starts_with("+:") ? 2 : 0);
        const Count bits = q.with(json).count_or({"bits"}, usual);
        dynamic[left_out ? joined(wide_, wide_, wide_) : joined(wide_, of_bits(bits, false), wide_)]
            .push_back(pattern);
    }
    Named extra;
    for (const auto& [name, json] : q.entries("extra_config").items()) {
        const Count bits = q.with(json).count_or({"bits"}, usual);
        extra[joined(wide_, bits >= kPlain ? wide_ : of_bits(bits, false), wide_)].push_back(name);
    }
    return add_all(dynamic, q, "dynamic") && add_all(extra, q, "extra_config");
}

// HQQ: the bits of all modules, or of each kind ("self_attn.q_proj"), whose others stay wide.
bool Quantization::take_hqq(Config& q) {
    if (!q.has("quant_config")) {
        return add(joined(wide_, of_bits(q.count_or({"nbits"}, 4), false), wide_), q);
    }
    const auto types = [&](Config entry) {
        const Count bits = entry.inner("weight_quant_params").count_or({"nbits"}, 0);
        return joined(wide_, of_bits(bits, false), wide_);
    };
    Config all = q.inner("quant_config");
    if (all.has("weight_quant_params")) {
        return add(types(all), q);
    }
    Named modules;
    for (const auto& [name, json] : q.entries("quant_config").items()) {
        modules[types(q.with(json))].push_back(name);
    }
    return !modules.empty() && add_all(modules, q, "quant_config");
}

bool Quantization::take_quark(Config& q) {
    const auto types = [&](Config scheme) {
        return joined(of_quark(scheme, "input_tensors", wide_), of_quark(scheme, "weight", wide_),
                      wide_);
    };
    Named modules;
    for (const auto& [name, json] : q.entries("layer_quant_config").items()) {
        modules[types(q.with(json))].push_back(name);
    }
    return q.entries("layer_type_quant_config").empty() &&
           add_all(modules, q, "layer_quant_config") &&
           add(types(q.inner("global_quant_config")), q);
}

bool Quantization::take_method(Config& q, const std::string& method) {
    const auto both = [&](const char* type) { return add(joined(type, type, wide_), q); };
    const auto weights = [&](const std::string& type) {
        return add(joined(wide_, type, wide_), q);
    };
    if (method == "fp8" || method == "fbgemm_fp8" || method == "finegrained_fp8") {
        const std::string scheme = q.word("activation_scheme", "dynamic");
        return scheme == "none"                            ? weights("fp8")
               : scheme == "dynamic" || scheme == "static" ? both("fp8")
                                                           : false;
    }
    if (method == "mxfp4") {
        return weights("mxfp4");
    }
    if (method == "modelopt" || method == "modelopt_fp4" || method == "nvfp4") {
        const std::string name = lowered(q.word("quant_algo", method == "modelopt" ? "" : "nvfp4"));
        if (name == "mixed_precision" || name == "w4a8_mixed") {
            return q.has("quantized_layers") ? take_layers(q) : take_groups(q);
        }
        const bool cache_alone = name.empty() && q.has("kv_cache_quant_algo");
        return cache_alone || add(of_algorithm(name, wide_), q);
    }
    if (method == "compressed-tensors") {
        return take_groups(q);
    }
    if (method == "bitsandbytes") {
        return weights(q.flag("load_in_8bit") ? "int8" : "int4");
    }
    if (method == "hqq") {
        return take_hqq(q);
    }
    if (method == "awq" || method == "gptq" || method == "auto-round" ||
        method == "intel/auto-round" || method == "autoawq") {
        return weights(of_bits(q.count_or({"bits", "w_bit"}, 4), false)) && take_overrides(q);
    }
    if (method == "quark") {
        return take_quark(q);
    }
    if (method == "quanto" || method == "eetq") {
        const std::string type = lowered(q.word("weights", "int8"));
        return !q.has("activations") && weights(type == "float8"                   ? "fp8"
                                                : type == "int8" || type == "int4" ? type
                                                                                   : "");
    }
    if (method == "torchao") {
        const std::string name = q.is_object("quant_type")
                                     ? q.inner("quant_type").inner("default").word("_type")
                                     : q.word("quant_type");
        return add(of_torchao(name, wide_), q);
    }
    return false;
}

void Quantization::take_left_out(Config& q) {
    for (const char* key : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                            "llm_int8_skip_modules", "skip_modules", "exclude"}) {
        for (const std::string& name : q.words(key)) {
            add_module(left_out_, q, key, name);
        }
    }
}

Quantization::Quantization(Config& config, std::string wide) : wide_(std::move(wide)) {
    if (!config.has("quantization_config")) {
        return;
    }
    Config q = config.inner("quantization_config");
    if (q.has("quantization")) { // ModelOpt's own file, hf_quant_config.json
        q = q.inner("quantization");
    }
    const std::string method =
        lowered(q.word("quant_method", q.has("quant_algo") ? "modelopt" : ""));
    if (!take_method(q, method)) {
        config.refuse(
            "quantization_config",
            fmt::format("the method '{}' is not known with these types", method.substr(0, 40)),
            "known: fp8, mxfp4, modelopt (FP8, NVFP4, mixed precision), compressed-tensors, awq, "
            "gptq, auto-round, hqq, bitsandbytes, quark, quanto, torchao; without the key, weights "
            "have "
            "the type of torch_dtype");
        return;
    }
    experts_alone_ = method == "mxfp4";
    take_left_out(q);
}

std::string Quantization::types_of(Count layer, const std::string& module) const {
    const std::string path = fmt::format("layers.{}.{}", layer, module);
    const bool expert = module.find("experts") != std::string::npos;
    if (left_out_.lists(path) || (experts_alone_ && !expert)) {
        return {};
    }
    auto chosen = std::ranges::find_if(
        groups_, [&](const Group& group) { return group.modules.lists(path); });
    if (chosen == groups_.end()) {
        chosen = std::ranges::find_if(
            groups_, [&](const Group& group) { return group.modules.lists_beside(path); });
    }
    if (chosen == groups_.end()) {
        chosen = std::ranges::find_if(groups_, &Group::rest);
    }
    return chosen == groups_.end() || chosen->types == joined(wide_, wide_, wide_) ? std::string()
                                                                                   : chosen->types;
}

} // namespace eyeroof::formats::hf
