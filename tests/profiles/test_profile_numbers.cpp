// Found by tests/fuzz/fuzz_profile_file.cpp.
#include "profiles/profile_file.hpp"

#include <doctest/doctest.h>

namespace test_profiles_profile_numbers {

using namespace eyeroof;

TEST_CASE("a number that fits no double is told with its line, not thrown") {
    const auto source =
        profiles::ByteSource::of_text("{\"eyeroof_profile\":1,\"run\":{\"tool\":\"t\"}}\n"
                                      "{\"launch\":{\"kernel\":0,\"start_ns\":1e4001}}\n",
                                      "p.jsonl");
    const auto profile = profiles::read_profile(*source);
    REQUIRE_FALSE(profile.ok());
    CHECK(profile.diagnostics().items()[0].code == "bad-number");
    CHECK(profile.diagnostics().items()[0].where.line == 2);
}

} // namespace test_profiles_profile_numbers
