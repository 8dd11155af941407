// The words that a reader meets: help, messages, tables, and documents use the field's terms, and
// none of the private words that CONTRIBUTING lists.
#include "tests/architecture/modules.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

namespace test_architecture_words {

namespace fs = std::filesystem;
using namespace eyeroof::tests;

namespace {

// Words, and phrases of the field's own words that mean something private.
const std::regex& banned() {
    static const std::regex words(
        "\\b(told|mended|mending|dear|dearer|kin|nobody|whoever|anew|forenoon|remedy|remedies)\\b|"
        "units at work|took nothing|host'?s? issues|own precision|limited by|left to gain|"
        "what zeros bring|words of a sequence|words of [0-9{}]+ bit|proved to be the best",
        std::regex::icase);
    return words;
}

// What stands in "quotes" and is a sentence or a phrase: a single word may be a key of a file.
std::vector<std::string> phrases_of(const std::string& line) {
    std::vector<std::string> phrases;
    std::string phrase;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!quoted && line.compare(i, 2, "//") == 0) {
            break;
        }
        if (line[i] == '\\' && quoted) {
            ++i;
            phrase += ' ';
        } else if (line[i] == '"') {
            if (quoted && phrase.find(' ') != std::string::npos) {
                phrases.push_back(phrase);
            }
            phrase.clear();
            quoted = !quoted;
        } else if (quoted) {
            phrase += line[i];
        }
    }
    return phrases;
}

// What follows "//" outside quotes, without the blank.
std::string comment_of(const std::string& line) {
    bool quoted = false;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
        if (quoted && line[i] == '\\') {
            ++i;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line.compare(i, 2, "//") == 0) {
            return line.substr(std::min(i + 3, line.size()));
        }
    }
    return {};
}

// A line of Markdown without `code`.
std::string prose_of(const std::string& line) {
    std::string prose;
    bool code = false;
    for (const char c : line) {
        code = c == '`' ? !code : code;
        prose += code ? ' ' : c;
    }
    return prose;
}

std::string found_in(const std::string& text) {
    std::smatch match;
    return std::regex_search(text, match, banned()) ? match.str() : std::string();
}

} // namespace

TEST_CASE("a banned word is found in a phrase, not in a key or in code") {
    CHECK(found_in("the error is told once") == "told");
    CHECK(found_in("untold") == "");
    CHECK(phrases_of(R"(f("a key", "remedies"); // "not told here")") ==
          std::vector<std::string>{"a key"});
    CHECK(found_in(prose_of("the column `limited by` of old files")) == "");
    CHECK(found_in(prose_of("limited by DRAM")) == "limited by");
    CHECK(comment_of(R"(const char* url = "http://told"; // and why)") == "and why");
    CHECK(comment_of("    // Called by cli.") == "Called by cli.");
    CHECK(comment_of("no comment").empty());
}

TEST_CASE("strings of the program use none of the banned words") {
    std::size_t phrases = 0;
    for (const char* folder : {"base", "model", "hwdb", "profiles", "mapper", "formats", "analysis",
                               "report", "cli", "gui"}) {
        for (const fs::path& file : sources_in(folder)) {
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                for (const std::string& phrase : phrases_of(lines[i])) {
                    ++phrases;
                    const std::string word = found_in(phrase);
                    CHECK_MESSAGE(word.empty(), shown(file, i + 1), ": ", word);
                }
            }
        }
    }
    CHECK(phrases > 5000); // the scan reads them
}

TEST_CASE("comments of the program use none of the banned words") {
    std::size_t comments = 0;
    for (const char* folder : {"base", "model", "hwdb", "profiles", "mapper", "formats", "analysis",
                               "report", "cli", "gui", "python"}) {
        for (const fs::path& file : sources_in(folder)) {
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                const std::string comment = comment_of(lines[i]);
                comments += comment.empty() ? 0 : 1;
                const std::string word = found_in(prose_of(comment));
                CHECK_MESSAGE(word.empty(), shown(file, i + 1), ": ", word);
            }
        }
    }
    CHECK(comments > 5000);
}

TEST_CASE("descriptions in the JSON schemas use none of the banned words") {
    std::size_t phrases = 0;
    for (const char* folder : {"report/schema", "hwdb/schema"}) {
        for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / folder)) {
            const auto lines = lines_of(entry.path());
            for (std::size_t i = 0; i < lines.size(); ++i) {
                for (const std::string& phrase : phrases_of(lines[i])) {
                    ++phrases;
                    const std::string word = found_in(phrase);
                    CHECK_MESSAGE(word.empty(), shown(entry.path(), i + 1), ": ", word);
                }
            }
        }
    }
    CHECK(phrases > 200); // of files and of what a user writes; answers' schemas are generated
}

TEST_CASE("headers describe what they offer, not who calls it") {
    const std::regex callers("(^|[.] )(Called|Used) (only )?by ");
    for (const char* folder :
         {"base", "model", "hwdb", "profiles", "formats", "analysis", "report", "cli", "gui"}) {
        for (const fs::path& file : sources_in(folder)) {
            const auto lines = lines_of(file);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                CHECK_MESSAGE(!std::regex_search(comment_of(lines[i]), callers), shown(file, i + 1),
                              ": names its callers");
            }
        }
    }
}

TEST_CASE("documents use none of the banned words") {
    const fs::path root = source_dir();
    std::vector<fs::path> pages = {root / "README.md", root / "CONTRIBUTING.md"};
    for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
        if (entry.path().extension() == ".md") {
            pages.push_back(entry.path());
        }
    }
    std::sort(pages.begin(), pages.end());
    CHECK(pages.size() > 25);
    for (const fs::path& page : pages) {
        const auto lines = lines_of(page);
        bool listing = false;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            listing = lines[i].starts_with("```") ? !listing : listing;
            const std::string word = listing ? std::string() : found_in(prose_of(lines[i]));
            CHECK_MESSAGE(word.empty(), shown(page, i + 1), ": ", word);
        }
    }
}

} // namespace test_architecture_words
