#include "model/eyexam/limits.hpp"

#include <algorithm>
#include <bit>

namespace eyeroof::model {

namespace {

constexpr std::size_t kUnitSteps = 5;          // steps 1 … 5 keep units idle
constexpr unsigned kAll = (1U << kSteps) - 1;  // a set of steps, bit k - 1 for step k
constexpr std::size_t kMoving = 5, kAdded = 6; // indices of steps 6 and 7

double unit_cycles(const NestCycles& nest, unsigned steps) {
    double cycles = nest.at_work;
    for (std::size_t k = 0; k < kUnitSteps; ++k) {
        cycles *= (steps >> k & 1U) != 0 ? nest.factors[k] : 1.0;
    }
    return cycles;
}

using OfSets = std::array<double, kAll + 1>; // one value for each set of steps

// How often a set of others comes before a step, over all orders: s! (6 - s)! / 7! of s others.
constexpr OfSets weights_of_sets() {
    constexpr std::array<double, kSteps> weights = {1.0 / 7,   1.0 / 42, 1.0 / 105, 1.0 / 140,
                                                    1.0 / 105, 1.0 / 42, 1.0 / 7};
    OfSets of_sets{};
    for (unsigned steps = 0; steps < kAll; ++steps) {
        of_sets[steps] = weights[static_cast<std::size_t>(std::popcount(steps))];
    }
    return of_sets;
}

// Cycles with only the steps of a set in force, of every set. A set's units take what they take
// without its last step, times that step's factor.
OfSets cycles_of_sets(const NestCycles& nest) {
    constexpr unsigned kUnitSets = 1U << kUnitSteps;
    std::array<double, kUnitSets> units{nest.at_work};
    for (unsigned steps = 1; steps < kUnitSets; ++steps) {
        const auto last = static_cast<unsigned>(std::bit_width(steps)) - 1U;
        units[steps] = units[steps ^ (1U << last)] * nest.factors[last];
    }
    OfSets cycles{};
    for (unsigned steps = 0; steps <= kAll; ++steps) {
        const double moving = (steps >> kMoving & 1U) != 0 ? nest.moving : 0.0;
        const double added = (steps >> kAdded & 1U) != 0 ? nest.added : 0.0;
        cycles[steps] = std::max(units[steps % kUnitSets], moving) + added;
    }
    return cycles;
}

void add_shares(const NestCycles& nest, Limits& limits) {
    constexpr OfSets weights = weights_of_sets();
    const OfSets cycles = cycles_of_sets(nest);
    limits.at_work += cycles[0];
    for (std::size_t k = 0; k < kSteps; ++k) {
        const unsigned own = 1U << k;
        limits.without[k] += cycles[kAll & ~own];
        for (unsigned others = 0; others <= kAll; ++others) {
            if ((others & own) == 0) {
                limits.share[k] += weights[others] * (cycles[others | own] - cycles[others]);
            }
        }
    }
}

// What the units' own wall is made of: busy units, or the step that idles most of them.
void bind_units(const std::vector<NestCycles>& nests, double wall, Limits& limits) {
    double busy = 0.0;
    std::array<double, kUnitSteps> idle{};
    for (const NestCycles& nest : nests) {
        const double own = unit_cycles(nest, kAll);
        if (own >= nest.moving) {
            busy += nest.at_work;
            for (std::size_t k = 0; k < kUnitSteps; ++k) {
                idle[k] += own * (1.0 - 1.0 / nest.factors[k]);
            }
        }
    }
    limits.arithmetic = 2.0 * busy > wall;
    const auto most = std::max_element(idle.begin(), idle.end()) - idle.begin();
    limits.binding = limits.arithmetic ? 3 : static_cast<std::size_t>(most) + 1;
}

void bind(const std::vector<NestCycles>& nests, Limits& limits) {
    double units = 0.0;
    double moving = 0.0;
    double added = 0.0;
    for (const NestCycles& nest : nests) {
        const double own = unit_cycles(nest, kAll);
        (own >= nest.moving ? units : moving) += std::max(own, nest.moving);
        added += nest.added;
    }
    if (moving > units && moving >= added) {
        limits.binding = kMoving + 1;
    } else if (added > units) {
        limits.binding = kAdded + 1;
    } else {
        bind_units(nests, units, limits);
    }
}

} // namespace

NestCycles nest_cycles_of(const Chain& chain, double units, double work, double moving) {
    constexpr double rounding = 1e-9;
    // An algorithm that multiplies less than the layer does (Winograd) may pass the units' rate.
    units = std::max(units, chain[2].macs_per_cycle);
    NestCycles nest;
    nest.at_work = work / units;
    double before = units;
    for (std::size_t k = 0; k < kUnitSteps; ++k) {
        const double after = std::min(units, chain[k].macs_per_cycle);
        nest.factors[k] = std::max(1.0, before / after);
        before = after;
    }
    const double at_five = work / before;
    const double at_six = std::max(at_five, work / chain[kMoving].macs_per_cycle);
    nest.moving = at_six > at_five * (1.0 + rounding) ? at_six : std::min(moving, at_five);
    const double at_seven = work / chain[kAdded].macs_per_cycle;
    nest.added = at_seven > at_six * (1.0 + rounding) ? at_seven - at_six : 0.0;
    return nest;
}

std::size_t Limits::saves_most() const {
    constexpr double rounding = 1e-9;
    double whole = at_work;
    for (const double part : share) {
        whole += part;
    }
    const auto least = std::min_element(without.begin(), without.end());
    return *least < whole * (1.0 - rounding) ? static_cast<std::size_t>(least - without.begin()) + 1
                                             : 0;
}

Limits limits_of(const std::vector<NestCycles>& nests) {
    Limits limits;
    for (const NestCycles& nest : nests) {
        add_shares(nest, limits);
    }
    bind(nests, limits);
    return limits;
}

Limits scaled(Limits limits, double factor) {
    limits.at_work *= factor;
    for (std::size_t k = 0; k < kSteps; ++k) {
        limits.without[k] *= factor;
        limits.share[k] *= factor;
    }
    return limits;
}

} // namespace eyeroof::model
