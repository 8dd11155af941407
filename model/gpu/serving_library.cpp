#include "model/gpu/serving_library.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace eyeroof::model {

namespace {

std::string in_lower_case(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower;
}

// Words that name a library, with the name in tables of serving libraries' kernels.
struct LibraryWord {
    std::string_view word, serving;
};
// Words of operands stand for the likeliest library.
constexpr std::array<LibraryWord, 23> kLibraryWords = {{{"tensorrt-llm", "trtllm"},
                                                        {"trtllm", "trtllm"},
                                                        {"trt-llm", "trtllm"},
                                                        {"sglang", "sglang"},
                                                        {"vllm", "vllm"},
                                                        {"aiter", "aiter"},
                                                        {"cublas", ""},
                                                        {"cudnn", ""},
                                                        {"cutlass", ""},
                                                        {"torch", ""},
                                                        {"inductor", ""},
                                                        {"hipblas", ""},
                                                        {"rocblas", ""},
                                                        {"miopen", ""},
                                                        {"flash", ""},
                                                        {"triton", ""},
                                                        {"vidur", ""},
                                                        {"tensorflow", ""},
                                                        {"jax", ""},
                                                        {"onednn", ""},
                                                        {"quantized", ""},
                                                        {"static", ""},
                                                        {"fp8_block", ""}}};

bool is_separator(char c) {
    return c == ' ' || c == '-' || c == '=' || c == ',';
}

// The words of the name after `from`, without those that say how operands are quantized.
void read_words(std::string_view rest, ServingLibrary& serving) {
    while (!rest.empty()) {
        const auto end = std::find_if(rest.begin(), rest.end(), is_separator);
        const std::string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        const bool number = !word.empty() && word.front() >= '0' && word.front() <= '9';
        if (serving.version.empty() && serving.kernel.empty() && number) {
            serving.version = word;
        } else if (word == "fp8_block" || word == "block") {
            serving.blocks = true;
        } else if (word == "quantized") {
            serving.quantized = true;
        } else if (!word.empty() && serving.kernel.empty()) {
            serving.kernel = word;
        }
    }
}

} // namespace

ServingLibrary serving_library(std::string_view given) {
    ServingLibrary serving;
    const std::string lower = in_lower_case(given);
    const std::string_view name = lower;
    if (name.find("static") != std::string_view::npos) {
        return serving;
    }
    for (const LibraryWord& known : kLibraryWords) {
        const auto at = known.serving.empty() ? std::string_view::npos : name.find(known.word);
        if (at != std::string_view::npos) {
            serving.name = known.serving;
            read_words(name.substr(at + known.word.size()), serving);
            return serving;
        }
    }
    return serving;
}

std::string serving_words(const ServingLibrary& library) {
    return library.version.empty() ? library.name : library.name + " " + library.version;
}

bool is_known_library(std::string_view name) {
    const std::string lower = in_lower_case(name);
    return std::any_of(kLibraryWords.begin(), kLibraryWords.end(), [&](const LibraryWord& known) {
        return lower.find(known.word) != std::string::npos;
    });
}

std::string known_libraries() {
    std::string all;
    for (const LibraryWord& known : kLibraryWords) {
        all += (all.empty() ? "" : ", ") + std::string(known.word);
    }
    return all;
}

} // namespace eyeroof::model
