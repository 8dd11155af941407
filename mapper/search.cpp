#include "mapper/search.hpp"

#include "mapper/baselines.hpp"
#include "mapper/exact.hpp"
#include "mapper/parallel.hpp"
#include "mapper/reported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr const char* kLeftOut =
    "some dimension can be split in more ways than are looked at: raise max_chains, or fix some of "
    "its trips";
constexpr const char* kOutside =
    "a known mapping, with tile sizes from outside the space, is better than all in it";

constexpr std::array<std::pair<Strategy, std::string_view>, 6> kNames = {
    {{Strategy::exact, "exact"},
     {Strategy::random, "random"},
     {Strategy::random_pruned, "random-pruned"},
     {Strategy::exhaustive, "exhaustive"},
     {Strategy::annealing, "annealing"},
     {Strategy::genetic, "genetic"}}};

Diagnostics check_task(const Task& task) {
    Diagnostics found = validate(task.machine);
    if (task.machine.levels.size() > kMaxLevels) {
        found.error("unsupported", fmt::format("the mapper handles at most {} levels", kMaxLevels));
    }
    if (task.problem.form == ConvForm::scatter) {
        found.error("unsupported", "the mapper does not search the scatter form");
    }
    if (task.counting == Counting::timeloop && task.problem.produced == Operand::input) {
        found.error("unsupported", "Timeloop's counting is not searched for gradients of the input",
                    "search with eyeroof's own counting");
    }
    return found;
}

std::optional<SearchResult> better(std::optional<SearchResult> a, std::optional<SearchResult> b) {
    const bool second = b && (!a || b->certificate.value < a->certificate.value);
    return second ? std::move(b) : std::move(a);
}

// The best of the mappings that the task brings along.
std::optional<SearchResult> best_known(const Task& task) {
    std::optional<SearchResult> best;
    for (const Mapping& mapping : task.known) {
        auto cost = cost_of(task.problem, task.machine, mapping, task.counting);
        if (!cost) {
            continue;
        }
        SearchResult result;
        result.latency = reported_latency(task, mapping, *cost);
        if (obeys(task, mapping, *cost, result.latency)) {
            result.certificate.value =
                task.objective.value(cost->energy_pj, result.latency.total_cycles());
            result.mapping = mapping;
            result.cost = *std::move(cost);
            best = better(std::move(best), std::move(result));
        }
    }
    return best;
}

// No mapping of the task costs less: each word of an operand moves once at its cheapest home, and
// all units work all the time.
double least_value(const Task& task) {
    const auto macs = static_cast<double>(macs_of(task.problem));
    double pj = task.machine.mac_pj * macs;
    for (const Operand o : kAllOperands) {
        double least = std::numeric_limits<double>::infinity(); // of a word
        for (const std::size_t home : homes_allowed(task, o)) {
            const Store* store = store_of(task.machine.levels[home], o);
            if (store != nullptr) {
                least = std::min(least, o == task.problem.produced ? store->write_pj_of(o)
                                                                   : store->read_pj_of(o));
            }
        }
        const bool there = o != Operand::weight || task.problem.has_weight;
        const Count words = tile_elements(task.problem, o, loop_bounds(task.problem));
        pj += there && std::isfinite(least) ? least * static_cast<double>(words) : 0.0;
    }
    return task.objective.value(pj, least_steps(task).units);
}

// The spaces of all choices of kept operands; `unfinished` when the time was over before.
struct Spaces {
    std::vector<Space> all;
    bool unfinished = false;
};

Spaces spaces_of(const Task& task, const SearchOptions& options, const Effort& effort) {
    const auto keeps = keep_choices(task);
    std::vector<Space> spaces(keeps.size());
    in_parallel(options.threads, keeps.size(), [&](std::size_t i) {
        spaces[i] = build_space(task, keeps[i], options.max_chains, effort);
    });
    const bool unfinished =
        std::any_of(spaces.begin(), spaces.end(), [](const Space& s) { return s.unfinished; });
    std::erase_if(spaces, [](const Space& s) {
        return s.unfinished || std::any_of(s.groups.begin(), s.groups.end(),
                                           [](const Group& g) { return g.chains.empty(); });
    });
    return {std::move(spaces), unfinished};
}

