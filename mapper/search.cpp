#include "mapper/search.hpp"

#include "base/parallel.hpp"
#include "mapper/baselines.hpp"
#include "mapper/branch_and_bound.hpp"
#include "mapper/case_queue.hpp"
#include "mapper/exact.hpp"
#include "mapper/pattern_climb.hpp"
#include "mapper/reported.hpp"
#include "mapper/space_name.hpp"
#include "mapper/trivial_bound.hpp"
#include "mapper/uneven.hpp"
#include "model/cost/dram_pattern.hpp"
#include "model/cost/leakage.hpp"

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
constexpr const char* kNotPlaced =
    "some trips can be put on the axes in more ways than are looked at";
constexpr const char* kAsStream =
    "the bound takes the DRAM as a stream, which no mapping exceeds; the tiles of this one are "
    "accessed more slowly";
constexpr const char* kEvenProven =
    "the best even mapping is proven, its gap is that to uneven ones: their search was cut";
constexpr const char* kOutside =
    "a known mapping, with tile sizes from outside the space, is better than all in it";
constexpr const char* kOutsideSoFar =
    "a known mapping, with tile sizes from outside the space, is better than all that were found "
    "in it";

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
        found.error("unsupported", fmt::format("the mapper handles at most {} levels", kMaxLevels),
                    "join levels that hold the same operands");
    }
    if (task.problem.form == ConvForm::scatter) {
        found.error("unsupported", "the mapper does not search the scatter form",
                    "leave the form to the layer: a gradient is searched in its gather form");
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
        best = better(std::move(best), valued(task, mapping));
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
                least = std::min(least, o == task.problem.produced ? store->update_pj_of(o)
                                                                   : store->read_pj_of(o));
            }
        }
        const bool there = o != Operand::weight || task.problem.has_weight;
        const Count words = tile_elements(task.problem, o, loop_bounds(task.problem));
        pj += there && std::isfinite(least) ? least * static_cast<double>(words) : 0.0;
    }
    const double cycles = trivial_cycles(task) * (1.0 - 1e-12);
    return task.objective.value(pj + least_leak_pj_per_cycle(task.machine) * cycles, cycles);
}

// Is the mapping one of those with factors that divide?
bool divides_evenly(const Task& task, const Mapping& mapping) {
    Extents trips = kOnes;
    for (const LevelMapping& level : mapping.levels) {
        for (const TemporalLoop& loop : level.temporal) {
            trips[index(loop.dim)] *= loop.bound;
        }
        for (const SpatialLoop& loop : level.spatial) {
            trips[index(loop.dim)] *= loop.bound;
        }
    }
    return trips == loop_bounds(task.problem);
}

// Spaces of choices of kept operands; `unfinished` when the time was over before.
struct Spaces {
    std::vector<Space> all;
    bool unfinished = false;
    double truncated = kNone; // the lowest bound of those that lack some splits
};

constexpr std::size_t kMostBytes = 200'000'000; // of the spaces that are there at a time
constexpr std::size_t kMostSpaces = 32;
constexpr std::size_t kAtOnce = 2;      // spaces that are built in parallel
constexpr std::size_t kMostCases = 256; // of step 7, of all choices of kept operands together

std::size_t bytes_of(const Space& space) {
    std::size_t bytes = 0;
    for (const Group& group : space.groups) {
        bytes += (group.cost_factors.capacity() + group.ranges.capacity()) * sizeof(double) +
                 group.nodes.capacity() * sizeof(Node) + group.chains.capacity() * sizeof(Chain);
    }
    return bytes;
}

// Adds the next spaces, up to `most` and as many as fit in memory, while one of them may hold a
// mapping with a value below `best`.
void add_spaces(const Task& task, CaseQueue& queue, const SearchOptions& options, double best,
                const Effort& effort, std::size_t most, Spaces& spaces) {
    std::size_t bytes = 0;
    for (const Space& space : spaces.all) {
        bytes += bytes_of(space);
    }
    while (!queue.empty() && queue.lower_bound() < best && spaces.all.size() < most &&
           bytes < kMostBytes && !spaces.unfinished) {
        std::vector<CaseQueue::Case> chosen;
        const double lower_bound = queue.lower_bound();
        while (!queue.empty() && queue.lower_bound() < best && chosen.size() < kAtOnce) {
            chosen.push_back(queue.next());
        }
        std::vector<Space> some(chosen.size());
        in_parallel(options.threads, chosen.size(), [&](std::size_t i) {
            some[i] =
                build_space(task, chosen[i].keeps, options.max_chains, effort, chosen[i].prefetch);
        });
        for (Space& space : some) {
            spaces.unfinished = spaces.unfinished || space.unfinished;
            spaces.truncated =
                space.truncated ? std::min(spaces.truncated, lower_bound) : spaces.truncated;
            const bool none =
                space.unfinished || std::any_of(space.groups.begin(), space.groups.end(),
                                                [](const Group& g) { return g.chains.empty(); });
            if (!none) {
                bytes += bytes_of(space);
                spaces.all.push_back(std::move(space));
            }
        }
    }
}

