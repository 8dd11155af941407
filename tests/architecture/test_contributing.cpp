// The worked examples of CONTRIBUTING.md: what a new contributor touches stays little. That they
// apply, build and run is checked by tests/contributing/run.py.
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace test_architecture_contributing {

namespace fs = std::filesystem;

TEST_CASE("a worked example touches at most four files beside tests, and those it changes exist") {
    const fs::path root = eyeroof::tests::source_dir();
    std::ifstream page(root / "CONTRIBUTING.md");
    std::stringstream text;
    text << page.rdbuf();
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(root / "tests" / "contributing")) {
        if (entry.path().extension() != ".patch") {
            continue;
        }
        const std::string name = entry.path().filename().string();
        CAPTURE(name);
        CHECK(text.str().find("tests/contributing/" + name) != std::string::npos);
        std::ifstream patch(entry.path());
        std::size_t touched = 0;
        bool is_new = false;
        for (std::string line; std::getline(patch, line);) {
            is_new = line.starts_with("--- ") ? line == "--- /dev/null" : is_new;
            if (!line.starts_with("+++ b/")) {
                continue;
            }
            const std::string file = line.substr(6);
            CAPTURE(file);
            touched += file.starts_with("tests/") ? 0 : 1;
            CHECK(fs::exists(root / file) != is_new);
        }
        CHECK(touched >= 1);
        CHECK(touched <= 4);
        names.insert(name);
    }
    CHECK(names == std::set<std::string>{"answer_figure.patch", "gpu_term.patch",
                                         "layer_type.patch", "network_reader.patch",
                                         "profile_importer.patch", "subcommand.patch"});
}

} // namespace test_architecture_contributing
