// The folders of the program with what each may include, and their sources as lines.
// Used by the tests of the architecture's rules.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::tests {

struct Module {
    std::set<std::string> modules;   // whose headers it may include, beside its own
    std::set<std::string> libraries; // outside libraries, by their first path component or file
};

// By folder ("analysis/exam"), as the build links their libraries: the build writes one line for
// each, and there is no other table.
const std::map<std::string, Module>& modules();

// The same from the build's text: "folder: target links…", a line each. A target that is only a
// name for others ("analysis") has no entry, and stands for them where it is linked.
std::map<std::string, Module> modules_in(std::string_view text);

// The module of a path from the root of the sources: "analysis/exam" of "analysis/exam/run.hpp";
// empty where there is none.
std::string module_of(const std::string& path);
bool may_see(const std::string& module, const std::string& target);

// Sources and headers below a folder of the project, sorted; none where it is not there.
std::vector<std::filesystem::path> sources_in(const std::string& folder);
std::vector<std::string> lines_of(const std::filesystem::path& path);
// "analysis/exam/run.cpp:12"
std::string shown(const std::filesystem::path& path, std::size_t line);

} // namespace eyeroof::tests
