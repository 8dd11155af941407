#include "report/answers/answers.hpp"
#include "tests/cli/program.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace test_cli_exam {

using namespace eyeroof;
using tests::run;
using tests::Scratch;
using tests::write_text;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> exam(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"exam", "alexnet", "--on", "eyeriss-v1", "--batch", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

constexpr const char* kTwoLayers = "name,op,n,c,h,w,k,r,s,pad,mine\n"
                                   "first,conv2d,1,16,14,14,32,3,3,1,apple\n"
                                   "second,conv2d,1,32,14,14,32,3,3,1,\"pear, ripe\"\n";

} // namespace

TEST_CASE("a JSON answer says what was asked with its values, so that it can be asked again") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "answer.json").string();
    const tests::Outcome first =
        tests::run({"exam", "alexnet", "--on", "t4", "--layers", "CONV1", "--fail-if",
                    "net.time_s > 1", "--advice", "--format", "json"});
    REQUIRE(first.exit == 0);
    tests::write_text(file, first.out);
    const auto asked = nlohmann::json::parse(first.out)["asked"];
    CHECK(asked["command"] == "exam");
    CHECK(asked["options"]["--fail-if"] == nlohmann::json{"net.time_s > 1"});
    CHECK(asked["options"]["--advice"] == nlohmann::json::array());
    CHECK(tests::run({"exam", "--scenario", file}).out == first.out);
}

TEST_CASE("an examination begins with its answer: scenario, time, bottleneck, largest saving") {
    const auto outcome = run({"exam", "alexnet", "--on", "eyeriss-v1"});
    CHECK(outcome.exit == 0);
    std::istringstream lines(outcome.out);
    std::vector<std::string> line(5);
    for (std::string& text : line) {
        std::getline(lines, text);
    }
    CHECK(line[0].starts_with("AlexNet (grouped), inference, batch 1, fp16"));
    CHECK(contains(line[2], " ms · "));
    CHECK(contains(line[2], "% utilization"));
    CHECK(line[3].starts_with("Bound by "));
    CHECK(line[4].starts_with("Largest saving: "));
    CHECK(tests::width_of(outcome.out) <= 80);
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') <= 40);
}

TEST_CASE(
    "the first lines of an exam say what a sample is, and whether a decoder reads or goes on") {
    const auto first = [](const std::string& network) {
        const auto found = run({"exam", network, "--on", "h100-sxm-80gb"});
        REQUIRE(found.exit == 0);
        std::string head = found.out.substr(0, found.out.find(" on H100"));
        std::replace(head.begin(), head.end(), '\n', ' ');
        return head;
    };
    CHECK(contains(first("llama-3-8b"),
                   "inference (prefill), batch 1 of 2048 tokens, fused attention, fp16"));
    CHECK(contains(first("llama-3-8b:new=1,context=512"),
                   "inference (decoding), batch 1 of 1 token after 512, fused attention, fp16"));
    CHECK(contains(first("llama-3-8b:new=1,context=2048,batch=16"),
                   "inference (decoding), batch 16 of 1 token after 2048"));
    CHECK(contains(first("llama-3-8b:batch=4"), "inference (prefill), batch 4 of 2048 tokens"));
    CHECK(contains(first("qwen3-30b-a3b:new=1,context=10"),
                   "batch 1 of 1 token after 10, fused attention"));
    CHECK(contains(first("bert-base"), "inference, batch 1 of 128 tokens, fused attention, fp16"));
    CHECK(contains(first("gpt-oss-20b:new=1,context=300"), "batch 1 of 1 token after 300, fp16"));
    CHECK(contains(first("transformer-xl"), "batch 1 of 6144 tokens, fp16")); // a sum of products
    CHECK(contains(first("mamba2-2.7b"), "batch 1 of 2048 tokens, fp16"));
    CHECK(contains(first("dlrm"), "batch 1 of 65536 samples, fp16"));
    CHECK(first("resnet50").ends_with("batch 1, fp16")); // no attention to fuse
}

