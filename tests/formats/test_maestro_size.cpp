#include "formats/maestro.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_formats_maestro_size {

using namespace eyeroof;

TEST_CASE("a MAESTRO file with too many words is refused with its place, not read in part") {
    const std::string network =
        "Network n {\nLayer a { Type: GEMM Dimensions { M: 2, N: 2, K: 2 } }\n}\n";
    std::string text = network;
    for (int i = 0; i < 2'000'000; ++i) { // more than the file may have, behind a whole network
        text += "; ";
        text += i % 1000 == 0 ? ";\n" : "; ";
    }
    const auto many = formats::parse_maestro(text, "net.m");
    REQUIRE_FALSE(many.ok());
    REQUIRE(many.diagnostics().items().size() == 1);
    CHECK(many.diagnostics().items()[0].code == "too-large");
    CHECK(many.diagnostics().items()[0].where.line > 1000);
    CHECK(formats::parse_maestro(network, "net.m").ok());
}

} // namespace test_formats_maestro_size
