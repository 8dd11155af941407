#include "model/gpu/software.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace eyeroof::model {

namespace {

// Where `word`, of letters in lower case and digits, begins in the name, letter case ignored; its
// end where it does not.
const char* found_in(std::string_view name, std::string_view word) {
    const auto same = [](char a, char b) { return (a | 0x20) == b; };
    return std::search(name.data(), name.data() + name.size(), word.begin(), word.end(), same);
}

bool names(std::string_view name, std::string_view word) {
    return found_in(name, word) != name.data() + name.size();
}

// The numbers of the version after `word`: "VLLM 0.19.0" has 0 and 19; 0 where there is none.
std::array<int, 2> version_after(std::string_view name, std::string_view word) {
    const char* end = name.data() + name.size();
    const char* at = found_in(name, word);
    at = at == end ? at : at + word.size();
    while (at != end && (*at == ' ' || *at == '-' || *at == '=')) {
        ++at;
    }
    std::array<int, 2> version = {0, 0};
    at = std::from_chars(at, end, version[0]).ptr;
    if (at != end && *at == '.') {
        std::from_chars(at + 1, end, version[1]);
    }
    return version;
}

// "static": scales are given with the weights, as in checkpoints calibrated for TensorRT-LLM.
ByteCast cast_from_name(std::string_view name, DataType type) {
    constexpr std::array<int, 2> kNoVersion = {0, 0};
    constexpr std::array<int, 2> kOneKernel = {0, 15}; // of vLLM
    if (names(name, "quantized")) {
        return ByteCast::given;
    }
    const bool trt = names(name, "trtllm") || names(name, "tensorrt-llm");
    const bool sglang = names(name, "sglang");
    if (names(name, "block") || names(name, "static") || (trt && type == DataType::int8)) {
        return ByteCast::fused;
    }
    if (names(name, "vllm")) {
        const auto version = version_after(name, "vllm");
        return version == kNoVersion   ? ByteCast::usual
               : version >= kOneKernel ? ByteCast::fused
                                       : ByteCast::slow;
    }
    return sglang && type == DataType::int8 ? ByteCast::slow
           : sglang                         ? ByteCast::fused
           : trt                            ? ByteCast::kernels
                                            : ByteCast::usual;
}

HeadPacking heads_from_name(std::string_view name) {
    if (names(name, "trtllm") || names(name, "tensorrt-llm")) {
        return HeadPacking::apart;
    }
    for (const std::string_view packs : {"vllm", "sglang", "flash"}) {
        if (names(name, packs)) {
            return HeadPacking::packed;
        }
    }
    return HeadPacking::usual;
}

AttentionKernel attention_from_name(std::string_view name) {
    return names(name, "cudnn") ? AttentionKernel::training : AttentionKernel::serving;
}

ExpertKernel experts_from_name(std::string_view name, DataType type) {
    const bool own = names(name, "vllm") && !names(name, "block") && type == DataType::fp8;
    return own ? ExpertKernel::flashinfer : ExpertKernel::usual;
}

NormKernel norm_from_name(std::string_view name) {
    constexpr std::array<int, 2> kNoVersion = {0, 0};
    constexpr std::array<int, 2> kVectorised = {2, 8}; // of PyTorch
    if (names(name, "cudnn")) {
        return NormKernel::fused;
    }
    if (names(name, "compile") || names(name, "inductor")) {
        return NormKernel::compiled;
    }
    const auto version = version_after(name, "torch");
    const bool recent = version == kNoVersion || version >= kVectorised;
    return names(name, "torch") && recent ? NormKernel::vector : NormKernel::usual;
}

} // namespace

std::string_view layout_name(Layout layout) {
    return layout == Layout::channels_last ? "channels-last" : "channels-first";
}

std::optional<Layout> layout_from_name(std::string_view name) {
    for (const Layout layout : {Layout::channels_last, Layout::channels_first}) {
        if (name == layout_name(layout)) {
            return layout;
        }
    }
    return std::nullopt;
}

std::optional<Library> library_from_name(std::string_view name) {
    constexpr int kLastEarlyBlas = 10;
    constexpr int kLastEarlyDnn = 7;
    const int blas = version_after(name, "cublas")[0];
    const int dnn = version_after(name, "cudnn")[0];
    if (blas <= 0 && dnn <= 0) {
        return std::nullopt;
    }
    const bool early = blas > 0 ? blas <= kLastEarlyBlas : dnn <= kLastEarlyDnn;
    return early ? Library::until_10 : Library::current;
}

Software software_from_name(std::string_view name, DataType type) {
    Software software;
    software.library = library_from_name(name).value_or(Library::current);
    software.cast = cast_from_name(name, type);
    software.heads = heads_from_name(name);
    software.attention = attention_from_name(name);
    software.experts = experts_from_name(name, type);
    software.norm = norm_from_name(name);
    software.serving = serving_library(name);
    return software;
}

} // namespace eyeroof::model
