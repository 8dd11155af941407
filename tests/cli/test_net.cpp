#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_cli_net {

using namespace eyeroof;
using tests::run;

namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("net list names every network of the catalog, within 100 columns") {
    const auto text = run({"net", "list"});
    CHECK(text.exit == 0);
    CHECK(text.err.empty());
    CHECK(tests::width_of(text.out) <= 100);
    const auto json = nlohmann::json::parse(run({"net", "list", "--format", "json"}).out);
    CHECK(json["schema"] == "eyeroof/nets/1");
    CHECK(json["networks"].size() >= 14);
    for (const auto& network : json["networks"]) {
        CHECK(contains(text.out, network["id"].get<std::string>()));
        CHECK(network["total"]["macs"].get<std::int64_t>() > 0);
    }
    const auto csv = run({"net", "list", "--format", "csv"}).out;
    CHECK(csv.starts_with("id,name,"));
    CHECK(contains(csv, "\nalexnet,"));
}

TEST_CASE("net show gives every network within 100 columns") {
    const auto json = nlohmann::json::parse(run({"net", "list", "--format", "json"}).out);
    for (const auto& network : json["networks"]) {
        const auto shown = run({"net", "show", network["id"].get<std::string>()});
        CAPTURE(network["id"].get<std::string>());
        CHECK(shown.exit == 0);
        CHECK(tests::width_of(shown.out) <= 100);
    }
}

TEST_CASE("net show as JSON has exact work for a batch") {
    const auto shown = run({"net", "show", "alexnet", "--batch", "4", "--format", "json"});
    REQUIRE(shown.exit == 0);
    const auto json = nlohmann::json::parse(shown.out);
    CHECK(json["schema"] == "eyeroof/net/1");
    CHECK(json["layers"][0]["name"] == "CONV1");
    CHECK(json["layers"][0]["macs"] == 421660800); // published for batch 4
    CHECK(json["layers"][0]["h"] == 227);
    CHECK(json["layers"][0]["tensors"].size() == 3);
    CHECK(json["total"]["macs"] == 4 * 724406816LL);
}

TEST_CASE("what net show writes as YAML or CSV is the same network again") {
    const tests::Scratch scratch;
    const std::string original =
        run({"net", "show", "mobilenet-v1-0.5-128", "--format", "json"}).out;
    for (const std::string format : {"yaml", "csv"}) {
        CAPTURE(format);
        const std::string file = (scratch / ("mine." + format)).string();
        CHECK(run({"net", "show", "mobilenet-v1-0.5-128", "--format", format, "-o", file}).exit ==
              0);
        const auto again = run({"net", "show", file, "--format", "json"});
        REQUIRE(again.exit == 0);
        CHECK(nlohmann::json::parse(again.out)["layers"] ==
              nlohmann::json::parse(original)["layers"]);
    }
}

TEST_CASE("net check tells good files from bad ones, with everything that is wrong") {
    const tests::Scratch scratch;
    const std::string good = (scratch / "good.csv").string();
    const std::string bad = (scratch / "bad.csv").string();
    tests::write_text(good, "name,op,m,n,k\nfc,gemm,1,2,3\n");
    tests::write_text(bad, "name,op,m,n,k\nfc,gemm,0,2,-3\nfd,gem,1,2,3\n");
    const auto fine = run({"net", "check", good, "alexnet"});
    CHECK(fine.exit == 0);
    CHECK(contains(fine.out, "1 layer, 6 MACs"));
    const auto wrong = run({"net", "check", good, bad});
    CHECK(wrong.exit == 3);
    CHECK(wrong.out.empty());
    CHECK(contains(wrong.err, "bad.csv:2:9: error: m is 0"));
    CHECK(contains(wrong.err, "bad.csv:2:13: error: k is -3"));
    CHECK(contains(wrong.err, "bad.csv:3:4: error: 'gem' is not an operator"));
    CHECK(contains(wrong.err, "did you mean 'gemm'?"));
}

TEST_CASE("an unknown network and an impossible batch are bad input") {
    const auto unknown = run({"net", "show", "alexnt"});
    CHECK(unknown.exit == 3);
    CHECK(unknown.out.empty());
    CHECK(contains(unknown.err, "did you mean 'alexnet'?"));
    CHECK(run({"net", "show", "alexnet", "--batch", "0"}).exit == 2);
    CHECK(run({"net", "show", "alexnet", "--batch", "1000000000000"}).exit == 2);
    CHECK(run({"net", "show", "/"}).exit == 3);
    CHECK(run({"net", "show", "alexnet", "--batch", "x"}).exit == 2);
}

} // namespace test_cli_net
