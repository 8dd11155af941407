// Searches as their logs tell them: trials counted as they were spent.
#include "analysis/trials/cpu_task.hpp"
#include "analysis/trials/log_searches.hpp"
#include "analysis/tune_compare/compare.hpp"
#include "report/trials/search_chart.hpp"
#include "report/tune_compare/compare_write.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_tune_recorded {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using namespace eyeroof::report;
using eyeroof::tests::near;

namespace {

// A search of one layer: what each trial cost.
std::vector<TrialLine> log_of(const std::string& layer, Count size, const std::string& command,
                              std::uint64_t seed, const std::vector<double>& costs) {
    std::vector<TrialLine> lines;
    for (const double cost : costs) {
        TrialLine line;
        line.template_name = kCpuTemplate;
        line.work.name = layer;
        line.work.rows = line.work.width = line.work.out_w = size;
        line.origin.target = "cpu";
        line.origin.command = command;
        line.origin.seed = seed;
        line.trial = static_cast<Count>(lines.size());
        line.outcome =
            cost > 0.0 ? Outcome{cost, {cost}} : Outcome{kNoCost, {}, "crash", "SIGSEGV"};
        lines.push_back(line);
    }
    return lines;
}

Comparison example() {
    // 1.0 is the best known of layer a, 2.0 of layer b; 95 % is at most 1.0526 and 2.105.
    return compare_recorded(
        merged({log_of("a", 64, "random, batch 8", 1, {4.0, 3.0, 2.0, 1.05}),
                log_of("a", 64, "random, batch 8", 2, {4.0, 3.0, 2.0, 2.0}),
                log_of("a", 64, "random, batch 8", 3, {-1.0, 1.05, 2.0, 1.0}),
                log_of("b", 32, "random, batch 8", 1, {4.0, 2.0, 2.0, 2.0}),
                log_of("a", 64, "learned, batch 8", 1, {4.0, 1.0, 1.0, 1.0}),
                log_of("a", 64, "learned, batch 8, transfer of 99 trials 12ab", 1, {1.0}),
                log_of("b", 32, "learned, batch 8, transfer of 77 trials 34cd", 1, {2.0})}),
        128);
}

} // namespace

TEST_CASE("recorded searches are scored by the trials they spent, failed ones included") {
    const Comparison all = example();
    REQUIRE(all.contenders == std::vector<std::string>{"random", "learned", "learned, transfer"});
    REQUIRE(all.layers == std::vector<std::string>{"a", "b"});
    CHECK(all.trials == 4);
    CHECK(all.seeds == 3);
    CHECK(*all.scores[0][0].trials[1] == near(4.0)); // of 4, never and 2: the median
    CHECK(all.scores[0][0].censored[1] == 1);
    CHECK(*all.scores[0][1].trials[1] == near(2.0));
    CHECK(*all.scores[1][0].trials[1] == near(2.0));
    CHECK(all.scores[1][1].runs == 0); // the learned one never ran there
    CHECK(*all.scores[2][1].trials[1] == near(1.0));
}

TEST_CASE("savings are geometric means over the layers that both contenders searched") {
    const Comparison all = example();
    const Saving alone = saving(all, 0, 1, 1);
    CHECK(alone.layers == 1);
    CHECK(alone.ratio == near(2.0));
    const Saving transfer = saving(all, 0, 2, 1); // 4 / 1 and 2 / 1
    CHECK(transfer.layers == 2);
    CHECK(transfer.ratio == near(std::sqrt(8.0)));
    CHECK(transfer.low >= 2.0 - 1e-9);
    CHECK(transfer.high <= 4.0 + 1e-9);
}

TEST_CASE("a comparison with layers that a contender never saw is written in every format") {
    const Comparison all = example();
    const std::string text = comparison_text(all);
    CHECK(text.find("times fewer trials") != std::string::npos);
    CHECK(comparison_json(all).find("\"runs\": 0") != std::string::npos);
    CHECK(comparison_csv(all).find("learned,b") != std::string::npos);
    CHECK(comparison_svg(all).find("</svg>") != std::string::npos);
}

TEST_CASE("a log is drawn as it ran: stairs that rise, failed trials without a step") {
    const auto lines = log_of("a", 64, "random, batch 8", 3, {-1.0, 2.0, 4.0, 1.0, 3.0});
    const auto chart = best_so_far(searches_in(lines));
    REQUIRE(chart.lines.size() == 1);
    CHECK(chart.lines[0].label == "random, batch 8, seed 3");
    const double flops = lines.front().work.flops();
    const std::vector<std::pair<double, double>> wanted = {
        {2.0, flops / 2.0}, {4.0, flops}, {5.0, flops}};
    CHECK(chart.lines[0].points == wanted);
    CHECK(best_so_far(searches_in({})).lines.empty());
}

} // namespace test_tune_recorded
