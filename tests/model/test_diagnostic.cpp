#include "base/diagnostic.hpp"

#include <doctest/doctest.h>

namespace test_model_diagnostic {

using namespace eyeroof;

TEST_CASE("what a message quotes of a file is cut to forty bytes, and control bytes are shown") {
    Diagnostics found;
    const std::string token(60, 'x');
    found.error("unknown-key", "unknown key \"" + token + "\"", "not '" + token + "'",
                {"a.yaml", 3, 1}, "levels[2]." + token);
    const std::string cut = std::string(40, 'x') + "…";
    CHECK(to_string(found.items()[0]) == "a.yaml:3:1: error: unknown key \"" + cut +
                                             "\" [unknown-key] (at levels[2]." + cut +
                                             ")\n  hint: not '" + cut + "'");

    Diagnostics number;
    number.error("out-of-range", std::string(50, '9') + " is too large", "", {"a.csv", 1, 2});
    CHECK(to_string(number.items()[0]) ==
          "a.csv:1:2: error: " + std::string(40, '9') + "… is too large [out-of-range]");

    Diagnostics control;
    control.error("x", "unknown key \"a\x1b[2J b\"", "", {"a.yaml", 1, 1});
    CHECK(to_string(control.items()[0]) == "a.yaml:1:1: error: unknown key \"a\\x1b[2J b\" [x]");
}

TEST_CASE("a cut falls between characters, and an apostrophe begins no quotation") {
    Diagnostics found;
    std::string umlauts;
    for (int i = 0; i < 21; ++i) { // 42 bytes
        umlauts += "ä";
    }
    found.error("x", "'" + umlauts + "' is not the file's own word for it, which is long", "",
                {"a.yaml", 1, 1});
    CHECK(to_string(found.items()[0]) == "a.yaml:1:1: error: '" + umlauts.substr(0, 40) +
                                             "…' is not the file's own word for it, which is "
                                             "long [x]");
}

TEST_CASE("what a caller wrote is quoted whole: no line of a file is known") {
    Diagnostics found;
    const std::string path = "/tmp/" + std::string(60, 'p');
    found.error("cannot-write", "cannot write '" + path + "'");
    CHECK(to_string(found.items()[0]) == "error: cannot write '" + path + "' [cannot-write]");
}

} // namespace test_model_diagnostic
