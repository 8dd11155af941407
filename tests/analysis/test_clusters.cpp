// Tables of published runs of many devices: what their cells may say.
#include "analysis/calibrate/clusters.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_analysis_clusters {

using namespace eyeroof;

namespace {

const std::string kHead = "table,metric,published,fabric,network,machine,";

// The only error that a table of one row has.
Diagnostic error_of(const std::string& columns, const std::string& cells,
                    const std::string& metric = "step_s") {
    const auto rows = analysis::parse_clusters(
        kHead + columns + "\nT," + metric + ",1.5,f,n,m," + cells + "\n", "runs.csv");
    REQUIRE(!rows);
    REQUIRE(rows.diagnostics().items().size() == 1);
    return rows.diagnostics().items().front();
}

} // namespace

TEST_CASE("a table of runs refuses what it cannot take, at its place") {
    struct Wrong {
        std::string column, cell;
    };
    const std::vector<Wrong> wrongs = {{"devices", "many"},   {"devices", "1e30"},
                                       {"batch", "-4"},       {"length", "1.5"},
                                       {"tensor", "0"},       {"interleave", "some"},
                                       {"microbatch", "two"}, {"zero", "4"},
                                       {"recompute", "all"},  {"attention", "flash9"},
                                       {"sequence", "maybe"}, {"dtype", "fp99"},
                                       {"acceptance", "2"},   {"weight_type", "int"},
                                       {"bytes", "-1"},       {"memory_share", "1.5"},
                                       {"chunk", "0"},        {"held_out", "true"},
                                       {"users", "x"},        {"prompt", "long"},
                                       {"answer", "short"},   {"software", "no-overlap sometimes"}};
    for (const Wrong& wrong : wrongs) {
        CAPTURE(wrong.column);
        const Diagnostic error = error_of(wrong.column, wrong.cell);
        CHECK(error.code == "bad-cell");
        CHECK(error.message == wrong.column + " cannot be '" + wrong.cell + "'");
        CHECK(!error.hint.empty());
        CHECK(error.where.file == "runs.csv");
        CHECK(error.where.line == 2);
        CHECK(error.where.column == 20);
    }
}

TEST_CASE("a table of runs takes empty cells, several words, and any number of chunks") {
    const auto rows = analysis::parse_clusters(
        kHead + "devices,interleave,software,dtype\n"
                "T,step_s,1.5,f,n,m,16,any,no-overlap apart-bias,fp8\nT,time_s,2,f,,,,,nccl,\n",
        "runs.csv");
    REQUIRE(rows);
    CHECK(rows->size() == 2);
    CHECK((*rows)[0].cells.at("interleave") == "any");
}

} // namespace test_analysis_clusters
