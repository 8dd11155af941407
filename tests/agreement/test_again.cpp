// `eyeroof exam … --format json | eyeroof exam --scenario -` prints the same bytes, for each
// command.
#include "cli/command.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace test_agreement_again {

using namespace eyeroof;
using namespace eyeroof::tests;

namespace {

using Lines = std::vector<std::string>;

// Commands that answer a scenario, each with questions: scenario, options of its own, several
// machines.
const std::map<std::string, Lines>& questions() {
    static const std::map<std::string, Lines> all = {
        {"exam",
         {"alexnet --on t4 --batch 8 --phase training --optimizer adam",
          "alexnet --on eyeriss-v1 --mapping dataflow --layers CONV --advice",
          "resnet18 --on t4 --on l4 --set dram-bandwidth=x2",
          "alexnet --on scnn --density weights=0.4",
          "bert-base:layers=2 --on a100-sxm-40gb --dtype fp16 --compiled --launch graph"}},
        {"map", {"alexnet --on eyeriss-v1 --layers CONV1 --search-nodes 200 --objective edp"}},
        {"roofline", {"alexnet --on t4 --batch 4"}},
        {"timeline", {"alexnet --on t4 --copies batch --streams 2"}},
        {"memory", {"resnet18 --on t4 --phase training --batch 16"}},
        {"improve", {"mnist-cnn --on v100-sxm2-16gb --phase training --batches 1,2"}},
        {"bound", {"alexnet --on t4"}},
        {"fuse", {"mobilenet-v1-0.5-128 --on eyeriss-v1 --least latency"}},
        {"upgrade", {"resnet18 --from v100-sxm2-16gb --to a100-sxm-40gb --batch 8"}},
        {"scale", {"resnet18 --on a100-sxm-40gb --devices 1 --phase training"}},
        {"serve", {"llama-3-8b --on a100-sxm-80gb --requests 1"}},
    };
    return all;
}

// Commands that take a scenario and give no single answer to ask again.
const std::map<std::string, std::string>& without_answer() {
    static const std::map<std::string, std::string> all = {
        {"sweep", "writes a row a point, and rows repeat no question"},
        {"import", "reads what was measured; its scenario only names what ran"},
    };
    return all;
}

const CLI::App& command_of(cli::Frame& frame, const std::string& name) {
    return *frame.root().get_subcommand(name);
}

} // namespace

TEST_CASE("every command that takes a scenario is asked again, or has a reason why not") {
    cli::Frame frame;
    cli::add_commands(frame);
    for (const std::string command : {
#define EYEROOF_COMMAND(name, group) #name,
#include "cli/commands.def"
#undef EYEROOF_COMMAND
         }) {
        CAPTURE(command);
        const bool takes = command_of(frame, command).get_option_no_throw("--scenario") != nullptr;
        CHECK(takes == (questions().contains(command) != without_answer().contains(command)));
    }
}

TEST_CASE(
    "a JSON answer through a pipe asks its question again, and is answered by the same bytes") {
    const Scratch scratch;
    const std::string first = (scratch / "first.json").string();
    const std::string second = (scratch / "second.json").string();
    for (const auto& [command, lines] : questions()) {
        for (const std::string& line : lines) {
            CAPTURE(command);
            CAPTURE(line);
            const Outcome piped =
                shell("$eyeroof " + command + " " + line + " --format json | tee '" + first +
                      "' | $eyeroof " + command + " --scenario - >'" + second + "'");
            CHECK(piped.exit <= 1); // an answer, or a verdict that is "no"
            const std::string answer = read_file(first);
            CHECK(answer.size() > 100);
            CHECK(read_file(second) == answer);
        }
    }
}

} // namespace test_agreement_again
