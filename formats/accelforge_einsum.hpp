// Einsums as AccelForge writes them, as text or as accesses of tensors.
#pragma once

#include "base/checked.hpp"
#include "formats/contraction.hpp"
#include "hwdb/yaml.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats {

using hwdb::Node;

struct ForgeTerm {
    std::string variable;
    Count factor = 1;
};

struct ForgeCoordinate {
    std::string rank;             // "H" of "H: p0 * 2 + r0"; the variable's in capitals otherwise
    std::vector<ForgeTerm> terms; // a sum
};

struct ForgeTensor {
    std::string name;
    std::vector<ForgeCoordinate> coordinates;

    bool has(const std::string& variable) const {
        return std::any_of(coordinates.begin(), coordinates.end(), [&](const auto& c) {
            return std::any_of(c.terms.begin(), c.terms.end(),
                               [&](const ForgeTerm& t) { return t.variable == variable; });
        });
    }
};

struct Einsum {
    std::string name;
    ForgeTensor output;
    std::vector<ForgeTensor> inputs;
    bool sum = false; // inputs are added, not multiplied
    bool copy = false;
    std::string weight; // the tensor that the file calls so
    Node node;
};

std::string stripped(std::string_view text); // without blanks around it
bool plain_word(const std::string& text);    // a name
std::string capitals(std::string text);
bool is_true(const Node& node);

// "O[m, n] = A[m, k] * B[k, n]", and tensor_accesses: [{name, projection, output}]. False where it
// is not understood.
bool read_equation(const std::string& text, Einsum& einsum);
bool read_accesses(const Node& list, Einsum& einsum);

// A product of more than two tensors as products of two, in the order of fewest MACs.
struct ContractedEinsum {
    std::vector<Einsum> parts; // "Z.1", …, and "Z" last
    std::string said;          // the order, its MACs, and the points of one nest
};

// `sizes`: of every variable. Nothing where a coordinate is a window, or of too many tensors; see
// contraction.hpp.
std::optional<ContractedEinsum> contracted(const Einsum& einsum,
                                           const std::map<std::string, Count, std::less<>>& sizes);

} // namespace eyeroof::formats
