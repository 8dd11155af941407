// Evaluates the small expressions of network files: "=32*width", "=ceil(resolution/32)".
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <string_view>

namespace eyeroof::formats {

using Variables = std::map<std::string, double, std::less<>>;

// Numbers, names, + - * / with the usual precedence, parentheses, unary minus, comparisons
// (< <= > >= == !=, 1 or 0, lowest precedence), floor, ceil and round of one argument, min and max
// of two.
// Without the leading "=". Errors: "expression" with what stands where, "unknown-parameter".
// At most kLongestExpression characters and kDeepestExpression nested parentheses.
inline constexpr std::size_t kLongestExpression = 200;
inline constexpr int kDeepestExpression = 32;
enum class Exponents { refused, allowed }; // of numbers: "2e9"
Result<double> evaluate(std::string_view expression, const Variables& variables,
                        Exponents exponents = Exponents::refused);

} // namespace eyeroof::formats
