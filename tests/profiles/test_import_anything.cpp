#include "tests/fuzz/profile_import.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace test_profiles_import_anything {

using namespace eyeroof;

// The fuzz target's promises on the samples, whole and spoiled in a thousand ways that are the same
// every time.
TEST_CASE("spoiled samples are answered by every importer, never with a crash") {
    std::mt19937 random(7);
    int tried = 0;
    for (const auto& entry : std::filesystem::directory_iterator(eyeroof::tests::source_dir() +
                                                                 "/tests/profiles/samples")) {
        std::stringstream text;
        text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        const std::string whole = text.str();
        REQUIRE(!whole.empty());
        tests::import_anything(whole);
        for (int round = 0; round < 120; ++round, ++tried) {
            std::string spoiled = whole;
            for (int change = 0; change < 1 + round % 5; ++change) {
                const std::size_t at = random() % spoiled.size();
                switch (random() % 4) {
                case 0:
                    spoiled[at] = static_cast<char>(random());
                    break;
                case 1:
                    spoiled.erase(at, 1 + random() % 20);
                    break;
                case 2:
                    spoiled.insert(at, spoiled.substr(random() % spoiled.size(), random() % 40));
                    break;
                default:
                    spoiled[at] = "\",:{}[]-9\n"[random() % 10];
                    break;
                }
                if (spoiled.empty()) {
                    spoiled = "x";
                }
            }
            tests::import_anything(spoiled);
        }
    }
    CHECK(tried >= 900);
}

} // namespace test_profiles_import_anything
