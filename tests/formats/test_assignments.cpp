#include "formats/assignments.hpp"

#include <doctest/doctest.h>

namespace test_formats_assignments {

using namespace eyeroof;

TEST_CASE("assignments by hand name a layer, and kernels or ranges") {
    const auto read = formats::parse_assignments("eyeroof_assignments: 1\n"
                                                 "assign:\n"
                                                 "  - {layer: conv1, kernel: \"^stem\"}\n"
                                                 "  - {layer: fc, range: classifier}\n",
                                                 "a.yaml");
    REQUIRE(read.ok());
    REQUIRE(read->size() == 2);
    CHECK((*read)[0] == profiles::ManualAssignment{"conv1", "^stem", ""});
    CHECK((*read)[1] == profiles::ManualAssignment{"fc", "", "classifier"});
}

TEST_CASE("an assignment without kernels and ranges, or with a slip, is refused with its line") {
    for (const char* line :
         {"  - {layer: conv1}\n", "  - {kernel: x}\n", "  - {layer: a, kernle: x}\n"}) {
        const auto read = formats::parse_assignments(
            std::string("eyeroof_assignments: 1\nassign:\n") + line, "a.yaml");
        REQUIRE_FALSE(read.ok());
        CHECK(read.diagnostics().items()[0].where.line == 3);
    }
}

} // namespace test_formats_assignments
