// The arrows over the includes and those of the build are the same: a library that leaves one out
// links only as long as another happens to bring it along.
#include "tests/house/rooms.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace test_house_build_arrows {

using namespace eyeroof::tests;

namespace {

using Arrows = std::map<std::string, std::set<std::string>>;

// What study/CMakeLists.txt links: room -> rooms and floors that it names.
Arrows linked() {
    std::ifstream file(source_dir() + "/study/CMakeLists.txt");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    static const std::regex room(R"(eyeroof_room\((\w+)([^)]*)\))");
    static const std::regex seen(R"(eyeroof::(\w+))");
    Arrows arrows;
    for (std::sregex_iterator r(text.begin(), text.end(), room), end; r != end; ++r) {
        const std::string names = (*r)[2];
        for (std::sregex_iterator s(names.begin(), names.end(), seen); s != end; ++s) {
            arrows[(*r)[1]].insert((*s)[1]);
        }
    }
    return arrows;
}

void reach(const Arrows& arrows, const std::string& from, std::set<std::string>& reached) {
    const auto at = arrows.find(from);
    for (const std::string& to : at == arrows.end() ? std::set<std::string>{} : at->second) {
        if (reached.insert(to).second) {
            reach(arrows, to, reached);
        }
    }
}

} // namespace

TEST_CASE("every room of the studies is linked with the rooms that it may include") {
    const Arrows arrows = linked();
    REQUIRE(arrows.size() > 10);
    const std::string studies = "study/";
    for (const auto& [path, room] : rooms()) {
        if (!path.starts_with(studies)) {
            continue;
        }
        std::set<std::string> reached;
        reach(arrows, path.substr(studies.size()), reached);
        for (const std::string& other : room.rooms) {
            if (other.starts_with(studies)) {
                CAPTURE(path);
                CAPTURE(other);
                CHECK(reached.count(other.substr(studies.size())) == 1);
            }
        }
    }
}

} // namespace test_house_build_arrows
