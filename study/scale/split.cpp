#include "study/scale/split.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace eyeroof::study {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

} // namespace

ChainSplit split_chain(const std::vector<double>& layer_s, const std::vector<double>& cut_s,
                       std::size_t stages) {
    const std::size_t n = layer_s.size();
    stages = std::min(std::max<std::size_t>(stages, 1), n);
    std::vector<double> sum(n + 1, 0.0);
    std::partial_sum(layer_s.begin(), layer_s.end(), sum.begin() + 1);
    std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, kInfinity));
    std::vector<std::vector<std::size_t>> from(stages + 1, std::vector<std::size_t>(n + 1, 0));
    best[0][0] = 0.0;
    for (std::size_t q = 1; q <= stages; ++q) {
        for (std::size_t i = q; i <= n; ++i) {
            for (std::size_t j = q - 1; j < i; ++j) {
                const double received = j > 0 && j - 1 < cut_s.size() ? cut_s[j - 1] : 0.0;
                const double slowest = std::max(best[q - 1][j], sum[i] - sum[j] + received);
                if (slowest < best[q][i]) {
                    best[q][i] = slowest;
                    from[q][i] = j;
                }
            }
        }
    }
    ChainSplit split{std::vector<std::size_t>(stages), n == 0 ? 0.0 : best[stages][n]};
    for (std::size_t q = stages, i = n; q > 0; --q) {
        i = from[q][i];
        split.first[q - 1] = i;
    }
    return split;
}

ChainChoice choose_chain(const std::vector<std::vector<double>>& cost,
                         const std::vector<std::vector<std::vector<double>>>& change) {
    const std::size_t n = cost.size();
    ChainChoice choice{std::vector<std::size_t>(n), 0.0};
    if (n == 0) {
        return choice;
    }
    std::vector<std::vector<double>> best = {cost[0]};
    std::vector<std::vector<std::size_t>> from(n);
    for (std::size_t l = 1; l < n; ++l) {
        best.emplace_back(cost[l].size(), kInfinity);
        from[l].resize(cost[l].size());
        for (std::size_t b = 0; b < cost[l].size(); ++b) {
            for (std::size_t a = 0; a < cost[l - 1].size(); ++a) {
                const double total = best[l - 1][a] + change[l][a][b] + cost[l][b];
                if (total < best[l][b]) {
                    best[l][b] = total;
                    from[l][b] = a;
                }
            }
        }
    }
    const auto last = std::min_element(best[n - 1].begin(), best[n - 1].end());
    choice.cost = *last;
    choice.way[n - 1] = static_cast<std::size_t>(last - best[n - 1].begin());
    for (std::size_t l = n - 1; l > 0; --l) {
        choice.way[l - 1] = from[l][choice.way[l]];
    }
    return choice;
}

namespace {

// A partial schedule, and what remains of the graph at its fastest.
class Board {
  public:
    explicit Board(const TaskGraph& graph)
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
            tail_[t] += fastest_[t]; // this one included
        }
    }

    std::size_t tasks() const { return graph_.task_s.size(); }
    const std::vector<TaskGraph::Edge>& inputs(std::size_t t) const { return inputs_[t]; }
    const std::vector<TaskGraph::Edge>& outputs(std::size_t t) const { return outputs_[t]; }
    double fastest(std::size_t t) const { return fastest_[t]; }
    double tail(std::size_t t) const { return tail_[t]; }

    double arrival(std::size_t t, std::size_t device, const std::vector<std::size_t>& where,
                   const std::vector<double>& end) const {
        double at = 0.0;
        for (const TaskGraph::Edge& e : inputs_[t]) {
            at = std::max(at, end[e.from] + (where[e.from] == device ? 0.0 : e.send_s));
        }
        return at;
    }
    double bound() const {
        double longest = 0.0;
        double work = 0.0;
        for (std::size_t t = 0; t < tasks(); ++t) {
            longest = std::max(longest, tail_[t]);
            work += fastest_[t];
        }
        return std::max(longest,
                        work / static_cast<double>(std::max<std::size_t>(graph_.devices(), 1)));
    }

  private:
    const TaskGraph& graph_;
    std::vector<std::vector<TaskGraph::Edge>> inputs_, outputs_;
    std::vector<double> fastest_, tail_;
};

// Every order in which tasks can begin, on every device: a task begins when its device and its
// inputs are there, so that no order but one of these is better.
class Search {
  public:
    Search(const TaskGraph& graph, const Board& board, Schedule best, std::uint64_t most)
        : graph_(graph), board_(board), best_(std::move(best)), most_(most),
          end_(board.tasks(), 0.0), where_(board.tasks(), 0), waits_(board.tasks()),
          free_(graph.devices(), 0.0) {
        for (std::size_t t = 0; t < board.tasks(); ++t) {
            waits_[t] = board.inputs(t).size();
            left_ += board.fastest(t);
        }
    }

