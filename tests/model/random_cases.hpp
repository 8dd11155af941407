// Small random machines, problems and mappings, the same for the same seed.
// Used by the tests that compare closed forms with walks over every iteration or mapping.
#pragma once

#include "tests/model/machines.hpp"

#include <algorithm>
#include <random>

namespace eyeroof::test {

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    Count upto(Count n) { // 0 … n - 1, the same on every platform
        return static_cast<Count>(engine_() % static_cast<std::uint64_t>(n));
    }
    Count between(Count a, Count b) { return a + upto(b - a + 1); }
    bool chance(int percent) { return upto(100) < percent; }

  private:
    std::mt19937_64 engine_;
};

inline model::Problem random_problem(Random& r, Count most_macs) {
    using namespace model;
    Problem p;
    do {
        for (const Dim d : kAllDims) {
            p.bounds[index(d)] = r.chance(45) ? 1 : r.between(2, index(d) < 2 ? 3 : 6);
        }
    } while (macs_of(p) > most_macs);
    p.stride = {r.between(1, 3), r.between(1, 3)};
    p.dilation = {r.between(1, 3), r.between(1, 2)};
    return p;
}

inline model::Accelerator random_machine(Random& r, std::size_t levels) {
    using namespace model;
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    for (std::size_t i = 0; i < levels; ++i) {
        Level l = level("L" + std::to_string(i), {store(kAll, 0, 4, 4, 10.0)});
        const Count axes = r.chance(50) ? 0 : r.between(1, 2);
        for (Count x = 0; x < axes; ++x) {
            l.fanout.push_back({(x == 0 ? "x" : "y") + std::to_string(i), r.between(2, 4)});
        }
        for (const Operand o : kAllOperands) {
            Channel c;
            c.operands = {o};
            c.cast = r.chance(25) ? Cast::unicast : Cast::multicast;
            c.reduces = r.chance(75);
            c.forwards = r.chance(40);
            l.channels.push_back(c);
        }
        a.levels.push_back(l);
    }
    return a;
}

// Ceil-sized tiles, loops in any order, any bypass below the outermost level.
inline model::Mapping random_mapping(Random& r, const model::Problem& p,
                                     const model::Accelerator& a) {
    using namespace model;
    Mapping m;
    m.levels.resize(a.levels.size());
    Extents left = p.bounds; // trips that the loops outside still have to make
    Extents tile = kOnes;
    const auto grow = [&](Dim d, Count most) {
        const Count trips = r.between(1, std::min(left[index(d)], most));
        tile[index(d)] *= trips;
        left[index(d)] = ceil_div(p.bounds[index(d)], tile[index(d)]);
        return trips;
    };
    for (std::size_t i = a.levels.size(); i-- > 0;) {
        LevelMapping& level = m.levels[i];
        level.keeps = kAll;
        for (const Operand o : kAllOperands) {
            if (i > 0 && r.chance(35)) {
                level.keeps.erase(o);
            }
        }
        for (std::size_t x = 0; x < a.levels[i].fanout.size(); ++x) {
            Count room = a.levels[i].fanout[x].size;
            for (int n = 0; n < 2; ++n) {
                const Dim d = kAllDims[static_cast<std::size_t>(r.upto(kDims))];
                const Count trips = grow(d, room);
                room /= trips;
                level.spatial.insert(level.spatial.begin(),
                                     {d, trips, static_cast<std::uint8_t>(x)});
            }
        }
        std::vector<Dim> order(kAllDims.begin(), kAllDims.end());
        for (std::size_t n = kDims; n > 1; --n) {
            std::swap(order[n - 1], order[static_cast<std::size_t>(r.upto(static_cast<Count>(n)))]);
        }
        for (const Dim d : order) {
            const Count trips = i == 0 ? left[index(d)] : r.chance(60) ? 1 : grow(d, 1000);
            level.temporal.insert(level.temporal.begin(), {d, trips});
        }
    }
    return m;
}

} // namespace eyeroof::test
