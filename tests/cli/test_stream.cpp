// `memory --stream`: one operand on the host.
#include "tests/cli/program.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_cli_stream {

using namespace eyeroof; // NOLINT
using nlohmann::json;
using tests::near;

TEST_CASE("memory says what streams, what its copies cost, and the peak that is left") {
    const std::vector<std::string> words = {"memory",  "vgg16",           "--batch",  "256",
                                            "--phase", "training",        "--dtype",  "fp32",
                                            "--on",    "titan-x-maxwell", "--memory", "12 GB"};
    auto json_words = words;
    json_words.insert(json_words.end(), {"--format", "json"});
    const json keeps = json::parse(tests::run(json_words).out);
    CHECK(keeps["fits"] == false);
    CHECK(keeps["streamed"]["operand"].is_null());
    json_words.insert(json_words.end(), {"--stream", "activations"});
    const auto outcome = tests::run(json_words);
    CHECK(outcome.exit == 0);
    const json found = json::parse(outcome.out);
    CHECK(found["fits"] == true);
    CHECK(found["peak_bytes"] <= 12e9);
    const json& s = found["streamed"];
    CHECK(s["operand"] == "activations");
    CHECK(s["to_host_bytes"] == s["to_device_bytes"]);
    CHECK(s["exposed_s"].get<double>() ==
          near(s["time_s"].get<double>() - s["alone_s"].get<double>()));
    CHECK(found["largest_batch"].is_null());
    auto text_words = words;
    text_words.insert(text_words.end(), {"--stream", "activations"});
    const auto text = tests::run(text_words);
    CHECK(text.out.find("exposed copies") != std::string::npos);
    text_words.insert(text_words.end(), {"--link", "1PB/s"}); // nothing is exposed
    text_words.insert(text_words.end(), {"--format", "json"});
    const json fast = json::parse(tests::run(text_words).out)["streamed"];
    CHECK(fast["exposed_s"].get<double>() < 0.01 * fast["time_s"].get<double>());
}

TEST_CASE("what cannot stream is refused with what to do instead") {
    const auto said = [](std::vector<std::string> more) {
        std::vector<std::string> words = {"memory", "gpt2"};
        words.insert(words.end(), more.begin(), more.end());
        const auto outcome = tests::run(words);
        CHECK(outcome.exit != 0);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(has(said({"--on", "t4", "--stream", "activations"}), "--stream weights"));
    CHECK(has(said({"--on", "t4", "--phase", "training", "--stream", "weights"}),
              "--stream activations"));
    CHECK(has(said({"--on", "t4", "--stream", "inputs"}), "--stream"));
    CHECK(has(said({"--on", "t4", "--stream", "weights", "--link", "fast"}), "--link 25GB/s"));
    CHECK(has(said({"--on", "t4", "--link", "25GB/s"}), "--stream"));
    CHECK(has(said({"--on", "server-2x20", "--dtype", "fp32", "--stream", "weights"}), "no-link"));
}

} // namespace test_cli_stream
