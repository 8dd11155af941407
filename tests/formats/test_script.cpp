// Expressions of peers' files, as Python and Jinja2 evaluate them, and what would take too long.
#include "formats/accelforge.hpp"
#include "formats/script.hpp"
#include "formats/template.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace test_formats_script {

using namespace eyeroof;
using namespace eyeroof::formats;

namespace {

ScriptNames some_names() {
    ScriptNames names;
    names.value = [](const std::string& name) -> std::optional<ScriptValue> {
        return name == "n"      ? std::optional(ScriptValue{6.0})
               : name == "kind" ? std::optional(ScriptValue{std::string("SRAM")})
                                : std::nullopt;
    };
    return names;
}

double number_of(const std::string& text) {
    const auto value = run_script(text, some_names());
    CAPTURE(text);
    REQUIRE(value.ok());
    REQUIRE(value->number() != nullptr);
    return *value->number();
}

std::string code_of(const std::string& text) {
    const auto value = run_script(text, some_names());
    return value ? "" : value.diagnostics().items().front().code;
}

// Each of these variables is the sum of four of the next.
std::string chain(int length) {
    std::string text = "variables:\n";
    for (int i = 0; i < length; ++i) {
        text += fmt::format("  v{0}: v{1} + v{1} + v{1} + v{1}\n", i, i + 1);
    }
    return text + fmt::format("  v{}: 1\n", length);
}

std::string first_error(const std::string& size, const std::string& variables) {
    const auto machine = parse_accelforge_arch(
        variables + "arch:\n  nodes:\n  - !Memory\n    name: A\n    size: " + size +
            "\n    tensors: {keep: All}\n    actions: []\n    spatial:\n    - {name: X, fanout: "
            "A.get_fanout()}\n  - !Compute\n    name: MAC\n    actions: []\n",
        "a.yaml");
    return machine ? "" : machine.diagnostics().items().front().message;
}

} // namespace

TEST_CASE("an expression has the value that Python gives it") {
    CHECK(number_of("2 + 3 * 4 ** 2 // 5") == 11);
    CHECK(number_of("-7 // 2") == -4);
    CHECK(number_of("-7 % 3") == 2);
    CHECK(number_of("2 ** 3 ** 2") == 512);
    CHECK(number_of("-2 ** 2") == -4);
    CHECK(number_of("10 - 4 - 3") == 3);
    CHECK(number_of("n if n > 5 and kind == 'SRAM' else 0") == 6);
    CHECK(number_of("not 0 or n in [1, 2]") == 1);
    CHECK(number_of("'RA' in kind") == 1);
    CHECK(number_of("m | default(7)") == 7);
    CHECK(number_of("[3, n, 5] | max") == 6);
    CHECK(number_of("min(n, 4) + len([1, 2, 3]) + sum(range(4))") == 13);
    CHECK(number_of("{'a': 1, 'b': 2}['b'] + [4, 5][1]") == 7);
    CHECK(number_of("ceil(n / 4) + floor(2.9) + int(-1.5)") == 3);
}

TEST_CASE("an expression without a value says why") {
    CHECK(code_of("m + 1") == "unknown-parameter");
    CHECK(code_of("m if n > 5 else 1") == "unknown-parameter");
    CHECK(code_of("1 if n > 5 else m").empty());
    CHECK(code_of("1 / 0") == "expression");
    CHECK(code_of("(1 + 2") == "expression");
    CHECK(code_of("n n") == "expression");
    CHECK(code_of(std::string(100, '(') + "1" + std::string(100, ')')) == "expression");
    CHECK(code_of("open('x')") == "unsupported");
}

TEST_CASE("values that grow beyond measure are refused, and ranges end") {
    CHECK(code_of("range(1e9)") == "too-large");
    CHECK(number_of("len(range(1e17, 1e17 + 1000))") <= 1100); // one more is no other number
    const auto bomb = expand_template("{% set a = [1, 1] %}\n{% for i in range(40) %}"
                                      "{% set a = [a, a] %}{% endfor %}\n",
                                      "bomb.yaml");
    REQUIRE_FALSE(bomb.ok());
    CHECK(bomb.diagnostics().items().front().code == "too-large");
    const auto copies = expand_template("{% set a = range(9999) %}\n{% for i in range(9999) %}"
                                        "{% set b = a %}{% endfor %}\n",
                                        "copies.yaml");
    REQUIRE_FALSE(copies.ok());
    CHECK(copies.diagnostics().items().front().code == "too-large");
}

TEST_CASE("variables that name one another are evaluated once, and circles are named") {
    CHECK(first_error("v0", chain(15)).find("v0") == std::string::npos); // each once, not 4^15
    CHECK(first_error("v0", chain(40)).find("stands behind too many other names") !=
          std::string::npos);
    CHECK(first_error("a", "variables:\n  a: b\n  b: a\n").find("names itself") !=
          std::string::npos);
    CHECK(first_error("8", "").find("names itself") != std::string::npos); // a fan-out of itself
}

} // namespace test_formats_script
