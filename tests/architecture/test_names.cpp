// One name, one thing: what two files define alike is one fact in two places, and two types of one
// name in one namespace are one type to the linker, whichever it meets first.
#include "tests/architecture/modules.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace test_architecture_names {

namespace fs = std::filesystem;

namespace {

// Folders of one library each.
std::vector<fs::path> libraries() {
    std::vector<fs::path> folders;
    for (const auto& [folder, module] : eyeroof::tests::modules()) {
        if (folder != "cli" && folder != "gui") {
            folders.push_back(fs::path(eyeroof::tests::source_dir()) / folder);
        }
    }
    return folders;
}

struct Defined {
    std::string where; // namespace, "(anonymous)" inside
    std::string name;

    auto operator<=>(const Defined&) const = default;
};

// Types and constants defined at the beginning of a line, in the namespaces that are open there.
// Sources are formatted: what stands at the beginning of a line stands in a namespace.
std::vector<Defined> defined_in(std::istream& source) {
    static const std::regex opens("^namespace ([\\w:]*) ?\\{");
    static const std::regex type(
        "^(?:struct|class|enum class|enum) (\\w+)(?: final)?(?: :.*)?(?: \\{.*)$");
    static const std::regex program("R\"(\\w*)\\(");
    static const std::regex constant("^(?:inline )?constexpr [^=({]*\\b(k[A-Z]\\w*)\\b.*");
    std::vector<std::string> open;
    std::vector<Defined> found;
    std::string line;
    std::string until; // the end of a text of several lines: what it defines is another program's
    while (std::getline(source, line)) {
        std::smatch match;
        if (!until.empty()) {
            until = line.find(until) == std::string::npos ? until : "";
        } else if (std::regex_search(line, match, program)) {
            const std::string end = ")" + match[1].str() + "\"";
            until = line.find(end) == std::string::npos ? end : "";
        } else if (std::regex_search(line, match, opens)) {
            open.push_back(match[1].length() == 0 ? "(anonymous)" : match[1].str());
        } else if (line.starts_with("} // namespace") && !open.empty()) {
            open.pop_back();
        } else if (std::regex_match(line, match, type) || std::regex_match(line, match, constant)) {
            std::string where;
            for (const std::string& part : open) {
                where += "::" + part;
            }
            found.push_back({where, match[1].str()});
            static const std::regex further(", (k[A-Z]\\w*) =");
            for (std::sregex_iterator it(line.begin(), line.end(), further), end; it != end; ++it) {
                found.push_back({where, (*it)[1].str()});
            }
        }
    }
    return found;
}

std::vector<Defined> defined_in(const fs::path& path) {
    std::ifstream file(path);
    return defined_in(file);
}

} // namespace

TEST_CASE("definitions are found in the namespaces that they stand in") {
    std::istringstream source("namespace a::b {\n\nstruct One {\n};\nstruct Only;\nnamespace {\n"
                              "const char* text = R\"c(\nstruct Other {\n};\n)c\";\n"
                              "constexpr double kTwo = 2.0, kFour = 4.0;\n} // namespace\n"
                              "class Three : public One {\n};\n} // namespace a::b\n");
    const auto found = defined_in(source);
    REQUIRE(found.size() == 4);
    CHECK(found[0] == Defined{"::a::b", "One"});
    CHECK(found[1] == Defined{"::a::b::(anonymous)", "kTwo"});
    CHECK(found[2] == Defined{"::a::b::(anonymous)", "kFour"});
    CHECK(found[3] == Defined{"::a::b", "Three"});
}

TEST_CASE("no two headers define one name in one namespace") {
    std::map<Defined, fs::path> all;
    std::size_t read = 0;
    for (const fs::path& library : libraries()) {
        for (const auto& entry : fs::recursive_directory_iterator(library)) {
            if (entry.path().extension() != ".hpp") {
                continue;
            }
            ++read;
            for (const Defined& one : defined_in(entry.path())) {
                const auto [first, fresh] = all.try_emplace(one, entry.path());
                CHECK_MESSAGE(fresh, one.where, "::", one.name, " stands in ",
                              first->second.string(), " and ", entry.path().string());
            }
        }
    }
    CHECK(read > 150);
}

// Also what lets several files of a library be compiled at once (EYEROOF_UNITY).
TEST_CASE("no two files of a library keep the same name for themselves") {
    for (const fs::path& library : libraries()) {
        std::map<Defined, fs::path> all;
        for (const auto& entry : fs::recursive_directory_iterator(library)) {
            if (entry.path().extension() != ".cpp") {
                continue;
            }
            for (const Defined& one : defined_in(entry.path())) {
                const auto [first, fresh] = all.try_emplace(one, entry.path());
                CHECK_MESSAGE(fresh, one.name, " stands in ", first->second.string(), " and ",
                              entry.path().string());
            }
        }
    }
}

} // namespace test_architecture_names