TEST_CASE("a network of many layers fits a screen, equal layers once") {
    const auto outcome = run({"exam", "resnet50", "--on", "a100-sxm-40gb", "--batch", "32"});
    CHECK(outcome.exit == 0);
    CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') <= 60);
    CHECK(contains(outcome.out, "conv2_1_add ×3"));
    CHECK(contains(outcome.out, "more layers: "));
}

TEST_CASE("an examination of two layers prints their steps, the table and the savings on stdout") {
    const auto outcome = run(exam({"--layers", "CONV[12]"}));
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.empty());
    for (const char* part : {"CONV1", "CONV2", "1 workload", "7 instantaneous bandwidth", "mapping",
                             "machine", "potential savings"}) {
        CAPTURE(part);
        CHECK(contains(outcome.out, part));
    }
    CHECK(!contains(outcome.out, "CONV3"));
    CHECK(!contains(outcome.out, "\033"));
}

TEST_CASE("text output of every network fits 80 columns") {
    for (const char* network : {"alexnet", "resnet18", "mobilenet-v1"}) {
        CAPTURE(network);
        const auto outcome = run({"exam", network, "--on", "systolic:16x16", "--mapping",
                                  "dataflow", "--steps", "all", "--details"});
        REQUIRE(outcome.exit == 0);
        CHECK(tests::width_of(outcome.out) <= 80);
    }
}

TEST_CASE("colour is for terminals, NO_COLOR turns it off, --color decides") {
    const auto arguments = exam({"--layers", "CONV1"});
    cli::Environment terminal;
    terminal.out_is_terminal = true;
    CHECK(contains(run(arguments, terminal).out, "\033["));
    terminal.no_colour = true;
    CHECK(!contains(run(arguments, terminal).out, "\033["));
    auto forced = arguments;
    forced.insert(forced.end(), {"--color", "always"});
    CHECK(contains(run(forced).out, "\033["));
    const auto piped = tests::shell("\"$eyeroof\" exam alexnet --on eyeriss-v1 --layers CONV1");
    CHECK(piped.exit == 0);
    CHECK(!contains(piped.out, "\033["));
}

