#include "tests/house/rooms.hpp"

#include "tests/paths.hpp"

#include <algorithm>
#include <fstream>

namespace fs = std::filesystem;

namespace eyeroof::tests {

namespace {

bool is_source(const fs::path& path) {
    static const std::set<std::string> endings = {".hpp", ".cpp", ".h", ".cu"};
    return endings.contains(path.extension().string());
}

} // namespace

const std::map<std::string, Room>& rooms() {
    static const std::map<std::string, Room> all = {
        {"model", {{}, {"fmt", "Eigen", "re2"}}},
        {"hwdb", {{"model"}, {"fmt", "yaml-cpp"}}},
        {"profiles",
         {{"model"},
          {"fmt", "Eigen", "nlohmann", "yaml-cpp", "yajl", "zlib.h", "sqlite3.h", "cuda",
           "omp.h"}}},
        {"mapper", {{"model"}, {"fmt", "Eigen", "xgboost"}}},
        {"study/text", {{"model"}, {"fmt"}}},
        {"study/formats",
         {{"model", "hwdb", "profiles", "mapper", "study/text"}, {"fmt", "yaml-cpp", "onnx"}}},
        {"study/scenario", {{"model", "mapper"}, {"fmt", "nlohmann"}}},
        {"study/program", {{"model", "study/scenario"}, {"fmt"}}},
        {"study/exam",
         {{"model", "hwdb", "profiles", "mapper", "study/scenario", "study/program"}, {"fmt"}}},
        {"study/measured", {{"model", "profiles", "study/text", "study/exam"}, {"fmt"}}},
        {"study/fuse",
         {{"model", "study/text", "study/formats", "study/draw"}, {"fmt", "nlohmann"}}},
        {"study/sparse",
         {{"model", "hwdb", "mapper", "study/text", "study/program", "study/exam"},
          {"fmt", "nlohmann"}}},
        {"study/cores",
         {{"model", "hwdb", "study/text", "study/program", "study/exam"}, {"fmt", "nlohmann"}}},
        {"study/silicon", {{"model", "hwdb", "study/text", "study/exam"}, {"fmt", "nlohmann"}}},
        {"study/what_if", {{"model", "hwdb", "study/program", "study/exam"}, {"fmt"}}},
        {"study/search",
         {{"model", "mapper", "study/text", "study/formats", "study/program", "study/exam"},
          {"fmt", "nlohmann"}}},
        {"study/upgrade",
         {{"model", "hwdb", "study/text", "study/scenario", "study/program", "study/exam",
           "study/draw"},
          {"fmt", "nlohmann", "yaml-cpp"}}},
        {"study/calibrate",
         {{"model", "hwdb", "mapper", "study/text", "study/formats", "study/exam", "study/what_if",
           "study/upgrade"},
          {"fmt", "nlohmann"}}},
        {"study/draw",
         {{"model", "profiles", "study/text", "study/exam", "study/measured"}, {"fmt"}}},
        {"study/step",
         {{"model", "study/text", "study/formats", "study/scenario", "study/program", "study/exam",
           "study/draw"},
          {"fmt", "nlohmann"}}},
        {"study/diff",
         {{"model", "profiles", "study/text", "study/exam", "study/draw"}, {"fmt", "nlohmann"}}},
        {"study/sweep",
         {{"model", "hwdb", "mapper", "study/text", "study/scenario", "study/program", "study/exam",
           "study/what_if", "study/draw"},
          {"fmt", "nlohmann"}}},
        {"study/report",
         {{"model", "mapper", "study/text", "study/formats", "study/scenario", "study/exam",
           "study/measured", "study/search", "study/upgrade", "study/calibrate", "study/draw"},
          {"fmt", "nlohmann"}}},
        {"study/app",
         {{"model", "hwdb", "profiles", "study/text", "study/formats", "study/scenario",
           "study/what_if", "study/exam", "study/search", "study/upgrade", "study/draw",
           "study/tune"},
          {"fmt", "yaml-cpp"}}},
        {"study/scale",
         {{"model", "hwdb", "study/text", "study/formats", "study/program", "study/exam",
           "study/draw", "study/step"},
          {"fmt", "nlohmann"}}},
        {"study/tune",
         {{"model", "profiles", "mapper", "study/text", "study/exam", "study/draw"},
          {"fmt", "nlohmann", "xgboost"}}},
        {"cli",
         {{"model", "hwdb", "profiles", "mapper", "study"}, {"fmt", "CLI", "nlohmann", "Eigen"}}},
        {"gui", {{"model", "hwdb", "profiles", "mapper", "study"}, {"fmt", "nlohmann", "Qt"}}},
    };
    return all;
}

std::string room_of(const std::string& path) {
    const auto first = path.substr(0, path.find('/'));
    return first == "study" ? path.substr(0, path.find('/', first.size() + 1)) : first;
}

bool may_see(const std::string& room, const std::string& target) {
    const auto& seen = rooms().at(room).rooms;
    return target == room || seen.contains(target) ||
           (target.starts_with("study/") && seen.contains("study"));
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