// Searches the spaces in the order of their lower bounds, a few at a time, each beginning with the
// best of those before.
class Search {
  public:
    Search(const Task& task, const SearchOptions& options, std::optional<SearchResult> first,
           const Effort& effort, const ProgressCallback& progress)
        : task_(task), options_(options), effort_(effort), progress_(progress),
          queue_(task, kMostCases) {
        all_.best = std::move(first);
        all_.complete = true;
        all_.from_start = true;
        all_.lower_bound = kNone;
        note_best();
    }

    ExactOutcome run() {
        while (!queue_.empty() && queue_.lower_bound() < value() * (1.0 - kSlack) &&
               all_.complete) {
            if (effort_.over()) {
                stop_at(queue_.lower_bound());
                break;
            }
            search_some();
        }
        all_.lower_bound = std::min(all_.lower_bound, value() * (1.0 - kSlack));
        return std::move(all_);
    }
    double truncated = kNone; // the lowest bound of the spaces that lack some splits

  private:
    double value() const { return all_.best ? all_.best->certificate.value : kNone; }

    void stop_at(double bound) {
        all_.complete = false;
        all_.lower_bound = std::min(all_.lower_bound, bound);
    }

    void note_best() {
        if (all_.best && (all_.history.empty() || value() < all_.history.back().value)) {
            all_.history.push_back({effort_.seconds(), all_.nodes, value()});
        }
    }

    void find_incumbent(const Spaces& spaces) {
        has_incumbent_ = has_incumbent_ || !spaces.all.empty();
        all_.best = better(std::move(all_.best),
                           first_incumbent(task_, spaces.all, options_.threads, effort_));
        note_best();
    }

    void search_some() {
        const double lower_bound = queue_.lower_bound();
        const double before = value();
        Spaces spaces;
        if (!has_incumbent_) { // a first answer before the time goes into more spaces
            add_spaces(task_, queue_, options_, value(), effort_, kAtOnce, spaces);
            find_incumbent(spaces);
        }
        add_spaces(task_, queue_, options_, value(), effort_, kMostSpaces, spaces);
        truncated = std::min(truncated, spaces.truncated);
        find_incumbent(spaces);
        all_.from_start = all_.from_start && value() == before;
        if (spaces.unfinished) {
            stop_at(lower_bound);
            return;
        }
        take(search_exact(task_, spaces.all, options_, std::move(all_.best), effort_, progress_),
             lower_bound);
    }

    // `lower_bound`: no mapping of the spaces that were searched has a lower value.
    void take(ExactOutcome some, double lower_bound) {
        some.lower_bound = std::max(some.lower_bound, lower_bound);
        for (Improvement& step : some.history) {
            if (all_.history.empty() || step.value < all_.history.back().value) {
                step.nodes += all_.nodes;
                all_.history.push_back(step);
            }
        }
        all_.best = std::move(some.best);
        all_.nodes += some.nodes;
        for (const auto& [rule, nodes] : some.pruned) {
            all_.pruned[rule] += nodes;
        }
        all_.from_start = all_.from_start && some.from_start;
        all_.left_out = std::min(all_.left_out, some.left_out);
        all_.lower_bound = std::min(all_.lower_bound, some.lower_bound);
        if (!some.complete) {
            stop_at(some.lower_bound);
            if (!queue_.empty()) {
                stop_at(queue_.lower_bound());
            }
        }
    }

    const Task& task_;
    const SearchOptions& options_;
    const Effort& effort_;
    const ProgressCallback& progress_;
    CaseQueue queue_;
    bool has_incumbent_ = false; // from a space
    ExactOutcome all_;
};

// Puts the nodes and improvements of an earlier search in front of those of a later one.
void put_before(const ExactOutcome& earlier, ExactOutcome& later) {
    std::vector<Improvement> history = earlier.history;
    for (Improvement& step : later.history) {
        if (history.empty() || step.value < history.back().value) {
            step.nodes += earlier.nodes;
            history.push_back(step);
        }
    }
    later.history = std::move(history);
    later.nodes += earlier.nodes;
    for (const auto& [rule, nodes] : earlier.pruned) {
        later.pruned[rule] += nodes;
    }
}

