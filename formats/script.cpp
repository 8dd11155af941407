#include "formats/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace eyeroof::formats {

bool ScriptValue::holds() const {
    if (const double* n = number()) {
        return *n != 0.0;
    }
    if (const std::string* t = text()) {
        return !t->empty();
    }
    if (const auto* m = std::get_if<ScriptMap>(&held)) {
        return !m->keys.empty();
    }
    return list() != nullptr && !list()->empty();
}

std::size_t ScriptValue::weight() const {
    std::size_t all = 1 + (text() != nullptr ? text()->size() / 16 : 0);
    const auto* map = std::get_if<ScriptMap>(&held);
    const ScriptList* values = map != nullptr ? &map->values : list();
    for (std::size_t i = 0; values != nullptr && i < values->size(); ++i) {
        all += (*values)[i].weight();
    }
    return all;
}

namespace {

constexpr std::size_t kLongestRange = 10'000;

bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool in_name(char c) {
    return begins_name(c) || is_digit(c);
}

ScriptValue unset(std::string code, std::string why) {
    return {Unset{std::move(code), std::move(why)}};
}
ScriptValue bounded(ScriptValue value) {
    return value.weight() > kHeaviestValue ? unset("too-large", "a text or a list grows too long")
                                           : value;
}
ScriptValue truth(bool holds) {
    return {holds ? 1.0 : 0.0};
}

bool equal(const ScriptValue& a, const ScriptValue& b) {
    return (a.number() != nullptr && b.number() != nullptr && *a.number() == *b.number()) ||
           (a.text() != nullptr && b.text() != nullptr && *a.text() == *b.text());
}

ScriptValue contained(const ScriptValue& item, const ScriptValue& all) {
    if (item.unset() || all.unset()) {
        return item.unset() ? item : all;
    }
    if (const ScriptList* list = all.list()) {
        return truth(std::any_of(list->begin(), list->end(),
                                 [&](const ScriptValue& v) { return equal(item, v); }));
    }
    if (item.text() == nullptr) {
        return truth(false);
    }
    if (const auto* map = std::get_if<ScriptMap>(&all.held)) {
        return truth(std::find(map->keys.begin(), map->keys.end(), *item.text()) !=
                     map->keys.end());
    }
    return truth(all.text() != nullptr && all.text()->find(*item.text()) != std::string::npos);
}

std::string shown(double value) {
    const bool whole = std::floor(value) == value && std::abs(value) < 1e15;
    return whole ? fmt::format("{}", static_cast<long long>(value)) : fmt::format("{}", value);
}

std::string as_text(const ScriptValue& value) {
    return value.text() != nullptr     ? *value.text()
           : value.number() != nullptr ? shown(*value.number())
                                       : "";
}

ScriptValue joined(const ScriptValue& a, const ScriptValue& b) {
    ScriptList all = *a.list();
    all.insert(all.end(), b.list()->begin(), b.list()->end());
    return {std::move(all)};
}

// `sign`: one of + - * / % ~, "//" as 'd', "**" as 'p'.
ScriptValue combined(const ScriptValue& a, char sign, const ScriptValue& b) {
    if (a.unset() || b.unset()) {
        return a.unset() ? a : b;
    }
    const double* x = a.number();
    const double* y = b.number();
    if (sign == '~' || (sign == '+' && a.text() != nullptr && b.text() != nullptr)) {
        return bounded({as_text(a) + as_text(b)});
    }
    if (sign == '+' && a.list() != nullptr && b.list() != nullptr) {
        return bounded(joined(a, b));
    }
    if (x == nullptr || y == nullptr) {
        return unset("expression", "numbers are combined with what are none");
    }
    const double value = sign == '+'   ? *x + *y
                         : sign == '-' ? *x - *y
                         : sign == '*' ? *x * *y
                         : sign == '/' ? *x / *y
                         : sign == 'd' ? std::floor(*x / *y)
                         : sign == '%' ? *x - std::floor(*x / *y) * *y
                                       : std::pow(*x, *y);
    return {value};
}

// The greatest or least number of the arguments, or of a list that is the only one.
ScriptValue extreme(const ScriptList& given, bool least) {
    const ScriptList& all =
        given.size() == 1 && given[0].list() != nullptr ? *given[0].list() : given;
    ScriptValue best;
    for (const ScriptValue& value : all) {
        if (value.number() == nullptr) {
            return value.unset() ? value : unset("expression", "only numbers have a least one");
        }
        if (best.unset() ||
            (least ? *value.number() < *best.number() : *value.number() > *best.number())) {
            best = value;
        }
    }
    return all.empty() ? unset("expression", "an empty list has no least number") : best;
}

ScriptValue range(const ScriptList& given) {
    const double first = given.size() > 1 ? *given[0].number() : 0.0;
    const double last = *given[given.size() > 1 ? 1 : 0].number();
    if (!(last - first <= static_cast<double>(kLongestRange))) {
        return unset("too-large", fmt::format("a range has at most {} numbers", kLongestRange));
    }
    ScriptList all;
    for (std::size_t i = 0; first + static_cast<double>(i) < last && i < kLongestRange; ++i) {
        all.push_back({first + static_cast<double>(i)});
    }
    return {std::move(all)};
}

using OfOne = double (*)(double);
constexpr std::array<std::pair<std::string_view, OfOne>, 11> kOfOne = {
    {{"ceil", [](double x) { return std::ceil(x); }},
     {"floor", [](double x) { return std::floor(x); }},
     {"round", [](double x) { return std::nearbyint(x); }},
     {"abs", [](double x) { return std::abs(x); }},
     {"int", [](double x) { return std::trunc(x); }},
     {"float", [](double x) { return x; }},
     {"bool", [](double x) { return x != 0.0 ? 1.0 : 0.0; }},
     {"log2", [](double x) { return std::log2(x); }},
     {"math.log2", [](double x) { return std::log2(x); }},
     {"math.ceil", [](double x) { return std::ceil(x); }},
     {"sqrt", [](double x) { return std::sqrt(x); }}}};

// The functions that are known everywhere; nothing for others.
std::optional<ScriptValue> called(std::string_view name, const ScriptList& given) {
    if (name == "dict" && given.empty()) {
        return ScriptValue{ScriptMap{}};
    }
    const auto none =
        std::find_if(given.begin(), given.end(), [](const ScriptValue& v) { return v.unset(); });
    if (none != given.end() || given.empty()) {
        return none != given.end() ? std::optional(*none) : std::nullopt;
    }
    if (name == "min" || name == "max") {
        return extreme(given, name == "min");
    }
    if (name == "str") {
        return ScriptValue{as_text(given[0])};
    }
    if (name == "len" && given[0].list() != nullptr) {
        return ScriptValue{static_cast<double>(given[0].list()->size())};
    }
    if (name == "sum" && given[0].list() != nullptr) {
        ScriptValue all{0.0};
        for (const ScriptValue& value : *given[0].list()) {
            all = combined(all, '+', value);
        }
        return all;
    }
    const bool numbers = std::all_of(given.begin(), given.end(),
                                     [](const ScriptValue& v) { return v.number() != nullptr; });
    if (numbers && name == "range" && given.size() <= 2) {
        return range(given);
    }
    if (numbers && name == "pow" && given.size() == 2) {
        return combined(given[0], 'p', given[1]);
    }
    for (const auto& [known, function] : kOfOne) {
        if (numbers && name == known) {
            return ScriptValue{function(*given[0].number())};
        }
    }
    return std::nullopt;
}

// Recursive descent. The first thing that is not understood ends it.
class Script {
  public:
    Script(std::string_view text, const ScriptNames& names) : text_(text), names_(names) {}

