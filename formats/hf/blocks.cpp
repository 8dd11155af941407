#include "formats/hf/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

namespace eyeroof::formats::hf {

void Blocks::add(Block block, Count times) {
    const auto same = std::ranges::find(blocks_, block, &std::pair<Block, Count>::first);
    if (same != blocks_.end()) {
        same->second += times;
    } else {
        blocks_.emplace_back(std::move(block), times);
    }
}

namespace {

// How many operators all blocks begin with, and how many they end with behind those.
struct SharedEnds {
    std::size_t front = 0, back = 0;
};

SharedEnds shared_ends(std::span<const std::pair<Block, Count>> variants) {
    const Block& first = variants.front().first;
    SharedEnds ends{first.size(), first.size()};
    for (const auto& [block, count] : variants) {
        const auto front = std::ranges::mismatch(first, block).in1 - first.begin();
        ends.front = std::min(ends.front, static_cast<std::size_t>(front));
    }
    for (const auto& [block, count] : variants) {
        const auto back = std::mismatch(first.rbegin(), first.rend(), block.rbegin(), block.rend());
        ends.back = std::min({ends.back, static_cast<std::size_t>(back.first - first.rbegin()),
                              block.size() - ends.front});
    }
    return ends;
}

} // namespace

std::string Blocks::yaml() const {
    std::string text = "layers:\n";
    std::map<std::string, int> uses;
    const auto write = [&](std::span<const Operator> operators, Count count) {
        for (const Operator& op : operators) {
            const int use = ++uses[op.name];
            text += fmt::format("  - {{name: {}{}, count: {}, {}{}{}}}\n", op.name,
                                use > 1 ? fmt::format("_{}", use) : "", count, op.fields,
                                op.types.empty() ? "" : ", dtype: ", op.types);
        }
    };
    for (std::size_t i = 0, end = 0; i < blocks_.size(); i = end) {
        Count all = 0;
        for (end = i;
             end < blocks_.size() && !blocks_[i].first.empty() && !blocks_[end].first.empty() &&
             blocks_[end].first.front() == blocks_[i].first.front();
             ++end) {
            all += blocks_[end].second;
        }
        end = std::max(end, i + 1);
        const auto variants = std::span(blocks_).subspan(i, end - i);
        const SharedEnds ends = shared_ends(variants);
        write(std::span(blocks_[i].first).first(ends.front), std::max<Count>(all, 1));
        for (const auto& [block, count] : variants) {
            write(std::span(block).subspan(ends.front, block.size() - ends.front - ends.back),
                  count);
        }
        write(std::span(blocks_[i].first).last(ends.back), std::max<Count>(all, 1));
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
