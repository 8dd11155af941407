// The door to the mapper: searches a task's mapspace and gives the best mapping with its
// certificate.
#pragma once

#include "base/progress.hpp"
#include "base/result.hpp"
#include "mapper/problem_space.hpp"
#include "model/cost/latency.hpp"

#include <map>
#include <stop_token>

namespace eyeroof::mapper {

enum class Strategy { exact, random, random_pruned, exhaustive, annealing, genetic };
std::string_view strategy_name(Strategy strategy);
std::optional<Strategy> strategy_from_name(std::string_view name);

struct SearchOptions {
    Strategy strategy = Strategy::exact;
    int threads = 1;           // 0: as many as the machine has; the mapping does not depend on it
    double time_limit_s = 0.0; // 0: none for the exact search, 1 s for the baselines
    // Nodes that the exact search looks at, at most; 0: no limit. The answer is then the same on
    // every machine, however busy: the search runs on one thread.
    std::uint64_t max_nodes = 0;
    std::uint64_t seed = 1;
    std::uint64_t max_samples = 0;   // of the baselines; 0: until the time limit
    std::size_t max_chains = 200000; // ways to split a group of dimensions that are looked at
    bool uneven = false; // the exact search looks at uneven mappings, too; see mapper/uneven.hpp
};

// What keeps a gap open. Of these only effort is more nodes or time.
enum class OpenBy {
    nothing,    // the gap is closed
    effort,     // the search ended early
    splits,     // some ways to split a dimension were not looked at
    placements, // some ways to put trips on the axes were not looked at
    stream,     // the bound takes the DRAM as a stream, the value has the rate of its own tiles
};

// Value, and a bound that no mapping in the space beats, nor any of the known ones. gap = (value -
// bound) / value.
struct Certificate {
    std::string objective;
    double value = 0.0;
    double lower_bound = 0.0;
    double gap = 1.0;
    bool proved = false;
    OpenBy open_by = OpenBy::effort; // where it is not proved
    std::uint64_t nodes = 0; // partial and whole mappings whose cost was bounded or computed
    std::map<std::string, std::uint64_t> pruned; // by rule
    double time_s = 0.0;
    std::string space; // what the bound holds for: "perfect factors", "any factors"
    std::string note;  // what else is to be known: a better mapping from outside that space, or
                       // splits that were left out; empty: nothing

    bool operator==(const Certificate&) const = default;
};

struct Improvement { // for the convergence plot
    double time_s = 0.0;
    std::uint64_t nodes = 0;
    double value = 0.0;

    bool operator==(const Improvement&) const = default;
};

struct SearchResult {
    model::Mapping mapping;
    model::MappingCost cost;
    model::Latency latency; // the time that the value is made of: of step 7 unless asked otherwise
    Certificate certificate;
    std::vector<Improvement> history;
    // Whose levels those of the mapping are, where it is uneven; nullopt: the task's machine.
    std::optional<model::Accelerator> machine = std::nullopt;

    bool operator==(const SearchResult&) const = default;
};

// Errors: "infeasible" with the conflicting constraints named; "no-mapping" when the effort ended
// before any mapping was found; "unsupported" for the scatter form; those of the machine and of
// unfolded().
Result<SearchResult> search(const Task& task, const SearchOptions& options = {},
                            std::stop_token stop = {}, const ProgressCallback& progress = {});

// Does a mapping with this cost and time keep the constraints of the task?
bool satisfies_constraints(const Task& task, const model::Mapping& mapping,
                           const model::MappingCost& cost, const model::Latency& latency);

// What cannot be met, by name; empty when some mapping exists for each rule alone. The field of
// each lists the rules at fault: "levels[1].temporal.K levels[2].spatial.K".
Diagnostics explain_infeasible(const Task& task);

} // namespace eyeroof::mapper