    Result<ScriptValue> run() {
        ScriptValue value = choice();
        skip_blanks();
        if (at_ < text_.size()) {
            fail(fmt::format("'{}' is not expected here", text_.substr(at_, 12)));
        }
        if (!found_.empty()) {
            return Result<ScriptValue>(std::move(found_));
        }
        const double* number = value.number();
        if (number != nullptr && !std::isfinite(*number)) {
            value = unset("expression", "the value is not finite: a division by zero?");
        }
        if (const auto* none = std::get_if<Unset>(&value.held)) {
            const bool named = none->why.starts_with("in '"); // by an expression inside of this one
            return Result<ScriptValue>::failure(
                none->code,
                named ? none->why : fmt::format("in '{}': {}", text_.substr(0, 80), none->why), "");
        }
        return Result<ScriptValue>(std::move(value));
    }

  private:
    void fail(std::string what) {
        if (found_.empty()) {
            found_.error("expression", fmt::format("in '{}' at character {}: {}",
                                                   text_.substr(0, 80), at_ + 1, what));
        }
        at_ = text_.size();
    }

    void skip_blanks() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
            ++at_;
        }
    }

    bool take(std::string_view token) {
        skip_blanks();
        const bool word = begins_name(token.front());
        const std::size_t end = at_ + token.size();
        const bool there = text_.substr(at_).starts_with(token) &&
                           !(word && end < text_.size() && in_name(text_[end]));
        at_ = there ? end : at_;
        return there;
    }

    void expect(std::string_view token) {
        if (!take(token)) {
            fail(fmt::format("'{}' is expected", token));
        }
    }

    // "a if c else b"
    ScriptValue choice() {
        if (++depth_ > kDeepestScript) {
            fail("too deeply nested");
            return {};
        }
        ScriptValue value = either();
        if (take("if")) {
            const ScriptValue condition = either();
            ScriptValue other = take("else") ? choice() : ScriptValue{std::string()};
            value = condition.unset() ? condition : condition.holds() ? value : other;
        }
        --depth_;
        return value;
    }

    ScriptValue either() {
        ScriptValue value = both();
        while (take("or")) {
            const ScriptValue other = both();
            value = value.unset() || value.holds() ? value : other;
        }
        return value;
    }

    ScriptValue both() {
        ScriptValue value = negated();
        while (take("and")) {
            const ScriptValue other = negated();
            value = value.unset() || !value.holds() ? value : other;
        }
        return value;
    }

    ScriptValue negated() {
        bool flips = false, any = false;
        while (take("not")) {
            flips = !flips;
            any = true;
        }
        const ScriptValue value = comparison();
        return value.unset() || !any ? value : truth(value.holds() != flips);
    }

    ScriptValue comparison() {
        ScriptValue left = sum();
        while (true) {
            if (take("is")) {
                const bool wanted = !take("not");
                expect("defined");
                left = truth(!left.unset() == wanted);
            } else if (take("not")) {
                expect("in");
                const ScriptValue inside = contained(left, sum());
                left = inside.unset() ? inside : truth(!inside.holds());
            } else if (take("in")) {
                left = contained(left, sum());
            } else if (const auto sign = comparing()) {
                left = compared(left, *sign, sum());
            } else {
                return left;
            }
        }
    }

    std::optional<std::string_view> comparing() {
        for (const std::string_view sign : {"<=", ">=", "==", "!=", "<", ">"}) {
            if (take(sign)) {
                return sign;
            }
        }
        return std::nullopt;
    }

    static ScriptValue compared(const ScriptValue& a, std::string_view sign, const ScriptValue& b) {
        if (a.unset() || b.unset()) {
            return a.unset() ? a : b;
        }
        if (sign == "==" || sign == "!=") {
            return truth(equal(a, b) == (sign == "=="));
        }
        if (a.number() == nullptr || b.number() == nullptr) {
            return unset("expression", "only numbers are compared by size");
        }
        const double x = *a.number(), y = *b.number();
        return truth(sign == "<=" ? x <= y : sign == ">=" ? x >= y : sign == "<" ? x < y : x > y);
    }

    ScriptValue sum() {
        ScriptValue value = product();
        while (true) {
            const char sign = take("+") ? '+' : take("-") ? '-' : take("~") ? '~' : '\0';
            if (sign == '\0') {
                return value;
            }
            value = combined(value, sign, product());
        }
    }

    ScriptValue product() {
        ScriptValue value = factor();
        while (true) {
            const char sign = take("//")  ? 'd'
                              : take("*") ? '*'
                              : take("/") ? '/'
                              : take("%") ? '%'
                                          : '\0';
            if (sign == '\0') {
                return value;
            }
            value = combined(value, sign, factor());
        }
    }

    ScriptValue factor() {
        bool negative = false;
        while (take("-")) {
            negative = !negative;
        }
        ScriptValue value = filtered();
        if (take("**")) {
            if (++depth_ > kDeepestScript) {
                fail("too deeply nested");
                return {};
            }
            value = combined(value, 'p', factor());
            --depth_;
        }
        return negative ? combined(ScriptValue{0.0}, '-', value) : value;
    }

    // "x | default(1) | min"
    ScriptValue filtered() {
        ScriptValue value = primary();
        while (take("|")) {
            skip_blanks();
            const std::string name = word();
            ScriptList given = take("(") ? arguments(")") : ScriptList{};
            if (name == "default" && !given.empty()) {
                value = value.unset() ? given.front() : value;
            } else if (name != "indent" && name != "safe" && name != "list") {
                given.insert(given.begin(), value);
                value = called(name, given)
                            .value_or(unset("unsupported",
                                            fmt::format("the filter '{}' is not read", name)));
            }
        }
        return value;
    }

    ScriptValue primary() {
        skip_blanks();
        ScriptValue value = atom();
        while (take("[")) {
            value = element(value, choice());
            expect("]");
        }
        return value;
    }

    static ScriptValue element(const ScriptValue& all, const ScriptValue& at) {
        if (all.unset() || at.unset()) {
            return all.unset() ? all : at;
        }
        const ScriptList* list = all.list();
        const double* place = at.number();
        if (list != nullptr && place != nullptr && *place >= 0.0 &&
            *place < static_cast<double>(list->size())) {
            return (*list)[static_cast<std::size_t>(*place)];
        }
        if (const auto* map = std::get_if<ScriptMap>(&all.held); map && at.text() != nullptr) {
            const auto key = std::find(map->keys.begin(), map->keys.end(), *at.text());
            if (key != map->keys.end()) {
                return map->values[static_cast<std::size_t>(key - map->keys.begin())];
            }
        }
        return unset("expression", "there is no such element");
    }

    ScriptValue atom() {
        if (at_ >= text_.size()) {
            fail("a value is missing");
            return {};
        }
        const char c = text_[at_];
        if (c == '\'' || c == '"') {
            return quoted(c);
        }
        if (begins_name(c)) {
            return named();
        }
        if (take("(")) {
            ScriptList inside = arguments(")");
            return inside.size() == 1 ? inside.front() : bounded({std::move(inside)});
        }
        if (take("[")) {
            return bounded({arguments("]")});
        }
        if (take("{")) {
            return mapping();
        }
        double value = 0.0;
        const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(),
                                                  value, std::chars_format::general);
        if (error != std::errc{} || !(is_digit(c) || c == '.')) {
            fail("a number or a name is expected");
            return {};
        }
        at_ = static_cast<std::size_t>(end - text_.data());
        return {value};
    }

    ScriptValue quoted(char mark) {
        const std::size_t close = text_.find(mark, at_ + 1);
        if (close == std::string_view::npos) {
            fail("a quotation mark is never closed");
            return {};
        }
        std::string inside(text_.substr(at_ + 1, close - at_ - 1));
        at_ = close + 1;
        return {std::move(inside)};
    }

    // Values between commas, up to `end`; "name=" before a value is passed over.
    ScriptList arguments(std::string_view end) {
        ScriptList all;
        while (found_.empty() && !take(end)) {
            skip_blanks();
            const std::size_t before = at_;
            if (word().empty() || !take("=") || take("=")) {
                at_ = before;
            }
            all.push_back(choice());
            if (!take(",")) {
                expect(end);
                break;
            }
        }
        return all;
    }

    ScriptValue mapping() {
        ScriptMap map;
        while (found_.empty() && !take("}")) {
            map.keys.push_back(as_text(choice()));
            expect(":");
            map.values.push_back(choice());
            if (!take(",")) {
                expect("}");
                break;
            }
        }
        return bounded({std::move(map)});
    }

    std::string word() {
        const std::size_t start = at_;
        while (at_ < text_.size() && in_name(text_[at_])) {
            ++at_;
        }
        return std::string(text_.substr(start, at_ - start));
    }

    ScriptValue named() {
        std::string name = word();
        while (at_ + 1 < text_.size() && text_[at_] == '.' && begins_name(text_[at_ + 1])) {
            ++at_;
            name += '.' + word();
        }
        if (name == "True" || name == "true" || name == "False" || name == "false") {
            return truth(name[0] == 'T' || name[0] == 't');
        }
        if (name == "inf") {
            return unset("unlimited", "the value has no limit");
        }
        if (take("(")) {
            const ScriptList given = arguments(")");
            std::optional<ScriptValue> value;
            if (found_.empty() && names_.call) {
                value = names_.call(name, given);
            }
            value = value ? value : called(name, given);
            return value.value_or(
                unset("unsupported", fmt::format("the function '{}' is not read", name)));
        }
        std::optional<ScriptValue> value;
        if (names_.value) {
            value = names_.value(name);
        }
        return value.value_or(unset("unknown-parameter", fmt::format("'{}' has no value", name)));
    }

    std::string_view text_;
    const ScriptNames& names_;
    std::size_t at_ = 0;
    int depth_ = 0;
    Diagnostics found_;
};

} // namespace

Result<ScriptValue> run_script(std::string_view text, const ScriptNames& names) {
    if (text.size() > kLongestScript) {
        return Result<ScriptValue>::failure(
            "expression", fmt::format("the expression has {} characters", text.size()),
            fmt::format("use at most {}", kLongestScript));
    }
    return Script(text, names).run();
}

} // namespace eyeroof::formats
