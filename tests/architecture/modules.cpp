#include "tests/architecture/modules.hpp"

#include "tests/paths.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fs = std::filesystem;

namespace eyeroof::tests {

namespace {

bool is_source(const fs::path& path) {
    static const std::set<std::string> endings = {".hpp", ".cpp", ".h", ".cu"};
    return endings.contains(path.extension().string());
}

// What each outside target is called in an #include.
const std::map<std::string, std::string> kLibraries = {{"fmt::fmt", "fmt"},
                                                       {"eyeroof_yaml", "yaml-cpp"},
                                                       {"eyeroof_re2", "re2"},
                                                       {"eyeroof_yajl", "yajl"},
                                                       {"eyeroof_xgboost", "xgboost"},
                                                       {"nlohmann_json::nlohmann_json", "nlohmann"},
                                                       {"ZLIB::ZLIB", "zlib.h"},
                                                       {"SQLite::SQLite3", "sqlite3.h"},
                                                       {"Eigen3::Eigen", "Eigen"},
                                                       {"CLI11::CLI11", "CLI"},
                                                       {"Qt6::Widgets", "Qt"}};

// Optional libraries, which the build links where it finds them: their includes are conditional.
const std::map<std::string, std::set<std::string>> kOptional = {{"profiles", {"cuda", "omp.h"}}};

struct Target {
    std::string folder;
    std::vector<std::string> links;
};

std::map<std::string, Target> targets_in(std::string_view text) {
    std::istringstream lines{std::string(text)};
    std::map<std::string, Target> targets;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string folder, name;
        words >> folder >> name;
        Target& target = targets[name];
        target.folder = folder.substr(0, folder.size() - 1);
        for (std::string link; words >> link;) {
            const bool own = link.starts_with("eyeroof::");
            target.links.push_back(own ? "eyeroof_" + link.substr(9) : link);
        }
    }
    return targets;
}

void reach(const std::map<std::string, Target>& targets, const std::string& name,
           std::set<std::string>& folders) {
    const auto at = targets.find(name);
    if (at != targets.end() && folders.insert(at->second.folder).second) {
        for (const std::string& link : at->second.links) {
            reach(targets, link, folders);
        }
    }
}

} // namespace

std::map<std::string, Module> modules_in(std::string_view text) {
    const auto targets = targets_in(text);
    std::map<std::string, Module> all;
    for (const auto& [name, target] : targets) {
        if (target.folder.ends_with("/*")) {
            continue;
        }
        Module& module = all[target.folder];
        for (const std::string& link : target.links) {
            reach(targets, link, module.modules);
            if (const auto library = kLibraries.find(link); library != kLibraries.end()) {
                module.libraries.insert(library->second);
            }
        }
        if (const auto optional = kOptional.find(target.folder); optional != kOptional.end()) {
            module.libraries.insert(optional->second.begin(), optional->second.end());
        }
    }
    return all;
}

const std::map<std::string, Module>& modules() {
    static const std::map<std::string, Module> all = [] {
        std::ifstream file(EYEROOF_MODULES_FILE);
        return modules_in(std::string{std::istreambuf_iterator<char>(file), {}});
    }();
    return all;
}

std::string module_of(const std::string& path) {
    for (std::size_t end = path.rfind('/'); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1)) {
        if (modules().contains(path.substr(0, end))) {
            return path.substr(0, end);
        }
    }
    return {};
}

bool may_see(const std::string& module, const std::string& target) {
    return target == module || modules().at(module).modules.contains(target);
}

std::vector<fs::path> sources_in(const std::string& folder) {
    std::vector<fs::path> found;
    const fs::path root = fs::path(source_dir()) / folder;
    if (!fs::exists(root)) {
        return found;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (entry.is_regular_file() && is_source(entry.path())) {
            found.push_back(entry.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> lines_of(const fs::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string shown(const fs::path& path, std::size_t line) {
    return fs::relative(path, source_dir()).string() + ":" + std::to_string(line);
}

} // namespace eyeroof::tests
