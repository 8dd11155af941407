// Comparisons on the command line: exams, measured runs, and what is neither.
#include "tests/cli/program.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_cli_diff {

using namespace eyeroof; // NOLINT(google-build-using-namespace)

namespace {

std::string sample(const std::string& name) {
    return tests::source_dir() + "/tests/profiles/samples/" + name;
}

} // namespace

TEST_CASE("two traces are compared by kernel and by operator, as text and as a page") {
    const auto text = tests::run({"diff", sample("kineto.json"), sample("kineto.json")});
    CHECK(text.exit == 0);
    CHECK(text.out.find("No part's time differs") != std::string::npos);
    const auto page = tests::run({"diff", sample("kineto.json"), sample("rocprof_kernel_trace.csv"),
                                  "--by", "operator", "--format", "html"});
    CAPTURE(page.err);
    CHECK(page.exit == 0);
    CHECK(page.out.find("<svg") != std::string::npos);
    CHECK(page.out.find("calls a") != std::string::npos);
    CHECK(page.out.find("eyeroof diff") != std::string::npos); // its origin
}

TEST_CASE("two exams are compared as a page that needs nothing from outside") {
    const auto page =
        tests::run({"diff", "alexnet@eyeriss-v1", "alexnet@npu-int8", "--format", "html"});
    CAPTURE(page.err);
    CHECK(page.exit == 0);
    CHECK(page.out.find("Where the time went") != std::string::npos);
    CHECK(page.out.find("<td>CONV1</td>") != std::string::npos);
    CHECK(page.out.find("http://") == page.out.find("http://www.w3.org")); // the SVG's namespace
}

TEST_CASE("a run and an exam are not compared, and exams have no --by") {
    const auto mixed = tests::run({"diff", sample("kineto.json"), "alexnet@eyeriss-v1"});
    CHECK(mixed.exit == 2);
    CHECK(mixed.err.find("exam --profile") != std::string::npos);
    const auto by = tests::run({"diff", "alexnet@eyeriss-v1", "alexnet@t4", "--by", "range"});
    CHECK(by.exit == 2);
    CHECK(by.err.find("--by is for two measured runs") != std::string::npos);
}

TEST_CASE("a build fails where a run takes longer") {
    const auto holds = tests::run({"diff", sample("kineto.json"), sample("kineto.json"),
                                   "--fail-if", "net.time_change > -0.5"});
    CHECK(holds.exit == 1);
    const auto wrong = tests::run(
        {"diff", sample("kineto.json"), sample("kineto.json"), "--fail-if", "net.tme_change > 0"});
    CHECK(wrong.exit == 2);
}

} // namespace test_cli_diff
