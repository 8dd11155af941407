// The first lines of a result: the scenario, the answer, what bounds it, and what would help.
#include "tests/cli/program.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace test_cli_answer_first {

using eyeroof::tests::run;

namespace {

// The lines before the first empty one, which is before the first table; a line that goes on where
// the terminal ends counts as one.
std::string head_of(const std::vector<std::string>& arguments) {
    const auto outcome = run(arguments);
    CHECK(outcome.exit == 0);
    std::istringstream text(outcome.out);
    std::string head;
    std::size_t lines = 0;
    for (std::string line; std::getline(text, line) && !line.empty(); ++lines) {
        head += line + " ";
    }
    CHECK(lines >= 3);
    CHECK(lines <= 8);
    return head;
}

bool in_order(const std::string& text, const std::vector<std::string>& parts) {
    std::size_t from = 0;
    return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
        const std::size_t at = text.find(part, from);
        from = at == std::string::npos ? from : at + part.size();
        return at != std::string::npos;
    });
}

} // namespace

TEST_CASE("a machine that skips zeros answers with its time, its speedup, and the largest loss") {
    const std::string head =
        head_of({"exam", "vgg16", "--on", "scnn", "--density", "inputs=0.5,weights=0.3"});
    CHECK(in_order(head, {"VGG-16, inference", "on SCNN", "x the speed of the same multipliers",
                          "Largest loss:", "without it"}));
}

TEST_CASE("a curve over densities answers with the density below which sparsity pays off") {
    const std::string head = head_of({"exam", "alexnet", "--on", "scnn", "--density", "curve"});
    CHECK(in_order(head, {"on SCNN", "Pays off below a density of", "at density 1"}));
}

TEST_CASE("the cores of a package answer with all cores, what bounds them, and the best schedule") {
    const std::string head = head_of({"exam", "alexnet", "--on", "simba", "--cores", "--layers",
                                      "CONV[12]", "--mapping", "dataflow"});
    CHECK(in_order(head, {"on Simba", "on 36 cores", "x one core", "of linear scaling", "Bound by",
                          "Best schedule:"}));
}

TEST_CASE("a package of unequal cores answers with its pipeline and its latency") {
    const std::string head = head_of({"exam", "alexnet", "--on", "one-large-four-small", "--layers",
                                      "CONV[12]", "--mapping", "dataflow"});
    CHECK(in_order(head, {"pipeline: one image per", "Bound by", "One image at a time:"}));
}

TEST_CASE("several machines answer with the fastest, its bottleneck, and the others beside it") {
    const std::string head = head_of({"exam", "resnet18", "--on", "t4", "--on", "a100-sxm-40gb"});
    CHECK(in_order(head, {"on A100 SXM4 40GB", "Fastest: a100-sxm-40gb", "x t4", "Bound by",
                          "Largest saving:"}));
}

TEST_CASE("a trace answers with what it measured, and its step is as traced") {
    const auto outcome =
        run({"exam", eyeroof::tests::source_dir() + "/profiles/recorded/h100-sxm-80gb/networks/"
                                                    "unet-inference-fp16-nhwc.json.gz"});
    REQUIRE(outcome.exit == 0);
    std::string head = outcome.out.substr(0, outcome.out.find("\n\n"));
    std::replace(head.begin(), head.end(), '\n', ' ');
    CHECK(in_order(head, {"one step as traced, fp16", "on H100 SXM5 80GB",
                          "Measured: a step of 4.55 ms, the GPU busy for 4.2 ms", "predicted",
                          "Bound by"}));
    CHECK(head.find("batch 1") == std::string::npos);
    CHECK(head.find("channels-") == std::string::npos);
}

TEST_CASE("a host against a GPU answers with both times and which to use") {
    const std::string head =
        head_of({"upgrade", "resnet18", "--from", "server-2x20", "--to", "t4", "--dtype", "fp32"});
    CHECK(in_order(head, {"ResNet-18", "x the speed of the host", "Use the GPU"}));
}

TEST_CASE("equal reasons for skipped layers are one warning with their number") {
    const auto outcome = run({"exam", "alexnet", "--on", "systolic:16x16", "--compat", "scalesim"});
    CHECK(outcome.exit == 0);
    std::size_t warnings = 0;
    for (std::size_t at = outcome.err.find("warning:"); at != std::string::npos;
         at = outcome.err.find("warning:", at + 1)) {
        ++warnings;
    }
    CHECK(warnings <= 3);
    CHECK(outcome.err.find("layers are skipped (first: ") != std::string::npos);
}

TEST_CASE("a flag that negates another is shown without its value") {
    const std::string help = run({"tune", "--help-all"}).out;
    CHECK(help.find("--residual, --no-residual") != std::string::npos);
    CHECK(help.find("{false}") == std::string::npos);
}

} // namespace test_cli_answer_first