TEST_CASE("JSON of a real examination satisfies the schema, and its chains never rise") {
    const auto outcome = run(exam({"--format", "json"}));
    REQUIRE(outcome.exit == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    tests::SchemaCheck check(nlohmann::json::parse(eyeroof::report::schema_of("exam")));
    for (const std::string& fault : check.faults(json)) {
        FAIL_CHECK(fault);
    }
    for (const auto& layer : json["layers"]) {
        for (const char* chain : {"steps", "machine_steps"}) {
            for (std::size_t i = 1; i < 7; ++i) {
                const double before = layer[chain][i - 1]["bound_macs_per_cycle"];
                const double after = layer[chain][i]["bound_macs_per_cycle"];
                CHECK(after <= before * (1 + 1e-9));
            }
        }
        CHECK(layer["steps"][6]["bound_macs_per_cycle"].get<double>() <=
              layer["machine_steps"][6]["bound_macs_per_cycle"].get<double>() * (1 + 1e-9));
    }
}

TEST_CASE("a CSV of layers comes back with its own columns and the results") {
    const Scratch scratch;
    write_text(scratch / "mine.csv", kTwoLayers);
    const auto outcome =
        run({"exam", (scratch / "mine.csv").string(), "--on", "systolic:8x8", "--format", "csv"});
    REQUIRE(outcome.exit == 0);
    CHECK(outcome.out.starts_with("name,op,n,c,h,w,k,r,s,pad,mine,time_s,low_s,high_s,limiter,"
                                  "step6_bound_s,gap,proved,macs,"));
    CHECK(contains(outcome.out, "\nfirst,conv2d,1,16,14,14,32,3,3,1,apple,"));
    CHECK(contains(outcome.out, "\nsecond,conv2d,1,32,14,14,32,3,3,1,\"pear, ripe\","));
}

TEST_CASE("-o writes the file and nothing on stdout, and a failed run leaves it as it was") {
    const Scratch scratch;
    const std::string file = (scratch / "out.json").string();
    const auto good = run(exam({"--format", "json", "-o", file}));
    CHECK(good.exit == 0);
    CHECK(good.out.empty());
    const std::string before = tests::read_file(file);
    CHECK(nlohmann::json::accept(before));
    const auto bad = run({"exam", "alexnet", "--on", "no-such-machine", "-o", file});
    CHECK(bad.exit == 3);
    CHECK(tests::read_file(file) == before);
    const auto nowhere = run(exam({"-o", (scratch / "no/such.txt").string()}));
    CHECK(nowhere.exit == 3);
    CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("--fail-if exits 1 with the result written and the reason on stderr") {
    const auto fails = run(exam({"--fail-if", "any.utilization < 0.999"}));
    CHECK(fails.exit == 1);
    CHECK(contains(fails.out, "potential savings"));
    CHECK(contains(fails.err, "any.utilization < 0.999 holds: layer."));
    const auto passes = run(exam({"--fail-if", "net.time_s > 1e9"}));
    CHECK(passes.exit == 0);
    CHECK(passes.err.empty());
    const auto unknown = run(exam({"--fail-if", "net.tme_s > 1"}));
    CHECK(unknown.exit == 2);
    CHECK(unknown.out.empty());
    CHECK(contains(unknown.err, "--fail-if:1:1: error: unknown key 'tme_s'"));
    CHECK(contains(unknown.err, "did you mean 'time_s'?"));
    CHECK(run(exam({"--fail-if", "layer.CONV9.time_s > 1"})).exit == 3);
}

TEST_CASE("unknown names are told with the nearest one, both at once, and nothing is written") {
    const auto outcome = run({"exam", "alexnte", "--on", "eyeriss-v3"});
    CHECK(outcome.exit == 3);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, "did you mean 'alexnet'?"));
    CHECK(contains(outcome.err, "eyeriss-v"));
}

TEST_CASE("options out of range are usage errors") {
    for (const char* batch : {"0", "-1", "1e3", "99999999999999999999", "nan", ""}) {
        CAPTURE(batch);
        const auto outcome = run({"exam", "alexnet", "--on", "eyeriss-v1", "--batch", batch});
        CHECK(outcome.exit == 2);
        CHECK(outcome.out.empty());
    }
    CHECK(run({"exam", "alexnet"}).exit == 2);
    CHECK(run({"exam", "--on", "eyeriss-v1"}).exit == 2);
    CHECK(run(exam({"--format", "xml"})).exit == 2);
    CHECK(run(exam({"--layers", "("})).exit == 3);
    CHECK(run(exam({"--layers", "nothing-is-called-so"})).exit == 3);
    CHECK(run(exam({"--dataflow", "nlr"})).exit == 3); // not one of Eyeriss's
}

TEST_CASE("the answer does not depend on the number of threads") {
    const auto one = run(exam({"--format", "json", "--threads", "1"}));
    const auto many = run(exam({"--format", "json", "--threads", "7"}));
    CHECK(one.exit == 0);
    CHECK(one.out == many.out);
}

TEST_CASE("a stop request ends the examination with the code of an interrupt") {
    std::stop_source source;
    source.request_stop();
    cli::Environment environment;
    environment.stop = source.get_token();
    const auto outcome = run(exam({}), environment);
    CHECK(outcome.exit == 130);
    CHECK(outcome.out.empty());
}

TEST_CASE("improve refuses an accelerator before it searches, so that no stop comes first") {
    std::stop_source source;
    source.request_stop();
    cli::Environment environment;
    environment.stop = source.get_token();
    const auto outcome = run({"improve", "alexnet", "--on", "simba"}, environment);
    CHECK(outcome.exit == 3);
    CHECK(contains(outcome.err, "[not-a-gpu]"));
}

