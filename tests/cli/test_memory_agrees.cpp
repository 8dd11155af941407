// One question, one answer: what a step needs is the same in memory, exam and upgrade.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace test_cli_memory_agrees {

using namespace eyeroof;
using tests::run;

namespace {

nlohmann::json answer(std::vector<std::string> words, const std::vector<std::string>& step) {
    words.insert(words.end(), step.begin(), step.end());
    words.insert(words.end(), {"--format", "json"});
    return nlohmann::json::parse(run(words).out);
}

} // namespace

TEST_CASE("memory, exam and upgrade tell one peak and one limit for a step") {
    const std::vector<std::vector<std::string>> steps{
        {"resnet50", "--batch", "64", "--phase", "training", "--dtype", "fp16"},
        {"bert-large", "--batch", "16", "--phase", "training", "--optimizer", "adam"},
        {"llama-3.2-1b", "--dim", "context=4096", "--phase", "inference"},
        {"mobilenet-v2", "--batch", "8", "--dtype", "fp32"},
    };
    for (const std::vector<std::string>& step : steps) {
        CAPTURE(step.front());
        const auto memory = answer({"memory", "--on", "v100-sxm2-16gb"}, step);
        const auto exam = answer({"exam", "--on", "v100-sxm2-16gb"}, step);
        const auto upgrade =
            answer({"upgrade", "--from", "v100-sxm2-16gb", "--to", "a100-sxm-40gb"}, step);
        const auto& old = upgrade.at("memory").at("from");
        CHECK(old["total_bytes"].get<double>() == memory["peak_bytes"].get<double>());
        CHECK(exam.at("memory").at("peak_bytes") == memory["peak_bytes"]);
        CHECK(old["gpu_bytes"].get<double>() == memory["limit_bytes"].get<double>());
        CHECK(old["fits"] == memory["fits"]);
    }
}

} // namespace test_cli_memory_agrees
