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

TEST_CASE("what was a command of the makers says which script it is now") {
    const std::pair<std::vector<std::string>, std::string> old[] = {
        {{"hw", "cross-validate", "measured.csv", "--ablate"},
         "examples/measurements/cross_validate.py"},
        {{"hw", "cross-validate"}, "examples/measurements/cross_validate.py"},
        {{"tune", "alexnet", "--compare", "--seeds", "3"}, "tests/bench/tune_compare.py"},
        {{"tune", "--replay", "c6.jsonl"}, "tests/bench/tune_compare.py"}};
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
    for (const std::string command : {"fit-kernels"}) {
        CAPTURE(command);
        CHECK(contains(help, command));
        const std::string own = run_dev({command, "--help"}).out;
        CHECK(contains(own, "Usage: eyeroof-dev " + command));
        CHECK(contains(own, "\nExamples:\n"));
        CHECK(width_of(own) <= 100);
    }
}

} // namespace test_cli_dev
