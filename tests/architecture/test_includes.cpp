// The architecture's rules, checked over the sources: which module may look into which, who may
// speak to the outside world, and what every file owes its reader.
#include "tests/architecture/modules.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace test_architecture_includes {

namespace fs = std::filesystem;
using namespace eyeroof::tests;

namespace {

// A line without what stands in "quotes" and after //.
std::string code_of(const std::string& line) {
    std::string code;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\' && quoted) {
            ++i;
        } else if (line[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && line.compare(i, 2, "//") == 0) {
            break;
        } else if (!quoted) {
            code += line[i];
        }
    }
    return code;
}

// The outside library of an <include>; empty for standard and system headers.
std::string library_of(const std::string& include) {
    static const std::set<std::string> single = {"zlib.h", "sqlite3.h", "omp.h"};
    static const std::set<std::string> systems = {"sys", "linux", "netinet", "arpa"};
    const std::string first = include.substr(0, include.find('/'));
    if (include.find('/') != std::string::npos) {
        return systems.contains(first) ? std::string{} : first == "nvtx3" ? "cuda" : first;
    }
    if (single.contains(include)) {
        return include;
    }
    if (include.size() > 1 && include[0] == 'Q' && std::isupper(include[1]) != 0) {
        return "Qt";
    }
    static const std::regex cuda("^(cuda|cupti|cublas|cudnn|nv).*\\.h$");
    return std::regex_search(include, cuda) ? "cuda" : std::string{};
}

// What is wrong with one #include line of a module, empty when nothing is.
std::string fault_of(const std::string& module, const std::string& line) {
    static const std::regex project("^\\s*#\\s*include\\s*\"([^\"]+)\"");
    static const std::regex outside("^\\s*#\\s*include\\s*<([^>]+)>");
    if (line.find("#") == std::string::npos) {
        return {};
    }
    std::smatch match;
    const Module& rules = modules().at(module);
    if (std::regex_search(line, match, project)) {
        const std::string target = module_of(match[1].str());
        if (!modules().contains(target)) {
            return "is not written from the root of the sources: " + match[1].str();
        }
        return may_see(module, target) ? "" : "must not see " + target;
    }
    if (std::regex_search(line, match, outside)) {
        const std::string library = library_of(match[1].str());
        return library.empty() || rules.libraries.contains(library) ? ""
                                                                    : "must not use " + library;
    }
    return {};
}

} // namespace

TEST_CASE("every module includes only what the arrows allow") {
    std::size_t includes = 0;
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            if (module_of(fs::relative(path, source_dir()).string()) != module) {
                continue; // of a module within this one
            }
            const auto lines = lines_of(path);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                includes += lines[i].find("#include") != std::string::npos ? 1 : 0;
                const std::string fault = fault_of(module, lines[i]);
                CHECK_MESSAGE(fault.empty(), shown(path, i + 1), " ", fault);
            }
        }
    }
    CHECK(includes > 100);
}

TEST_CASE("the include check itself tells an allowed line from a forbidden one") {
    CHECK(fault_of("model", "#include <vector>").empty());
    CHECK(fault_of("model", "#include \"model/workload/layer.hpp\"").empty());
    CHECK(fault_of("model", "#include \"analysis/exam/report.hpp\"") ==
          "must not see analysis/exam");
    CHECK(fault_of("analysis/exam", "#include \"report/exam/json.hpp\"") ==
          "must not see report/exam");
    CHECK(fault_of("cli", "#include \"report/exam/json.hpp\"").empty());
    CHECK(fault_of("cli/dev", "#include \"analysis/kernel_fit/kernel_fit.hpp\"").empty());
    CHECK(fault_of("cli", "#include \"analysis/kernel_fit/kernel_fit.hpp\"") ==
          "must not see analysis/kernel_fit");
    CHECK(fault_of("cli/tune", "#include \"analysis/tune/tuner.hpp\"").empty());
    CHECK(fault_of("cli", "#include \"analysis/tune/tuner.hpp\"") == "must not see analysis/tune");
    CHECK(fault_of("model", "#include <yaml-cpp/yaml.h>") == "must not use yaml-cpp");
    CHECK(fault_of("report/draw", "#include <QWidget>") == "must not use Qt");
    CHECK(fault_of("hwdb", "#include \"mapper/search.hpp\"") == "must not see mapper");
    CHECK(fault_of("mapper", "#include <cupti.h>") == "must not use cuda");
    CHECK(!fault_of("cli", "#include \"frame.hpp\"").empty());
    CHECK(code_of("a(\"exit(1) // \\\" x\"); // exit(2)") == "a(); ");
}

