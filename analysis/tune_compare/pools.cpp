// What comparisons are made on: pools of measured points, and synthetic targets.
#include "analysis/tune_compare/compare.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace eyeroof::analysis::tune {

namespace {

class PoolTarget final : public Target {
  public:
    PoolTarget(const Space& space, const std::vector<Point>& points,
               const std::vector<double>& costs)
        : space_(space) {
        for (std::size_t n = 0; n < points.size(); ++n) {
            cost_[space_.index_of(points[n])] = costs[n];
        }
    }
    Outcome measure(const Point& point) override {
        const auto at = cost_.find(space_.index_of(point));
        if (at == cost_.end() || at->second == kNoCost) {
            return {kNoCost, {}, "failed", "it failed when it was measured"};
        }
        return {at->second, {at->second}};
    }

  private:
    Space space_;
    std::unordered_map<Count, double> cost_;
};

// A synthetic target for each layer, on a machine of either kind.
template <class Machine, class MakeTask>
std::vector<Arena> arenas_on(const std::vector<Workload>& layers, const Machine& machine,
                             const TuneOptions& options, const MakeTask& search_task_for) {
    std::vector<Arena> arenas;
    for (const Workload& work : layers) {
        Arena arena;
        arena.work = work;
        arena.search_task = search_task_for(work);
        const Space space = arena.search_task.space;
        arena.fresh = [=](std::uint64_t seed) {
            SearchTask search_task;
            search_task.space = space;
            return synthetic_target(work, machine, search_task, options.machine_seed,
                                    {options.noise.deviation, seed});
        };
        arena.target =
            synthetic_target(work, machine, arena.search_task, options.machine_seed, {0.0, 1});
        arenas.push_back(std::move(arena));
    }
    return arenas;
}

} // namespace

std::vector<Arena> pools_of(const std::vector<TrialLine>& lines) {
    constexpr std::size_t kFewest = 32;
    std::vector<Arena> arenas;
    std::map<std::string, std::map<Count, std::pair<Point, double>>> pools;
    std::map<std::string, Arena> by_key;
    std::vector<std::string> order;
    for (const TrialLine& line : lines) {
        Workload shape = line.work;
        shape.name.clear();
        TrialLine key;
        key.template_name = line.template_name;
        key.work = shape;
        key.origin.machine = line.origin.machine;
        key.outcome.cost = 1.0;
        const std::string name = trial_text(key);
        if (!by_key.contains(name)) {
            auto search_task = search_task_of(line);
            if (!search_task) {
                continue;
            }
            by_key[name].search_task = *std::move(search_task);
            by_key[name].work = line.work;
            order.push_back(name);
        }
        const Space& space = by_key[name].search_task.space;
        if (const auto point = point_of(space, line)) {
            const double cost = line.outcome.ok() ? line.outcome.cost : kNoCost;
            auto& known = pools[name][space.index_of(*point)];
            known = {*point, known.second > 0.0 ? std::min(known.second, cost) : cost};
        }
    }
    for (const std::string& name : order) {
        if (pools[name].size() < kFewest) {
            continue;
        }
        Arena arena = std::move(by_key[name]);
        for (const auto& [index, known] : pools[name]) {
            arena.points.push_back(known.first);
            arena.costs.push_back(known.second);
        }
        arena.best_known = *std::min_element(arena.costs.begin(), arena.costs.end());
        arena.target =
            std::make_unique<PoolTarget>(arena.search_task.space, arena.points, arena.costs);
        arena.search_task.space.restrict_to(arena.points);
        arenas.push_back(std::move(arena));
    }
    return arenas;
}

std::vector<Arena> synthetic_tasks_of(const std::vector<Workload>& layers,
                                      const TuneOptions& options) {
    const CpuMachine machine; // the same on every host
    return arenas_on(layers, machine, options, [&](const Workload& work) {
        return cpu_task(work, machine, options.threads);
    });
}

std::vector<Arena> synthetic_tasks_of(const std::vector<Workload>& layers,
                                      const GpuMachine& machine, const TuneOptions& options) {
    return arenas_on(layers, machine, options,
                     [&](const Workload& work) { return gpu_task(work, machine); });
}

} // namespace eyeroof::analysis::tune
