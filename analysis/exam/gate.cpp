#include "analysis/exam/gate.hpp"

#include "base/suggest.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

namespace eyeroof::analysis {

namespace {

using Alternatives = std::vector<std::vector<Comparison>>;
using Value = std::optional<double>;

constexpr std::size_t kLongest = 4096;   // characters of an expression
constexpr std::size_t kMostTerms = 1024; // alternatives after multiplying out
constexpr int kDeepest = 64;             // parentheses

// What a key ends with, the unit that a number may have there, and how many of the key's are one.
struct KeyUnit {
    std::string_view ending, base;
    double factor;
};
constexpr std::array<KeyUnit, 4> kUnits = {
    {{"_s", "s", 1.0}, {"_pj", "J", 1e12}, {"_j", "J", 1.0}, {"_bytes", "B", 1.0}}};

class Parser {
  public:
    Parser(std::string_view text, const GateKeys& keys) : text_(text), keys_(keys) {}

    Result<Gate> parse() {
        Alternatives found = condition(0);
        skip_blanks();
        if (!failed() && at_ < text_.size()) {
            fail(at_, fmt::format("'{}' is not expected here", text_.substr(at_, 12)),
                 "join comparisons with 'and' or 'or'");
        }
        return failed() ? Result<Gate>(errors_) : Result<Gate>(Gate{std::move(found)});
    }

  private:
    bool failed() const { return errors_.has_errors(); }

    void fail(std::size_t at, std::string message, std::string hint,
              std::string code = "bad-expression") {
        if (!failed()) { // what follows the first error is a guess
            errors_.error(std::move(code), std::move(message), std::move(hint),
                          {"--fail-if", 1, static_cast<int>(at) + 1});
        }
    }

    void skip_blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
            ++at_;
        }
    }

    bool take(std::string_view token) {
        skip_blanks();
        const bool word = std::isalpha(static_cast<unsigned char>(token.front())) != 0;
        const std::size_t end = at_ + token.size();
        const bool ends = !word || end >= text_.size() ||
                          std::isalnum(static_cast<unsigned char>(text_[end])) == 0;
        if (text_.substr(at_, token.size()) != token || !ends) {
            return false;
        }
        at_ = end;
        return true;
    }

