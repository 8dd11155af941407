// eyeroof-dev: what the makers use, and where `eyeroof` says that it went.
#include "cli/dev/dev_program.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

namespace test_cli_dev {

using namespace eyeroof;
using namespace eyeroof::tests;

namespace {

bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

Outcome run_dev(const std::vector<std::string>& arguments) {
    return run(arguments, {}, cli::dev_program());
}

} // namespace

TEST_CASE(
    "commands of the makers are no commands of users, and the old spelling says where they are") {
    const std::pair<std::vector<std::string>, std::string> old[] = {
        {{"hw", "cross-validate", "measured.csv", "--ablate"}, "eyeroof-dev cross-validate TABLE"},
        {{"hw", "cross-validate"}, "eyeroof-dev cross-validate TABLE"},
        {{"tune", "alexnet", "--compare", "--seeds", "3"}, "eyeroof-dev tune-compare"},
        {{"tune", "--replay", "c6.jsonl"}, "eyeroof-dev tune-compare --replay LOG"}};
    for (const auto& [arguments, now] : old) {
        CAPTURE(now);
        const Outcome outcome = run(arguments);
        CHECK(outcome.exit == 2);
        CHECK(outcome.out.empty());
        CHECK(contains(outcome.err, "it is now `" + now));
    }
    for (const char* page : {"hw", "tune"}) {
        const std::string help = run({page, "--help"}).out;
        CHECK_FALSE(contains(help, "cross-validate"));
        CHECK_FALSE(contains(help, "--compare"));
    }
}

TEST_CASE("the makers' program names itself, lists its commands, and shows examples of each") {
    CHECK(run_dev({"--version"}).out.starts_with("eyeroof-dev "));
    const std::string help = run_dev({"--help"}).out;
    for (const std::string command : {"cross-validate", "tune-compare"}) {
        CAPTURE(command);
        CHECK(contains(help, command));
        const std::string own = run_dev({command, "--help"}).out;
        CHECK(contains(own, "Usage: eyeroof-dev " + command));
        CHECK(contains(own, "\nExamples:\n"));
        CHECK(width_of(own) <= 100);
    }
}

TEST_CASE("strategies are compared on a stand-in, with the same answer for any number of threads") {
    const std::vector<std::string> asked = {"tune-compare", "resnet18-c1-c12",
                                            "--layers",     "C12$",
                                            "--trials",     "8",
                                            "--seeds",      "2",
                                            "--format",     "csv",
                                            "--jobs"};
    auto one = asked;
    one.emplace_back("1");
    auto two = asked;
    two.emplace_back("2");
    const Outcome first = run_dev(one);
    CHECK(first.exit == 0);
    CHECK(contains(first.out, "learned"));
    CHECK(run_dev(two).out == first.out);
}

TEST_CASE("errors of constants are printed for a table, and a bad table or option is refused") {
    const Scratch scratch;
    const std::string table = (scratch / "rows.csv").string();
    std::string text = "name,op,m,n,k,gpu,measured_s\n";
    for (int i = 1; i <= 24; ++i) {
        text += "l" + std::to_string(i) + ",gemm," + std::to_string(64 * i) + ",256,256,t4," +
                std::to_string(1e-5 + 2e-6 * i) + "\n";
    }
    write_text(table, text);
    const Outcome good = run_dev({"cross-validate", table, "--rounds", "1", "--format", "md"});
    CHECK(good.exit == 0);
    CHECK(contains(good.out, "Printed by `eyeroof-dev cross-validate"));
    const std::string before = (scratch / "before.csv").string();
    CHECK(
        run_dev({"cross-validate", table, "--rounds", "1", "--format", "csv", "-o", before}).exit ==
        0);
    const Outcome beside = run_dev({"cross-validate", table, "--rounds", "1", "--also",
                                    "library,session", "--former", before, "--format", "md"});
    CHECK(beside.exit == 0);
    CHECK(contains(beside.out, "## Every class by what is left out"));
    CHECK(run_dev({"cross-validate", table, "--former", table}).exit == 3);
    CHECK(run_dev({"cross-validate", table, "--also", "day"}).exit == 2);
    CHECK(run_dev({"cross-validate", table, "--leave-out", "library", "--constants",
                   (scratch / "new").string()})
              .exit == 2);
    const std::string broken = (scratch / "one.csv").string();
    write_text(broken, "name,op\na,gemm\n");
    CHECK(run_dev({"cross-validate", broken}).exit == 3);
    CHECK(run_dev({"cross-validate", table, "--class", "none"}).exit == 2);
    CHECK(run_dev({"cross-validate"}).exit == 2);
    CHECK(run_dev({"tune-compare"}).exit == 2);
    CHECK(run_dev({"tune-compare", "--recorded"}).exit == 2);
    CHECK(run_dev({"tune-compare", "--replay", (scratch / "none.jsonl").string()}).exit == 3);
    CHECK(run_dev({"tune-compare", "--replay", "/dev/null"}).exit == 3);
    CHECK(run_dev({"tune-compare", "alexnet", "--on", "mi250x"}).exit == 3);
}

} // namespace test_cli_dev
