#include "study/tune/log_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace eyeroof::study::tune {

namespace {

struct Curve {
    double flops = 0.0;
    std::map<Count, double> costs; // by the number of the trial
};

ChartLine line_of_curve(const std::string& label, const Curve& curve) {
    ChartLine line;
    line.label = label;
    line.stairs = true;
    double best = kNoCost;
    const Count last = curve.costs.empty() ? 0 : curve.costs.rbegin()->first;
    for (const auto& [trial, cost] : curve.costs) {
        if (cost < best || (trial == last && best < kNoCost)) {
            best = std::min(best, cost);
            line.points.emplace_back(static_cast<double>(trial + 1), curve.flops / best);
        }
    }
    return line;
}

} // namespace

Chart chart_of(const std::vector<TrialLine>& lines) {
    std::map<std::string, Curve> curves;
    std::vector<std::string> order;
    for (const TrialLine& line : lines) {
        const std::string command = line.origin.command.substr(0, line.origin.command.find(','));
        const std::string label =
            fmt::format("{}, {}, seed {}", line.work.name, command, line.origin.seed);
        if (!curves.contains(label)) {
            order.push_back(label);
        }
        Curve& curve = curves[label];
        curve.flops = line.work.flops();
        curve.costs[line.trial] = line.outcome.ok() ? line.outcome.cost : kNoCost;
    }
    Chart chart;
    chart.title = "Best so far against trials";
    chart.x_title = "trials";
    chart.y_title = "FLOP/s";
    for (const std::string& label : order) {
        ChartLine line = line_of_curve(label, curves.at(label));
        if (!line.points.empty()) {
            chart.lines.push_back(std::move(line));
        }
    }
    return chart;
}

model::Result<Chart> chart_of_log(const std::filesystem::path& path) {
    const auto lines = load_trials(path);
    if (!lines) {
        return model::Result<Chart>(lines.diagnostics());
    }
    Chart chart = chart_of(*lines);
    if (chart.lines.empty()) {
        return model::Result<Chart>::failure("no-trials", "no trial of the log worked",
                                             "eyeroof tune --log writes one");
    }
    return {std::move(chart), lines.diagnostics()};
}

} // namespace eyeroof::study::tune
