// The list of mutants rots unless it is held against the sources: a text that was rewritten is a
// mutant that no one runs.
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace test_architecture_mutants {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++n;
    }
    return n;
}

// The sources of a test program, one text.
std::string cases_of(const fs::path& folder) {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".cpp") {
            all += text_of(entry.path());
        }
    }
    return all;
}

} // namespace

TEST_CASE("every mutant's text stands in its file once, and the case that notices it exists") {
    const fs::path root = eyeroof::tests::source_dir();
    std::map<std::string, std::string> cases; // by program
    std::ifstream list(root / "tests" / "mutants" / "list.txt");
    std::string file, source, line;
    std::map<std::string, std::size_t> mutants; // by folder
    while (std::getline(list, line)) {
        CAPTURE(file);
        CAPTURE(line);
        if (line.starts_with("== ")) {
            file = line.substr(3);
            source = text_of(root / file);
            CHECK_FALSE(source.empty());
        } else if (line.starts_with("- ")) {
            ++mutants[fs::path(file).parent_path().string()];
            CHECK(times(source, line.substr(2)) == 1);
        } else if (line.starts_with("! test_")) {
            const std::size_t colon = line.find(": ");
            REQUIRE(colon != std::string::npos);
            const std::string folder = line.substr(7, colon - 7);
            if (!cases.contains(folder)) {
                cases[folder] = cases_of(root / "tests" / folder);
            }
            CHECK(cases[folder].find(line.substr(colon + 2)) != std::string::npos);
        }
    }
    std::size_t all = 0;
    for (const auto& [folder, number] : mutants) {
        all += number;
    }
    CHECK(all >= 245);
    for (const char* const folder : {"analysis/scale", "analysis/step", "analysis/sweep",
                                     "analysis/upgrade", "formats", "model/gpu", "profiles"}) {
        CAPTURE(folder);
        CHECK(mutants[folder] >= 10);
    }
}

} // namespace test_architecture_mutants