namespace {

using Arrows = std::map<std::string, std::set<std::string>>; // from folder to folders

// What stands between folders of the whole program: "formats/onnx" -> "base".
Arrows arrows_between_folders() {
    static const std::regex project("^\\s*#\\s*include\\s*\"([^\"]+)/[^/\"]+\"");
    Arrows arrows;
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            const std::string folder =
                fs::relative(path.parent_path(), eyeroof::tests::source_dir()).string();
            for (const std::string& line : lines_of(path)) {
                std::smatch match;
                if (std::regex_search(line, match, project) && match[1] != folder) {
                    arrows[folder].insert(match[1]);
                }
            }
        }
    }
    return arrows;
}

// The first circle that is met, as "a -> b -> a"; empty when there is none.
std::string circle_in(const Arrows& arrows) {
    std::set<std::string> done;
    std::vector<std::string> way;
    const std::function<std::string(const std::string&)> walk = [&](const std::string& folder) {
        const auto met = std::find(way.begin(), way.end(), folder);
        if (met != way.end()) {
            std::string circle;
            for (auto at = met; at != way.end(); ++at) {
                circle += *at + " -> ";
            }
            return circle + folder;
        }
        if (!done.insert(folder).second || !arrows.contains(folder)) {
            return std::string{};
        }
        way.push_back(folder);
        for (const std::string& next : arrows.at(folder)) {
            if (std::string circle = walk(next); !circle.empty()) {
                return circle;
            }
        }
        way.pop_back();
        return std::string{};
    };
    for (const auto& [folder, targets] : arrows) {
        if (std::string circle = walk(folder); !circle.empty()) {
            return circle;
        }
    }
    return {};
}

} // namespace

TEST_CASE("no folder includes a folder that includes it, however far around") {
    CHECK(circle_in({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}) == "b -> c -> b");
    CHECK(circle_in({{"a", {"b", "c"}}, {"b", {"c"}}}).empty());
    const Arrows arrows = arrows_between_folders();
    CHECK(arrows.size() > 20);
    CHECK(circle_in(arrows) == "");
}

TEST_CASE("only the mains end the process, print, or read the environment") {
    // What runs inside a foreign process, or is a program of its own, is a main too; so is what a
    // fork does before it becomes another program.
    static const std::regex mains("(^|/)(main|[a-z_]*_main)\\.(cpp|cu)$|/inject[a-z_]*[/.]|"
                                  "/base/(process|terminal_process|group_guard)\\.cpp$|"
                                  "/tune/gpu_worker\\.cpp$"); // forks that measure one kernel each
    static const std::regex forbidden(
        "(^|[^.>\\w:]|std::|[^\\w]::)(exit|_exit|quick_exit|abort|getenv|secure_getenv)\\s*\\(|"
        "std::(cerr|cout|clog)\\b|(^|[^\\w])(printf|puts)\\s*\\(");
    CHECK(std::regex_search("    std::exit(1);", forbidden));
    CHECK(!std::regex_search("    app.exit(1);", forbidden));
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            if (std::regex_search(path.string(), mains)) {
                continue;
            }
            const auto lines = lines_of(path);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                CHECK_MESSAGE(!std::regex_search(code_of(lines[i]), forbidden), shown(path, i + 1),
                              " ", lines[i]);
            }
        }
    }
}

TEST_CASE("every header says what it is, guards itself, and brings in no namespace") {
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            if (path.extension() != ".hpp") {
                continue;
            }
            const auto lines = lines_of(path);
            const auto has = [&](const std::string& text) {
                return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
                    return code_of(line).find(text) != std::string::npos;
                });
            };
            const bool described = !lines.empty() && lines[0].starts_with("// ");
            CHECK_MESSAGE(described, shown(path, 1), " begins without saying what it is");
            CHECK_MESSAGE(has("#pragma once"), shown(path, 1), " has no #pragma once");
            CHECK_MESSAGE(!has("using namespace"), shown(path, 1), " has a using namespace");
        }
    }
}

