#include "formats/zigzag_words.hpp"

#include "model/workload/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace eyeroof::formats::zigzag {

using hwdb::Node;

namespace {

std::string without_blanks(std::string text) {
    std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
    return text;
}

std::optional<std::pair<std::string, Count>> term_of(const std::string& text) {
    const std::size_t star = text.find('*');
    if (star == std::string::npos) {
        return std::pair(upper(text), Count{1});
    }
    Count factor = 0;
    const char* end = text.data() + star;
    const auto read = std::from_chars(text.data(), end, factor);
    if (read.ec != std::errc{} || read.ptr != end || factor < 1 || factor > model::kMaxDimension) {
        return std::nullopt;
    }
    return std::pair(upper(text.substr(star + 1)), factor);
}

} // namespace

std::string as_yaml(std::string text) {
    const std::size_t at = text.find("workload");
    const std::size_t brace = text.find('{');
    const std::size_t equals = text.find('=');
    if (at == std::string::npos || brace == std::string::npos || equals > brace || at > equals) {
        return text;
    }
    for (std::size_t i = 0; i < brace; ++i) {
        text[i] = text[i] == '\n' ? '\n' : ' ';
    }
    bool quoted = false;
    bool comment = false;
    for (std::size_t i = brace; i < text.size(); ++i) {
        comment = text[i] == '\n' ? false : comment || (text[i] == '#' && !quoted);
        quoted = text[i] == '\'' && !comment ? !quoted : quoted && text[i] != '\n';
        if (!quoted && !comment) {
            text[i] = text[i] == '(' ? '[' : text[i] == ')' ? ']' : text[i];
        }
    }
    return text;
}

std::string upper(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

namespace {

// A letter and indices, as in I[b][c][iy]; false where the text has none at `at`.
bool read_tensor(std::string_view text, std::size_t& at, Equation& equation) {
    if (at >= text.size() || std::isalpha(static_cast<unsigned char>(text[at])) == 0) {
        return false;
    }
    auto& indices = equation.tensors[text[at++]];
    const std::size_t first = at;
    while (at < text.size() && text[at] == '[') {
        const std::size_t close = text.find(']', at);
        const std::string_view name =
            close == std::string_view::npos ? "" : text.substr(at + 1, close - at - 1);
        const bool word = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '_';
        });
        if (!word) {
            return false;
        }
        indices.push_back(upper(name));
        at = close + 1;
    }
    return at > first;
}

// O[…] += W[…] * I[…], or "=" with a sum or a product of tensors.
bool read_equation(std::string_view text, Equation& equation) {
    std::size_t at = 0;
    if (!read_tensor(text, at, equation)) {
        return false;
    }
    equation.product = text.substr(at).starts_with("+=");
    if (!equation.product && !text.substr(at).starts_with('=')) {
        return false;
    }
    at += equation.product ? 2 : 1;
    while (read_tensor(text, at, equation)) {
        if (at == text.size()) {
            return true;
        }
        const bool joins = text[at] == '*' || (text[at] == '+' && !equation.product);
        if (!joins) {
            return false;
        }
        ++at;
    }
    return false;
}

} // namespace

std::optional<Equation> equation_of(const Node& node) {
    const std::string text = without_blanks(node.text().value_or(""));
    Equation equation;
    const bool read = read_equation(text, equation);
    if (!read || !equation.tensors.contains('O') || !equation.tensors.contains('I')) {
        node.error(
            "unsupported",
            fmt::format("'{}' is no equation of an output O and an input I", text.substr(0, 80)),
            "as in O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]");
        return std::nullopt;
    }
    return equation;
}

bool is_operator(std::string_view word) {
    // Parts of the words that ZigZag's and Stream's workloads use.
    constexpr auto known = std::to_array<std::string_view>(
        {"CONV",   "GEMM",    "MATMUL",  "MUL",     "FC",      "LINEAR", "DENSE",     "ADD",
         "SUB",    "DIV",     "POOL",    "SIMD",    "RELU",    "SILU",   "GELU",      "SIGMOID",
         "TANH",   "SOFTMAX", "NORM",    "ELTWISE", "ELEMENT", "EINSUM", "DEPTHWISE", "POINTWISE",
         "DW",     "PW",      "PROJ",    "QUERY",   "KEY",     "VALUE",  "LOGIT",     "ATTENTION",
         "ATTEND", "FFN",     "MLP",     "LSTM",    "GRU",     "RNN",    "SUM",       "MEAN",
         "REDUCE", "CONCAT",  "DEFAULT", "LAYER"});
    const std::string text = upper(word);
    return std::ranges::any_of(
        known, [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

std::optional<Relation> relation_of(const Node& node) {
    std::string text = without_blanks(node.text().value_or(""));
    const std::size_t equals = text.find('=');
    const std::size_t plus = text.find('+');
    const std::string offset = "0123456789";
    std::size_t minus = text.find('-'); // an offset is padding and moves no word
    if (minus != std::string::npos &&
        text.find_first_not_of(offset, minus + 1) != std::string::npos) {
        minus = 0;
    }
    const bool sum = equals != std::string::npos && plus != std::string::npos && equals < plus;
    const auto first = sum ? term_of(text.substr(equals + 1, plus - equals - 1)) : std::nullopt;
    const auto second =
        sum && minus != 0 ? term_of(text.substr(plus + 1, minus - plus - 1)) : std::nullopt;
    if (!first || !second) {
        node.error("unsupported", fmt::format("'{}' is no sum of a position and a tap", text),
                   "as in ix=2*ox+1*fx");
        return std::nullopt;
    }
    const bool swapped = first->first.starts_with('F');
    const auto& position = swapped ? *second : *first;
    const auto& tap = swapped ? *first : *second;
    return Relation{upper(text.substr(0, equals)), position.first, tap.first, position.second,
                    tap.second};
}

} // namespace eyeroof::formats::zigzag
