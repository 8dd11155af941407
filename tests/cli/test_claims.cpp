// examples/claims: each claim is asked again, and what `eyeroof claims --only NAME` prints is its
// output.txt. docs/dev/claims.md is what `--format md` prints. Renewed, to be read like code, by
//
//   build/dev/tests/test_cli -tc="*claim*" --update-golden
#include "base/lines.hpp"
#include "cli/claims.hpp"
#include "formats/claim_yaml.hpp"
#include "report/answer/write.hpp"
#include "tests/cli/program.hpp"
#include "tests/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace test_cli_claims {

using namespace eyeroof; // NOLINT
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

fs::path claims_dir() {
    return fs::path(tests::source_dir()) / "examples/claims";
}

void check_file(const fs::path& file, const std::string& found) {
    if (tests::updating_golden()) {
        tests::write_text(file, found);
        return;
    }
    const std::string difference = tests::first_difference(tests::read_file(file), found);
    CHECK_MESSAGE(difference.empty(), file.string(), ", ", difference);
}

// Four searches of whole networks on Eyeriss v2 take as long as all other claims. Nightly they are
// asked, too (EYEROOF_CLAIMS=all); tests/analysis/test_eyeriss_v2.cpp has the same gains by the
// dataflow's rules.
bool searches_long(const formats::Claim& claim) {
    const auto on_v2 = [](const formats::ClaimRun& run) {
        return run.words.front() == "exam" &&
               std::ranges::find_if(run.words, [](const std::string& word) {
                   return word.starts_with("eyeriss-v2");
               }) != run.words.end();
    };
    return std::ranges::count_if(claim.runs, on_v2) > 1;
}

// A folder of data with one claim, beside those that the program has.
struct OwnClaim {
    tests::Scratch scratch;
    cli::Environment environment;

    explicit OwnClaim(const std::string& text) {
        fs::create_directories(scratch / "claims/own");
        tests::write_text(scratch / "claims/own/claim.yaml", text);
        environment.data_dirs = {scratch.path(), tests::share_dir()};
    }
    tests::Outcome run(std::vector<std::string> more = {}) const {
        std::vector<std::string> words = {"claims", "--only", "own"};
        words.insert(words.end(), more.begin(), more.end());
        return tests::run(words, environment);
    }
};

std::string claim_with(const std::string& values_and_figures,
                       const std::string& run = "eyeroof net show alexnet") {
    return "eyeroof: claim/1\ntopic: t\nclaim: c\nsource: s\nruns: {a: " + run + "}\n" +
           values_and_figures;
}

const char* const kMacs = "values: {macs: a /total/macs}\n";

} // namespace

TEST_CASE("every claim's figures are those of its stored output, and of the claims' document") {
    std::ostringstream out;
    cli::Environment environment;
    environment.out = environment.err = &out;
    environment.data_dirs = {tests::share_dir()};
    environment.start = cli::tune_in_this_process;
    cli::Context context(environment);
    auto wanted = cli::wanted_claims(context, {});
    REQUIRE(wanted.ok());
    CHECK(wanted->size() >= 28);
    CHECK(wanted->size() == formats::claim_folders({claims_dir()}).size());
    const bool whole = tests::updating_golden() || std::getenv("EYEROOF_CLAIMS") != nullptr;
    if (!whole) {
        std::erase_if(*wanted, searches_long);
    }
    const auto all = cli::ask_claims(context, *wanted, {}); // once: it takes half a minute
    INFO(out.str());
    REQUIRE(all.ok());
    CHECK(all->size() == wanted->size());
    std::size_t seen = 0;
    for (const auto& found : *all) {
        CAPTURE(found.claim.name);
        CHECK_MESSAGE(found.holds(), "a deviation has no number that explains it");
        seen += found.claim.measures ? 0 : 1; // the figures of those are of the machine that runs
        if (!found.claim.measures) {
            check_file(claims_dir() / found.claim.name / "output.txt",
                       report::to_text(report::claims_answer({found}), kTextColumns));
        }
    }
    CHECK(seen + 2 == all->size());
    const fs::path document = fs::path(tests::source_dir()) / "docs/dev/claims.md";
    if (whole) {
        check_file(document, report::to_markdown(report::claims_answer(*all)));
        return;
    }
    const std::string text = tests::read_file(document);
    for (const auto& found : *all) {
        std::string alone = report::to_markdown(report::claims_answer({found}));
        alone = alone.substr(alone.find("\n## "));
        alone.resize(alone.find("\nA figure agrees within 10 %"));
        CHECK_MESSAGE(text.find(alone) != std::string::npos, found.claim.name,
                      " is not as in claims.md");
    }
}

TEST_CASE("the claims' page has a picture and a heading for each") {
    const std::vector<std::string> names = {"ops-per-byte", "message-sizes", "mnist-k80"};
    std::vector<std::string> words = {"claims", "--format", "html"};
    for (const std::string& name : names) {
        words.insert(words.end(), {"--only", name});
    }
    const auto page = tests::run(words);
    CHECK(page.exit == 0);
    for (const std::string& name : names) {
        CHECK(page.out.find("<h2 id=\"" + name + "\">") != std::string::npos);
    }
    std::size_t pictures = 0;
    for (std::size_t at = page.out.find("<svg"); at != std::string::npos;
         at = page.out.find("<svg", at + 1)) {
        ++pictures;
    }
    CHECK(pictures == names.size());
}

