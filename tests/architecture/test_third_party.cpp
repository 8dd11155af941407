// THIRD-PARTY.md names every library of others that the build links, and no other. Read from the
// CMake files, so that it holds for what this build leaves out too.
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

namespace test_architecture_third_party {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void add_matches(const std::string& text, const char* pattern, std::set<std::string>& found) {
    const std::regex expression(pattern);
    for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
        found.insert((*at)[1].str());
    }
}

// Targets of others that a CMake file links: "fmt::fmt", a library it looks for.
void add_linked(const std::string& text, std::set<std::string>& found) {
    std::set<std::string> targets;
    add_matches(text, R"(([A-Za-z]\w*::\w+))", targets);
    std::ranges::copy_if(targets, std::inserter(found, found.end()), [](const std::string& name) {
        return !name.starts_with("eyeroof::") && name != "doctest::doctest";
    });
    add_matches(text, R"(find_library\((EYEROOF_\w+))", found);
}

// By the build: every CMakeLists.txt outside the tests, and the names that
// cmake/eyeroof_dependencies.cmake gives.
std::set<std::string> linked_by_build() {
    const fs::path root = eyeroof::tests::source_dir();
    std::set<std::string> found;
    add_matches(text_of(root / "cmake/eyeroof_dependencies.cmake"),
                R"(add_library\((eyeroof_\w+) INTERFACE\))", found);
    for (const fs::directory_entry& folder : fs::directory_iterator(root)) {
        const std::string name = folder.path().filename();
        if (!folder.is_directory() || name == "tests" || name == "build" || name.starts_with(".")) {
            continue;
        }
        for (const fs::directory_entry& file : fs::recursive_directory_iterator(folder.path())) {
            if (file.path().filename() == "CMakeLists.txt") {
                add_linked(text_of(file.path()), found);
            }
        }
    }
    return found;
}

std::set<std::string> linked_by_notice() {
    std::string text = text_of(fs::path(eyeroof::tests::source_dir()) / "THIRD-PARTY.md");
    const std::size_t begin = text.find("## Linked");
    REQUIRE(begin != std::string::npos);
    text = text.substr(begin, text.find("\n## ", begin + 1) - begin);
    std::set<std::string> found;
    std::set<std::string> rows;
    add_matches(text, R"((?:^|\n)\|( `[^|]*)\|)", rows);
    for (const std::string& row : rows) {
        add_matches(row, "`([^`]+)`", found);
    }
    return found;
}

} // namespace

TEST_CASE("THIRD-PARTY.md names what the build links, and nothing else") {
    std::set<std::string> notice = linked_by_notice();
    for (const char* system : {"dl", "stdc++"}) { // the compiler's own
        CHECK(notice.erase(system) == 1);
    }
    const std::set<std::string> build = linked_by_build();
    CHECK(build.size() > 10);
    CHECK(notice == build);
}

TEST_CASE("SECURITY.md has the versions of the Python packages that the constraints pin") {
    const fs::path root = eyeroof::tests::source_dir();
    const std::string policy = text_of(root / "SECURITY.md");
    const std::size_t begin = policy.find("| Python packages |");
    REQUIRE(begin != std::string::npos);
    const std::string row = policy.substr(begin, policy.find('\n', begin) - begin);
    std::set<std::string> stated, pinned;
    add_matches(row, R"(([A-Za-z0-9-]+ [0-9]+\.[0-9.]+[0-9]))", stated);
    add_matches(text_of(root / "python/constraints.txt"), R"((?:^|\n)([A-Za-z0-9-]+==[0-9.]+))",
                pinned);
    std::set<std::string> as_stated;
    for (std::string one : pinned) {
        as_stated.insert(one.replace(one.find("=="), 2, " "));
    }
    CHECK(pinned.size() >= 10);
    CHECK(as_stated == stated);
}

} // namespace test_architecture_third_party