TEST_CASE("SCALE-Sim's compute cycles are exact, from the array's name and from its cfg") {
    const Scratch scratch;
    // ResNet-50 Conv1 of SCALE-Sim's own topology: 224 x 224, 7 x 7, 3 channels, 64 filters,
    // stride 2, no padding: ceil((224 - 7 + 2) / 2) = 110, 110 x 110 pixels, window 147. WS, 32 x
    // 32: ceil(147/32) * ceil(64/32) * (12100 + 64 + 32 - 2) - 1 = 5 * 2 * 12194 - 1 = 121939.
    write_text(scratch / "net.csv",
               "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, "
               "Num Filter, Strides,\nConv1, 224, 224, 7, 7, 3, 64, 2,\n");
    const std::string network = (scratch / "net.csv").string();
    const auto outcome = run({"exam", network, "--on", "systolic:32x32", "--dataflow", "ws",
                              "--compat", "scalesim", "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json["layers"][0]["scalesim_cycles"] == 121939); // as SCALE-Sim v3 prints
    CHECK(json["layers"][0].contains("eyeroof_cycles"));
    const auto text = run({"exam", network, "--on", "systolic:32x32", "--compat", "scalesim"});
    CHECK(contains(text.out, "121939"));
    CHECK(tests::width_of(text.out) <= 100);
}

TEST_CASE("a clock at 100 % is not told as a reason") {
    const auto shown =
        run({"exam", "bert-base", "--on", "h100-sxm-80gb", "--batch", "8", "--steps", "all"});
    REQUIRE(shown.exit == 0);
    std::string words; // whatever the lines were broken at
    for (const char letter : shown.out) {
        const bool space = letter == ' ' || letter == '\n';
        words += space && words.ends_with(' ') ? "" : std::string(1, space ? ' ' : letter);
    }
    CHECK(words.find("of which bandwidth and tiles allow") != std::string::npos);
    CHECK(words.find("clock at 100 %") == std::string::npos);
}

TEST_CASE("where the bound takes the DRAM as a stream no hint asks for more nodes") {
    const Scratch scratch;
    std::string machine = run({"hw", "show", "npu-int8"}).out;
    const std::string rate = "down: {value: 51.2 GB/s";
    const auto begin = machine.find(rate);
    REQUIRE(begin != std::string::npos);
    machine.replace(begin, machine.find('}', begin) + 1 - begin,
                    "dram: {standard: lpddr5-6400, channels: 4, pattern: mapping}");
    write_text(scratch / "npu.yaml", machine);
    const auto outcome = run({"exam", "alexnet", "--on", (scratch / "npu.yaml").string(),
                              "--layers", "CONV3", "--mapping", "best", "--objective", "edp"});
    CHECK(outcome.exit == 0);
    CAPTURE(outcome.err);
    CHECK(contains(outcome.err, "the bound takes the DRAM as a stream"));
    CHECK(contains(outcome.err, "pattern: mapping"));
    CHECK_FALSE(contains(outcome.err, "--search-nodes"));
    CHECK_FALSE(contains(outcome.out, "the search was stopped"));
}

TEST_CASE("an exam of a table that is written as CSV opens the table once") {
    const Scratch scratch;
    const std::string file = (scratch / "layers.csv").string();
    write_text(file, kTwoLayers);
    const int watch = inotify_init1(IN_NONBLOCK);
    REQUIRE(inotify_add_watch(watch, file.c_str(), IN_OPEN | IN_CLOSE_NOWRITE) >= 0);
    const auto outcome = run({"exam", file, "--on", "eyeriss-v1", "--format", "csv"});
    CHECK(outcome.exit == 0);
    CHECK(contains(outcome.out, "\"pear, ripe\"")); // its own columns are repeated
    alignas(inotify_event) std::array<char, 4096> events{};
    const auto bytes = read(watch, events.data(), events.size());
    close(watch);
    CHECK(bytes == static_cast<ssize_t>(2 * sizeof(inotify_event))); // opened, closed
}

} // namespace test_cli_exam
