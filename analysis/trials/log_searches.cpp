#include "analysis/trials/log_searches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace eyeroof::analysis::tune {

namespace {

// A resumed search has a later date and may have another compiler: it goes on all the same.
auto key_of(const TrialLine& line) {
    const Workload& w = line.work;
    return std::tuple(line.template_name, w.name, w.rows, w.cols, w.depth, w.taps_h, w.taps_w,
                      w.stride.h, w.stride.w, line.origin.target, line.origin.machine,
                      line.origin.command, line.origin.seed);
}

void judge(LogSearch& search, const std::vector<TrialLine>& lines) {
    for (const std::size_t at : search.lines) {
        const Outcome& outcome = lines[at].outcome;
        search.costs.push_back(outcome.ok() ? outcome.cost : kNoCost);
        search.took_s = std::max(search.took_s, lines[at].at_s);
    }
    const auto least = std::min_element(search.costs.begin(), search.costs.end());
    if (least == search.costs.end() || *least == kNoCost) {
        return;
    }
    search.best = static_cast<std::size_t>(least - search.costs.begin());
    const auto near = std::find_if(search.costs.begin(), search.costs.end(),
                                   [&](double cost) { return cost * 0.95 <= *least; });
    search.to_95 = static_cast<std::size_t>(near - search.costs.begin()) + 1;
}

} // namespace

std::size_t LogSearch::failed() const {
    return static_cast<std::size_t>(std::count(costs.begin(), costs.end(), kNoCost));
}

std::vector<LogSearch> searches_in(const std::vector<TrialLine>& lines) {
    std::map<decltype(key_of(lines.front())), std::size_t> known;
    std::vector<std::map<Count, std::size_t>> numbered; // of each search: its trials' lines
    std::vector<LogSearch> searches;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto [at, added] = known.emplace(key_of(lines[i]), searches.size());
        if (added) {
            LogSearch search;
            search.template_name = lines[i].template_name;
            search.work = lines[i].work;
            search.origin = lines[i].origin;
            searches.push_back(std::move(search));
            numbered.emplace_back();
        }
        numbered[at->second][lines[i].trial] = i;
    }
    for (std::size_t s = 0; s < searches.size(); ++s) {
        for (const auto& [trial, line] : numbered[s]) {
            searches[s].lines.push_back(line);
        }
        judge(searches[s], lines);
    }
    return searches;
}

std::string search_label(const LogSearch& search) {
    return fmt::format("{}, seed {}", search.origin.command, search.origin.seed);
}

} // namespace eyeroof::analysis::tune