// The best mapping whose tiles divide evenly, to begin a search among all tile sizes with: its
// spaces are small, so that it is proved soon, and little can be better. Takes a part of the time;
// the best so far where that is not enough.
std::optional<SearchResult> best_even(const Task& task, const SearchOptions& options,
                                      std::optional<SearchResult> known, const Effort& effort) {
    constexpr double kShare = 0.3;
    Task even = task;
    even.factors = Factors::perfect;
    const Effort some = effort.part(kShare);
    const Spaces spaces = spaces_of(even, options, some);
    auto first = better(std::move(known), first_guess(even, spaces.all, options.threads, some));
    return spaces.unfinished
               ? std::move(first)
               : search_exact(even, spaces.all, options, std::move(first), some, {}).best;
}

// What there is when the time was over before the search began.
ExactOutcome cut_short(std::optional<SearchResult> best, const Effort& effort) {
    ExactOutcome outcome;
    if (best) {
        outcome.history.push_back({effort.seconds(), 0, best->certificate.value});
    }
    outcome.best = std::move(best);
    outcome.from_start = true;
    return outcome;
}

} // namespace

std::string_view strategy_name(Strategy strategy) {
    for (const auto& [value, name] : kNames) {
        if (value == strategy) {
            return name;
        }
    }
    return "exact";
}

std::optional<Strategy> strategy_from_name(std::string_view name) {
    for (const auto& [value, known] : kNames) {
        if (known == name) {
            return value;
        }
    }
    return std::nullopt;
}

Result<SearchResult> search(const Task& task, const SearchOptions& asked, std::stop_token stop,
                            const ProgressCallback& progress) {
    Diagnostics found = check_task(task);
    if (found.has_errors()) {
        return found;
    }
    SearchOptions options = asked;
    if (options.threads <= 0) {
        options.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    }
    const bool exact = options.strategy == Strategy::exact;
    const Effort effort(exact ? options.time_limit_s : 0.0, stop);
    std::optional<SearchResult> known = best_known(task);
    std::optional<SearchResult> first = known;
    if (exact && task.factors == Factors::any) {
        first = best_even(task, options, std::move(first), effort);
    }
    const Spaces spaces = spaces_of(task, options, effort);
    ExactOutcome outcome;
    if (exact) {
        first = better(std::move(first), first_guess(task, spaces.all, options.threads, effort));
        outcome = spaces.unfinished
                      ? cut_short(std::move(first), effort)
                      : search_exact(task, spaces.all, options, std::move(first), effort, progress);
    } else {
        outcome = search_baseline(task, spaces.all, options, stop, progress);
        outcome.complete = outcome.complete && !spaces.unfinished;
        outcome.best = better(std::move(outcome.best), known);
    }
    if (!outcome.best) {
        Diagnostics reasons = explain_infeasible(task);
        if (!reasons.has_errors()) {
            reasons.error(outcome.complete ? "infeasible" : "no-mapping",
                          outcome.complete ? "the constraints together leave no mapping"
                                           : "the search ended before it found a mapping",
                          outcome.complete ? "relax one of them" : "give it more time");
        }
        return reasons;
    }
    SearchResult result = std::move(*outcome.best);
    Certificate& c = result.certificate;
    c.objective = task.objective.name();
    c.nodes = outcome.nodes;
    c.pruned = std::move(outcome.pruned);
    const bool truncated = std::any_of(spaces.all.begin(), spaces.all.end(),
                                       [](const Space& s) { return s.truncated; });
    c.proved = outcome.complete && !truncated &&
               (options.strategy == Strategy::exact || options.strategy == Strategy::exhaustive);
    c.lower_bound = truncated ? 0.0 : outcome.lower_bound;
    c.lower_bound = std::min(std::max(c.lower_bound, least_value(task)), c.value);
    c.space = task.factors == Factors::perfect ? "perfect factors" : "any factors";
    const bool outside = outcome.from_start && known && result.mapping == known->mapping;
    c.note = truncated ? kLeftOut : outcome.complete && outside ? kOutside : "";
    c.gap = std::max(0.0, (c.value - c.lower_bound) / c.value);
    c.time_s = effort.seconds();
    result.history = std::move(outcome.history);
    return Result<SearchResult>(std::move(result));
}

} // namespace eyeroof::mapper
