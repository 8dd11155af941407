#include "report/trials/search_chart.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::report {

ChartLine best_line(std::string label, double flops, const std::vector<double>& costs) {
    ChartLine line;
    line.label = std::move(label);
    line.stairs = true;
    double best = analysis::tune::kNoCost;
    for (std::size_t n = 0; n < costs.size(); ++n) {
        const bool last = n + 1 == costs.size();
        if (costs[n] < best || (last && best < analysis::tune::kNoCost)) {
            best = std::min(best, costs[n]);
            line.points.emplace_back(static_cast<double>(n + 1), flops / best);
        }
    }
    return line;
}

Chart trials_chart(std::string title) {
    Chart chart;
    chart.title = std::move(title);
    chart.x_title = "trials";
    chart.x_ticks = TickText::whole;
    chart.y_title = "FLOP/s";
    return chart;
}

Chart best_so_far(const std::vector<analysis::tune::LogSearch>& searches) {
    std::set<std::string> layers;
    for (const analysis::tune::LogSearch& search : searches) {
        layers.insert(search.work.name);
    }
    Chart chart = trials_chart("Best so far against trials");
    for (const analysis::tune::LogSearch& search : searches) {
        ChartLine line = best_line((layers.size() > 1 ? search.work.name + ": " : std::string()) +
                                       analysis::tune::search_label(search),
                                   search.work.flops(), search.costs);
        if (!line.points.empty()) {
            chart.lines.push_back(std::move(line));
        }
    }
    return chart;
}

} // namespace eyeroof::report
