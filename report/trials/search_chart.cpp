#include "report/trials/search_chart.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::report {

Chart best_so_far(const std::vector<analysis::tune::LogSearch>& searches) {
    std::set<std::string> layers;
    for (const analysis::tune::LogSearch& search : searches) {
        layers.insert(search.work.name);
    }
    Chart chart;
    chart.title = "Best so far against trials";
    chart.x_title = "trials";
    chart.x_ticks = TickText::whole;
    chart.y_title = "FLOP/s";
    for (const analysis::tune::LogSearch& search : searches) {
        ChartLine line;
        line.label = (layers.size() > 1 ? search.work.name + ": " : std::string()) +
                     analysis::tune::search_label(search);
        line.stairs = true;
        double best = analysis::tune::kNoCost;
        for (std::size_t n = 0; n < search.costs.size(); ++n) {
            const bool last = n + 1 == search.costs.size();
            if (search.costs[n] < best || (last && best < analysis::tune::kNoCost)) {
                best = std::min(best, search.costs[n]);
                line.points.emplace_back(static_cast<double>(n + 1), search.work.flops() / best);
            }
        }
        if (!line.points.empty()) {
            chart.lines.push_back(std::move(line));
        }
    }
    return chart;
}

} // namespace eyeroof::report
