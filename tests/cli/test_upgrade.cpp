// The purchase on the command line: units, owned GPUs, candidates, fleets, identities.
#include "base/csv.hpp"
#include "tests/cli/program.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

namespace test_cli_upgrade {

using namespace eyeroof;
using eyeroof::tests::near;
using tests::run;
using Json = nlohmann::json;

namespace {

std::vector<std::string> words(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> all;
    for (std::string word; in >> word;) {
        all.push_back(word);
    }
    return all;
}

tests::Outcome asked(const std::string& options) {
    return run(words("upgrade " + options));
}

Json json_of(const std::string& options) {
    const auto outcome = asked(options + " --format json");
    CAPTURE(options);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit == 0);
    return Json::parse(outcome.out);
}

const std::string kPair = "resnet50 --from v100-sxm2-16gb --to a100-sxm-80gb ";

} // namespace

TEST_CASE("prices are taken as people type them") {
    const double plain =
        json_of(kPair + "--buy 30000").at("purchase").at("candidates")[0].at("usd_per_year");
    CHECK(json_of(kPair + "--buy 30k").at("purchase").at("candidates")[0].at("usd_per_year") ==
          plain);
    CHECK(json_of(kPair + "--buy $30,000").at("purchase").at("candidates")[0].at("usd_per_year") ==
          plain);
    CHECK(json_of(kPair + "--buy 30k --power-price 0.12/kWh --utilization 70%")
              .at("purchase")
              .at("candidates")[0]
              .at("usd_per_year")
              .get<double>() == near(plain));
}

TEST_CASE("a wrong amount is named in words, with how to write it") {
    for (const std::string& option : {std::string("--buy 30q"), std::string("--from-per-hour -1"),
                                      std::string("--pue zero"), std::string("--utilization 70"),
                                      std::string("--years 0"), std::string("--measured-old 0")}) {
        CAPTURE(option);
        const auto outcome = asked(kPair + option);
        CHECK(outcome.exit == 2);
        CHECK(outcome.err.find("as in") != std::string::npos);
        CHECK(outcome.err.find("00000000") == std::string::npos);
    }
}

TEST_CASE("no rent means owned GPUs, and owned GPUs pay no rent") {
    const Json free = json_of(kPair + "--from-per-hour 0");
    const Json owned = json_of(kPair + "--owned");
    CHECK(free.at("money").at("from_usd_per_hour") == owned.at("money").at("from_usd_per_hour"));
    CHECK(owned.at("money").at("from_usd_per_hour").get<double>() == near(0.3 * 1.4 * 0.12));
    CHECK(owned.at("purchase").at("now").at("how") == "owned");
}

TEST_CASE("the headline, the printed times and the costs are one ratio") {
    for (const char* options :
         {"", "--count 16", "--count 16 --buy 16k", "--count 16 --owned --resale 2k",
          "--measured-old 820/s", "--phase inference --batch 64", "--count 3 --to h100-sxm-80gb"}) {
        CAPTURE(options);
        const Json all = json_of(kPair + options);
        const Json& purchase = all.at("purchase");
        const Json& now = purchase.at("now");
        for (const Json& c : purchase.at("candidates")) {
            const auto number = [&](const char* name) { return c.at(name).get<double>(); };
            CHECK(c.at("speedup").at("value").get<double>() ==
                  near(number("from_s") / number("to_s") * number("to_batch") /
                       number("from_batch")));
            const double year = number("usd_per_year") / now.at("usd_per_year").get<double>();
            CHECK(year == near(number("usd_per_1000") / now.at("usd_per_1000").get<double>()));
            CHECK(number("saved_share") == near(1.0 - year));
            if (!purchase.at("terms").at("count").is_null()) {
                CHECK(number("devices") ==
                      std::max(1.0, std::ceil(now.at("devices").get<double>() /
                                                  c.at("speedup").at("value").get<double>() -
                                              1e-9)));
            } else { // what is needed over what is had
                CHECK(year == near(number("needed") / c.at("speedup").at("value").get<double>()));
            }
        }
    }
}

TEST_CASE("a GPU against itself is equal") {
    const auto outcome = asked("resnet50 --from a100-sxm-80gb --to a100-sxm-80gb");
    REQUIRE(outcome.exit == 0);
    CHECK(outcome.out.starts_with("Equal: "));
    CHECK(json_of("resnet50 --from a100-sxm-80gb --to a100-sxm-80gb").at("speedup").at("low") ==
          1.0);
}

