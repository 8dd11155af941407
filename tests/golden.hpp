// Golden files: outputs that a person has read and found right, in tests/golden/<case>/.
// Used by tests of writers and of the program; rewritten only by a test program's --update-golden,
// and reviewed like code.
#pragma once

#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace eyeroof::tests {

inline bool& updating_golden() { // set once by the test program's main
    static bool updating = false;
    return updating;
}

// The first line in which they differ, with both versions; empty when they do not.
inline std::string first_difference(const std::string& expected, const std::string& found) {
    std::istringstream a(expected);
    std::istringstream b(found);
    for (int number = 1;; ++number) {
        std::string left = "<end>";
        std::string right = "<end>";
        const bool more_left = static_cast<bool>(std::getline(a, left));
        const bool more_right = static_cast<bool>(std::getline(b, right));
        if (!more_left && !more_right) {
            return expected == found ? std::string{}
                                     : std::string("they differ in the last newline");
        }
        if (left != right || more_left != more_right) {
            return "line " + std::to_string(number) + "\n  golden: " + left +
                   "\n  now:    " + right;
        }
    }
}

inline void check_golden(const std::string& file, const std::string& found) {
    const std::filesystem::path path =
        std::filesystem::path(eyeroof::tests::source_dir()) / "tests/golden" / file;
    if (updating_golden()) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << found;
        return;
    }
    std::ifstream golden(path, std::ios::binary);
    REQUIRE_MESSAGE(golden.good(), "no golden file ", path.string(),
                    "; make it by --update-golden");
    const std::string expected{std::istreambuf_iterator<char>(golden), {}};
    const std::string difference = first_difference(expected, found);
    CHECK_MESSAGE(difference.empty(), file, ", ", difference);
}

} // namespace eyeroof::tests
