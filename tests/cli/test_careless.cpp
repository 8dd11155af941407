// What people type before they have read the help: the right exit code, and words that help.
#include "tests/cli/program.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace test_cli_careless {

using namespace eyeroof;

namespace {

struct Line {
    int exit = 0;
    std::string says;
    std::vector<std::string> arguments;
};

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? std::string()
                                      : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::vector<Line> lines() {
    std::istringstream file(tests::read_file(std::filesystem::path(tests::source_dir()) /
                                             "tests/hostile/careless.txt"));
    std::vector<Line> all;
    for (std::string text; std::getline(file, text);) {
        if (text.empty() || text.starts_with('#')) {
            continue;
        }
        const auto first = text.find(" | ");
        const auto second = text.find(" | ", first + 3);
        REQUIRE(second != std::string::npos);
        Line line{std::stoi(text.substr(0, first)),
                  trimmed(text.substr(first + 3, second - first - 3)),
                  {}};
        std::istringstream words(text.substr(second + 3));
        for (std::string word; words >> word;) {
            line.arguments.push_back(word);
        }
        all.push_back(std::move(line));
    }
    return all;
}

// Wrapped lines are one sentence.
std::string unwrapped(std::string text) {
    std::string out;
    for (const char c : text) {
        const bool blank = c == '\n' || c == ' ';
        if (!blank || (!out.empty() && out.back() != ' ')) {
            out += blank ? ' ' : c;
        }
    }
    return out;
}

} // namespace

TEST_CASE("careless input has the right exit code, and an answer or a hint that helps") {
    const std::vector<Line> all = lines();
    CHECK(all.size() >= 60);
    for (const Line& line : all) {
        const tests::Outcome outcome = tests::run(line.arguments);
        std::string command;
        for (const std::string& word : line.arguments) {
            command += word + " ";
        }
        CAPTURE(command);
        CAPTURE(outcome.err);
        CHECK(outcome.exit == line.exit);
        CHECK(unwrapped(outcome.out + outcome.err).find(line.says) != std::string::npos);
    }
}

} // namespace test_cli_careless
