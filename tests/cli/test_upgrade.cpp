// The purchase on the command line: units, owned GPUs, candidates, fleets, identities.
#include "base/csv.hpp"
#include "base/text_file.hpp"
#include "tests/cli/program.hpp"
#include "tests/golden.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <random>
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

// The text without the ends of its lines.
std::string joined(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
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

TEST_CASE("power without CO2 is an answer, and a negative amount of it none") {
    CHECK(json_of(kPair + "--co2 0").at("purchase").at("now").at("kg_co2_per_year") == 0.0);
    CHECK(asked(kPair + "--co2 -1").exit == 2);
}

TEST_CASE("no rent means owned GPUs, and owned GPUs pay no rent") {
    const Json free = json_of(kPair + "--from-per-hour 0");
    const Json owned = json_of(kPair + "--owned");
    CHECK(free.at("money").at("from_usd_per_hour") == owned.at("money").at("from_usd_per_hour"));
    CHECK(owned.at("money").at("from_usd_per_hour").get<double>() == near(0.3 * 1.4 * 0.12));
    CHECK(owned.at("purchase").at("now").at("how") == "owned");
}

namespace {

// What must hold whatever is asked: the headline is the ratio of the times, and of the costs.
void check_identities(const std::string& options) {
    CAPTURE(options);
    const Json all = json_of(options);
    const Json& purchase = all.at("purchase");
    const Json& now = purchase.at("now");
    const auto of_now = [&](const char* name) { return now.at(name).get<double>(); };
    for (const Json& c : purchase.at("candidates")) {
        if (c.at("verdict") == "does not fit") {
            continue;
        }
        const auto number = [&](const char* name) { return c.at(name).get<double>(); };
        const double speedup = c.at("speedup").at("value").get<double>();
        CHECK(speedup ==
              near(number("from_s") / number("to_s") * number("to_batch") / number("from_batch")));
        const double year = number("usd_per_year") / of_now("usd_per_year");
        CHECK(year == near(number("usd_per_1000") / of_now("usd_per_1000")));
        CHECK(number("saved_share") == near(1.0 - year));
        if (!now.at("usd_per_million_tokens").is_null()) {
            CHECK(year ==
                  near(number("usd_per_million_tokens") / of_now("usd_per_million_tokens")));
        }
        CHECK(number("kg_co2_per_year") / number("kwh_per_year") ==
              near(of_now("kg_co2_per_year") / of_now("kwh_per_year")));
        if (!c.at("sharded").is_null()) { // the fewest GPUs that do the work
            CHECK(number("devices") * speedup >= 0.999 * of_now("devices"));
        } else if (!purchase.at("terms").at("count").is_null()) {
            CHECK(number("devices") ==
                  std::max(1.0, std::ceil(of_now("devices") / speedup - 1e-9)));
        } else { // what is needed over what is had
            CHECK(year == near(number("needed") / speedup));
        }
    }
}

} // namespace

TEST_CASE("the headline, the printed times and the costs are one ratio") {
    for (const char* options :
         {"", "--count 16", "--count 16 --buy 16k", "--count 16 --owned --resale 2k",
          "--measured-old 820/s", "--phase inference --batch 64", "--count 3 --to h100-sxm-80gb"}) {
        check_identities(kPair + options);
    }
    check_identities("llama-3-8b --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb");
}

TEST_CASE("whatever is drawn, the headline is the ratio of the times and of the costs") {
    std::mt19937 random(35);
    const auto one_of = [&](const std::vector<std::string>& choices) {
        return choices[random() % choices.size()];
    };
    const std::vector<std::string> gpus = {"v100-sxm2-16gb", "t4",   "a100-sxm-40gb",
                                           "a100-sxm-80gb",  "l40s", "h100-sxm-80gb"};
    for (int i = 0; i < 20; ++i) {
        check_identities(one_of({"resnet18", "alexnet", "bert-base"}) + " --from " + one_of(gpus) +
                         " --to " + one_of(gpus) + one_of({"", "@9k", "@2.5/h"}) +
                         one_of({"", " --count 7", " --count 16"}) +
                         one_of({"", " --owned --resale 900", " --from-per-hour 1.1"}) +
                         one_of({"", " --phase inference --batch 8", " --dtype fp16 --batch 16"}) +
                         one_of({"", " --utilization 40%", " --years 18months"}) +
                         one_of({"", " --power-price 0.3/kWh --pue 1.2", " --host-per-month 50"}) +
                         one_of({"", " --measured-old 500/s", " --launch graph"}));
    }
}

TEST_CASE("the sentence stands first, then the scenario as exam states it") {
    const auto upgrade = asked(kPair + "--phase inference --batch 32 --launch graph");
    const auto exam = run(words("exam resnet50 --on v100-sxm2-16gb --phase inference --batch 32 "
                                "--launch graph"));
    REQUIRE(upgrade.exit == 0);
    const auto paragraph = [](const std::string& text, const std::string& end) {
        return joined(text.substr(0, text.find(end)));
    };
    const std::string behind = upgrade.out.substr(upgrade.out.find("\n\n") + 2);
    const std::string scenario = paragraph(behind, "\n  ");
    CHECK(scenario.starts_with("ResNet-50 (v1.5), inference, batch 32, fp16 on V100"));
    CHECK(paragraph(exam.out, "\n" + exam.out.substr(scenario.size() + 1, 3)) == scenario);
    CHECK(behind.find("against a100-sxm-80gb: fp16 on A100") != std::string::npos);
}

TEST_CASE(
    "the default answer is a screen of 80 columns, and --details shows what stands behind it") {
    for (const std::string& options :
         {kPair, kPair + "--count 16 --to h100-sxm-80gb", kPair + "--owned --buy 16k --count 16",
          std::string("bert-large --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb"),
          std::string("llama-3.1-8b --from h200-sxm-141gb --to b200-sxm --batch 1"),
          std::string("resnet50 --from h200-sxm-141gb --to b200-sxm --batch 1 --phase inference"),
          std::string("bert-base --from a100-sxm-80gb --to tpu-v6e@2.7/h --dtype bf16 --batch 8"),
          std::string("resnet50@2 bert-large@1 --from t4 --to l4")}) {
        CAPTURE(options);
        const auto outcome = asked(options);
        REQUIRE(outcome.exit == 0);
        CHECK(tests::width_of(outcome.out) <= 80);
        // 56 lines, and at most eight of price tables where these disagree
        const auto lines = [](const std::string& text) {
            return std::count(text.begin(), text.end(), '\n');
        };
        const std::size_t at = outcome.out.find("\nThe verdict on ");
        const std::string prices =
            at == std::string::npos
                ? ""
                : outcome.out.substr(at + 1, outcome.out.find("\n\n", at + 1) - at);
        CHECK(lines(prices) <= 8);
        CHECK(lines(outcome.out) - lines(prices) <= 56);
        CHECK(outcome.out.find("limiting factor") == std::string::npos);
        CHECK(asked(options + " --details").out.find("limiting factor") != std::string::npos);
    }
}

TEST_CASE("an accelerator's power is unknown in every format, not 0 W") {
    const std::string options =
        "bert-base --from a100-sxm-80gb --to tpu-v6e@2.7/h --dtype bf16 --batch 8 --count 4 ";
    const Json all = json_of(options);
    const Json& then = all.at("purchase").at("candidates").at(0);
    for (const char* key : {"kwh_per_year", "kg_co2_per_year", "joules_per_million_tokens"}) {
        CHECK(then.at(key).is_null());
        CHECK(all.at("purchase").at("now").at(key).is_number());
    }
    CHECK(all.at("money").at("to_joules").is_null());
    CHECK(all.at("whole_networks").is_null());
    for (const char* format : {"text", "md", "html"}) {
        const auto outcome = asked(options + "--details --format " + format);
        CAPTURE(format);
        REQUIRE(outcome.exit == 0);
        CHECK(outcome.out.find("unknown") != std::string::npos);
        CHECK(joined(outcome.out).find("mapping dataflow") != std::string::npos);
    }
    const auto csv = asked(options + "--format csv");
    const std::string row = csv.out.substr(csv.out.find("\ntpu-v6e"));
    CHECK(row.find(",,,") != std::string::npos);
}

TEST_CASE("a network that reads text is priced by the million tokens") {
    const Json all = json_of("bert-base --from t4 --to l4 --phase inference --batch 8");
    const Json& now = all.at("purchase").at("now");
    CHECK(now.at("usd_per_million_tokens").get<double>() ==
          near(now.at("usd_per_1000").get<double>() * 1000.0 / 128.0)); // bert-base has 128
    CHECK(json_of(kPair).at("purchase").at("now").at("usd_per_million_tokens").is_null());
    CHECK(asked("bert-base --from t4 --to l4").out.find("cost per 1M tokens") != std::string::npos);
}

TEST_CASE("a step whose time whole networks move names what exam has for it") {
    const Json all = json_of(kPair);
    const Json& c = all.at("purchase").at("candidates")[0];
    const Json exam =
        Json::parse(run({"exam", "resnet50", "--on", "a100-sxm-80gb", "--phase", "training",
                         "--batch", std::to_string(c.at("to_batch").get<int>()), "--optimizer",
                         "sgd_momentum", "--format", "json"})
                        .out);
    CHECK(c.at("to_model_s").get<double>() == near(exam.at("total").at("time_s").get<double>()));
    CHECK(c.at("to_s").get<double>() != near(c.at("to_model_s").get<double>()));
    CHECK(asked(kPair).out.find("as in `exam`") != std::string::npos);
    CHECK(asked(kPair + "--details").out.find("as in exam") != std::string::npos);
}

TEST_CASE("a network that one GPU does not hold is divided over what there is") {
    const std::string options = "llama-3-8b --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb";
    const Json all = json_of(options);
    const Json& c = all.at("purchase").at("candidates")[0];
    const Json& pair = c.at("sharded");
    REQUIRE_FALSE(pair.is_null());
    CHECK(all.at("purchase").at("now").at("devices") == 16);
    CHECK(pair.at("from").at("devices") == 16);
    CHECK(pair.at("from").at("bytes").get<double>() <=
          pair.at("from").at("capacity").get<double>());
    CHECK(pair.at("to").at("bytes").get<double>() <= pair.at("to").at("capacity").get<double>());
    // as many samples a second with no more GPUs than that takes
    const auto rate = [&](const char* side) {
        return pair.at(side).at("batch").get<double>() / pair.at(side).at("step_s").get<double>();
    };
    CHECK(rate("to") >= rate("from"));
    CHECK(c.at("devices").get<double>() < 16.0);
    const std::string text = joined(asked(options).out);
    CHECK(text.find("divided") != std::string::npos);
    CHECK(text.find("batch " + std::to_string(pair.at("from").at("batch").get<int>()) +
                    " of 2048 tokens, fused attention, fp16 on") != std::string::npos);
    CHECK(joined(asked("llama-3-8b --from v100-sxm2-16gb --count 5000 --to a100-sxm-80gb").out)
              .find("at most 1024 GPUs") != std::string::npos);
    CHECK(all.at("run").get<std::string>().find("divided over 16 and ") != std::string::npos);
    CHECK(asked(options + " --details").out.find("limiting factor") == std::string::npos);
    // without a count: the fewest that hold it
    CHECK(json_of("llama-3-8b --from a100-sxm-80gb --to h100-sxm-80gb")
              .at("purchase")
              .at("now")
              .at("devices")
              .get<double>() > 1.0);
    // inference of a decoder: the products divided
    const Json prompt = json_of("llama-3-70b --from a100-sxm-80gb --count 8 --to h200-sxm-141gb "
                                "--phase inference --batch 4");
    CHECK(prompt.at("purchase").at("candidates")[0].at("from_batch") == 4);
    CHECK(prompt.at("purchase").at("candidates")[0].at("sharded").at("from").at("devices") > 1);
}

TEST_CASE("a fleet divides the network that one GPU does not hold, beside those that fit") {
    const std::string gpus = " --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb";
    const auto speedup = [&](const std::string& networks) {
        return json_of(networks + gpus).at("speedup").at("value").get<double>();
    };
    // of an hour half is either's: 1 / (0.5 / a + 0.5 / b)
    CHECK(speedup("resnet50 llama-3-8b") ==
          near(2.0 / (1.0 / speedup("resnet50") + 1.0 / speedup("llama-3-8b"))));
    check_identities("resnet50 llama-3-8b" + gpus);
    check_identities("resnet50@3 llama-3-8b@1 --from a100-sxm-80gb --to h100-sxm-80gb");
}

TEST_CASE("no answer costs more and is likely to cost less") {
    for (const char* options :
         {"llama-3-8b --from a100-sxm-80gb --to h100-sxm-80gb", // two hold it, one is affordable
          "llama-3-8b --from a100-sxm-80gb --count 8 --to h100-sxm-80gb",
          "gpt2-xl --from v100-sxm2-16gb --count 4 --to a100-sxm-80gb --to h100-sxm-80gb",
          "resnet50 --from v100-sxm2-16gb --count 3 --to a100-sxm-80gb --to l4 --to t4"}) {
        CAPTURE(options);
        const Json all = json_of(options);
        for (const Json& c : all.at("purchase").at("candidates")) {
            if (c.at("verdict") != "does not fit") {
                CHECK((c.at("saved_share").get<double>() >= -1e-9) ==
                      (c.at("likely").get<double>() >= 0.5));
            }
        }
    }
}

TEST_CASE("the fabric of several GPUs can be given, and where it is unknown the answer says so") {
    const std::string options = "llama-3-8b --from gh200-96gb --count 16 --to a100-sxm-80gb ";
    const auto unknown = asked(options);
    REQUIRE(unknown.exit == 0);
    CHECK(unknown.out.starts_with("Cannot be compared: "));
    CHECK(unknown.out.find("gh200-96gb is unknown") != std::string::npos);
    CHECK(json_of(options + "--from-fabric pcie4-100g")
              .at("purchase")
              .at("candidates")[0]
              .at("verdict") != "does not fit");
    CHECK(asked(options + "--from-fabric pcie9").err.find("unknown-fabric") != std::string::npos);
}

TEST_CASE("the batch that turns the verdict does, asked for") {
    const std::string options = kPair + "--phase inference --batch 64 --threshold 1.6 ";
    bool found = false;
    const Json all = json_of(options);
    for (const Json& flip : all.at("purchase").at("candidates")[0].at("flips")) {
        const std::string what = flip.at("what");
        if (!what.starts_with("batch: ") || !what.ends_with(" on both") ||
            !flip.at("changes_verdict").get<bool>()) {
            continue;
        }
        found = true;
        const std::string batch = what.substr(7, what.find(' ', 7) - 7);
        const Json there = json_of(kPair + "--phase inference --threshold 1.6 --batch " + batch);
        const auto verdict = [](const Json& of) {
            return of.at("purchase").at("candidates")[0].at("verdict").get<std::string>();
        };
        CHECK(verdict(there) != verdict(all));
        CHECK(there.at("speedup").at("value").get<double>() ==
              near(flip.at("speedup").get<double>()));
    }
    CHECK(found);
}

TEST_CASE("the page is one sheet of A4 or Letter, and the layers are on others") {
    const std::string options = kPair + "--to h100-sxm-80gb --count 16 --format html";
    const std::string page = asked(options).out;
    CHECK(page.find("@page{margin:12mm}") != std::string::npos);
    CHECK(page.find("<div class=\"behind\">") == std::string::npos);
    CHECK(asked(options + " --details").out.find("<div class=\"behind\">") != std::string::npos);
    // Letter leaves 255 mm; a line of 8.5 points x 1.25 is 3.75 mm, a row 4.4: text wraps at 120
    double mm = 0.0;
    std::size_t lines = 0;
    const auto sheet = page.find("<main>");
    std::istringstream in(page.substr(sheet, page.find("</main>") - sheet));
    for (std::string line; std::getline(in, line);) {
        std::size_t shown = 0;
        bool tag = false;
        for (const char c : line) {
            tag = c == '<' || (tag && c != '>');
            shown += !tag && c != '>' ? 1 : 0;
        }
        const bool row = line.find("<tr>") != std::string::npos;
        const double wraps = std::ceil(static_cast<double>(shown) / 120.0);
        mm += shown == 0 ? 0.0 : row ? 4.4 * std::max(1.0, wraps) : 3.75 * wraps + 0.5;
        ++lines;
    }
    CHECK(lines > 30);
    CHECK(mm < 255.0);
}

TEST_CASE("a PDF is refused, with the page that a browser prints") {
    const auto sheet = run({"upgrade", "resnet50", "--from", "t4", "--to", "l4", "-o", "x.pdf"});
    CHECK(sheet.exit == 2);
    CHECK(sheet.err.find("write HTML, which a browser prints to PDF") != std::string::npos);
}

TEST_CASE("owned GPUs whose power and host are free cost nothing, and nothing is cheaper") {
    const std::string free = kPair + "--owned --power-price 0 --count 16 ";
    const Json rented = json_of(free);
    const Json& now = rented.at("purchase").at("now");
    CHECK(now.at("usd_per_year") == 0.0);
    const Json& then = rented.at("purchase").at("candidates")[0];
    CHECK(then.at("usd_per_year").get<double>() > 0.0);
    CHECK(then.at("verdict") == "does not pay off");
    CHECK(then.at("likely") == 0.0);
    CHECK(then.at("needed").is_null());
    CHECK(then.at("saved_share").is_null());
    const auto text = asked(free + "--details");
    CHECK(joined(text.out).starts_with("Keep 16 v100-sxm2-16gb: 8 a100-sxm-80gb do the work of 16 "
                                       "v100-sxm2-16gb, $"));
    CHECK(joined(text.out).find("per year instead of nothing; under 1 % likely to cost less.") !=
          std::string::npos);
    for (const char* wrong : {"infx", "inf,", "inf ", "nan", "name the prices"}) {
        CHECK(text.out.find(std::string(" ") + wrong) == std::string::npos);
    }
    // what the old GPUs sell for makes keeping them cost something: the answer says how much
    CHECK(text.out.find("resale of v100-sxm2-16gb") != std::string::npos);
    // bought, it never pays back; with a host's share or power the old ones cost something again
    CHECK(asked(free + "--buy 16k").out.find("never") != std::string::npos);
    CHECK(json_of(kPair + "--owned --power-price 0 --host-per-month 50")
              .at("purchase")
              .at("now")
              .at("usd_per_year")
              .get<double>() > 0.0);
    // and a new GPU that costs nothing is always enough
    const Json gift = json_of(kPair + "--count 16 --to-per-hour 0");
    CHECK(gift.at("purchase").at("candidates")[0].at("verdict") == "pays off");
    CHECK(gift.at("purchase").at("candidates")[0].at("saved_share") == 1.0);
    for (const char* format : {"text", "csv", "md", "html", "svg"}) {
        CHECK(asked(free + "--format " + format).exit == 0);
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
    const auto outcome = asked("bert-large --from v100-sxm2-16gb --to a100-sxm-80gb --phase "
                               "inference --batch 16384");
    REQUIRE(outcome.exit == 0);
    CHECK(outcome.out.starts_with("Cannot be compared: "));
    const std::string first = outcome.out.substr(0, outcome.out.find("\n\n"));
    CHECK(first.find("v100-sxm2-16gb") != std::string::npos);
    CHECK(first.find("GB") != std::string::npos);
    CHECK(outcome.out.find("does not fit") != std::string::npos);
    CHECK(outcome.out.find("What would change") == std::string::npos);
    CHECK(outcome.out.find("1x") == std::string::npos); // no figures of what cannot run
    const auto fleet = asked("resnet50 llama-3-8b --from v100-sxm2-16gb --count 2 --to "
                             "a100-sxm-80gb");
    CHECK(fleet.out.starts_with("Cannot be compared: "));
    const auto measured = asked("llama-3-8b --from v100-sxm2-16gb --to a100-sxm-80gb "
                                "--measured-old 1/s");
    CHECK(measured.out.find("throughput is that of one GPU") != std::string::npos);
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

TEST_CASE("the largest batch can be asked for in inference, and no other beside it") {
    const Json all = json_of(kPair + "--phase inference --largest-batch");
    const Json& c = all.at("purchase").at("candidates")[0];
    CHECK(c.at("from_batch") == 1024); // the most that is tried; V100 holds it
    CHECK(c.at("to_batch") == 1024);
    CHECK(asked(kPair + "--phase inference --largest-batch --batch 8").exit == 2);
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

TEST_CASE("a service refuses sweeps, and nothing advises a measurement that it does not take") {
    const std::string service = "llama-3.1-8b --from h100-sxm-80gb --to h200-sxm-141gb "
                                "--phase serving ";
    for (const char* option : {"--sweep-batch 1,8", "--sweep-dtype fp16:bf16", "--batch 4",
                               "--largest-batch", "--measured-old 3000/s"}) {
        CAPTURE(option);
        CHECK(asked(service + option).exit != 0);
    }
    const auto undecided = asked(service + "--from-per-hour 1 --to-per-hour 1.1");
    CHECK(undecided.out.starts_with("Undecided"));
    CHECK(undecided.out.find("--measured-old") == std::string::npos);
    CHECK(undecided.out.find("e+") == std::string::npos);
}

TEST_CASE("a divided network that takes no measured throughput has no figures beside the refusal") {
    const auto refused = asked("llama-3-8b --from v100-sxm2-16gb --count 16 --to a100-sxm-80gb "
                               "--measured-old 12/s");
    CHECK(refused.out.starts_with("Cannot be compared"));
    CHECK(refused.out.find("by the model alone") == std::string::npos);
}

TEST_CASE("no change is offered that does not fit") {
    const Json all =
        json_of("resnet50 --from v100-sxm2-16gb --to t4 --phase training --batch 256 ");
    const Json& candidate = all.at("purchase").at("candidates")[0];
    CHECK_FALSE(candidate.at("flips").empty());
    for (const Json& flip : candidate.at("flips")) { // 512 images need 22.6 of 16.7 GB
        CHECK(flip.at("what").get<std::string>().find("twice as large") == std::string::npos);
    }
}

TEST_CASE("what would turn the verdict over has a break-even that does") {
    const Json all = json_of(kPair + "--count 16 --from-per-hour 0.97 --to-per-hour 1.39");
    for (const Json& flip : all.at("purchase").at("candidates")[0].at("flips")) {
        const std::string what = flip.at("what");
        if (what != "rent of a100-sxm-80gb per hour") {
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

// docs/upgrade.md, "Questions in words": | question |
// `command` | answer |. --update-golden writes what the program prints now.
TEST_CASE("each question of the document is answered by its command, in the words printed there") {
    const std::string file = tests::source_dir() + "/docs/upgrade.md";
    std::istringstream document(tests::read_file(file));
    std::string renewed;
    int questions = 0;
    for (std::string line; std::getline(document, line);) {
        const auto open = line.find("| `eyeroof upgrade ");
        if (open != std::string::npos) {
            const auto close = line.find("` |", open);
            const std::string command = line.substr(open + 3, close - open - 3);
            CAPTURE(command);
            std::vector<std::string> typed = words(command);
            typed.erase(typed.begin());
            typed.insert(typed.end(), {"--format", "json"});
            const auto outcome = run(typed);
            CAPTURE(outcome.err);
            REQUIRE(outcome.exit == 0);
            const std::string answer =
                Json::parse(outcome.out).at("purchase").at("sentence").get<std::string>();
            if (!tests::updating_golden()) {
                CHECK(line.substr(close + 4) == answer + " |");
            }
            line = line.substr(0, close + 4) + answer + " |";
            ++questions;
        }
        renewed += line + "\n";
    }
    CHECK(questions >= 20);
    if (tests::updating_golden()) {
        tests::write_text(file, renewed);
    }
}

// Columns as in hwdb/evidence/published.csv, of every sixteenth row that has a prediction.
TEST_CASE("the predictions shipped with the evidence are those of today's constants") {
    const tests::Scratch scratch;
    const std::string table =
        tests::read_file(tests::source_dir() + "/hwdb/evidence/published.csv");
    std::istringstream in(table);
    std::string sample;
    std::vector<double> shipped;
    int row = 0;
    for (std::string line; std::getline(in, line);) {
        const std::string last = line.substr(line.rfind(',') + 1);
        if (line.starts_with("#")) {
            continue;
        }
        const bool head = sample.empty();
        if (head || (!last.empty() && ++row % 16 == 0)) {
            sample += line + "\n";
            if (!head) {
                shipped.push_back(std::stod(last));
            }
        }
    }
    REQUIRE(shipped.size() >= 20);
    tests::write_text(scratch / "sample.csv", sample);
    const auto outcome =
        run({"validate", (scratch / "sample.csv").string(), "--pairs", "--format", "csv"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit == 0);
    std::istringstream predicted(outcome.out);
    std::string line;
    std::getline(predicted, line);
    for (const double published : shipped) {
        REQUIRE(std::getline(predicted, line));
        // network (quoted where it has commas), family, …, kernels_and_host, and three more
        std::size_t end = line.size();
        for (int i = 0; i < 3; ++i) {
            end = line.rfind(',', end - 1);
        }
        const auto begin = line.rfind(',', end - 1) + 1;
        CAPTURE(line);
        CHECK(std::stod(line.substr(begin, end - begin)) == near(published, 0.002));
    }
}

} // namespace test_cli_upgrade
