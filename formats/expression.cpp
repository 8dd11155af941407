#include "formats/expression.hpp"

#include "base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

namespace eyeroof::formats {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Recursive descent; the first error ends it, so a failed parse returns 0 from everywhere.
class Parser {
  public:
    Parser(std::string_view text, const Variables& variables, std::chars_format numbers)
        : text_(text), variables_(variables), numbers_(numbers) {}

    Result<double> run() {
        const double value = comparison();
        skip_blanks();
        if (at_ < text_.size()) {
            fail(fmt::format("'{}' is not expected here", text_.substr(at_, 12)));
        }
        if (!failed() && !std::isfinite(value)) {
            fail("the value is not finite: a division by zero?");
        }
        return failed() ? Result<double>(found_) : Result<double>(value);
    }

  private:
    bool failed() const { return !found_.empty(); }

    void fail(std::string what, std::string hint = {}, std::string code = "expression") {
        if (!failed()) {
            found_.error(std::move(code),
                         fmt::format("in '{}' at character {}: {}", text_, at_ + 1, what),
                         std::move(hint));
        }
        at_ = text_.size();
    }

    void skip_blanks() {
        while (at_ < text_.size() && text_[at_] == ' ') {
            ++at_;
        }
    }

    bool take(std::string_view token) {
        skip_blanks();
        const bool there = text_.substr(at_).starts_with(token);
        at_ += there ? token.size() : 0;
        return there;
    }

    double comparison() {
        const double left = sum();
        if (take("<=")) {
            return left <= sum() ? 1.0 : 0.0;
        }
        if (take(">=")) {
            return left >= sum() ? 1.0 : 0.0;
        }
        if (take("==")) {
            return left == sum() ? 1.0 : 0.0;
        }
        if (take("!=")) {
            return left != sum() ? 1.0 : 0.0;
        }
        if (take("<")) {
            return left < sum() ? 1.0 : 0.0;
        }
        if (take(">")) {
            return left > sum() ? 1.0 : 0.0;
        }
        return left;
    }

    double sum() {
        double value = product();
        while (true) {
            if (take("+")) {
                value += product();
            } else if (take("-")) {
                value -= product();
            } else {
                return value;
            }
        }
    }

    double product() {
        double value = factor();
        while (true) {
            if (take("*")) {
                value *= factor();
            } else if (take("/")) {
                value /= factor();
            } else {
                return value;
            }
        }
    }

    double factor() {
        bool negative = false;
        while (take("-")) {
            negative = !negative;
        }
        const double value = primary();
        return negative ? -value : value;
    }

    double primary() {
        if (take("(")) {
            return bracketed();
        }
        if (at_ >= text_.size()) {
            fail("a value is missing");
            return 0.0;
        }
        if (is_letter(text_[at_])) {
            return named();
        }
        double value = 0.0;
        const auto [end, error] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value, numbers_);
        if (error != std::errc{} || !(is_digit(text_[at_]) || text_[at_] == '.')) {
            fail("a number or a name is expected");
            return 0.0;
        }
        at_ = static_cast<std::size_t>(end - text_.data());
        return value;
    }

    double bracketed() {
        if (++depth_ > kDeepestExpression) {
            fail("too many nested parentheses");
            return 0.0;
        }
        const double value = comparison();
        if (!failed() && !take(")")) {
            fail("a closing parenthesis is missing");
        }
        --depth_;
        return value;
    }

    // Of two, behind the opening parenthesis.
    double of_two(double (*function)(double, double)) {
        if (++depth_ > kDeepestExpression) {
            fail("too many nested parentheses");
            return 0.0;
        }
        const double first = comparison();
        if (!failed() && !take(",")) {
            fail("a comma and a second value are expected");
        }
        const double second = comparison();
        if (!failed() && !take(")")) {
            fail("a closing parenthesis is missing");
        }
        --depth_;
        return function(first, second);
    }

    double named() {
        const std::size_t start = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) {
            ++at_;
        }
        const std::string_view name = text_.substr(start, at_ - start);
        constexpr std::array<std::pair<std::string_view, double (*)(double)>, 3> functions = {
            {{"floor", [](double x) { return std::floor(x); }},
             {"ceil", [](double x) { return std::ceil(x); }},
             {"round", [](double x) { return std::round(x); }}}};
        for (const auto& [function_name, function] : functions) {
            if (name == function_name && take("(")) {
                return function(bracketed());
            }
        }
        constexpr std::array<std::pair<std::string_view, double (*)(double, double)>, 3> of_pairs =
            {{{"min", [](double x, double y) { return std::min(x, y); }},
              {"max", [](double x, double y) { return std::max(x, y); }},
              {"pow", [](double x, double y) { return std::pow(x, y); }}}};
        for (const auto& [function_name, function] : of_pairs) {
            if (name == function_name && take("(")) {
                return of_two(function);
            }
        }
        if (const auto found = variables_.find(name); found != variables_.end()) {
            return found->second;
        }
        std::vector<std::string> known;
        for (const auto& variable : variables_) {
            known.push_back(variable.first);
        }
        at_ = start;
        fail(fmt::format("there is no parameter '{}'", name),
             known.empty() ? "declare it under parameters" : suggestion(name, known),
             "unknown-parameter");
        return 0.0;
    }

    std::string_view text_;
    const Variables& variables_;
    std::chars_format numbers_;
    std::size_t at_ = 0;
    int depth_ = 0;
    Diagnostics found_;
};

} // namespace

Result<double> evaluate(std::string_view expression, const Variables& variables,
                        Exponents exponents) {
    if (expression.size() > kLongestExpression) {
        return Result<double>::failure(
            "expression", fmt::format("the expression has {} characters", expression.size()),
            fmt::format("use at most {}", kLongestExpression));
    }
    return Parser(expression, variables,
                  exponents == Exponents::allowed ? std::chars_format::general
                                                  : std::chars_format::fixed)
        .run();
}

} // namespace eyeroof::formats
