// Every mapping of a small random task, one by one, as the judge of the searches.
// Used by the tests of the mapper.
// Shares no code with the searches: costs come from model::cost_of().
#pragma once

#include "mapper/problem_space.hpp"
#include "model/accelerator/residency.hpp"
#include "model/cost/latency.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/random_cases.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace eyeroof::test {

using namespace model;

// Every mapping of a small task, one by one: each dimension's trips in every slot, every order of
// the loops of a block, every division over axes, every choice of what is kept. Costs come from
// model::cost_of(); nothing is left out but what validation refuses.
class Enumerator {
  public:
    using Visit = std::function<void(const Mapping&, const MappingCost&, double cycles)>;

    // Tasks with more mappings than `most` are left to other seeds.
    explicit Enumerator(const mapper::Task& task, Visit visit = {}, long most = 2500)
        : task_(task), best_(-1.0), visit_(std::move(visit)), most_(most) {
        for (std::size_t i = 0; i < task.machine.levels.size(); ++i) {
            mapping_.levels.emplace_back();
            slots_.push_back({i, -1});
            for (std::size_t a = 0; a < task.machine.levels[i].fanout.size(); ++a) {
                slots_.push_back({i, static_cast<int>(a)});
            }
        }
    }

    double run() {
        keep(0);
        return best_;
    }
    long mappings = 0;
    Mapping best_mapping;
    bool too_many() const { return mappings > most_; }

  private:
    struct Slot { // of a level; axis -1: time, outside what is in space
        std::size_t level;
        int axis;
    };

    void keep(std::size_t n) {
        if (n == task_.machine.levels.size() * kOperands) {
            trips(0, slots_.size(), 1);
            return;
        }
        const std::size_t level = n / kOperands;
        const Operand o = kAllOperands[n % kOperands];
        const Store* store = store_of(task_.machine.levels[level], o);
        if (store != nullptr && may_rest(level, o)) {
            mapping_.levels[level].keeps.insert(o);
            keep(n + 1);
            mapping_.levels[level].keeps.erase(o);
        }
        if (store == nullptr || may_be_elsewhere(level, o)) {
            keep(n + 1);
        }
    }

    bool may_rest(std::size_t level, Operand o) const {
        const auto from = mapping_.levels.begin();
        const auto to = from + static_cast<std::ptrdiff_t>(level);
        return level == 0 || home_levels(task_.problem, task_.machine, true)[index(o)] == level ||
               std::any_of(from, to, [o](const LevelMapping& l) { return l.keeps.contains(o); });
    }

    // Below its home an operand passes by stores that let it; its home is the outermost level, or a
    // level that keeps activations from layer to layer where those of this layer fit.
    bool may_be_elsewhere(std::size_t level, Operand o) const {
        const auto from = mapping_.levels.begin();
        const auto to = from + static_cast<std::ptrdiff_t>(level);
        const bool below =
            std::any_of(from, to, [o](const LevelMapping& l) { return l.keeps.contains(o); });
        return below ? store_of(task_.machine.levels[level], o)->may_bypass
                     : home_levels(task_.problem, task_.machine, true)[index(o)] > level;
    }

    // Slots are walked from the innermost outwards.
    void trips(std::size_t d, std::size_t slot, Count tile) {
        if (too_many()) {
            return;
        }
        if (d == kDims) {
            order(0);
            return;
        }
        const Dim dim = kAllDims[d];
        const Count bound = task_.problem.bounds[d];
        if (slot == 0) {
            if (tile >= bound) {
                trips(d + 1, slots_.size(), 1);
            }
            return;
        }
        const Slot at = slots_[slot - 1];
        for (Count n = 1; n <= ceil_div(bound, tile); ++n) {
            if (task_.factors == mapper::Factors::perfect && bound % (tile * n) != 0) {
                continue;
            }
            LevelMapping& level = mapping_.levels[at.level];
            if (at.axis < 0) {
                level.temporal.push_back({dim, n});
                trips(d, slot - 1, tile * n);
                level.temporal.pop_back();
            } else {
                // a later slot is further out: it goes in front
                level.spatial.insert(level.spatial.begin(),
                                     {dim, n, static_cast<std::uint8_t>(at.axis)});
                if (axis_fits(at)) {
                    trips(d, slot - 1, tile * n);
                }
                level.spatial.erase(level.spatial.begin());
            }
        }
    }
    bool axis_fits(const Slot& at) const {
        Count used = 1;
        for (const SpatialLoop& loop : mapping_.levels[at.level].spatial) {
            used *= loop.axis == at.axis ? loop.bound : 1;
        }
        return used <=
               task_.machine.levels[at.level].fanout[static_cast<std::size_t>(at.axis)].size;
    }