    Alternatives condition(int depth) {
        Alternatives all = term(depth);
        while (!failed() && (take("or") || take("||"))) {
            const Alternatives more = term(depth);
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }

    Alternatives term(int depth) {
        Alternatives all = factor(depth);
        while (!failed() && (take("and") || take("&&"))) {
            all = both(all, factor(depth));
        }
        return all;
    }

    // (a or b) and (c or d) = a and c, or a and d, or b and c, or b and d.
    Alternatives both(const Alternatives& left, const Alternatives& right) {
        Alternatives all;
        if (left.size() * right.size() > kMostTerms) {
            fail(at_, "the expression has too many alternatives", "split it", "too-long");
            return all;
        }
        for (const auto& a : left) {
            for (const auto& b : right) {
                all.push_back(a);
                all.back().insert(all.back().end(), b.begin(), b.end());
            }
        }
        return all;
    }

    Alternatives factor(int depth) {
        if (!take("(")) {
            return {{comparison()}};
        }
        if (depth >= kDeepest) {
            fail(at_, "too many parentheses inside each other", {}, "too-long");
            return {};
        }
        Alternatives inside = condition(depth + 1);
        if (!failed() && !take(")")) {
            fail(at_, "a ')' is missing", "each ( needs its )");
        }
        return inside;
    }

    Comparison comparison() {
        skip_blanks();
        Comparison c;
        c.column = static_cast<int>(at_) + 1;
        subject(c);
        if (!failed()) {
            comparison_operator(c);
        }
        if (!failed()) {
            number(c);
        }
        return c;
    }

    // The characters up to a blank or an operator; a quoted part may have any.
    std::string word() {
        std::string out;
        bool quoted = false;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"') {
                quoted = !quoted;
                continue;
            }
            const bool ends = std::isspace(static_cast<unsigned char>(c)) != 0 ||
                              std::string_view("<>=!()&|").find(c) != std::string_view::npos;
            if (ends && !quoted) {
                break;
            }
            out += c;
        }
        return out;
    }

    void subject(Comparison& c) {
        const std::size_t begin = at_;
        const std::string all = word();
        const std::size_t first = all.find('.');
        const std::string scope = all.substr(0, first);
        static const std::vector<std::string> scopes = {"net", "layer", "any", "all"};
        const auto known = std::find(scopes.begin(), scopes.end(), scope);
        if (const auto key = first == std::string::npos ? key_of(all, keys_.net) : std::nullopt) {
            c.key = *key; // of the whole
            return;
        }
        if (first == std::string::npos || known == scopes.end()) {
            fail(begin, all.empty() ? "a comparison is missing" : fmt::format("what is '{}'?", all),
                 fmt::format("write net.KEY, layer.NAME.KEY, any.KEY or all.KEY, such as net.{} < "
                             "0.6",
                             keys_.net.empty() ? "KEY" : keys_.net.front()));
            return;
        }
        c.scope = static_cast<Comparison::Scope>(known - scopes.begin());
        const std::size_t last = all.rfind('.');
        c.key = all.substr(last + 1);
        if (c.scope == Comparison::Scope::layer) {
            c.layer = last > first ? all.substr(first + 1, last - first - 1) : std::string{};
        }
        if (c.scope == Comparison::Scope::layer && c.layer.empty()) {
            fail(begin, fmt::format("'{}' names no layer", all), "write layer.NAME.KEY");
            return;
        }
        const auto& keys = c.scope != Comparison::Scope::net ? keys_.layers : keys_.net;
        const auto key = key_of(c.key, keys);
        if (!key) {
            fail(begin, fmt::format("unknown key '{}'", c.key), suggestion(c.key, keys, 16),
                 "unknown-key");
            return;
        }
        c.key = *key;
    }

    // A key as it is, or without its unit: "time" is "time_s".
    static std::optional<std::string> key_of(const std::string& word,
                                             const std::vector<std::string>& keys) {
        for (const std::string& key : keys) {
            const bool bare = std::any_of(kUnits.begin(), kUnits.end(), [&](const auto& unit) {
                return key == word + std::string(unit.ending);
            });
            if (!word.empty() && (key == word || bare)) {
                return key;
            }
        }
        return std::nullopt;
    }

    void comparison_operator(Comparison& c) {
        using Op = Comparison::Operator;
        static constexpr std::array<std::pair<std::string_view, Op>, 6> operators = {
            {{"<=", Op::less_equal},
             {">=", Op::greater_equal},
             {"==", Op::equal},
             {"!=", Op::not_equal},
             {"<", Op::less},
             {">", Op::greater}}};
        for (const auto& [token, op] : operators) {
            if (take(token)) {
                c.op = op;
                return;
            }
        }
        fail(at_, "a comparison operator is missing", "one of < <= > >= == !=");
    }

    // A number in the key's unit, or with a unit of its own: 5e-3, 5 ms, 60 %.
    void number(Comparison& c) {
        skip_blanks();
        const char* begin = text_.data() + at_;
        const char* end = text_.data() + text_.size();
        const auto [stop, error] = std::from_chars(begin, end, c.number);
        if (error != std::errc{} || !std::isfinite(c.number)) {
            fail(at_, "a number is expected here", "such as 0.6, 1e-3, or 5 ms");
            return;
        }
        const std::size_t from = at_;
        at_ += static_cast<std::size_t>(stop - begin);
        const std::size_t after = at_;
        skip_blanks();
        const std::string unit = this->unit();
        if (unit.empty()) {
            at_ = after;
            return;
        }
        const std::string_view written(begin, static_cast<std::size_t>(stop - begin));
        if (const auto value = in_unit(c.key, std::string(written), unit)) {
            c.number = *value;
        } else {
            fail(from, fmt::format("'{} {}' is not in the unit of {}", written, unit, c.key),
                 "such as 5 ms of time, 3 GB of bytes, 2 J of energy, or 60 % of a share");
        }
    }

    // Letters, '/' and '%' up to anything else; "and" and "or" are none.
    std::string unit() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && (std::isalpha(static_cast<unsigned char>(text_[at_])) != 0 ||
                                      text_[at_] == '%' || text_[at_] == '/')) {
            ++at_;
        }
        std::string word(text_.substr(begin, at_ - begin));
        const bool subject = at_ < text_.size() && text_[at_] == '.'; // of a further comparison
        if (word == "and" || word == "or" || subject) {
            at_ = begin;
            word.clear();
        }
        return word;
    }

    static std::optional<double> in_unit(const std::string& key, const std::string& number,
                                         const std::string& unit) {
        if (unit == "%") {
            double share = 0.0;
            std::from_chars(number.data(), number.data() + number.size(), share);
            return share / 100.0;
        }
        for (const auto& [ending, base, factor] : kUnits) {
            if (key.ends_with(ending)) {
                const auto value = parse_quantity(number + " " + unit, base, key);
                return value ? std::optional(*value * factor) : std::nullopt;
            }
        }
        return std::nullopt;
    }

    std::string_view text_;
    const GateKeys& keys_;
    std::size_t at_ = 0;
    Diagnostics errors_;
};

