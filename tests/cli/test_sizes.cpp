// A network's sizes and the data type, as every command that takes a network takes them.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_cli_sizes {

using namespace eyeroof;
using tests::run;

TEST_CASE("a size given with --dim is the size given behind the name") {
    const std::vector<std::vector<std::string>> commands{
        {"exam", "--on", "a100-sxm-80gb", "--format", "csv"},
        {"net", "show", "--format", "csv"},
        {"upgrade", "--from", "v100-sxm2-32gb", "--to", "a100-sxm-80gb", "--format", "csv"},
        {"roofline", "--on", "a100-sxm-80gb", "--format", "csv"},
    };
    for (const std::vector<std::string>& command : commands) {
        CAPTURE(command.front());
        const auto with = [&](std::vector<std::string> network) {
            std::vector<std::string> words = command;
            words.insert(words.end(), network.begin(), network.end());
            return run(words);
        };
        const auto by_option = with({"llama-3.2-1b", "--dim", "context=512", "--dim", "layers=2"});
        const auto by_name = with({"llama-3.2-1b:context=512,layers=2"});
        CHECK(by_option.exit == 0);
        CHECK(by_option.out == by_name.out);
        CHECK(by_option.out != with({"llama-3.2-1b:layers=2"}).out);
        const auto wrong = with({"llama-3.2-1b", "--dim", "contexts=512"});
        CHECK(wrong.exit == 3);
        CHECK(wrong.err.find("no parameter 'contexts'") != std::string::npos);
    }
}

TEST_CASE("--dtype of an upgrade is that of both GPUs, and one alone may have its own") {
    const auto types = [](std::vector<std::string> options) {
        std::vector<std::string> words{"upgrade", "alexnet",       "--from",   "t4",
                                       "--to",    "a100-sxm-40gb", "--format", "json"};
        words.insert(words.end(), options.begin(), options.end());
        const auto answer = run(words);
        REQUIRE(answer.exit == 0);
        return nlohmann::json::parse(answer.out)["speedup"]["value"].get<double>();
    };
    CHECK(types({"--dtype", "fp32"}) == types({"--from-dtype", "fp32", "--to-dtype", "fp32"}));
    CHECK(types({"--dtype", "fp32", "--to-dtype", "tf32"}) ==
          types({"--from-dtype", "fp32", "--to-dtype", "tf32"}));
    CHECK(types({"--dtype", "fp32", "--to-dtype", "tf32"}) > types({"--dtype", "fp32"}));
}

TEST_CASE("an upgrade of one layer alone does not say that the host issues it in no time") {
    const tests::Scratch scratch;
    const std::string layers = (scratch / "one.csv").string();
    tests::write_text(layers, "name,op,m,n,k\nmine,gemm,777,513,1025\n");
    const auto answer = run({"upgrade", layers, "--from", "t4", "--to", "l4", "--details"});
    REQUIRE(answer.exit == 0);
    CHECK(answer.out.find("host's issues 0 s") == std::string::npos);
    CHECK(answer.out.find("CPU launch overhead ") != std::string::npos);
    const auto kernels =
        run({"upgrade", layers, "--from", "t4", "--to", "l4", "--launch", "none", "--details"});
    REQUIRE(kernels.exit == 0);
    CHECK(kernels.out.find("no CPU launch overhead") != std::string::npos);
}

TEST_CASE("scale of a GPU that no fabric is usual of says which there are") {
    const auto answer = run({"scale", "alexnet", "--on", "jetson-thor-t5000"});
    CHECK(answer.exit == 2);
    CHECK(answer.err.find("--fabric") != std::string::npos);
    CHECK(answer.err.find("dgx-a100-hdr") != std::string::npos);
}

} // namespace test_cli_sizes
