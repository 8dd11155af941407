// The order in which a product of several tensors is contracted, two at a time.
#pragma once

#include "base/checked.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace eyeroof::formats {

// Operands are counted from 0; the result of step i is operand `operands + i`.
struct Contraction {
    std::size_t left = 0, right = 0;
    std::set<std::string> kept; // variables of the result
    double macs = 0.0;          // of this step: the product of the sizes of all variables in it
};

// Operands: all 3^n / 2 ways to halve them are tried.
inline constexpr std::size_t kMostContracted = 10;

// The steps of fewest MACs in sum, as dynamic programming over sets of operands finds them. A step
// keeps a variable that the output or any other operand has. Nothing for fewer than two operands
// and for more than kMostContracted; `sizes` has every variable.
std::vector<Contraction> contraction_order(const std::vector<std::set<std::string>>& operands,
                                           const std::set<std::string>& output,
                                           const std::map<std::string, Count, std::less<>>& sizes);

} // namespace eyeroof::formats
