#include "mapper/search.hpp"

#include "mapper/baselines.hpp"
#include "mapper/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
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
        if (cost && obeys(task, mapping, *cost)) {
            SearchResult result;
            result.certificate.value = task.objective.value(cost->energy_pj, cost->cycles);
            result.mapping = mapping;
            result.cost = *std::move(cost);
            best = better(std::move(best), std::move(result));
        }
    }
    return best;
}

std::vector<Space> spaces_of(const Task& task, const SearchOptions& options) {
    const auto keeps = keep_choices(task);
    std::vector<Space> spaces(keeps.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < keeps.size(); i = next++) {
            spaces[i] = build_space(task, keeps[i], options.max_chains);
        }
    };
    std::vector<std::thread> pool;
    for (int t = 1; t < options.threads; ++t) {
        pool.emplace_back(work);
    }
    work();
    for (std::thread& thread : pool) {
        thread.join();
    }
    std::erase_if(spaces, [](const Space& s) {
        return std::any_of(s.groups.begin(), s.groups.end(),
                           [](const Group& g) { return g.chains.empty(); });
    });
    return spaces;
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
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Space> spaces = spaces_of(task, options);
    std::optional<SearchResult> known = best_known(task);
    ExactOutcome outcome;
    if (options.strategy == Strategy::exact) {
        auto guess = first_guess(task, spaces);
        outcome =
            search_exact(task, spaces, options, better(known, std::move(guess)), stop, progress);
    } else {
        outcome = search_baseline(task, spaces, options, stop, progress);
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
    const bool truncated =
        std::any_of(spaces.begin(), spaces.end(), [](const Space& s) { return s.truncated; });
    c.proved = outcome.complete && !truncated &&
               (options.strategy == Strategy::exact || options.strategy == Strategy::exhaustive);
    c.lower_bound = truncated ? 0.0 : outcome.lower_bound;
    c.lower_bound = std::min(c.lower_bound, c.value);
    c.space = task.factors == Factors::perfect ? "perfect factors" : "any factors";
    const bool outside = outcome.from_start && known && result.mapping == known->mapping;
    c.note = truncated ? kLeftOut : outcome.complete && outside ? kOutside : "";
    c.gap = std::max(0.0, (c.value - c.lower_bound) / c.value);
    c.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.history = std::move(outcome.history);
    return Result<SearchResult>(std::move(result));
}

} // namespace eyeroof::mapper