    void order(std::size_t level) {
        if (level == mapping_.levels.size()) {
            evaluate();
            return;
        }
        auto& loops = mapping_.levels[level].temporal;
        const std::vector<TemporalLoop> before = loops;
        std::erase_if(loops, [](const TemporalLoop& l) { return l.bound == 1; });
        std::sort(loops.begin(), loops.end(), less);
        const std::vector<TemporalLoop> sorted = loops;
        do {
            order(level + 1);
        } while (std::next_permutation(loops.begin(), loops.end(), less));
        loops = before;
    }
    static bool less(const TemporalLoop& a, const TemporalLoop& b) { return a.dim < b.dim; }

    // Loops that the task's rule names lie inside all others, the first named innermost.
    bool ordered_as_asked() const {
        for (std::size_t i = 0; i < task_.constraints.levels.size(); ++i) {
            const auto& rule = task_.constraints.levels[i].order;
            std::vector<Dim> named;
            const auto& loops = mapping_.levels[i].temporal; // without trips of one
            for (const Dim d : rule) {
                const bool there = std::any_of(loops.begin(), loops.end(),
                                               [d](const TemporalLoop& l) { return l.dim == d; });
                if (there) {
                    named.push_back(d);
                }
            }
            for (std::size_t n = 0; n < named.size(); ++n) {
                if (loops[loops.size() - 1 - n].dim != named[n]) {
                    return false;
                }
            }
        }
        return true;
    }

    // Trips as fixed, or within their range.
    bool trips_as_asked() const {
        for (std::size_t i = 0; i < task_.constraints.levels.size(); ++i) {
            const auto& rule = task_.constraints.levels[i];
            Extents time = kOnes;
            Extents space = kOnes;
            for (const TemporalLoop& loop : mapping_.levels[i].temporal) {
                time[index(loop.dim)] *= loop.bound;
            }
            for (const SpatialLoop& loop : mapping_.levels[i].spatial) {
                space[index(loop.dim)] *= loop.bound;
            }
            for (std::size_t d = 0; d < kDims; ++d) {
                if (time[d] != rule.temporal[d].value_or(time[d]) ||
                    space[d] != rule.spatial[d].value_or(space[d]) ||
                    time[d] < rule.temporal_range[d].least ||
                    time[d] > rule.temporal_range[d].most ||
                    space[d] < rule.spatial_range[d].least ||
                    space[d] > rule.spatial_range[d].most) {
                    return false;
                }
            }
        }
        return true;
    }

    void evaluate() {
        if (!ordered_as_asked() || !trips_as_asked()) {
            return;
        }
        ++mappings;
        place(0);
    }

    // Under Timeloop's counting the order of a level's loops in space counts, too.
    void place(std::size_t level) {
        if (task_.counting != Counting::timeloop || level == mapping_.levels.size()) {
            judge();
            return;
        }
        std::vector<SpatialLoop>& loops = mapping_.levels[level].spatial;
        const std::vector<SpatialLoop> before = loops;
        std::erase_if(loops, [](const SpatialLoop& l) { return l.bound == 1; });
        const auto inner = [](const SpatialLoop& a, const SpatialLoop& b) {
            return std::pair(a.dim, a.axis) < std::pair(b.dim, b.axis);
        };
        std::sort(loops.begin(), loops.end(), inner);
        do {
            place(level + 1);
        } while (std::next_permutation(loops.begin(), loops.end(), inner));
        loops = before;
    }

