// The rooms of the house with what each may see, and their sources as lines.
// Used by the tests of the house's rules.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace eyeroof::tests {

struct Room {
    std::set<std::string> rooms;     // whose headers it may include, beside its own
    std::set<std::string> libraries; // outside libraries, by their first path component or file
};

// The design's arrows: model <- {hwdb, profiles, mapper} <- study <- {cli, gui}, and inside study
// from room to room as study/CMakeLists.txt links them; "study" stands for all its rooms.
const std::map<std::string, Room>& rooms();

// The room of a path from the root of the sources: "study/exam" of "study/exam/run.hpp".
std::string room_of(const std::string& path);
bool may_see(const std::string& room, const std::string& target);

// Sources and headers below a folder of the project, sorted; none where it is not there.
std::vector<std::filesystem::path> sources_in(const std::string& folder);
std::vector<std::string> lines_of(const std::filesystem::path& path);
// "study/exam/run.cpp:12"
std::string shown(const std::filesystem::path& path, std::size_t line);

} // namespace eyeroof::tests
