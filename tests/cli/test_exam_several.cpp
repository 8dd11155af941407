// exam: several machines side by side, and whether a network fits a GPU's memory.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_cli_exam_several {

using namespace eyeroof; // NOLINT
using nlohmann::json;

namespace {

json exam(std::vector<std::string> words) {
    words.insert(words.begin(), {"exam", "alexnet"});
    words.insert(words.end(), {"--format", "json"});
    const tests::Outcome outcome = tests::run(words);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit == 0);
    return json::parse(outcome.out);
}

} // namespace

TEST_CASE("machines side by side say what each says alone") {
    const std::vector<std::string> machines = {"t4", "eyeriss-v1", "l4"};
    const json all = exam({"--on", "t4", "--on", "eyeriss-v1", "--on", "l4"});
    for (std::size_t i = 0; i < machines.size(); ++i) {
        CAPTURE(machines[i]);
        const json alone = exam({"--on", machines[i]});
        CHECK(all["machines"][i]["id"] == machines[i]);
        CHECK(all["machines"][i]["total"]["time_s"] == alone["total"]["time_s"]);
        CHECK(all["machines"][i].value("memory", json()) == alone.value("memory", json()));
        std::size_t found = 0;
        for (const json& row : all["layers"]) {
            for (const json& layer : alone["layers"]) {
                if (layer["name"] == row["name"]) {
                    ++found;
                    CHECK(row["on"][i]["time_s"] == layer["time_s"]);
                    CHECK(row["on"][i]["limiter"] == layer["limiter"]);
                    CHECK(row["on"][i]["bounds_macs_per_cycle"][6] ==
                          layer["steps"][6]["bound_macs_per_cycle"]);
                }
            }
        }
        CHECK(found == alone["layers"].size());
    }
}

TEST_CASE("the quickest machine of a layer is named, layers that one machine lacks are null") {
    const json all = exam({"--on", "t4", "--on", "eyeriss-v1"});
    bool lacking = false;
    for (const json& row : all["layers"]) {
        if (row["on"][0].is_null() || row["on"][1].is_null()) {
            lacking = true;
            CHECK(row["quickest"].is_null());
            continue;
        }
        const bool first = row["on"][0]["time_s"] < row["on"][1]["time_s"];
        CHECK(row["quickest"] == (first ? "t4" : "eyeriss-v1"));
    }
    CHECK(lacking); // the accelerator runs relu with the convolution before it
}

TEST_CASE("side by side in text, CSV, Markdown and HTML") {
    const auto written = [](const char* format) {
        return tests::run({"exam", "alexnet", "--on", "t4", "--on", "l4", "--format", format}).out;
    };
    const std::string text = written("text");
    CHECK(text.find("speedup") != std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto marks = std::count_if(line.begin(), line.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; // inside a UTF-8 sequence
        });
        CHECK_MESSAGE(static_cast<std::ptrdiff_t>(line.size()) - marks <= 100, line);
    }
    CHECK(written("csv").find("\nl4,total,total,,") != std::string::npos);
    CHECK(written("md").find("| CONV1 | 1 | conv2d |") != std::string::npos);
    CHECK(written("html").find("Content-Security-Policy") != std::string::npos);
}

TEST_CASE("what asks about one machine is refused of several") {
    const tests::Outcome outcome =
        tests::run({"exam", "alexnet", "--on", "t4", "--on", "l4", "--advice"});
    CHECK(outcome.exit == 2);
    CHECK(outcome.err.find("--advice needs exactly one --on") != std::string::npos);
    CHECK(outcome.out.empty());
}

TEST_CASE("the largest batch fits, and the next one does not") {
    for (const char* phase : {"inference", "training"}) {
        CAPTURE(phase);
        const json one = exam({"--on", "t4", "--phase", phase});
        const auto largest = one["memory"]["largest_batch"].get<std::int64_t>();
        CHECK(largest > 1);
        const auto fits = [&](std::int64_t batch) {
            return exam({"--on", "t4", "--phase", phase, "--batch",
                         std::to_string(batch)})["memory"]["fits"]
                .get<bool>();
        };
        CHECK(fits(largest));
        CHECK_FALSE(fits(largest + 1));
    }
}

TEST_CASE("exam and memory tell the same peak") {
    const json said = exam({"--on", "t4", "--batch", "8"})["memory"];
    const tests::Outcome outcome =
        tests::run({"memory", "alexnet", "--on", "t4", "--batch", "8", "--format", "json"});
    REQUIRE(outcome.exit == 0);
    const json held = json::parse(outcome.out);
    CHECK(said["peak_bytes"] == held["peak_bytes"]);
    CHECK(said["limit_bytes"] == held["limit_bytes"]);
}

TEST_CASE("a network that does not fit is told on stderr, and on no accelerator") {
    const tests::Outcome outcome =
        tests::run({"exam", "gpt2-large", "--on", "gtx-980-ti", "--dtype", "fp32", "--phase",
                    "training", "--optimizer", "adam", "--format", "csv"});
    CHECK(outcome.exit == 0);
    CHECK(outcome.err.find("[does-not-fit]") != std::string::npos);
    CHECK_FALSE(exam({"--on", "eyeriss-v1"}).contains("memory"));
}

} // namespace test_cli_exam_several