    // Recounted: of all instances there are, or of those that have trips in space.
    double leaked_pj(double cycles) const {
        double instances = 1.0;
        double pj = 0.0;
        for (std::size_t i = 0; i < task_.machine.levels.size(); ++i) {
            for (const Store& store : task_.machine.levels[i].stores) {
                pj += store.leak_pj * instances * cycles;
            }
            if (task_.machine.gates_idle) {
                for (const SpatialLoop& loop : mapping_.levels[i].spatial) {
                    instances *= static_cast<double>(loop.bound);
                }
            } else {
                for (const Axis& axis : task_.machine.levels[i].fanout) {
                    instances *= static_cast<double>(axis.size);
                }
            }
        }
        return pj + task_.machine.mac_leak_pj * instances * cycles;
    }

    void judge() {
        const auto cost = cost_of(task_.problem, task_.machine, mapping_, task_.counting);
        if (cost) {
            const bool ramps =
                task_.counting == Counting::eyeroof && task_.time == mapper::Time::reported;
            const double cycles =
                ramps ? latency_of(task_.problem, task_.machine, mapping_, *cost).total_cycles()
                      : cost->cycles;
            const double value = task_.objective.value(cost->energy_pj + leaked_pj(cycles), cycles);
            if (best_ < 0 || value < best_) {
                best_ = value;
                best_mapping = mapping_;
            }
            if (visit_) {
                visit_(mapping_, *cost, cycles);
            }
        }
    }

    const mapper::Task& task_;
    double best_;
    Visit visit_;
    long most_;
    Mapping mapping_;
    std::vector<Slot> slots_;
};

inline Problem tiny_problem(Random& r) {
    Problem p;
    int used = 0;
    for (const Dim d : {Dim::P, Dim::R, Dim::K, Dim::C, Dim::Q, Dim::S, Dim::N, Dim::G}) {
        if (used < 3 && r.chance(40)) {
            p.bounds[index(d)] = r.between(2, 4);
            ++used;
        }
    }
    p.stride = {r.between(1, 3), r.between(1, 2)};
    p.dilation = {r.between(1, 2), r.between(1, 2)};
    p.has_weight = !r.chance(10);
    return p;
}

// Stores and units that lose energy in every cycle, a little or more than all accesses together.
inline void leak(Random& r, Accelerator& machine) {
    const auto some = [&] { return r.chance(40) ? 0.0 : static_cast<double>(r.between(1, 60)); };
    for (Level& level : machine.levels) {
        for (Store& store : level.stores) {
            store.leak_pj = some();
        }
    }
    machine.mac_leak_pj = 0.5 * some();
    machine.gates_idle = r.chance(50);
}

inline Accelerator tiny_machine(Random& r) {
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    const std::size_t levels = r.chance(70) ? 2 : 3;
    for (std::size_t i = 0; i < levels; ++i) {
        const double pj = i == 0 ? 100.0 : i + 1 == levels ? 1.0 : 8.0;
        Level l = level("L" + std::to_string(i), {});
        if (i == 0 || r.chance(60)) {
            l.stores = {store(kAll, i == 0 ? 0 : r.between(3, 24),
                              0.5 + static_cast<double>(r.upto(3)),
                              1.0 + static_cast<double>(r.upto(3)), pj)};
        } else {
            for (const Operand o : kAllOperands) {
                l.stores.push_back(store({o}, r.between(1, 8), 2, 2, pj));
            }
        }
        for (Store& s : l.stores) {
            s.may_bypass = i > 0 && r.chance(30);
        }
        const Count axes = r.chance(40) ? 0 : r.between(1, 2);
        for (Count x = 0; x < axes; ++x) {
            l.fanout.push_back({x == 0 ? "x" : "y", r.between(2, 3)});
        }
        if (r.chance(50)) {
            Channel c;
            c.name = "net";
            c.operands = kAll;
            c.cast = r.chance(30) ? Cast::unicast : Cast::multicast;
            c.reduces = r.chance(70);
            c.forwards = r.chance(20);
            c.half_duplex = r.chance(30);
            c.down_bytes_per_cycle = 2.0 + static_cast<double>(r.upto(6));
            c.up_bytes_per_cycle = 2.0 + static_cast<double>(r.upto(6));
            c.hop_pj = r.chance(30) ? 2.0 : 0.0;
            l.channels.push_back(c);
        }
        a.levels.push_back(l);
    }
    return a;
}

} // namespace eyeroof::test