    Schedule run() {
        visit(0, 0.0);
        best_.proved = best_.nodes < most_;
        best_.bound_s = best_.proved ? best_.time_s : best_.bound_s;
        return best_;
    }

  private:
    void visit(std::size_t done, double latest) {
        if (++best_.nodes >= most_) {
            return;
        }
        if (done == board_.tasks()) {
            if (latest < best_.time_s) {
                best_.time_s = latest;
                best_.device = where_;
            }
            return;
        }
        if (lower(latest) >= best_.time_s * (1.0 - 1e-12)) {
            return;
        }
        for (std::size_t t = 0; t < board_.tasks(); ++t) {
            if (waits_[t] == 0) {
                for (std::size_t d = 0; d < free_.size(); ++d) {
                    place(t, d, done, latest);
                }
            }
        }
    }

    void place(std::size_t t, std::size_t d, std::size_t done, double latest) {
        const double before = free_[d];
        const double start = std::max(before, board_.arrival(t, d, where_, end_));
        where_[t] = d;
        end_[t] = free_[d] = start + graph_.task_s[t][d];
        waits_[t] = kPlaced;
        left_ -= board_.fastest(t);
        for (const TaskGraph::Edge& e : board_.outputs(t)) {
            --waits_[e.to];
        }
        visit(done + 1, std::max(latest, end_[t]));
        for (const TaskGraph::Edge& e : board_.outputs(t)) {
            ++waits_[e.to];
        }
        left_ += board_.fastest(t);
        waits_[t] = 0;
        free_[d] = before;
    }

    double lower(double latest) const {
        double most = latest;
        const double soonest = *std::min_element(free_.begin(), free_.end());
        double busy = left_;
        for (const double f : free_) {
            busy += f;
        }
        most = std::max(most, busy / static_cast<double>(free_.size()));
        for (std::size_t t = 0; t < board_.tasks(); ++t) {
            if (waits_[t] == kPlaced) {
                continue;
            }
            double ready = soonest;
            for (const TaskGraph::Edge& e : board_.inputs(t)) {
                ready = std::max(ready, waits_[e.from] == kPlaced ? end_[e.from] : 0.0);
            }
            most = std::max(most, ready + board_.tail(t));
        }
        return most;
    }

    static constexpr std::size_t kPlaced = std::numeric_limits<std::size_t>::max();
    const TaskGraph& graph_;
    const Board& board_;
    Schedule best_;
    std::uint64_t most_;
    std::vector<double> end_;
    std::vector<std::size_t> where_;
    std::vector<std::size_t> waits_;
    std::vector<double> free_;
    double left_ = 0.0;
};

} // namespace

Schedule list_schedule(const TaskGraph& graph) {
    const Board board(graph);
    const std::size_t n = board.tasks();
    const auto devices = static_cast<double>(std::max<std::size_t>(graph.devices(), 1));
    std::vector<double> rank(n, 0.0);
    for (std::size_t t = n; t-- > 0;) {
        for (const TaskGraph::Edge& e : board.outputs(t)) {
            rank[t] = std::max(rank[t], e.send_s * (devices - 1.0) / devices + rank[e.to]);
        }
        rank[t] += std::accumulate(graph.task_s[t].begin(), graph.task_s[t].end(), 0.0) / devices;
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
    Schedule schedule{std::vector<std::size_t>(n, 0), 0.0, board.bound(), false, 0};
    std::vector<double> end(n, 0.0);
    std::vector<double> free(graph.devices(), 0.0);
    for (const std::size_t t : order) {
        double first = kInfinity;
        for (std::size_t d = 0; d < free.size(); ++d) {
            const double e =
                std::max(free[d], board.arrival(t, d, schedule.device, end)) + graph.task_s[t][d];
            if (e < first) {
                first = e;
                schedule.device[t] = d;
            }
        }
        end[t] = free[schedule.device[t]] = first;
        schedule.time_s = std::max(schedule.time_s, first);
    }
    schedule.proved = schedule.time_s <= schedule.bound_s;
    return schedule;
}

Schedule exact_schedule(const TaskGraph& graph, std::uint64_t most_nodes) {
    const Board board(graph);
    Schedule first = list_schedule(graph);
    return board.tasks() == 0 ? first : Search(graph, board, std::move(first), most_nodes).run();
}

} // namespace eyeroof::study