bool compare(double value, Comparison::Operator op, double number) {
    switch (op) {
    case Comparison::Operator::less:
        return value < number;
    case Comparison::Operator::less_equal:
        return value <= number;
    case Comparison::Operator::greater:
        return value > number;
    case Comparison::Operator::greater_equal:
        return value >= number;
    case Comparison::Operator::equal:
        return value == number;
    case Comparison::Operator::not_equal:
        break;
    }
    return value != number;
}

struct Subject {
    std::string name;
    Value value;
};

Value value_of(const std::vector<std::string>& keys, const std::vector<Value>& values,
               const std::string& key) {
    const auto found = std::find(keys.begin(), keys.end(), key);
    const auto at = static_cast<std::size_t>(found - keys.begin());
    return at < values.size() ? values[at] : std::nullopt;
}

std::vector<Subject> subjects_of(const Comparison& c, const GateFigures& figures) {
    if (c.scope == Comparison::Scope::net) {
        return {{"net." + c.key, value_of(figures.keys.net, figures.net, c.key)}};
    }
    std::vector<Subject> subjects;
    for (const GateFigures::Layer& layer : figures.layers) {
        if (c.scope != Comparison::Scope::layer || layer.name == c.layer) {
            subjects.push_back({fmt::format("layer.{}.{}", layer.name, c.key),
                                value_of(figures.keys.layers, layer.values, c.key)});
        }
    }
    return subjects;
}

// The subject that decides: the first that holds, or for `all` the first that does not.
std::optional<Subject> first_that_holds(const Comparison& c, const std::vector<Subject>& subjects) {
    const bool all = c.scope == Comparison::Scope::all;
    for (const Subject& subject : subjects) {
        if (compare(*subject.value, c.op, c.number) != all) {
            return all ? std::nullopt : std::optional(subject);
        }
    }
    return all ? std::optional(subjects.front()) : std::nullopt;
}

Diagnostics problems_of(const Comparison& c, const GateFigures& figures,
                        const std::vector<Subject>& subjects) {
    Diagnostics d;
    const SourceLocation where{"--fail-if", 1, c.column};
    if (subjects.empty()) {
        std::vector<std::string> names;
        for (const GateFigures::Layer& layer : figures.layers) {
            names.push_back(layer.name);
        }
        d.error("unknown-layer",
                c.layer.empty()
                    ? std::string("there are no layers in what was examined")
                    : fmt::format("there is no layer '{}' in what was examined", c.layer),
                suggestion(c.layer, names), where);
    }
    for (const Subject& subject : subjects) {
        if (!subject.value && d.empty()) {
            d.error("no-value", fmt::format("{} has no value here", subject.name),
                    figures.why_none ? figures.why_none(c.key) : std::string(), where);
        }
    }
    return d;
}

} // namespace

Result<Gate> parse_gate(std::string_view text, const GateKeys& keys) {
    if (text.size() > kLongest) {
        return Result<Gate>::failure("too-long",
                                     fmt::format("an expression of {} characters", text.size()),
                                     fmt::format("at most {}", kLongest), {"--fail-if", 1, 1});
    }
    return Parser(text, keys).parse();
}

Result<Verdict> evaluate(const Gate& gate, const GateFigures& figures) {
    Diagnostics problems;
    Verdict verdict;
    for (const auto& alternative : gate.alternatives) {
        std::vector<std::string> because;
        for (const Comparison& c : alternative) {
            const auto subjects = subjects_of(c, figures);
            const Diagnostics found = problems_of(c, figures, subjects);
            problems.append(found);
            const auto deciding = found.empty() ? first_that_holds(c, subjects) : std::nullopt;
            if (deciding) {
                because.push_back(fmt::format("{} is {:.6g}", deciding->name, *deciding->value));
            }
        }
        if (because.size() == alternative.size() && !verdict.holds) {
            verdict = {true, std::move(because)};
        }
    }
    return problems.has_errors() ? Result<Verdict>(problems) : Result<Verdict>(verdict);
}

} // namespace eyeroof::analysis
