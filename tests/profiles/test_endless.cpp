// Files with a name or blanks without end are refused before they fill the memory.
#include "profiles/import/importer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_profiles_endless {

using namespace eyeroof::profiles; // NOLINT(google-build-using-namespace)

TEST_CASE("a trace whose name does not end is refused after 16 MiB") {
    const std::string begin = "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"";
    for (const char* filling : {"a", " ", "\\\""}) {
        CAPTURE(filling);
        std::string text = begin;
        while (text.size() < (std::size_t{18} << 20U)) {
            text += filling;
        }
        const auto profile = import_profile(input_of_text(text + "\"}]}", "t"));
        REQUIRE_FALSE(profile);
        CHECK(profile.diagnostics().items().front().code == "too-long");
    }
}

TEST_CASE("a trace with a long name that ends is read") {
    const std::string name(std::size_t{1} << 20U, 'k');
    const std::string text = "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" +
                             name + "\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1.5,\"args\":{}}]}";
    const auto profile = import_profile(input_of_text(text, "t"));
    REQUIRE(profile);
    REQUIRE(profile->launches.size() == 1);
    CHECK(profile->kernel_of(profile->launches[0]).name == name);
}

} // namespace test_profiles_endless