TEST_CASE("a claim's figure is judged by its distance from what is published") {
    const auto verdict = [](const std::string& figure) {
        const OwnClaim claim(claim_with(
            std::string(kMacs) + "figures:\n  - {name: f, ours: macs / 1e6, " + figure + "}\n"));
        const auto outcome = claim.run({"--format", "json"});
        INFO(outcome.err);
        const json found = json::parse(outcome.out);
        const json& one = found["claims"][0]["figures"][0];
        return std::tuple(outcome.exit, one["verdict"].get<std::string>(),
                          one["deviation"].get<double>());
    };
    // AlexNet has 724.406816 M MACs.
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    auto [exit, word, deviation] = verdict("published: 700");
    CHECK((exit == 0 && word == "agrees" && near(deviation, 24.406816 / 700.0)));
    std::tie(exit, word, deviation) = verdict("published: 1000");
    CHECK((exit == 1 && word == "differs" && near(deviation, -275.593184 / 1000.0)));
    std::tie(exit, word, deviation) =
        verdict("published: 1000, why: [{text: without groups, value: 2 * macs}]");
    CHECK((exit == 1 && word == "differs")); // a number alone explains nothing
    std::tie(exit, word, deviation) =
        verdict("published: 1000, why: [{text: farther away, gives: macs / 2e6}]");
    CHECK((exit == 1 && word == "differs"));
    std::tie(exit, word, deviation) =
        verdict("published: 1000, why: [{text: nearer, gives: macs / 0.9e6}]");
    CHECK((exit == 0 && word == "explained"));
    std::tie(exit, word, deviation) = verdict("published: 1000, confidence: recalled");
    CHECK((exit == 0 && word == "unsourced"));
    std::tie(exit, word, deviation) = verdict("published: [500, 800]");
    CHECK((exit == 0 && word == "agrees" && deviation == 0.0));
    std::tie(exit, word, deviation) = verdict("at_least: 1000");
    CHECK((exit == 1 && word == "differs" && near(deviation, -275.593184 / 1000.0)));
}

TEST_CASE("a path leads through lists by number, by a member's text or its beginning, or to all") {
    const auto ours = [](const std::string& path) {
        const OwnClaim claim(claim_with("values: {v: a " + path +
                                        "}\nfigures: [{name: f, ours: v, published: 1, "
                                        "confidence: recalled}]\n"));
        const auto outcome = claim.run({"--format", "json"});
        INFO(outcome.err);
        return json::parse(outcome.out)["claims"][0]["figures"][0]["ours"].get<double>();
    };
    const double first = ours("/layers/0/macs");
    CHECK(first == 105415200.0);
    CHECK(ours("/layers/name=CONV1/macs") == first);
    CHECK(ours("/layers/name^FC/macs") == 58621952.0);
    CHECK(ours("/layers/*/macs") == 724406816.0);
    CHECK(ours("/layers/name=CONV1/name is CONV1") == 1.0);
    CHECK(ours("/layers/name=CONV1/name is CONV2") == 0.0);
}

TEST_CASE("a claim that cannot be asked says where and why") {
    const auto said = [](const std::string& text) {
        const OwnClaim claim(text);
        const auto outcome = claim.run();
        CHECK(outcome.exit != 0);
        CHECK(outcome.out.empty());
        return outcome.err;
    };
    const std::string figure = "figures: [{name: f, published: 1, ours: macs}]\n";
    const auto has = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(
        has(said(claim_with("values: {macs: a /total/mac}\n" + figure)), "nothing at /total/mac"));
    CHECK(
        has(said(claim_with("values: {macs: b /total/macs}\n" + figure)), "no run is called 'b'"));
    CHECK(has(said(claim_with(kMacs + figure, "ls -l")), "not-a-command"));
    CHECK(has(said(claim_with(kMacs + figure, "eyeroof net show alexnet -o out.json")),
              "not-a-command"));
    CHECK(has(said(claim_with(kMacs + figure, "eyeroof claims")), "not-a-command"));
    CHECK(has(said(claim_with(kMacs + figure, "eyeroof net show nothing")), "gives no answer"));
    CHECK(has(said(claim_with(std::string(kMacs) + "figures: [{name: f, ours: macs}]\n")),
              "no published value"));
    CHECK(has(
        said(claim_with(std::string(kMacs) + "figures: [{name: f, published: 1, ours: mac}]\n")),
        "claim.yaml:7:"));
    CHECK(has(said("eyeroof: claim/1\n"), "claim.yaml:1:"));
    const auto unknown = tests::run({"claims", "--only", "nothing"});
    CHECK(unknown.exit == 2);
}

TEST_CASE("claims are listed without running them, and those that measure wait for their name") {
    const auto list = tests::run({"claims", "--list"});
    CHECK(list.exit == 0);
    CHECK(list.out.find("ops-per-byte") != std::string::npos);
    CHECK(list.out.find("tuned-here") != std::string::npos);
    CHECK(list.out.find("runs here") != std::string::npos);
    for (const char* judged : {"agree", "worst", "checked", "this machine  "}) { // none was asked
        CAPTURE(judged);
        CHECK(list.out.find(judged) == std::string::npos);
    }
    CHECK(tests::run({"claims", "--list", "--only", "ops-per-byte"}).out.starts_with("1 claim\n"));
    CHECK(tests::run({"claims", "--only", "ops-per-byte"})
              .out.starts_with("1 claim: 5 figures within 10 %, "));
    const OwnClaim claim("measures_this_machine: true\n" +
                         claim_with(std::string(kMacs) +
                                    "figures: [{name: f, published: 724406816, ours: macs}]\n"));
    CHECK(claim.run().out.find("agrees") != std::string::npos);
    cli::Environment alone = claim.environment;
    alone.data_dirs = {claim.scratch.path()};
    CHECK(tests::run({"claims"}, alone).out.find("this machine") != std::string::npos);
}

} // namespace test_cli_claims
