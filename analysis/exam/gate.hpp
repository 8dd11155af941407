// A condition on a report, for builds that should fail when a network gets slower: --fail-if.
// Parsed before the examination, evaluated after it; called by cli.
//
//   condition  = term { ("or" | "||") term }
//   term       = factor { ("and" | "&&") factor }
//   factor     = "(" condition ")" | subject operator number [ unit ]
//   operator   = "<" | "<=" | ">" | ">=" | "==" | "!="
//   subject    = KEY | "net." KEY | "layer." NAME "." KEY | "any." KEY | "all." KEY
//
// A KEY alone is the whole's, and may lack its unit: "time < 5 ms" is "net.time_s < 5e-3". A NAME
// may be quoted: layer."conv 1".time_s. `any` holds when one layer does, `all` when every
// layer does; several layers of one name are all looked at, and one is enough. Keys are the
// report's own (gate_keys) with its units; those of layers are for one execution.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

struct Comparison {
    enum class Scope { net, layer, any, all };
    enum class Operator { less, less_equal, greater, greater_equal, equal, not_equal };

    Scope scope = Scope::net;
    std::string layer; // for Scope::layer
    std::string key;
    Operator op = Operator::less;
    double number = 0.0;
    int column = 0; // of its subject, from 1

    bool operator==(const Comparison&) const = default;
};

// Alternatives (or) of comparisons that must all hold (and): parentheses are multiplied out.
struct Gate {
    std::vector<std::vector<Comparison>> alternatives;

    bool operator==(const Gate&) const = default;
};

// The names that a command's answer has, of the whole and of its layers.
struct GateKeys {
    std::vector<std::string> net, layers;

    bool operator==(const GateKeys&) const = default;
};
const GateKeys& exam_gate_keys();

// An answer as a condition sees it: values in the order of the keys, nullopt where there is none.
struct GateFigures {
    struct Layer {
        std::string name;
        std::vector<std::optional<double>> values;
    };
    GateKeys keys;
    std::vector<std::optional<double>> net;
    std::vector<Layer> layers;
    std::function<std::string(const std::string& key)> why_none; // a hint; empty: none
};
GateFigures gate_figures(const Report& report);

// Errors, each at "--fail-if:1:column": "bad-expression", "unknown-key", "too-long".
Result<Gate> parse_gate(std::string_view text, const GateKeys& keys);
Result<Gate> parse_gate(std::string_view text); // of an examination

struct Verdict {
    bool holds = false;
    std::vector<std::string> because; // the comparisons that made it hold, with the values found

    bool operator==(const Verdict&) const = default;
};

// Errors: "unknown-layer"; "no-value" where the answer has none: of an examination for low_s and
// high_s where no interval is known, and for measured_s and unexplained_s of what was not measured.
Result<Verdict> evaluate(const Gate& gate, const GateFigures& figures);
Result<Verdict> evaluate(const Gate& gate, const Report& report);

} // namespace eyeroof::analysis
