// Lists: a graph's tasks by the longest way to the end, and devices changed while that helps.
#include "analysis/scale/task_board.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace eyeroof::analysis {

namespace {

constexpr double kNeverEnds = std::numeric_limits<double>::infinity();
constexpr std::size_t kAnywhere = std::numeric_limits<std::size_t>::max();

class Lister {
  public:
    explicit Lister(const TaskBoard& board)
        : board_(board), devices_(board.graph().devices()), order_(board.tasks()),
          end_(board.tasks()) {
        const auto devices = static_cast<double>(std::max<std::size_t>(devices_, 1));
        std::vector<double> rank(board.tasks(), 0.0);
        for (std::size_t t = board.tasks(); t-- > 0;) {
            for (const TaskGraph::Edge& e : board.outputs(t)) {
                rank[t] = std::max(rank[t], e.send_s * (devices - 1.0) / devices + rank[e.to]);
            }
            const std::vector<double>& task_s = board.graph().task_s[t];
            rank[t] += std::accumulate(task_s.begin(), task_s.end(), 0.0) / devices;
        }
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
    }

    // Groups that `fixed` names keep their device; the others go where their first task ends first
    // among those with room. Infinite where a group finds none.
    double run(const std::vector<std::size_t>& fixed, std::vector<std::size_t>& where) {
        std::vector<std::size_t> home = fixed;
        std::vector<double> held = held_by(home);
        std::vector<double> free(devices_, 0.0);
        double latest = 0.0;
        where.assign(board_.tasks(), 0);
        for (const std::size_t t : order_) {
            std::size_t& device = home[board_.group(t)];
            if (device == kAnywhere) {
                device = first_to_end(t, free, held, where);
                if (device == kAnywhere) {
                    return kNeverEnds;
                }
                held[device] += board_.held(board_.group(t));
            }
            where[t] = device;
            end_[t] = free[device] = ends(t, device, free, where);
            latest = std::max(latest, end_[t]);
        }
        return latest;
    }

    bool fits(const std::vector<std::size_t>& home) const {
        const std::vector<double> held = held_by(home);
        for (std::size_t d = 0; d < devices_; ++d) {
            if (!board_.holds(d, held[d])) {
                return false;
            }
        }
        return true;
    }

  private:
    std::vector<double> held_by(const std::vector<std::size_t>& home) const {
        std::vector<double> held(devices_, 0.0);
        for (std::size_t g = 0; g < home.size(); ++g) {
            if (home[g] != kAnywhere) {
                held[home[g]] += board_.held(g);
            }
        }
        return held;
    }

    double ends(std::size_t t, std::size_t d, const std::vector<double>& free,
                const std::vector<std::size_t>& where) const {
        return std::max(free[d], board_.arrival(t, d, where, end_)) + board_.graph().task_s[t][d];
    }

    std::size_t first_to_end(std::size_t t, const std::vector<double>& free,
                             const std::vector<double>& held,
                             const std::vector<std::size_t>& where) const {
        double first = kNeverEnds;
        std::size_t found = kAnywhere;
        for (std::size_t d = 0; d < devices_; ++d) {
            const double end = ends(t, d, free, where);
            if (end < first && board_.holds(d, held[d] + board_.held(board_.group(t)))) {
                first = end;
                found = d;
            }
        }
        return found;
    }

    const TaskBoard& board_;
    std::size_t devices_;
    std::vector<std::size_t> order_;
    std::vector<double> end_;
};

std::vector<std::size_t> homes_of(const TaskBoard& board, const std::vector<std::size_t>& device) {
    std::vector<std::size_t> home(board.groups(), 0);
    for (std::size_t t = 0; t < device.size(); ++t) {
        home[board.group(t)] = device[t];
    }
    return home;
}

} // namespace

Schedule list_schedule(const TaskGraph& graph) {
    const TaskBoard board(graph);
    Lister lister(board);
    Schedule schedule;
    schedule.bound_s = board.bound();
    schedule.time_s =
        lister.run(std::vector<std::size_t>(board.groups(), kAnywhere), schedule.device);
    if (!schedule.found()) {
        schedule.device.clear();
    }
    schedule.proved = schedule.time_s <= schedule.bound_s;
    return schedule;
}

Schedule improved_schedule(const TaskGraph& graph, Schedule schedule, std::uint64_t most_steps) {
    const TaskBoard board(graph);
    if (!schedule.found()) {
        return schedule;
    }
    Lister lister(board);
    const std::uint64_t steps = board.tasks() + graph.edges.size() + 1; // of one trial
    std::vector<std::size_t> where;
    std::uint64_t done = 0;
    const auto take_if_better = [&](const std::vector<std::size_t>& home) {
        done += steps;
        const double time_s = lister.fits(home) ? lister.run(home, where) : kNeverEnds;
        if (time_s < schedule.time_s * (1.0 - 1e-12)) {
            schedule.time_s = time_s;
            schedule.device = where;
            return true;
        }
        return false;
    };
    for (std::size_t d = 0; d < graph.devices(); ++d) {
        take_if_better(std::vector<std::size_t>(board.groups(), d));
    }
    for (bool better = true; better && done < most_steps;) {
        better = false;
        for (std::size_t g = 0; g < board.groups(); ++g) {
            for (std::size_t d = 0; d < graph.devices() && done < most_steps; ++d) {
                std::vector<std::size_t> home = homes_of(board, schedule.device);
                if (std::exchange(home[g], d) != d) {
                    better = take_if_better(home) || better;
                }
            }
        }
    }
    schedule.proved = schedule.time_s <= schedule.bound_s;
    return schedule;
}

} // namespace eyeroof::analysis
