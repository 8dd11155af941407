// Functions and classes stay small enough to be read at once; a file may be as long as its one
// subject needs.
#include "tests/architecture/modules.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace test_architecture_sizes {

using namespace eyeroof::tests;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kFunctionLines = 90; // the aim, which clang-tidy asks of new ones, is 60
constexpr std::size_t kClassLines = 450;

struct Definition {
    std::size_t line = 0; // from 1
    std::size_t lines = 0;
    bool is_class = false;
};

// What is defined at the beginning of a line, in formatted sources: it ends where a closing brace
// stands at the beginning of one. Members are part of their class.
std::vector<Definition> definitions_in(const std::vector<std::string>& lines) {
    static const std::regex no_function(
        "^(namespace|enum|extern|inline namespace)\\b.*|.* = (std::to_array<.*>\\()?\\{.*");
    static const std::regex a_class("^(template <.*> )?(struct|class|union)\\b.*");
    static const std::regex raw_begin("R\"(\\w*)\\(");
    std::vector<Definition> found;
    std::size_t head = 0; // line at which the open definition, or a declaration's text, begins
    bool open = false;
    std::string until; // the end of a text of several lines
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string& line = lines[i];
        std::smatch match;
        if (!until.empty()) {
            until = line.find(until) == std::string::npos ? until : "";
            continue;
        }
        if (std::regex_search(line, match, raw_begin)) {
            const std::string end = ")" + match[1].str() + "\"";
            until = line.find(end) == std::string::npos ? end : "";
        }
        if (!open && !line.empty() && line[0] != ' ' && line[0] != '#' && line[0] != '/') {
            head = i;
        }
        if (!open && line.ends_with("{") && !std::regex_match(lines[head], no_function)) {
            open = true;
        } else if (open && line.starts_with("}")) {
            found.push_back({head + 1, i - head + 1, std::regex_match(lines[head], a_class)});
            open = false;
        }
    }
    return found;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

} // namespace

TEST_CASE("functions and classes are found with their lines") {
    const auto found = definitions_in(split("namespace a {\n\nstruct S {\n    int f() {\n"
                                            "        return 1;\n    }\n};\n\n"
                                            "int g(int a,\n      int b) {\n    return 1;\n}\n"
                                            "const char* text = R\"(\nvoid no() {\n)\";\n"
                                            "} // namespace a\n"));
    REQUIRE(found.size() == 2);
    CHECK(found[0].is_class);
    CHECK(found[0].lines == 5);
    CHECK_FALSE(found[1].is_class);
    CHECK(found[1].line == 9);
    CHECK(found[1].lines == 4);
}

TEST_CASE("no function is longer than 90 lines, no class than 450") {
    std::size_t read = 0;
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            for (const Definition& one : definitions_in(lines_of(path))) {
                const std::size_t most = one.is_class ? kClassLines : kFunctionLines;
                CHECK_MESSAGE(one.lines <= most, shown(path, one.line), " has ", one.lines,
                              " lines");
                ++read;
            }
        }
    }
    CHECK(read > 4000);
}

} // namespace test_architecture_sizes
