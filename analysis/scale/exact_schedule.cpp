// Branch and bound over the orders and devices of a graph's tasks.
#include "analysis/scale/task_board.hpp"

#include <limits>

namespace eyeroof::analysis {

namespace {

// Every order in which tasks can begin, on every device: a task begins when its device and its
// inputs are there, so that no order but one of these is better.
class Search {
  public:
    Search(const TaskGraph& graph, const TaskBoard& board, Schedule best, std::uint64_t most)
        : graph_(graph), board_(board), best_(std::move(best)), most_(most),
          end_(board.tasks(), 0.0), where_(board.tasks(), 0), waits_(board.tasks()),
          free_(graph.devices(), 0.0), held_(graph.devices(), 0.0), home_(board.groups(), 0),
          placed_(board.groups(), 0) {
        for (std::size_t t = 0; t < board.tasks(); ++t) {
            waits_[t] = board.inputs(t).size();
            left_ += board.fastest(t);
        }
    }

    Schedule run() {
        visit(0, 0.0);
        best_.proved = best_.nodes < most_ && best_.found();
        best_.none = best_.nodes < most_ && !best_.found();
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
                    if (may_go(t, d)) {
                        place(t, d, done, latest);
                    }
                }
            }
        }
    }

    // Tasks of one group share a device, which holds what the group keeps.
    bool may_go(std::size_t t, std::size_t d) const {
        const std::size_t g = board_.group(t);
        return placed_[g] > 0 ? home_[g] == d : board_.holds(d, held_[d] + board_.held(g));
    }

    void place(std::size_t t, std::size_t d, std::size_t done, double latest) {
        const std::size_t g = board_.group(t);
        const double before = free_[d];
        const double held_before = held_[d];
        held_[d] += placed_[g] == 0 ? board_.held(g) : 0.0;
        home_[g] = d;
        ++placed_[g];
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
        held_[d] = held_before;
        --placed_[g];
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
    const TaskBoard& board_;
    Schedule best_;
    std::uint64_t most_;
    std::vector<double> end_;
    std::vector<std::size_t> where_;
    std::vector<std::size_t> waits_;
    std::vector<double> free_, held_; // of each device
    std::vector<std::size_t> home_;   // of each group that has tasks on the board
    std::vector<std::size_t> placed_; // tasks of each group
    double left_ = 0.0;
};

} // namespace

Schedule exact_schedule(const TaskGraph& graph, std::uint64_t most_nodes) {
    const TaskBoard board(graph);
    Schedule first = improved_schedule(graph, list_schedule(graph));
    return board.tasks() == 0 ? first : Search(graph, board, std::move(first), most_nodes).run();
}

} // namespace eyeroof::analysis
