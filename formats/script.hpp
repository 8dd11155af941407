// Expressions as Python and Jinja2 write them, in files of AccelForge and of Timeloop's front end:
// "1024 * 64 * 8", "N_CACHED if DECODE else N_NEW", "[N_EXPERTS, N_TOKENS * 2] | min".
//
// Read: numbers, texts, lists, mappings; + - * / // % ** ~, comparisons, in, and, or, not,
// "a if c else b", "x is defined", filters, calls, and names with dots, which are one name. What
// has no value is Unset, with the reason; what is made of it is Unset, too, but for a branch that
// is not taken, "x is defined", and "x | default(1)".
#pragma once

#include "base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace eyeroof::formats {

struct ScriptValue;
using ScriptList = std::vector<ScriptValue>;
struct ScriptMap {
    std::vector<std::string> keys;
    ScriptList values; // as many
};
struct Unset {
    std::string code, why;
};

struct ScriptValue {
    std::variant<Unset, double, std::string, ScriptList, ScriptMap> held = Unset{};

    bool unset() const { return std::holds_alternative<Unset>(held); }
    const double* number() const { return std::get_if<double>(&held); }
    const std::string* text() const { return std::get_if<std::string>(&held); }
    const ScriptList* list() const { return std::get_if<ScriptList>(&held); }
    bool holds() const; // as Python takes it for true
    // What a copy costs: values in lists and mappings, and texts by 16 characters.
    std::size_t weight() const;
};

// What an expression may name. Nothing: there is no such name.
struct ScriptNames {
    std::function<std::optional<ScriptValue>(const std::string& name)> value;
    // Asked first, then the functions that are known everywhere: min, max, ceil, floor, round, abs,
    // int, float, str, len, sum, log2, sqrt, pow, dict, range.
    std::function<std::optional<ScriptValue>(const std::string& name, const ScriptList& arguments)>
        call;
};

inline constexpr std::size_t kLongestScript = 2000;
inline constexpr int kDeepestScript = 32;
inline constexpr std::size_t kHeaviestValue = 100'000; // ScriptValue::weight

// Errors: "too-large" beyond kHeaviestValue, "expression" for what is not understood, the code of
// what is unset ("unknown-parameter").
Result<ScriptValue> run_script(std::string_view text, const ScriptNames& names);

} // namespace eyeroof::formats
