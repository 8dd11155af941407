#include "base/separators.hpp"
#include "formats/layer_csv.hpp"

#include <doctest/doctest.h>

namespace test_formats_separators {

using namespace eyeroof;

TEST_CASE("tables with semicolons or tabs are read like those with commas") {
    const auto commas = formats::parse_layer_csv("name,op,m,n,k\na,gemm,1,2,3\n", "t.csv");
    REQUIRE(commas);
    for (const char* text :
         {"name;op;m;n;k\na;gemm;1;2;3\n", "name\top\tm\tn\tk\na\tgemm\t1\t2\t3\n",
          "# made by hand, in a hurry\nname;op;m;n;k\r\na;gemm;1;2;3\r\n"}) {
        CAPTURE(text);
        const auto table = formats::parse_layer_csv(text, "t.csv");
        REQUIRE(table);
        CHECK(table->layers == commas->layers);
    }
}

TEST_CASE("a comma between digits is a point where semicolons separate, and stays in quotes") {
    CHECK(comma_separated("a;b\n1,5;\"x;1,5\"\n") == "a,b\n1.5,\"x;1,5\"\n");
    CHECK(comma_separated("a,b;c\n1;2,5\n") == "a,b;c\n1;2,5\n");
    CHECK(comma_separated("\"a;b\",c\n") == "\"a;b\",c\n");
}

TEST_CASE("the row of totals that a result has is no layer when it is read again") {
    const auto table = formats::parse_layer_csv(
        "name,op,m,n,k,time_s\na,gemm,1,2,3,0.5\ntotal,total,,,,0.5\n", "t.csv");
    REQUIRE(table);
    CHECK(table->layers.size() == 1);
}

} // namespace test_formats_separators