// Searches the task's space; among tiles of any size it begins with the best mapping whose tiles
// divide evenly. The search for that one is the same as with perfect factors and may take the whole
// effort, so that a search of the larger space never returns a worse mapping under the same limit.
ExactOutcome search_spaces(const Task& task, const SearchOptions& options,
                           std::optional<SearchResult> known, const Effort& effort,
                           const ProgressCallback& progress, double& truncated) {
    ExactOutcome even;
    if (task.factors == Factors::any) {
        Task divisors = task;
        divisors.factors = Factors::perfect;
        even = Search(divisors, options, std::move(known), effort, {}).run();
        known = std::move(even.best);
    }
    Search all(task, options, std::move(known), effort, progress);
    ExactOutcome outcome = all.run();
    truncated = std::min(truncated, all.truncated);
    put_before(even, outcome);
    return outcome;
}

// Searches the even mappings, then those with stores in parts, each beginning with the best of
// those before.
ExactOutcome search_uneven(const Task& task, const Unfolded& uneven, const SearchOptions& options,
                           const std::optional<SearchResult>& known, const Effort& effort,
                           const ProgressCallback& progress, double& truncated) {
    ExactOutcome all = search_spaces(task, options, known, effort, progress, truncated);
    all.even_complete = all.complete && truncated == kNone;
    for (const Task& parts : uneven.tasks) {
        const double before = all.best ? all.best->certificate.value : kNone;
        ExactOutcome one = search_spaces(parts, options, all.best, effort, progress, truncated);
        if (one.best && one.best->certificate.value < before) {
            one.best->machine = parts.machine;
        }
        put_before(all, one);
        one.complete = one.complete && all.complete;
        one.even_complete = all.even_complete;
        one.from_start = one.from_start && all.from_start;
        one.left_out = std::min(one.left_out, all.left_out);
        one.lower_bound = std::min(one.lower_bound, all.lower_bound);
        all = std::move(one);
    }
    return all;
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

namespace {

Result<SearchResult> search_space(const Task& task, const Unfolded& uneven,
                                  const SearchOptions& asked, std::stop_token stop,
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
    if (exact && options.max_nodes > 0) {
        options.threads = 1;
    }
    const Effort effort(exact ? options.time_limit_s : 0.0, stop, exact ? options.max_nodes : 0);
    std::optional<SearchResult> known = best_known(task);
    ExactOutcome outcome;
    double left_out = kNone; // no mapping of splits that are not looked at has a lower value
    if (exact) {
        outcome = search_uneven(task, uneven, options, known, effort, progress, left_out);
    } else {
        // The baselines draw from the spaces with the lowest bounds, as many as memory has
        // room for.
        CaseQueue queue(task, 1); // a mapping in one space alone
        Spaces spaces;
        add_spaces(task, queue, options, kNone, effort, kMostSpaces, spaces);
        outcome = search_baseline(task, spaces.all, options, stop, progress);
        outcome.complete = outcome.complete && !spaces.unfinished && queue.empty();
        outcome.lower_bound = outcome.complete ? outcome.lower_bound : 0.0;
        outcome.best = better(std::move(outcome.best), known);
        left_out = spaces.truncated;
    }
    if (!outcome.best) {
        Diagnostics reasons = explain_infeasible(task);
        if (!reasons.has_errors()) {
            reasons.error(outcome.complete ? "infeasible" : "no-mapping",
                          outcome.complete ? "the constraints together leave no mapping"
                                           : "the search ended before it found a mapping",
                          outcome.complete ? "relax one of them" : "give it more time or nodes");
        }
        return reasons;
    }
    SearchResult result = std::move(*outcome.best);
    Certificate& c = result.certificate;
    c.objective = task.objective.name();
    c.nodes = outcome.nodes;
    c.pruned = std::move(outcome.pruned);
    const bool truncated = left_out < kNone;
    const bool placed = outcome.left_out >= c.value * (1.0 - kSlack);
    c.proved = outcome.complete && !truncated && placed &&
               (options.strategy == Strategy::exact || options.strategy == Strategy::exhaustive);
    c.lower_bound = std::min({outcome.lower_bound, outcome.left_out, left_out});
    c.lower_bound = std::min(std::max(c.lower_bound, least_value(task)), c.value);
    c.space = space_name(task.factors, uneven.stores);
    const bool outside = outcome.from_start && known && result.mapping == known->mapping &&
                         task.factors == Factors::perfect && !divides_evenly(task, result.mapping);
    c.note = truncated ? kLeftOut
             : !placed ? kNotPlaced
             : outside ? (outcome.complete ? kOutside : kOutsideSoFar)
             : outcome.even_complete && !outcome.complete ? kEvenProven
                                                          : "";
    if (!uneven.even.empty()) {
        c.note += (c.note.empty() ? "" : "; ") + ("even only: " + uneven.even);
    }
    c.gap = std::max(0.0, (c.value - c.lower_bound) / c.value);
    // What is left when the effort ends may only tie.
    c.proved = c.proved || (exact && !truncated && c.gap <= 2.0 * kSlack);
    c.open_by = c.proved            ? OpenBy::nothing
                : !outcome.complete ? OpenBy::effort
                : truncated         ? OpenBy::splits
                : !placed           ? OpenBy::placements
                                    : OpenBy::effort;
    c.time_s = effort.seconds();
    result.history = std::move(outcome.history);
    return Result<SearchResult>(std::move(result));
}

// The best mapping found at the rate of a stream, or a known one, or one near the best of these, at
// the rates of their own tiles. Tiles slow a DRAM down and never speed it up, so the bound of the
// streamed task holds.
Result<SearchResult> at_own_rates(const Task& task, SearchResult streamed,
                                  const SearchOptions& options, std::stop_token stop) {
    Task known = task;
    known.known.push_back(streamed.mapping);
    std::optional<SearchResult> best = best_known(known);
    if (!best) {
        return Result<SearchResult>::failure(
            "no-mapping",
            "no mapping was found that keeps the limits at the DRAM's rate for its tiles",
            "raise the limits, or state the DRAM's `run`");
    }
    Certificate c = std::move(streamed.certificate);
    const double at_stream = c.value;
    if (best->certificate.value > at_stream * (1.0 + kSlack)) {
        const double left_s = options.time_limit_s - c.time_s;
        const Effort effort(options.time_limit_s > 0.0 ? std::max(1e-3, left_s) : 0.0,
                            std::move(stop), options.max_nodes);
        best = climbed(task, *std::move(best), effort, c.nodes);
        c.time_s += effort.seconds();
    }
    c.value = best->certificate.value;
    c.gap = std::max(0.0, (c.value - c.lower_bound) / c.value);
    c.proved = c.gap <= 2.0 * kSlack;
    if (!c.proved && c.value > at_stream * (1.0 + kSlack)) {
        c.note = kAsStream;
        c.open_by = c.open_by == OpenBy::nothing ? OpenBy::stream : c.open_by;
    }
    best->certificate = std::move(c);
    best->history = std::move(streamed.history);
    return Result<SearchResult>(*std::move(best));
}

} // namespace

Result<SearchResult> search(const Task& task, const SearchOptions& options, std::stop_token stop,
                            const ProgressCallback& progress) {
    Unfolded uneven;
    if (options.uneven && options.strategy == Strategy::exact) {
        auto parts = unfolded(task);
        if (!parts) {
            return parts.diagnostics();
        }
        uneven = *std::move(parts);
    }
    if (task.counting != Counting::eyeroof || !follows_mapping(task.machine)) {
        return search_space(task, uneven, options, std::move(stop), progress);
    }
    Task streamed = task;
    streamed.machine = at_stream_rate(task.machine);
    auto found = search_space(streamed, uneven, options, stop, progress);
    return found ? at_own_rates(task, *std::move(found), options, std::move(stop))
                 : std::move(found);
}

bool search_below(const Task& task, const SearchOptions& options, const Below& below,
                  const std::stop_token& stop) {
    if (check_task(task).has_errors()) {
        return false;
    }
    const Effort effort(options.time_limit_s, stop, options.max_nodes);
    CaseQueue queue(task, kMostCases);
    while (!queue.empty() && queue.lower_bound() < below.cutoff()) {
        Spaces spaces;
        add_spaces(task, queue, options, below.cutoff(), effort, kMostSpaces, spaces);
        if (spaces.unfinished || spaces.truncated < kNone) {
            return false;
        }
        const ExactOutcome outcome =
            search_exact(task, spaces.all, options, std::nullopt, effort, {}, &below);
        if (!outcome.complete || outcome.left_out < below.cutoff()) {
            return false;
        }
    }
    return true;
}

} // namespace eyeroof::mapper
