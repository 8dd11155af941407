#include "analysis/exam/report_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

OpenSearches open_searches(const Report& report) {
    OpenSearches open;
    for (std::size_t row = 0; row < report.layers.size(); ++row) {
        bool proved = true;
        for (const mapper::Certificate& c : report.layers[row].certificates) {
            proved = proved && c.proved;
            open.gap = std::max(open.gap, c.gap);
        }
        if (!proved) {
            open.layers.push_back(row);
        }
    }
    return open;
}

std::string open_searches_text(const Report& report, const OpenSearches& open) {
    return fmt::format("the searches of {} of {} layers, {} first, stopped before the proof: "
                       "optimality gap at most {:.1f} %",
                       open.layers.size(), report.layers.size(),
                       report.layers.at(open.layers.front()).layer.name, 100.0 * open.gap);
}

std::string no_fit_text(const Report& report) {
    return !report.fit || report.fit->fits()
               ? std::string()
               : fmt::format("{} needs more memory than {} has: times are of a run that would fit",
                             report.network_name, report.machine.name);
}

} // namespace eyeroof::analysis