TEST_CASE("a source includes the header of its name before anything else") {
    // That header compiles alone, then: the build checks only those without such a source.
    std::size_t held = 0;
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            fs::path header = path;
            header.replace_extension(".hpp");
            if (path.extension() != ".cpp" || !fs::exists(header)) {
                continue;
            }
            const std::string name =
                fs::relative(header, eyeroof::tests::source_dir()).generic_string();
            const auto lines = lines_of(path);
            const auto first = std::find_if(lines.begin(), lines.end(), [](const auto& line) {
                return line.starts_with("#include");
            });
            CHECK_MESSAGE((first != lines.end() && *first == "#include \"" + name + "\""),
                          shown(path, 1), " does not begin with ", name);
            ++held;
        }
    }
    CHECK(held > 300);
}

TEST_CASE("nothing is left to be done later without saying where it is tracked") {
    static const std::regex marks("\\b(TODO|FIXME|XXX|HACK)\\b(?!\\(#\\d+\\))");
    for (const auto& [module, rules] : modules()) {
        for (const fs::path& path : sources_in(module)) {
            const auto lines = lines_of(path);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                CHECK_MESSAGE(!std::regex_search(lines[i], marks), shown(path, i + 1));
            }
        }
    }
}

TEST_CASE("tests compare floating-point numbers relative to what is expected") {
    // doctest::Approx is absolute below 1: any two times of a GPU kernel are equal to it.
    static const std::regex approx("\\bApprox\\b");
    CHECK(std::regex_search("CHECK(t == doctest::Approx(3e-6));", approx));
    std::size_t read = 0;
    for (const fs::path& path : sources_in("tests")) {
        const auto lines = lines_of(path);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            CHECK_MESSAGE(!std::regex_search(code_of(lines[i]), approx), shown(path, i + 1),
                          " compares with Approx; tests/near.hpp has near(value, share)");
        }
        ++read;
    }
    CHECK(read > 100);
}

TEST_CASE("names of test cases can be entries of ctest") {
    static const std::regex begins("^TEST_CASE\\(");
    static const std::regex split("\"[^\"]*;[^\"]*\""); // ctest's lists split there
    for (const fs::path& path : sources_in("tests")) {
        const auto lines = lines_of(path);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (!std::regex_search(lines[i], begins)) {
                continue;
            }
            for (std::size_t n = i; n < std::min(i + 3, lines.size()); ++n) { // names may wrap
                CHECK_MESSAGE(!std::regex_search(lines[n], split), shown(path, n + 1),
                              " has a semicolon in its name");
                if (lines[n].ends_with("{")) {
                    break;
                }
            }
        }
    }
}

TEST_CASE("the presets that the documentation names exist") {
    std::ifstream file(fs::path(eyeroof::tests::source_dir()) / "CMakePresets.json");
    const auto presets = nlohmann::json::parse(file);
    std::set<std::string> names;
    for (const auto& preset : presets["configurePresets"]) {
        names.insert(preset["name"].get<std::string>());
    }
    for (const char* name : {"dev", "release", "asan", "tsan", "tidy", "nogui", "bench", "fuzz"}) {
        CHECK_MESSAGE(names.contains(name), name);
    }
}

TEST_CASE("the build says what each folder links, and an alias stands for what it links") {
    const auto all = modules_in("base: eyeroof_base fmt::fmt\n"
                                "model: eyeroof_model eyeroof::base $<BUILD_INTERFACE:warnings>\n"
                                "analysis/*: eyeroof_analysis eyeroof::exam\n"
                                "analysis/exam: eyeroof_exam eyeroof::model\n"
                                "cli: eyeroof_cli eyeroof::analysis CLI11::CLI11\n");
    CHECK(!all.contains("analysis/*"));
    CHECK(all.at("model").modules == std::set<std::string>{"base"});
    CHECK(all.at("cli").modules ==
          std::set<std::string>{"analysis/*", "analysis/exam", "base", "model"});
    CHECK(all.at("cli").libraries == std::set<std::string>{"CLI"});
    CHECK(all.at("base").libraries == std::set<std::string>{"fmt"});
}

TEST_CASE("every folder of the design is a module") {
    for (const char* module : {"base", "model", "hwdb", "profiles", "mapper", "formats",
                               "analysis/exam", "report/draw", "cli"}) {
        CHECK_MESSAGE(modules().contains(module), module);
    }
}

} // namespace test_architecture_includes
