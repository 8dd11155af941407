// The main of every test program: doctest's, and --update-golden.
#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/golden.hpp"

#include <doctest/doctest.h>

#include <string_view>

int main(int argc, char** argv) {
    doctest::Context context(argc, argv);
    for (int i = 1; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--update-golden") {
            eyeroof::tests::updating_golden() = true;
        }
    }
    return context.run();
}
