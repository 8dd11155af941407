#include "base/pattern.hpp"
#include "base/printable.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_model_pattern {

using namespace eyeroof;

TEST_CASE("an expression matches anywhere in a name, an empty one everywhere") {
    const auto pattern = Pattern::compile("conv[1-3]|fc.*");
    REQUIRE(pattern.ok());
    CHECK(pattern->found_in("block.conv2.weight"));
    CHECK_FALSE(pattern->found_in("conv4"));
    CHECK(Pattern::compile("")->found_in("anything"));
    CHECK(Pattern().found_in(""));
}

TEST_CASE("long names and expressions that blow up elsewhere are searched in linear time") {
    const std::string name(1'000'000, 'a');
    CHECK(Pattern::compile("(a+)+$")->found_in(name));
    CHECK_FALSE(Pattern::compile("(a+)+$")->found_in(name + "b"));
    CHECK_FALSE(Pattern::compile("(a|aa|b)*c")->found_in(name));
}

TEST_CASE("what is no expression is refused with a hint") {
    for (const std::string text : {"(", "a**b(", "[z-a]", "(?=a)", "(a)\\1", "x{1001}", "\xff"}) {
        CAPTURE(text);
        const auto refused = Pattern::compile(text);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.diagnostics().items()[0].code == "bad-regex");
    }
    CHECK_FALSE(Pattern::compile(std::string(1001, 'a')).ok());
    CHECK_FALSE(Pattern::compile("((a{100}){100}){100}").ok()); // too much memory
}

TEST_CASE("what a terminal would obey is shown, all else stays") {
    CHECK(printable("conv1 \xC3\xA9 \xE2\x80\xA6") == "conv1 \xC3\xA9 \xE2\x80\xA6");
    CHECK(printable("\033]0;owned\a\033[2J") == "\\x1b]0;owned\\x07\\x1b[2J");
    CHECK(printable("a\nb\rc\td") == "a\\nb\\rc\\td");
    CHECK(printable_lines("a\nb\033") == "a\nb\\x1b");
    CHECK(printable("\xC2\x9B"
                    "2J") == "\\u009b2J"); // a control sequence in one character
    CHECK(printable("abc\xE2\x80\xAE"
                    "fed") == "abc\\u202efed");
    CHECK(printable("\xff\xc3") == "\\xff\\xc3");
}

} // namespace test_model_pattern
