// Searches as their logs tell them.
#include "analysis/trials/cpu_task.hpp"
#include "analysis/trials/log_searches.hpp"
#include "report/trials/search_chart.hpp"

#include <doctest/doctest.h>

namespace test_tune_recorded {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using namespace eyeroof::report;

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

} // namespace

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
