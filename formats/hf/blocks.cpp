#include "formats/hf/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::formats::hf {

void Blocks::add(Block block, Count times) {
    const auto same = std::ranges::find(blocks_, block, &std::pair<Block, Count>::first);
    if (same != blocks_.end()) {
        same->second += times;
    } else {
        blocks_.emplace_back(std::move(block), times);
    }
}

std::string Blocks::yaml() const {
    std::string text = "layers:\n";
    std::map<std::string, int> uses;
    for (const auto& [block, count] : blocks_) {
        for (const Operator& op : block) {
            const int use = ++uses[op.name];
            text += fmt::format("  - {{name: {}{}, count: {}, {}{}{}}}\n", op.name,
                                use > 1 ? fmt::format("_{}", use) : "", count, op.fields,
                                op.types.empty() ? "" : ", dtype: ", op.types);
        }
    }
    return text;
}

std::string times(const std::string& a, const std::string& b) {
    return fmt::format("({})*({})", a, b);
}

std::string text_of(Count value) {
    return fmt::format("{}", value);
}

Operator gemm(const char* name, const std::string& n, const std::string& k, bool bias) {
    return {
        name,
        fmt::format("op: gemm, m: =words, n: \"={}\", k: \"={}\"{}", n, k, bias ? ", bias: 1" : ""),
        {}};
}

Operator norm(const char* name, const std::string& rows, const std::string& cols,
              const std::string& parameters) {
    return {name,
            fmt::format("op: layernorm, rows: \"={}\", cols: \"={}\", parameters: \"={}\"", rows,
                        cols, parameters),
            {}};
}

Operator pointwise(const char* name, const std::string& rows, const std::string& cols,
                   const char* fn, const std::string& parameters) {
    return {name,
            fmt::format("op: elementwise, rows: \"={}\", cols: \"={}\", fn: {}{}", rows, cols, fn,
                        parameters.empty() ? "" : fmt::format(", parameters: \"={}\"", parameters)),
            {}};
}

Operator weights_alone(const char* name, const std::string& parameters) {
    return pointwise(name, "1", "1", "copy", parameters);
}

} // namespace eyeroof::formats::hf
