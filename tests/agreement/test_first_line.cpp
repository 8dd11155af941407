// The first line of every answer states the scenario in words, defaults included.
#include "cli/command.hpp"
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

namespace test_agreement_first_line {

using namespace eyeroof;
using namespace eyeroof::tests;
using Words = std::vector<std::string>;

namespace {

struct Line {
    Words arguments;
    Words says; // in the first line, which may be wrapped
};

const std::map<std::string, Line>& lines() {
    static const Words gpu = {"ResNet-18",     "inference",
                              "batch 1",       "fp16",
                              "Tesla T4",      "eager launches from server-2x20",
                              "channels-last", "current libraries"};
    static const Words accelerator = {"MNIST", "inference", "batch 64", "Eyeriss v1", "rs"};
    static const std::map<std::string, Line> all = {
        {"exam", {{"resnet18", "--on", "t4"}, gpu}},
        {"timeline", {{"resnet18", "--on", "t4"}, gpu}},
        {"memory", {{"resnet18", "--on", "t4"}, gpu}},
        {"improve", {{"resnet18", "--on", "t4"}, gpu}},
        {"bound", {{"resnet18", "--on", "t4"}, gpu}},
        {"roofline", {{"resnet18", "--on", "t4"}, gpu}},
        {"fuse", {{"resnet18", "--on", "t4"}, gpu}},
        {"scale",
         {{"resnet18", "--on", "a100-sxm-40gb", "--devices", "1"},
          {"ResNet-18", "training step with sgd_momentum", "batch 1", "fp16", "A100 SXM4 40GB",
           "eager launches from server-2x64", "channels-last", "current libraries"}}},
        {"serve",
         {{"llama-3-8b", "--on", "a100-sxm-80gb", "--requests", "1"},
          {"llama-3-8b", "inference", "batch 1", "bf16", "A100 SXM4 80GB", "captured graph"}}},
        {"sweep", {{"mnist-cnn", "--on", "eyeriss-v1", "--vary", "clock=x1:x2:x2"}, accelerator}},
        {"map",
         {{"mnist-cnn", "--on", "eyeriss-v1", "--layers", "conv1", "--search-nodes", "20"},
          accelerator}},
    };
    return all;
}

// Answers that begin with something else.
const std::map<std::string, std::string>& elsewhere() {
    static const std::map<std::string, std::string> all = {
        {"upgrade", "begins with the sentence to quote; the run stands below it"},
        {"import", "reads what was measured; its scenario only names what ran"},
    };
    return all;
}

// Until the first line that does not go on: lines are wrapped.
std::string paragraph(const std::string& text) {
    std::string words = text.substr(0, std::min(text.find("\n  "), text.find("\n\n")));
    std::ranges::replace(words, '\n', ' ');
    return words;
}

} // namespace

TEST_CASE("every command that takes a scenario states it first, or has a reason why not") {
    cli::Frame frame;
    cli::add_commands(frame);
    for (const std::string command : {
#define EYEROOF_COMMAND(name, group) #name,
#include "cli/commands.def"
#undef EYEROOF_COMMAND
         }) {
        CAPTURE(command);
        const bool takes =
            frame.root().get_subcommand(command)->get_option_no_throw("--scenario") != nullptr;
        CHECK(takes == (lines().contains(command) != elsewhere().contains(command)));
    }
    for (const auto& [command, line] : lines()) {
        CAPTURE(command);
        Words words = {command};
        words.insert(words.end(), line.arguments.begin(), line.arguments.end());
        const Outcome outcome = run(words);
        CHECK(outcome.exit <= 1);
        CHECK(width_of(outcome.out) <= 80);
        const std::string first = paragraph(outcome.out);
        CAPTURE(first);
        for (const std::string& part : line.says) {
            CAPTURE(part);
            CHECK(first.find(part) != std::string::npos);
        }
    }
}

TEST_CASE(
    "convolutions of 16 bits run channels-last unless a layout is named, and the answer says so") {
    const auto first = [](Words more) {
        Words words = {"exam", "resnet50", "--on", "a100-sxm-40gb", "--batch", "64"};
        words.insert(words.end(), more.begin(), more.end());
        return paragraph(run(words).out);
    };
    for (const Words& phase : {Words{}, Words{"--phase", "training"}}) {
        for (const auto& [type, layout] : {std::pair("fp16", "channels-last"),
                                           {"bf16", "channels-last"},
                                           {"fp32", "channels-first"},
                                           {"tf32", "channels-first"}}) {
            Words usual = {"--dtype", type};
            usual.insert(usual.end(), phase.begin(), phase.end());
            CHECK(first(usual).find(layout) != std::string::npos);
            for (const std::string other : {"channels-last", "channels-first"}) {
                Words named = usual;
                named.insert(named.end(), {"--layout", other});
                CHECK(first(named).find(other) != std::string::npos);
            }
        }
    }
    // Passes between layouts are operators with a time of their own.
    const Words passes = {"exam",    "resnet50", "--on",     "a100-sxm-40gb",  "--batch",  "64",
                          "--dtype", "fp16",     "--layout", "channels-first", "--format", "csv"};
    CHECK(run(passes).out.find("conv1.to_channels_last") != std::string::npos);
}

TEST_CASE("a sweep says its defaults beside the rows, among them how layers are mapped") {
    Words words = {"sweep",  "alexnet", "--on",     "eyeriss-v2",
                   "--vary", "batch=1", "--layers", "CONV3"};
    const Outcome sweep = run(words);
    CHECK(sweep.exit == 0);
    CHECK(sweep.out.find("mapping auto") != std::string::npos);
    words.insert(words.end(), {"--format", "csv"});
    CHECK(run(words).err.find("mapping auto") != std::string::npos);
}

} // namespace test_agreement_first_line
