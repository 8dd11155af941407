// What would help is one engine: `exam --advice`, `improve`, and `upgrade` name the same change.
#include "tests/cli/program.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace test_agreement_what_helps {

using namespace eyeroof;
using namespace eyeroof::tests;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

namespace {

Json answer_of(Words words, const Words& scenario) {
    words.insert(words.end(), scenario.begin(), scenario.end());
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = run(words);
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit <= 1);
    return Json::parse(outcome.out);
}

} // namespace

TEST_CASE("an exam's advice, improve's first row, and an upgrade's own GPU name the same change") {
    const std::vector<Words> scenarios = {
        {"resnet50", "--batch", "32"},
        {"resnet50", "--batch", "16", "--phase", "training", "--dtype", "fp16"},
        {"bert-base:layers=2", "--batch", "4", "--launch", "stream"},
        {"bert-base:layers=2", "--batch", "8", "--phase", "training", "--compiled"},
        {"mnist-cnn", "--launch", "graph", "--batch", "64"},
    };
    int named = 0;
    for (const Words& scenario : scenarios) {
        CAPTURE(scenario.front());
        const Json exam = answer_of({"exam", "--on", "v100-sxm2-16gb", "--advice"}, scenario);
        const Json improve = answer_of({"improve", "--on", "v100-sxm2-16gb"}, scenario);
        const Json upgrade =
            answer_of({"upgrade", "--from", "v100-sxm2-16gb", "--to", "a100-sxm-40gb"}, scenario);
        REQUIRE(exam.at("changes").size() == improve.at("alone").size());
        REQUIRE_FALSE(exam.at("changes").empty());
        for (std::size_t i = 0; i < exam.at("changes").size(); ++i) {
            const Json& own = exam.at("changes").at(i);
            const Json& row = improve.at("alone").at(i);
            for (const char* figure : {"remedies", "time_s", "gain", "peak_bytes", "fits"}) {
                CHECK(own.at(figure) == row.at(figure));
            }
        }
        const Json& first = exam.at("changes").front();
        const Json& kept = upgrade.at("purchase").at("without_buying");
        if (kept.is_null()) { // nothing that fits is worth saying
            CHECK((first.at("gain") < 1.02 || !first.at("fits").get<bool>()));
            continue;
        }
        ++named;
        CHECK(kept.at("gain") == first.at("gain"));
        CHECK(kept.at("time_s") == first.at("time_s"));
        CHECK(kept.at("change").get<std::string>().starts_with(
            first.at("remedies").front().get<std::string>()));
    }
    CHECK(named >= 3);
}

TEST_CASE("the text of an exam's advice begins with the change that helps most") {
    const Outcome exam =
        run({"exam", "resnet50", "--on", "v100-sxm2-16gb", "--batch", "32", "--advice"});
    const Outcome upgrade = run({"upgrade", "resnet50", "--from", "v100-sxm2-16gb", "--to",
                                 "a100-sxm-40gb", "--batch", "32"});
    const std::size_t at = exam.out.find("\nwhat would help, the whole step examined");
    REQUIRE(at != std::string::npos);
    std::istringstream lines(exam.out.substr(at + 1));
    std::string row; // the title, the head of the table, its first row
    for (int i = 0; i < 3; ++i) {
        std::getline(lines, row);
    }
    const std::string change = row.substr(0, row.find("  "));
    REQUIRE_FALSE(change.empty());
    CAPTURE(change);
    std::string joined = upgrade.out; // its lines are wrapped
    std::replace(joined.begin(), joined.end(), '\n', ' ');
    CHECK(joined.find("Without buying, on v100-sxm2-16gb: " + change + ":") != std::string::npos);
}

} // namespace test_agreement_what_helps
