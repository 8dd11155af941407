#include "formats/hf/quantization.hpp"

#include "base/ascii.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

// Whether the pattern with stars, or a part of a path without any, is in the path.
bool matches(std::string_view pattern, std::string_view path) {
    if (pattern.starts_with("re:")) {
        pattern.remove_prefix(3);
        while (pattern.starts_with(".*") || pattern.starts_with('^')) {
            pattern.remove_prefix(pattern.starts_with('^') ? 1 : 2);
        }
    }
    std::size_t at = 0;
    bool any = false;
    while (!pattern.empty()) {
        const std::size_t star = pattern.find('*');
        std::string_view piece = pattern.substr(0, star);
        std::string plain;
        for (const char c : piece) { // of a regular expression "mlp\.gate$" as well
            if (c != '\\' && c != '$') {
                plain += c;
            }
        }
        if (plain.ends_with('.') && star != std::string_view::npos) {
            plain.pop_back();
        }
        const std::size_t found = path.find(plain, at);
        if (found == std::string_view::npos) {
            return false;
        }
        any = any || !plain.empty();
        at = found + plain.size();
        pattern.remove_prefix(star == std::string_view::npos ? pattern.size() : star + 1);
    }
    return any;
}

std::string of_bits(Count bits, bool is_float) {
    return bits == 8 ? (is_float ? "fp8" : "int8") : bits == 4 ? (is_float ? "fp4" : "int4") : "";
}

// compressed-tensors: the first group's weights and activations.
std::string compressed(Config& q, const std::string& wide) {
    const std::string format = q.word("format");
    Config groups = q.inner("config_groups");
    Config group = groups.inner("group_0");
    Config weights = group.inner("weights");
    const std::string kind = weights.word("type", "int");
    const bool is_float = kind == "float";
    if (!is_float && kind != "int") {
        return "";
    }
    const bool nvfp4 =
        format.find("nvfp4") != std::string::npos || weights.count_or({"group_size"}, 0) == 16;
    const Count bits = weights.count_or({"num_bits"}, 8);
    const std::string type = is_float && bits == 4 && nvfp4 ? "nvfp4" : of_bits(bits, is_float);
    const bool both = group.has("input_activations");
    return type.empty() ? "" : fmt::format("{}/{}/{}", both ? type : wide, type, wide);
}

std::string types_of_method(Config& q, const std::string& method, const std::string& wide) {
    const std::string algorithm = lowered(q.word("quant_algo"));
    const auto weights_only = [&](const std::string& type) {
        return type.empty() ? type : fmt::format("{}/{}/{}", wide, type, wide);
    };
    const auto both = [&](const char* type) { return fmt::format("{}/{}/{}", type, type, wide); };
    if (method == "fp8" || method == "fbgemm_fp8" || method == "finegrained_fp8") {
        const std::string scheme = q.word("activation_scheme", "dynamic");
        return scheme == "none"                            ? weights_only("fp8")
               : scheme == "dynamic" || scheme == "static" ? both("fp8")
                                                           : "";
    }
    if (method == "mxfp4") {
        return weights_only("mxfp4");
    }
    if (method == "modelopt" || method == "modelopt_fp4" || method == "nvfp4") {
        return algorithm.find("fp8") != std::string::npos     ? both("fp8")
               : algorithm.find("w4a16") != std::string::npos ? weights_only("int4")
               : algorithm.find("mxfp8") != std::string::npos ? both("mxfp8")
               : algorithm.find("int8") != std::string::npos  ? both("int8")
               : algorithm.find("int4") != std::string::npos  ? weights_only("int4")
               : algorithm.empty() || algorithm.find("fp4") != std::string::npos ? both("nvfp4")
                                                                                 : "";
    }
    if (method == "compressed-tensors") {
        return compressed(q, wide);
    }
    if (method == "bitsandbytes") {
        return weights_only(q.flag("load_in_8bit") ? "int8" : "int4");
    }
    if (method == "awq" || method == "gptq" || method == "auto-round" || method == "hqq" ||
        method == "intel/auto-round" || method == "autoawq") {
        return weights_only(of_bits(q.count_or({"bits", "w_bit", "nbits"}, 4), false));
    }
    return "";
}

} // namespace

Quantization::Quantization(Config& config, std::string wide) {
    if (!config.has("quantization_config")) {
        return;
    }
    Config q = config.inner("quantization_config");
    // ModelOpt's own file has the algorithm alone.
    const std::string method =
        lowered(q.word("quant_method", q.has("quant_algo") ? "modelopt" : ""));
    types_ = types_of_method(q, method, wide);
    if (types_.empty()) {
        config.refuse(
            "quantization_config",
            fmt::format("the method '{}' is not known with these types", method.substr(0, 40)),
            "known: fp8, mxfp4, modelopt (FP8, NVFP4), compressed-tensors, awq, gptq, "
            "bitsandbytes; without the key, weights have the type of torch_dtype");
        return;
    }
    experts_alone_ = method == "mxfp4";
    for (const char* key : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                            "llm_int8_skip_modules"}) {
        const auto names = q.words(key);
        left_out_.insert(left_out_.end(), names.begin(), names.end());
    }
}

std::string Quantization::types_of(Count layer, const std::string& module) const {
    const std::string path = fmt::format("model.layers.{}.{}", layer, module);
    const bool expert = module.find("experts") != std::string::npos;
    const bool kept = std::ranges::any_of(
        left_out_, [&](const std::string& pattern) { return matches(pattern, path); });
    return kept || (experts_alone_ && !expert) ? std::string() : types_;
}

} // namespace eyeroof::formats::hf
