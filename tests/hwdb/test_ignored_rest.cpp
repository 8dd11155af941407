#include "hwdb/yaml.hpp"

#include <doctest/doctest.h>

namespace test_hwdb_ignored_rest {

using namespace eyeroof;

TEST_CASE("a value of the wrong type is told also where other keys are nobody's business") {
    auto document = hwdb::parse_yaml("table: vers\nmore: 1\n", "a.yaml");
    REQUIRE(document.ok());
    const hwdb::Node root = document->root();
    root.ignore_rest();
    const hwdb::Node table = root.need("table");
    table.ignore_rest();
    CHECK_FALSE(table.need("entries").present());
    const auto read = document->conclude(1);
    REQUIRE_FALSE(read.ok());
    REQUIRE(read.diagnostics().items().size() == 1);
    CHECK(read.diagnostics().items()[0].code == "wrong-type");
    CHECK(read.diagnostics().items()[0].where.line == 1);
}

} // namespace test_hwdb_ignored_rest
