// Simulated annealing over whole mappings, as a judge of the searches on tasks too large to
// enumerate. Used by the tests of the mapper.
// Shares no code with the searches: moves change loops of a mapping, values come from
// model::cost_of() and model::latency_of().
#pragma once

#include "mapper/problem_space.hpp"
#include "model/cost/latency.hpp"
#include "tests/model/random_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::test {

using namespace model;

class Annealer {
  public:
    Annealer(const mapper::Task& task, unsigned seed) : task_(task), random_(seed) {
        for (std::size_t i = 0; i < task.machine.levels.size(); ++i) {
            LevelMapping level;
            for (const Operand o : kAllOperands) {
                if (store_of(task.machine.levels[i], o) != nullptr) {
                    level.keeps.insert(o);
                }
            }
            mapping_.levels.push_back(level);
        }
        for (const Dim d : kAllDims) { // all in time at the outermost level
            mapping_.levels.front().temporal.push_back({d, task.problem.bounds[index(d)]});
        }
    }

    // The least value of any mapping met in so many moves; infinite when none was valid.
    double run(int moves) {
        double here = value(mapping_);
        best_ = here;
        best_mapping = mapping_;
        for (int n = 0; n < moves; ++n) {
            const Mapping next = changed();
            const double there = value(next);
            const double warmth = 0.3 * (1.0 - static_cast<double>(n) / moves);
            const bool downhill = there <= here || !std::isfinite(here);
            const double chance =
                std::isfinite(there) ? std::exp(-std::log(there / here) / (warmth + 1e-3)) : 0.0;
            if (downhill || random_.upto(1000000) < static_cast<Count>(chance * 1e6)) {
                mapping_ = next;
                here = there;
            }
            if (there < best_) {
                best_ = there;
                best_mapping = next;
            }
        }
        return best_;
    }
    Mapping best_mapping;

  private:
    double value(const Mapping& mapping) const {
        const auto cost = cost_of(task_.problem, task_.machine, mapping, task_.counting);
        if (!cost) {
            return std::numeric_limits<double>::infinity();
        }
        const double cycles =
            task_.counting == Counting::eyeroof
                ? latency_of(task_.problem, task_.machine, mapping, *cost).total_cycles()
                : cost->cycles;
        return task_.objective.value(cost->energy_pj, cycles);
    }

    std::size_t level() {
        return static_cast<std::size_t>(random_.upto(static_cast<Count>(mapping_.levels.size())));
    }

    // A prime factor of a loop goes to another place, loops change their order, or an operand is
    // kept elsewhere.
    Mapping changed() {
        Mapping next = mapping_;
        const Count kind = random_.upto(10);
        if (kind < 6) {
            move_factor(next);
        } else if (kind < 9) {
            auto& loops = next.levels[level()].temporal;
            if (loops.size() > 1) {
                const Count n = static_cast<Count>(loops.size());
                std::swap(loops[static_cast<std::size_t>(random_.upto(n))],
                          loops[static_cast<std::size_t>(random_.upto(n))]);
            }
        } else {
            toggle(next);
        }
        return next;
    }

    void toggle(Mapping& next) {
        const std::size_t i = level();
        const Operand o = kAllOperands[static_cast<std::size_t>(random_.upto(3))];
        const Store* store = store_of(task_.machine.levels[i], o);
        if (i > 0 && store != nullptr && store->may_bypass) {
            OperandSet& keeps = next.levels[i].keeps;
            keeps.contains(o) ? keeps.erase(o) : keeps.insert(o);
        }
    }

    void move_factor(Mapping& next) {
        const Dim d = kAllDims[static_cast<std::size_t>(random_.upto(8))];
        const std::size_t from = level();
        auto& loops = next.levels[from].temporal;
        auto& lanes = next.levels[from].spatial;
        const auto loop = std::find_if(loops.begin(), loops.end(), [&](const TemporalLoop& l) {
            return l.dim == d && l.bound > 1;
        });
        const auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const SpatialLoop& l) {
            return l.dim == d && l.bound > 1;
        });
        const bool spread = lane != lanes.end() && (loop == loops.end() || random_.chance(50));
        if (!spread && loop == loops.end()) {
            return;
        }
        Count& bound = spread ? lane->bound : loop->bound;
        Count prime = 2;
        while (bound % prime != 0) {
            ++prime;
        }
        bound /= prime;
        put(next, d, prime);
    }

    void put(Mapping& next, Dim d, Count factor) {
        const std::size_t to = level();
        const auto axes = static_cast<Count>(task_.machine.levels[to].fanout.size());
        if (axes > 0 && random_.chance(50)) {
            const auto axis = static_cast<std::uint8_t>(random_.upto(axes));
            auto& lanes = next.levels[to].spatial;
            const auto same = std::find_if(lanes.begin(), lanes.end(), [&](const SpatialLoop& l) {
                return l.dim == d && l.axis == axis;
            });
            same == lanes.end() ? lanes.push_back({d, factor, axis})
                                : static_cast<void>(same->bound *= factor);
            return;
        }
        auto& loops = next.levels[to].temporal;
        const auto same = std::find_if(loops.begin(), loops.end(),
                                       [&](const TemporalLoop& l) { return l.dim == d; });
        same == loops.end() ? loops.push_back({d, factor})
                            : static_cast<void>(same->bound *= factor);
    }

    const mapper::Task& task_;
    Random random_;
    Mapping mapping_;
    double best_ = std::numeric_limits<double>::infinity();
};

} // namespace eyeroof::test
