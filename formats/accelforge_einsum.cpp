#include "formats/accelforge_einsum.hpp"

#include "base/ascii.hpp"
#include "base/units.hpp"
#include "formats/expression.hpp"
#include "model/workload/layer.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <set>

namespace eyeroof::formats {

using model::kMaxDimension;

std::string stripped(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    return first == std::string_view::npos
               ? ""
               : std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
        if (c == separator && depth == 0) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    for (std::string& part : parts) {
        part = stripped(part);
    }
    return parts;
}

bool plain_word(const std::string& text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// "p0 * 2 + r0". Nothing where it is no such sum.
std::optional<std::vector<ForgeTerm>> terms_of(const std::string& text) {
    std::vector<ForgeTerm> terms;
    for (const std::string& sum : parts_of(text, '+')) {
        ForgeTerm term;
        for (const std::string& factor : parts_of(sum, '*')) {
            const auto number = evaluate(factor, {});
            if (plain_word(factor) && term.variable.empty()) {
                term.variable = factor;
            } else if (number && *number >= 1.0 && *number <= 1e9 &&
                       std::floor(*number) == *number) {
                term.factor *= static_cast<Count>(*number);
            } else {
                return std::nullopt;
            }
        }
        if (term.variable.empty() || term.factor > kMaxDimension) {
            return std::nullopt;
        }
        terms.push_back(term);
    }
    return terms;
}

std::string capitals(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

// Adds "p" or "H: p * 2 + r"; false where it is not understood.
bool add_coordinate(const std::string& rank, const std::string& expression, ForgeTensor& tensor) {
    const auto terms = terms_of(expression);
    if (!terms) {
        return false;
    }
    tensor.coordinates.push_back({rank.empty() ? capitals(terms->front().variable) : rank, *terms});
    return true;
}

// "T0[p0, H: p0 * 2 + r0]".
bool read_tensor(const std::string& text, ForgeTensor& tensor) {
    const std::size_t open = text.find('[');
    if (open == std::string::npos || !text.ends_with(']')) {
        return false;
    }
    tensor.name = stripped(text.substr(0, open));
    for (const std::string& part : parts_of(text.substr(open + 1, text.size() - open - 2), ',')) {
        const std::size_t colon = part.find(':');
        const std::string rank = colon == std::string::npos ? "" : stripped(part.substr(0, colon));
        const std::string rest = colon == std::string::npos ? part : part.substr(colon + 1);
        if (!part.empty() && !add_coordinate(rank, stripped(rest), tensor)) {
            return false;
        }
    }
    return plain_word(tensor.name);
}

bool is_true(const Node& node) {
    const std::string text = lowered(node.text().value_or(""));
    return text == "true";
}

// "O[m, n] = A[m, k] * B[k, n]".
bool read_equation(const std::string& text, Einsum& einsum) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos ||
        !read_tensor(stripped(text.substr(0, equals)), einsum.output)) {
        return false;
    }
    const std::string right = stripped(text.substr(equals + 1));
    const auto added = parts_of(right, '+');
    einsum.sum = added.size() > 1;
    for (const std::string& part : einsum.sum ? added : parts_of(right, '*')) {
        ForgeTensor tensor;
        if (!read_tensor(part, tensor)) {
            return false;
        }
        einsum.inputs.push_back(std::move(tensor));
    }
    einsum.name = einsum.name.empty() ? einsum.output.name : einsum.name;
    return true;
}

// tensor_accesses: [{name, projection, output}].
bool read_accesses(const Node& list, Einsum& einsum) {
    for (const Node& access : list.items(1)) {
        access.ignore_rest();
        ForgeTensor tensor;
        tensor.name = access.need("name").text().value_or("");
        const Node projection = access.need("projection");
        if (projection.is_map()) {
            for (const auto& [rank, node] : projection.entries()) {
                if (!add_coordinate(rank, stripped(node.text().value_or("")), tensor)) {
                    return false;
                }
            }
        } else {
            for (const Node& node : projection.items()) {
                if (!add_coordinate("", stripped(node.text().value_or("")), tensor)) {
                    return false;
                }
            }
        }
        if (access.has("output") && is_true(access["output"])) {
            einsum.output = std::move(tensor);
        } else {
            einsum.inputs.push_back(std::move(tensor));
        }
    }
    return !einsum.output.name.empty() && !einsum.inputs.empty();
}

namespace {

// Its variables; nothing where a coordinate is a window.
std::optional<std::set<std::string>> plain_variables(const ForgeTensor& tensor) {
    std::set<std::string> names;
    for (const ForgeCoordinate& c : tensor.coordinates) {
        if (c.terms.size() != 1 || c.terms[0].factor != 1) {
            return std::nullopt;
        }
        names.insert(c.terms[0].variable);
    }
    return names;
}

ForgeTensor tensor_of(std::string name, const std::set<std::string>& variables) {
    ForgeTensor made{std::move(name), {}};
    for (const std::string& variable : variables) {
        made.coordinates.push_back({capitals(variable), {{variable, 1}}});
    }
    return made;
}

} // namespace

std::optional<ContractedEinsum> contracted(const Einsum& einsum,
                                           const std::map<std::string, Count, std::less<>>& sizes) {
    std::vector<std::set<std::string>> operands;
    for (const ForgeTensor& tensor : einsum.inputs) {
        const auto variables = plain_variables(tensor);
        if (!variables) {
            return std::nullopt;
        }
        operands.push_back(*variables);
    }
    const auto result = plain_variables(einsum.output);
    const auto order =
        result ? contraction_order(operands, *result, sizes) : std::vector<Contraction>();
    if (order.empty()) {
        return std::nullopt;
    }
    ContractedEinsum made;
    std::vector<ForgeTensor> tensors = einsum.inputs;
    std::string text;
    double macs = 0.0, nest = 1.0;
    for (const Contraction& step : order) {
        Einsum part = einsum;
        part.inputs = {tensors[step.left], tensors[step.right]};
        if (&step != &order.back()) {
            part.name = fmt::format("{}.{}", einsum.name, made.parts.size() + 1);
            part.output = tensor_of(part.name, step.kept);
        }
        macs += step.macs;
        text += fmt::format("{}{} = {} * {}", text.empty() ? "" : ", ", part.output.name,
                            part.inputs[0].name, part.inputs[1].name);
        tensors.push_back(part.output);
        made.parts.push_back(std::move(part));
    }
    for (const auto& [name, size] : sizes) {
        nest *= static_cast<double>(size);
    }
    made.said =
        fmt::format("{} reads {} tensors and is counted as {} products of two, in the order "
                    "of fewest MACs: {}; {}, one nest of all has {} points",
                    einsum.name, einsum.inputs.size(), order.size(), text, format_si(macs, "MAC"),
                    format_si(nest, ""));
    return made;
}

} // namespace eyeroof::formats
