#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

namespace test_cli_sweep {

using namespace eyeroof; // NOLINT

TEST_CASE("a sweep in parts, merged by the command that its help shows, is the whole sweep") {
    const tests::Scratch scratch;
    const auto path = [&](const char* name) { return (scratch / name).string(); };
    const auto swept = [&](const std::string& file, const std::vector<std::string>& more) {
        std::vector<std::string> words = {"sweep",  "alexnet",   "--on", "eyeriss-v1",
                                          "--vary", "batch=1,2", "-o",   file};
        words.insert(words.end(), more.begin(), more.end());
        CHECK(tests::run(words).exit == 0);
    };
    swept(path("whole.csv"), {});
    swept(path("1.csv"), {"--shard", "1/2"});
    swept(path("2.csv"), {"--shard", "2/2"});
    const tests::Outcome merged =
        tests::run({"sweep", "merge", path("1.csv"), path("2.csv"), "-o", path("merged.csv")});
    CAPTURE(merged.err);
    CHECK(merged.exit == 0);
    CHECK(tests::read_file(path("merged.csv")) == tests::read_file(path("whole.csv")));
}

TEST_CASE("the page of a sweep draws a front of two objectives, and bars for one") {
    const tests::Scratch scratch;
    const auto page = [&](const char* objectives) {
        const std::string file = (scratch / "page.html").string();
        CHECK(tests::run({"sweep", "alexnet", "--on", "t4", "--vary", "batch=1,2", "--pareto",
                          objectives, "-o", file})
                  .exit == 0);
        return tests::read_file(file);
    };
    CHECK(page("time").find("viewBox=\"0 0 800 360\"") == std::string::npos);
    CHECK(page("time,energy").find("viewBox=\"0 0 800 360\"") != std::string::npos);
}

TEST_CASE("a point of a sweep that does not fit the memory says so in its row and at the end") {
    const tests::Outcome swept =
        tests::run({"sweep", "llama-3-8b:new=1", "--on", "h100-sxm-80gb", "--vary",
                    "network.context=2048,65536", "--batch", "16", "--format", "csv"});
    CHECK(swept.exit == 0);
    CHECK(swept.err.find("1 point without a place in memory") != std::string::npos);
    const auto second = swept.out.find("\n1,");
    REQUIRE(second != std::string::npos);
    CHECK(swept.out.substr(0, second).find("does-not-fit") == std::string::npos);
    CHECK(swept.out.find("does-not-fit: the step needs ", second) != std::string::npos);
}

TEST_CASE("more devices than there can be are refused before they are multiplied") {
    const tests::Outcome outcome =
        tests::run({"scale", "alexnet", "--on", "t4", "--fabric", "pcie4-100g", "--nodes",
                    "1,1000000", "--per-node", "999999999999999999"});
    CHECK(outcome.exit == 2);
    CHECK(outcome.err.find("are too many") != std::string::npos);
    const tests::Outcome two =
        tests::run({"scale", "alexnet", "--on", "t4", "--fabric", "pcie4-100g", "--nodes", "1,2",
                    "--per-node", "8", "--format", "csv"});
    CHECK(two.exit == 0);
    CHECK(two.out.find("\n8,") < two.out.find("\n16,"));
    CHECK(two.out.find("\n16,") != std::string::npos);
}

TEST_CASE("a decoder sharded by ZeRO alone takes the step of a decoder") {
    const auto step = [](const char* degree) {
        std::vector<std::string> words = {
            "scale", "llama-3.2-1b", "--on", "h100-sxm-80gb", "--devices", "8", "--batch",
            "64",    "--zero",       "3",    "--format",      "csv"};
        if (*degree != 0) {
            words.insert(words.end(), {degree, "1"});
        }
        const tests::Outcome outcome = tests::run(words);
        CHECK(outcome.exit == 0);
        return outcome.out;
    };
    CHECK(step("") == step("--tensor"));
}

} // namespace test_cli_sweep
