#include "analysis/scale/task_board.hpp"

namespace eyeroof::analysis {

TaskBoard::TaskBoard(const TaskGraph& graph)
    : graph_(graph), inputs_(graph.task_s.size()), outputs_(graph.task_s.size()),
      fastest_(graph.task_s.size()), tail_(graph.task_s.size(), 0.0) {
    for (const TaskGraph::Edge& e : graph.edges) {
        inputs_[e.to].push_back(e);
        outputs_[e.from].push_back(e);
    }
    for (std::size_t t = graph.task_s.size(); t-- > 0;) {
        fastest_[t] = *std::min_element(graph.task_s[t].begin(), graph.task_s[t].end());
        for (const TaskGraph::Edge& e : outputs_[t]) {
            tail_[t] = std::max(tail_[t], tail_[e.to]);
        }
        tail_[t] += fastest_[t];
        groups_ = std::max(groups_, group(t) + 1);
    }
}

double TaskBoard::arrival(std::size_t t, std::size_t device, const std::vector<std::size_t>& where,
                          const std::vector<double>& end) const {
    double at = 0.0;
    for (const TaskGraph::Edge& e : inputs_[t]) {
        at = std::max(at, end[e.from] + (where[e.from] == device ? 0.0 : e.send_s));
    }
    return at;
}

double TaskBoard::bound() const {
    double longest = 0.0;
    double work = 0.0;
    for (std::size_t t = 0; t < tasks(); ++t) {
        longest = std::max(longest, tail_[t]);
        work += fastest_[t];
    }
    return std::max(longest,
                    work / static_cast<double>(std::max<std::size_t>(graph_.devices(), 1)));
}

} // namespace eyeroof::analysis
