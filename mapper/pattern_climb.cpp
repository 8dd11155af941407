#include "mapper/pattern_climb.hpp"

#include "mapper/branch_and_bound.hpp"
#include "mapper/reported.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::uint64_t kMostClimbed = 5000; // mappings that a climb looks at

// The prime factors of a number, each once.
std::vector<Count> primes_of(Count n) {
    std::vector<Count> primes;
    for (Count p = 2; p * p <= n; ++p) {
        if (n % p == 0) {
            primes.push_back(p);
            while (n % p == 0) {
                n /= p;
            }
        }
    }
    if (n > 1) {
        primes.push_back(n);
    }
    return primes;
}

// One prime factor of a loop in time.
struct Factor {
    Dim dim = Dim::N;
    Count prime = 1;
};

std::vector<Factor> factors_of(const LevelMapping& level) {
    std::vector<Factor> factors;
    for (const TemporalLoop& loop : level.temporal) {
        for (const Count prime : primes_of(loop.bound)) {
            factors.push_back({loop.dim, prime});
        }
    }
    return factors;
}

// To the outermost place of the level where it has no loop of the dimension.
void move_factor(Mapping& mapping, const Factor& factor, std::size_t from, std::size_t to) {
    const auto loop_of = [&](std::vector<TemporalLoop>& loops) {
        return std::find_if(loops.begin(), loops.end(),
                            [&](const TemporalLoop& loop) { return loop.dim == factor.dim; });
    };
    loop_of(mapping.levels[from].temporal)->bound /= factor.prime;
    std::vector<TemporalLoop>& loops = mapping.levels[to].temporal;
    if (const auto there = loop_of(loops); there != loops.end()) {
        there->bound *= factor.prime;
    } else {
        loops.insert(loops.begin(), {factor.dim, factor.prime});
    }
}

class PatternClimber {
  public:
    PatternClimber(const Task& task, SearchResult start, const Effort& effort)
        : task_(task), effort_(effort), best_(std::move(start)) {}

    SearchResult run(std::uint64_t& nodes) {
        for (bool better = true; better && !over();) {
            const Mapping here = best_.mapping;
            const double before = best_.certificate.value;
            look_around(here);
            better = best_.certificate.value < before * (1.0 - kSlack);
        }
        nodes += looked_at_;
        return std::move(best_);
    }

  private:
    bool over() const { return looked_at_ >= kMostClimbed || effort_.over(); }

    void look(const Mapping& mapping) {
        ++looked_at_;
        effort_.spend(1);
        auto found = valued(task_, mapping);
        if (found && found->certificate.value < best_.certificate.value * (1.0 - kSlack)) {
            best_ = *std::move(found);
        }
    }

    void look_around(const Mapping& here) {
        for (std::size_t level = 0; level < here.levels.size() && !over(); ++level) {
            reorder(here, level);
            keep_otherwise(here, level);
        }
        for (std::size_t inner = 1; inner < here.levels.size(); ++inner) {
            for (std::size_t outer = 0; outer < inner && !over(); ++outer) {
                exchange(here, outer, inner);
            }
        }
    }

    void reorder(const Mapping& here, std::size_t level) {
        const std::vector<TemporalLoop>& loops = here.levels[level].temporal;
        for (std::size_t from = 0; from < loops.size(); ++from) {
            for (std::size_t to = 0; to < loops.size() && loops[from].bound > 1; ++to) {
                if (to == from || to == from + 1) { // one loop back is the next one forward
                    continue;
                }
                Mapping mapping = here;
                std::vector<TemporalLoop>& order = mapping.levels[level].temporal;
                const TemporalLoop loop = order[from];
                order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
                order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), loop);
                look(mapping);
            }
        }
    }

    void keep_otherwise(const Mapping& here, std::size_t level) {
        for (const Operand o : kAllOperands) {
            Mapping mapping = here;
            OperandSet& keeps = mapping.levels[level].keeps;
            keeps.contains(o) ? keeps.erase(o) : keeps.insert(o);
            look(mapping);
        }
    }

    void exchange(const Mapping& here, std::size_t outer, std::size_t inner) {
        const std::vector<Factor> out = factors_of(here.levels[inner]);
        const std::vector<Factor> in = factors_of(here.levels[outer]);
        for (const Factor& a : in) {
            Mapping larger = here;
            move_factor(larger, a, outer, inner);
            look(larger);
            for (const Factor& b : out) {
                if (b.dim != a.dim && !over()) {
                    Mapping swapped = larger;
                    move_factor(swapped, b, inner, outer);
                    look(swapped);
                }
            }
        }
        for (const Factor& b : out) {
            Mapping smaller = here;
            move_factor(smaller, b, inner, outer);
            look(smaller);
        }
    }

    const Task& task_;
    const Effort& effort_;
    SearchResult best_;
    std::uint64_t looked_at_ = 0;
};

} // namespace

std::optional<SearchResult> valued(const Task& task, const Mapping& mapping) {
    auto cost = cost_of(task.problem, task.machine, mapping, task.counting);
    if (!cost) {
        return std::nullopt;
    }
    SearchResult result;
    result.latency = timed(task, mapping, *cost);
    if (!satisfies_constraints(task, mapping, *cost, result.latency)) {
        return std::nullopt;
    }
    result.certificate.value = task.objective.value(cost->energy_pj, result.latency.total_cycles());
    result.mapping = mapping;
    result.cost = *std::move(cost);
    return result;
}

SearchResult climbed(const Task& task, SearchResult start, const Effort& effort,
                     std::uint64_t& nodes) {
    return PatternClimber(task, std::move(start), effort).run(nodes);
}

} // namespace eyeroof::mapper