TEST_CASE("inference gets a verdict, and no interval is open") {
    const auto verdict = [](const std::string& threshold) {
        return json_of(kPair + "--phase inference --threshold " + threshold).at("verdict");
    };
    CHECK(verdict("100") == "does not pay off");
    CHECK(verdict("0.01") == "pays off");
    const Json l40s = json_of("resnet50 --from a100-sxm-40gb --to l40s --phase inference --batch "
                              "64 --threshold 1.5");
    CHECK(l40s.at("speedup").at("low").get<double>() > 0.2);
    CHECK(l40s.at("speedup").at("high").get<double>() < 4.0);
}

TEST_CASE("what does not fit stands in the headline") {
    const auto outcome = asked("llama-3-8b --from v100-sxm2-16gb --to a100-sxm-80gb --dtype fp16 "
                               "--phase training --optimizer adam");
    REQUIRE(outcome.exit == 0);
    CHECK(outcome.out.starts_with("Cannot be compared: "));
    const std::string first = outcome.out.substr(0, outcome.out.find("\n  "));
    CHECK(first.find("v100-sxm2-16gb") != std::string::npos);
    CHECK(first.find("GB") != std::string::npos);
}

TEST_CASE("left open, the question is training in mixed precision at the largest batch of both") {
    const Json all = json_of(kPair);
    CHECK(all.at("run").get<std::string>().find("training") == 0);
    const Json& c = all.at("purchase").at("candidates")[0];
    CHECK(c.at("from_batch") == c.at("to_batch"));
    CHECK(c.at("from_batch").get<int>() >= 64);
    CHECK(all.at("memory").at("from").at("fits") == true);
    REQUIRE(c.at("beside").size() == 2);
    CHECK(c.at("beside")[0].at("run").get<std::string>().find("inference") == 0);
    // any option of what is run says it instead
    CHECK(json_of(kPair + "--phase inference").at("run").get<std::string>().find("inference") == 0);
}

TEST_CASE("several candidates stand side by side, and the sentence is about the best") {
    const Json all = json_of("resnet50 --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb@1.39/h "
                             "--to h100-sxm-80gb@200k");
    const Json& purchase = all.at("purchase");
    REQUIRE(purchase.at("candidates").size() == 2);
    CHECK(purchase.at("candidates")[0].at("how") == "rented");
    CHECK(purchase.at("candidates")[1].at("how") == "bought");
    CHECK(purchase.at("best") == 0);
    CHECK(all.at("to") == "a100-sxm-80gb");
    CHECK(purchase.at("candidates")[1].at("verdict") == "does not pay off");
}

TEST_CASE("a fleet file and the same options ask the same") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "fleet.yaml").string();
    tests::write_text(file, "eyeroof: fleet/1\n"
                            "own: {gpu: v100-sxm2-16gb, count: 16, owned: true, resale: 1.2k}\n"
                            "runs:\n"
                            "  - {network: resnet50, share: 3}\n"
                            "  - {network: bert-large, share: 1}\n"
                            "candidates:\n"
                            "  - {gpu: a100-sxm-80gb, buy: \"$16,000\"}\n"
                            "terms: {years: 36 months, utilization: 60 %, power: 0.15/kWh}\n");
    const Json by_file = json_of("--fleet " + file);
    const Json by_options =
        json_of("resnet50@3 bert-large@1 --from v100-sxm2-16gb --count 16 --owned --resale 1.2k "
                "--to a100-sxm-80gb@16k --years 3 --utilization 0.6 --power-price 0.15");
    CHECK(by_file.at("purchase") == by_options.at("purchase"));
}

TEST_CASE("a new GPU may stand in the old hosts, and each network runs as its line says") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "fleet.yaml").string();
    tests::write_text(file, "eyeroof: fleet/1\n"
                            "own: {gpu: v100-sxm2-16gb, count: 16}\n"
                            "runs: [{network: resnet50, phase: inference, batch: 1}]\n"
                            "candidates: [{gpu: a100-sxm-80gb, host: same}]\n");
    const Json all = json_of("--fleet " + file);
    CHECK(all.at("steps").at("to").at("host") == all.at("steps").at("from").at("host"));
    CHECK(all.at("run").get<std::string>().find("inference") == 0);
    CHECK(all.at("purchase").at("candidates")[0].at("from_batch") == 1);
}

