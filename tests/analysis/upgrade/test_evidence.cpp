// Published speed-ups as evidence: what they say of questions near and far.
#include "analysis/calibrate/evidence_check.hpp"
#include "analysis/upgrade/evidence.hpp"
#include "base/text_file.hpp"
#include "hwdb/transfer_reader.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace test_analysis_upgrade_evidence {

using namespace eyeroof; // NOLINT
using analysis::EvidenceKey;
using analysis::EvidenceRow;
using eyeroof::tests::near;

namespace {

EvidenceKey key(const std::string& family, const std::string& from, const std::string& to) {
    return {family, "training", "mixed", from, to, "arch-" + from, "arch-" + to};
}

EvidenceRow row(EvidenceKey of, double speedup, double predicted) {
    return {std::move(of), "a source", "net", 1, speedup, predicted, false};
}

std::vector<EvidenceRow> shipped() {
    const std::string file = tests::source_dir() + "/hwdb/evidence/published.csv";
    const auto text = read_text_file(file);
    REQUIRE(text.ok());
    auto rows = analysis::parse_evidence(*text, file);
    REQUIRE(rows.ok());
    return *std::move(rows);
}

} // namespace

TEST_CASE("one published pair moves the same question towards it by the share of its variance") {
    // The effects of two GPUs in a family and phase: 2 (0.10^2 + 0.04^2 + 0.04^2) = 0.0264; noise
    // 0.05^2 + 0.10^2 = 0.0125; so 0.0264 / 0.0389 of ln(3 / 2) is believed.
    const analysis::Evidence one({row(key("resnet", "a", "b"), 3.0, 2.0)}, 1.0);
    const auto shift = one.shift(key("resnet", "a", "b"));
    CHECK(shift.ln == near(0.0264 / 0.0389 * std::log(1.5)));
    CHECK(shift.explained == near(0.0264 * 0.0264 / 0.0389));
    CHECK(one.shift(key("resnet", "b", "a")).ln == near(-shift.ln)); // the way back
    CHECK(one.shift(key("resnet", "a", "a")).ln == 0.0);
    CHECK(std::fabs(one.shift(key("bert", "a", "b")).ln) < 0.3 * shift.ln);
    CHECK(one.shift(key("bert", "c", "d")).ln == 0.0);
    CHECK(one.shift(key("bert", "c", "d")).explained == 0.0);
}

TEST_CASE("pairs chain: two published steps say something of the way over both") {
    const analysis::Evidence two(
        {row(key("resnet", "a", "b"), 2.2, 2.0), row(key("resnet", "b", "c"), 2.2, 2.0)}, 1.0);
    const double whole = two.shift(key("resnet", "a", "c")).ln;
    CHECK(whole > two.shift(key("resnet", "a", "b")).ln);
    CHECK(whole < 2.0 * std::log(1.1));
}

TEST_CASE("a row that the program cannot run is shown as near, and moves nothing") {
    const analysis::Evidence fact({row(key("resnet", "a", "b"), 3.0, 0.0)}, 1.0);
    CHECK(fact.shift(key("resnet", "a", "b")).ln == 0.0);
    const auto nearest = fact.nearest(key("resnet", "a", "b"), 5);
    REQUIRE(nearest.size() == 1);
    CHECK(nearest.front().share == near(1.0));
    CHECK(fact.nearest(key("bert", "c", "d"), 5).empty());
}

TEST_CASE("a broken cell of the evidence is reported with its place") {
    const std::string head = "source,network,from,to,from_architecture,to_architecture,phase,"
                             "precision,gpus,speedup,predicted,kind\n";
    const auto bad = analysis::parse_evidence(
        head + "s,resnet50,a,b,x,y,training,mixed,1,fast,2.0,recipe\n", "e.csv");
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.diagnostics().begin()->where.line == 2);
    CHECK_FALSE(analysis::parse_evidence("source,network\n", "e.csv").ok());
}

TEST_CASE("every shipped speed-up has a source and is the ratio of its published values") {
    const auto rows = shipped();
    CHECK(rows.size() > 400);
    for (const EvidenceRow& r : rows) {
        CHECK_FALSE(r.source.empty());
        CHECK(r.speedup > 0.0);
        CHECK_FALSE(r.key.family.empty());
    }
}

TEST_CASE("evidence and model together beat each alone with families, sources and GPUs held out") {
    const auto transfer =
        hwdb::load_transfer(std::vector<std::filesystem::path>{tests::source_dir() + "/hwdb"});
    REQUIRE(transfer.ok());
    const auto check = analysis::check_evidence(shipped(), *transfer);
    REQUIRE(check.figures.size() == 9);
    for (std::size_t i = 0; i < 9; i += 3) {
        const auto& model = check.figures[i];
        const auto& evidence = check.figures[i + 1];
        const auto& both = check.figures[i + 2];
        CAPTURE(both.held_out);
        CHECK(both.mape < model.mape + 0.005);
        CHECK(both.mape < evidence.mape);
        CHECK(both.inside > 0.75);
        CHECK(both.inside < 0.88);
        if (both.held_out != "family") { // what a family shows, another hardly shares
            CHECK(both.mape < model.mape);
            CHECK(both.median < model.median);
        }
    }
    for (const auto& bin : check.reliability) {
        if (bin.verdicts > 50) { // what is stated comes true, within a tenth
            CHECK(bin.right > bin.stated - 0.1);
        }
    }
}

TEST_CASE("a decision is no better than the published speedups lie far from the price ratio") {
    // One published speedup 1 % above the middle ratio, 1.64: a coin toss there, and none at the
    // others.
    const auto check =
        analysis::check_evidence({row(key("alpha", "a", "b"), 1.64 * 1.01, 1.64 * 1.5),
                                  row(key("beta", "a", "b"), 1.64 * 4.0, 1.64 * 1.5)},
                                 model::Transfer{});
    CHECK(check.limits[1].near == near(0.5));
    CHECK(check.limits[1].far_right == near(1.0));
    CHECK(check.limits[1].unbiased > 0.7); // one of two is called by chance, the other surely
    CHECK(check.limits[1].unbiased < 0.8);
    CHECK(check.limits[1].unbiased < check.limits[0].unbiased);
    CHECK(check.limits[0].near == 0.0);
}

TEST_CASE("at 1.64 half of what is published lies within 15 %, so that few decisions are certain") {
    const auto transfer =
        hwdb::load_transfer(std::vector<std::filesystem::path>{tests::source_dir() + "/hwdb"});
    REQUIRE(transfer.ok());
    const auto check = analysis::check_evidence(shipped(), *transfer);
    CHECK(check.limits[1].near > 1.3 * check.limits[0].near);
    CHECK(check.limits[1].near > 1.3 * check.limits[2].near);
    CHECK(check.limits[1].unbiased < 0.80); // of errors of the stated size: 85 % is out of reach
    CHECK(check.limits[1].far_right > 0.85);
}

} // namespace test_analysis_upgrade_evidence
