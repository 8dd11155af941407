#include "study/exam/gate.hpp"

#include "model/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

namespace eyeroof::study {

namespace {

using model::Diagnostics;
using model::Result;
using Alternatives = std::vector<std::vector<Comparison>>;
using Value = std::optional<double>;

constexpr std::size_t kLongest = 4096;   // characters of an expression
constexpr std::size_t kMostTerms = 1024; // alternatives after multiplying out
constexpr int kDeepest = 64;             // parentheses

// Nothing where no profile was laid over the report.
template <class Of, class Measured> Value of_measured(const Of& of, double Measured::*figure) {
    return of.measured ? Value((*of.measured).*figure) : std::nullopt;
}

struct NetKey {
    std::string_view name;
    Value (*value)(const Report&);
};
constexpr std::array kNetKeys = {
    NetKey{"time_s", [](const Report& r) -> Value { return r.total.time_s; }},
    NetKey{"processing_time_s", [](const Report& r) -> Value { return r.total.processing_time_s; }},
    NetKey{"low_s", [](const Report& r) { return r.total.low_s; }},
    NetKey{"high_s", [](const Report& r) { return r.total.high_s; }},
    NetKey{"utilization", [](const Report& r) -> Value { return r.total.utilization; }},
    NetKey{"energy_j", [](const Report& r) -> Value { return r.total.energy_j; }},
    NetKey{"macs", [](const Report& r) -> Value { return r.total.macs; }},
    NetKey{"flops", [](const Report& r) -> Value { return r.total.flops; }},
    NetKey{"outer_bytes", [](const Report& r) -> Value { return r.total.outer_bytes; }},
    NetKey{"averaged_pes", [](const Report& r) -> Value { return r.total.averaged_units; }},
    NetKey{"measured_s", [](const Report& r) { return of_measured(r, &Measurement::measured_s); }},
    NetKey{"unexplained_s",
           [](const Report& r) { return of_measured(r, &Measurement::unexplained_s); }},
};

struct LayerKey {
    std::string_view name;
    Value (*value)(const LayerReport&);
};
constexpr std::array kLayerKeys = {
    LayerKey{"time_s", [](const LayerReport& l) -> Value { return l.time_s; }},
    LayerKey{"processing_time_s",
             [](const LayerReport& l) -> Value { return l.processing_time_s; }},
    LayerKey{"low_s", [](const LayerReport& l) { return l.low_s; }},
    LayerKey{"high_s", [](const LayerReport& l) { return l.high_s; }},
    LayerKey{"cycles", [](const LayerReport& l) -> Value { return l.cycles; }},
    LayerKey{"utilization", [](const LayerReport& l) -> Value { return l.utilization; }},
    LayerKey{"energy_j", [](const LayerReport& l) -> Value { return l.energy_j; }},
    LayerKey{"macs", [](const LayerReport& l) -> Value { return static_cast<double>(l.macs); }},
    LayerKey{"flops", [](const LayerReport& l) -> Value { return static_cast<double>(l.flops); }},
    LayerKey{"outer_bytes", [](const LayerReport& l) -> Value { return l.outer_bytes; }},
    LayerKey{"limiter_step",
             [](const LayerReport& l) -> Value { return static_cast<double>(l.limiter_step); }},
    LayerKey{"allocated_pes", [](const LayerReport& l) -> Value { return l.active.allocated; }},
    LayerKey{"averaged_pes", [](const LayerReport& l) -> Value { return l.active.averaged; }},
    LayerKey{"measured_s",
             [](const LayerReport& l) { return of_measured(l, &LayerMeasurement::time_s); }},
    LayerKey{"unexplained_s",
             [](const LayerReport& l) { return of_measured(l, &LayerMeasurement::unexplained_s); }},
};

template <class Keys> std::vector<std::string> names_of(const Keys& keys) {
    std::vector<std::string> names;
    for (const auto& key : keys) {
        names.emplace_back(key.name);
    }
    return names;
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

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
            fail(at_, "a ')' is missing", {});
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
        if (first == std::string::npos || known == scopes.end()) {
            fail(
                begin, all.empty() ? "a comparison is missing" : fmt::format("what is '{}'?", all),
                "write net.KEY, layer.NAME.KEY, any.KEY or all.KEY, such as net.utilization < 0.6");
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
        const auto keys = gate_keys(c.scope != Comparison::Scope::net);
        if (std::find(keys.begin(), keys.end(), c.key) == keys.end()) {
            fail(begin, fmt::format("unknown key '{}'", c.key), model::suggestion(c.key, keys, 16),
                 "unknown-key");
        }
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

    void number(Comparison& c) {
        skip_blanks();
        const char* begin = text_.data() + at_;
        const char* end = text_.data() + text_.size();
        const auto [stop, error] = std::from_chars(begin, end, c.number);
        const bool whole = stop == end || std::isspace(static_cast<unsigned char>(*stop)) != 0 ||
                           std::string_view(")&|").find(*stop) != std::string_view::npos;
        if (error != std::errc{} || !whole || !std::isfinite(c.number)) {
            fail(at_, "a plain number is expected here",
                 "such as 0.6 or 1e-3; units are in the key");
            return;
        }
        at_ += static_cast<std::size_t>(stop - begin);
    }

    std::string_view text_;
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

template <class Keys, class From>
Value value_of(const Keys& keys, const std::string& name, const From& from) {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
    return found->value(from);
}

struct Subject {
    std::string name;
    Value value;
};

std::vector<Subject> subjects_of(const Comparison& c, const Report& report) {
    if (c.scope == Comparison::Scope::net) {
        return {{"net." + c.key, value_of(kNetKeys, c.key, report)}};
    }
    std::vector<Subject> subjects;
    for (const LayerReport& layer : report.layers) {
        if (c.scope != Comparison::Scope::layer || layer.layer.name == c.layer) {
            subjects.push_back({fmt::format("layer.{}.{}", layer.layer.name, c.key),
                                value_of(kLayerKeys, c.key, layer)});
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

Diagnostics problems_of(const Comparison& c, const Report& report,
                        const std::vector<Subject>& subjects) {
    Diagnostics d;
    const model::SourceLocation where{"--fail-if", 1, c.column};
    if (subjects.empty()) {
        std::vector<std::string> names;
        for (const LayerReport& layer : report.layers) {
            names.push_back(layer.layer.name);
        }
        d.error("unknown-layer",
                fmt::format("there is no layer '{}' in what was examined", c.layer),
                model::suggestion(c.layer, names), where);
    }
    for (const Subject& subject : subjects) {
        if (!subject.value && d.empty()) {
            d.error("no-value", fmt::format("{} has no value here", subject.name),
                    c.key == "measured_s" || c.key == "unexplained_s"
                        ? "measured figures need --profile, with kernels of the layer in it"
                        : "the error of these predictions is not known, so there is no interval",
                    where);
        }
    }
    return d;
}

} // namespace

std::vector<std::string> gate_keys(bool of_layers) {
    return of_layers ? names_of(kLayerKeys) : names_of(kNetKeys);
}

Result<Gate> parse_gate(std::string_view text) {
    if (text.size() > kLongest) {
        return Result<Gate>::failure("too-long",
                                     fmt::format("an expression of {} characters", text.size()),
                                     fmt::format("at most {}", kLongest), {"--fail-if", 1, 1});
    }
    return Parser(text).parse();
}

Result<Verdict> evaluate(const Gate& gate, const Report& report) {
    Diagnostics problems;
    Verdict verdict;
    for (const auto& alternative : gate.alternatives) {
        std::vector<std::string> because;
        for (const Comparison& c : alternative) {
            const auto subjects = subjects_of(c, report);
            const Diagnostics found = problems_of(c, report, subjects);
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

} // namespace eyeroof::study