TEST_CASE("every mistake of a fleet file is reported with its place") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "fleet.yaml").string();
    tests::write_text(file, "eyeroof: fleet/1\n"
                            "own: {gpu: v100-sxm2-16gb, count: 0, resale: lots}\n"
                            "runs: [{network: resnet50, sharing: 1}]\n"
                            "candidates: [{gpu: a100-sxm-80gb, buy: 16q}]\n");
    const auto outcome = asked("--fleet " + file);
    CHECK(outcome.exit == 3);
    for (const char* place : {":2:", ":3:", ":4:"}) {
        CHECK(outcome.err.find(place) != std::string::npos);
    }
}

TEST_CASE("a budget and a deadline are kept, or the answer says what is missing") {
    const Json poor = json_of(kPair + "--count 16 --buy 16k --budget 20k");
    CHECK(poor.at("purchase")
              .at("candidates")[0]
              .at("over_budget")
              .get<std::string>()
              .find("buys 1") != std::string::npos);
    const Json soon = json_of(kPair + "--count 2 --samples 1e9 --deadline 1d");
    const Json& c = soon.at("purchase").at("candidates")[0];
    CHECK(c.at("job_days").get<double>() <= 1.0);
    CHECK(soon.at("purchase").at("now").at("devices").get<double>() > 2.0);
    CHECK(soon.at("purchase").at("now").at("job_days").get<double>() <= 1.0);
    CHECK(c.at("devices").get<double>() > 2.0);
}

TEST_CASE("what would turn the verdict over has a break-even that does") {
    const Json all = json_of(kPair + "--count 16 --from-per-hour 0.97 --to-per-hour 1.39");
    for (const Json& flip : all.at("purchase").at("candidates")[0].at("flips")) {
        const std::string what = flip.at("what");
        if (what != "rent of a100-sxm-80gb, an hour") {
            continue;
        }
        const std::string text = flip.at("break_even");
        const auto at = text.find('$') + 1;
        const std::string price = text.substr(at, text.find(' ', at) - at);
        const Json there =
            json_of(kPair + "--count 16 --from-per-hour 0.97 --to-per-hour " + price);
        CHECK(std::fabs(there.at("purchase").at("candidates")[0].at("saved_share").get<double>()) <
              0.01);
        return;
    }
    FAIL("the price is no break-even");
}

TEST_CASE("text, Markdown and page hold the sentence and each candidate") {
    const std::string options = kPair + "--to h100-sxm-80gb --count 16";
    const std::string sentence = json_of(options).at("purchase").at("sentence");
    for (const char* format : {"text", "md", "html", "csv"}) {
        CAPTURE(format);
        const auto outcome = asked(options + " --format " + format);
        REQUIRE(outcome.exit == 0);
        CHECK(outcome.out.find("h100-sxm-80gb") != std::string::npos);
        if (std::string(format) != "csv") {
            CHECK(outcome.out.find(sentence.substr(0, 40)) != std::string::npos);
        }
    }
}

// docs/upgrade.md, "Questions in words": | question | `command` | first word of the answer |
TEST_CASE("each question of the document is answered by its command") {
    std::ifstream document(tests::source_dir() + "/docs/upgrade.md");
    int questions = 0;
    for (std::string line; std::getline(document, line);) {
        const auto open = line.find("| `eyeroof upgrade ");
        if (open == std::string::npos) {
            continue;
        }
        const auto close = line.find("` |", open);
        const std::string command = line.substr(open + 3, close - open - 3);
        const std::string rest = line.substr(close + 4);
        CAPTURE(command);
        std::vector<std::string> typed = words(command);
        typed.erase(typed.begin());
        const auto outcome = run(typed);
        CAPTURE(outcome.err);
        CHECK(outcome.exit == 0);
        const std::string verdict = rest.substr(0, rest.find_first_of(" :,"));
        CAPTURE(outcome.out.substr(0, 200));
        CHECK(outcome.out.starts_with(verdict));
        ++questions;
    }
    CHECK(questions >= 20);
}

} // namespace test_cli_upgrade
