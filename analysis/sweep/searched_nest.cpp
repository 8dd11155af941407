#include "analysis/sweep/searched_nest.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/ruled_task.hpp"
#include "mapper/search_below.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-10;                 // values that searches take as equal
constexpr double kWindow = 1.2;                // of the values of points that one search is for
constexpr std::uint64_t kShortSearch = 40'000; // nodes
constexpr std::size_t kMostKept = 64;          // mappings from one call to the next

} // namespace

double SearchedNest::value_of(const NestFigures& figures) const {
    return rules_.objective.value(figures.energy_pj, figures.cycles);
}

bool SearchedNest::runs(Known& known, const SearchedPoint& point) const {
    if (covers_sizes(*point.ease, known.runs)) {
        return true;
    }
    if (!known.fails.rates.empty() && covers_sizes(known.fails, *point.ease)) {
        return false;
    }
    const bool legal = !validate(known.mapping, problem_, *point.machine).has_errors();
    (legal ? known.runs : known.fails) = *point.ease;
    return legal;
}

// The point takes the mapping if it runs there and is better than the one it has.
void SearchedNest::consider(Known& known, SearchedPoint& point) const {
    if (point.settled) {
        return;
    }
    const NestFigures figures =
        figures_at(known.candidate, *point.machine,
                   cycles_at(known.candidate, *point.machine).total(), point.leaking);
    const double value = value_of(figures);
    if (value < point.value * (1.0 - kTie) && runs(known, point)) {
        point.value = value;
        point.best = figures;
        known.used = true;
    }
}

void SearchedNest::add(const Mapping& mapping, const Accelerator& machine, const Ease& ease,
                       const Points& points) {
    const bool there = std::any_of(known_.begin(), known_.end(),
                                   [&](const Known& known) { return known.mapping == mapping; });
    const auto counts = there ? Result<CountedMapping>(CountedMapping{})
                              : counted_mapping(problem_, machine, mapping);
    if (there || !counts) {
        return;
    }
    Known known{mapping, candidate_of(problem_, machine, mapping, *counts), ease, {}};
    for (SearchedPoint* point : points) {
        consider(known, *point);
    }
    if (known.used) {
        known_.push_back(std::move(known));
    }
}

// The open points that one search is for: of one array, the largest, with values near the least.
SearchedNest::Points SearchedNest::chosen(const Points& open) const {
    const auto units = [](const SearchedPoint* point) {
        double all = 1.0;
        for (const double size : point->ease->axes) {
            all *= size;
        }
        return all;
    };
    const SearchedPoint& first = **std::max_element(
        open.begin(), open.end(),
        [&](const SearchedPoint* a, const SearchedPoint* b) { return units(a) < units(b); });
    Points some;
    std::copy_if(open.begin(), open.end(), std::back_inserter(some),
                 [&](const SearchedPoint* point) { return point->ease->axes == first.ease->axes; });
    std::stable_sort(some.begin(), some.end(), [](const SearchedPoint* a, const SearchedPoint* b) {
        return a->value < b->value;
    });
    const double most = some.front()->value * kWindow;
    std::erase_if(some, [&](const SearchedPoint* point) { return point->value > most; });
    return some;
}

SearchedNest::Searched SearchedNest::search_all(const Points& points, const std::stop_token& stop) {
    Ease ease = *points.front()->ease;
    for (const SearchedPoint* point : points) {
        ease = easier(ease, *point->ease);
    }
    Searched searched{with_ease(*points.front()->machine, ease), ease};
    mapper::Task task = ruled_task(problem_, searched.machine, &rules_.dataflow);
    task.objective = rules_.objective;
    task.factors = rules_.factors;
    const auto highest = [&] {
        double value = 0.0;
        for (const SearchedPoint* point : points) {
            value = std::max(value, point->value);
        }
        return value * (1.0 - 3.0 * kTie);
    };
    double cutoff = highest();
    double least = kNothing;
    mapper::SearchOptions options;
    options.max_nodes =
        rules_.max_nodes == 0 ? kShortSearch : std::min(kShortSearch, rules_.max_nodes);
    mapper::Below below;
    below.cutoff = [&] { return cutoff; };
    below.found = [&](const mapper::SearchResult& found) {
        least = std::min(least, found.certificate.value);
        add(found.mapping, searched.machine, ease, points);
        cutoff = highest();
    };
    ++searches_;
    searched.complete = mapper::search_below(task, options, below, stop);
    searched.least = std::min(least, cutoff);
    return searched;
}

// The search that an exam does at a point.
void SearchedNest::search_one(SearchedPoint& point, const std::stop_token& stop) {
    mapper::Task task = task_of(problem_, *point.machine, &rules_.dataflow);
    task.objective = rules_.objective;
    task.factors = rules_.factors;
    mapper::SearchOptions options;
    options.max_nodes = rules_.max_nodes;
    ++searches_;
    const auto found = mapper::search(task, options, stop);
    if (found) {
        add(found->mapping, *point.machine, *point.ease, {&point});
    }
}

void SearchedNest::settle_with(const Searched& searched, const Points& open) const {
    for (SearchedPoint* point : open) {
        const bool best = point->value <= searched.least * (1.0 + 4.0 * kTie);
        point->settled = point->settled || (best && covers(searched.ease, *point->ease));
    }
}

void SearchedNest::solve(const Points& points, const std::stop_token& stop) {
    for (SearchedPoint* point : points) {
        point->best = point->own;
        point->value = point->own ? value_of(*point->own) : kNothing;
        for (Known& known : known_) {
            consider(known, *point);
        }
    }
    Points open = points;
    std::size_t most = open.size(); // points that one search is for
    bool climbed = false;           // is the mapping known here as good as can be had quickly?
    while (!open.empty() && !stop.stop_requested()) {
        Points some = chosen(open);
        some.resize(std::min(some.size(), most));
        const std::size_t before = known_.size();
        const bool begun = some.front()->value < kNothing;
        const Searched searched = begun ? search_all(some, stop) : Searched{};
        if (!searched.complete && climbed && some.size() > 1) {
            most = some.size() / 2;
            continue;
        }
        if (!searched.complete) { // as an exam leaves this point, proved or not
            search_one(*some.front(), stop);
            some.resize(1);
        }
        climbed = !searched.complete && begun;
        most = climbed ? most : open.size();
        for (SearchedPoint* point : some) {
            point->settled = true;
        }
        for (std::size_t k = before; k < known_.size(); ++k) {
            for (SearchedPoint* point : open) {
                consider(known_[k], *point);
            }
        }
        if (searched.complete) {
            settle_with(searched, open);
        }
        std::erase_if(open, [](const SearchedPoint* point) { return point->settled; });
    }
    std::erase_if(known_, [](const Known& known) { return !known.used; });
    if (known_.size() > kMostKept) {
        known_.erase(known_.begin(), known_.end() - kMostKept);
    }
    for (Known& known : known_) {
        known.used = false;
    }
}

} // namespace eyeroof::analysis
