// What help says of an option: its kind, its range, its value where it is not given.
#include "cli/command.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

namespace test_cli_help {

using namespace eyeroof;
using namespace eyeroof::tests;

namespace {

bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

void every_help(const CLI::App& app, std::string& text) {
    text += cli::help_text(app);
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        every_help(*sub, text);
    }
}

} // namespace

TEST_CASE("help writes kinds, ranges and defaults for people, not the parser's words") {
    cli::Frame frame;
    cli::add_commands(frame);
    std::string text;
    every_help(frame.root(), text);
    for (const std::string word :
         {" INT", " UINT", ":INT", "FLOAT", ":POSITIVE", ":NONNEGATIVE", " in [", "[-1]"}) {
        CAPTURE(word);
        CHECK_FALSE(contains(text, word));
    }
    const std::string manual = cli::manual_page(frame.root(), "1");
    CHECK_FALSE(contains(manual, ":POSITIVE"));
    const std::string scale = run({"scale", "--help-all"}).out;
    CHECK(contains(scale, "--bucket SIZE               Bucket size of gradients in data-parallel "
                          "training [25 MB]\n"));
    CHECK(contains(scale, "--servers N                 Parameter servers (1 to 65536) [1]\n"));
    CHECK(contains(run({"roofline", "--help-all"}).out, "--x-range FROM:TO"));
}

TEST_CASE("the short help cuts a description at a clause, not within a list") {
    const std::string exam = run({"exam", "--help"}).out;
    CHECK(contains(exam, "--phase                   Inference or training [inference]\n"));
    CHECK(contains(exam, "--launch                  How kernels are launched [eager]\n"));
    CHECK(contains(exam, "NETWORK                   Catalog name (eyeroof net list) or file\n"));
}

TEST_CASE("the short help of every command ends no description with three dots, and names what "
          "depends on "
          "another option last") {
    cli::Frame frame;
    cli::add_commands(frame);
    for (const CLI::App* command :
         frame.root().get_subcommands([](const CLI::App*) { return true; })) {
        CAPTURE(command->get_name());
        const std::string help = cli::brief_help(*command);
        const std::size_t options = help.find("\nOptions:\n");
        if (contains(help, "--help-all explains")) {
            CHECK_FALSE(contains(help.substr(options), "…\n"));
            CHECK_FALSE(contains(help.substr(options), " With --"));
        }
    }
    const std::string sweep = run({"sweep", "--help"}).out;
    CHECK(contains(sweep, "--vary FIELD=VALUES       Field and values, a list or FROM:TO:STEP\n"));
}

TEST_CASE("one device serves without a fabric, and several take the usual one of their kind") {
    const Outcome one = run({"serve", "llama-3-8b", "--on", "a100-sxm-80gb", "--requests", "1"});
    CHECK(one.exit == 0);
    CHECK(contains(one.out, "one device alone"));
    const Outcome two = run({"serve", "llama-3-8b", "--on", "a100-sxm-80gb", "--tensor", "1,2"});
    CHECK(two.exit == 0);
    CHECK(contains(two.out, "DGX A100"));
    CHECK(contains(two.out, "1, 2 devices"));
}

} // namespace test_cli_help
