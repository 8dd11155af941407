// tests/answers: one layer each, one phenomenon each, what is asked and the whole answer side by
// side. Renewed, to be read like code, by
//
//   build/dev/tests/test_cli -tc="the answers*" --update-golden
#include "tests/cli/program.hpp"
#include "tests/golden.hpp"

#include <algorithm>
#include <vector>

namespace test_cli_answers {

using namespace eyeroof; // NOLINT
namespace fs = std::filesystem;

namespace {

struct Asked {
    std::vector<std::string> arguments; // after "eyeroof"
    std::string network;
    std::string head; // all before the answer
    std::string answer;
};

constexpr const char* kNetwork = "--- layer.yaml\n";
constexpr const char* kAnswer = "--- answer\n";

Asked read_answer(const fs::path& file) {
    const std::string text = tests::read_file(file);
    const std::size_t command = text.find("\n$ eyeroof ");
    const std::size_t network = text.find(kNetwork);
    const std::size_t answer = text.find(kAnswer);
    REQUIRE_MESSAGE((text.starts_with("# ") && command < network && network < answer &&
                     answer != std::string::npos),
                    file.string(), " is no answer: # what it shows, $ eyeroof …, ",
                    "--- layer.yaml, --- answer");
    Asked asked;
    asked.head = text.substr(0, answer + std::string(kAnswer).size());
    asked.answer = text.substr(asked.head.size());
    const std::size_t begin = network + std::string(kNetwork).size();
    asked.network = text.substr(begin, answer - begin);
    std::istringstream words(text.substr(command + 11, network - command - 11));
    for (std::string word; words >> word;) {
        asked.arguments.push_back(word);
    }
    return asked;
}

} // namespace

TEST_CASE("the answers in tests/answers are those of the program") {
    std::vector<fs::path> files;
    for (const auto& entry :
         fs::directory_iterator(fs::path(tests::source_dir()) / "tests/answers")) {
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    CHECK(files.size() >= 40);
    for (const fs::path& file : files) {
        Asked asked = read_answer(file);
        const tests::Scratch scratch;
        tests::write_text(scratch / "layer.yaml", asked.network);
        for (std::string& word : asked.arguments) {
            word = word == "layer.yaml" ? (scratch / "layer.yaml").string() : word;
        }
        const auto outcome = tests::run(asked.arguments);
        INFO(outcome.err);
        CHECK_MESSAGE(outcome.exit == 0, file.filename().string());
        if (tests::updating_golden()) {
            tests::write_text(file, asked.head + outcome.out);
            continue;
        }
        const std::string difference = tests::first_difference(asked.answer, outcome.out);
        CHECK_MESSAGE(difference.empty(), file.filename().string(), ", of the answer ", difference);
    }
}

} // namespace test_cli_answers
