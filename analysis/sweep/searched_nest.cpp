#include "analysis/sweep/searched_nest.hpp"

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/ruled_task.hpp"
#include "mapper/search_below.hpp"
#include "model/accelerator/residency.hpp"
#include "model/cost/leakage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

constexpr double kNothing = std::numeric_limits<double>::infinity();
constexpr double kTie = 1e-10;                  // values that searches take as equal
constexpr double kWidest = 0.2;                 // of a window
constexpr double kNarrowest = 1e-4;             // … of more than one point
constexpr std::size_t kFew = 100;               // mappings that a search may find to be quick
constexpr std::uint64_t kShortSearch = 200'000; // nodes
constexpr Count kLargestAxis = 1 << 16;         // that is reduced to what a nest can use
constexpr std::size_t kMostKept = 64;           // mappings and proofs from one call to the next

// Are the operands at home where a search at this machine may put them? A larger store may hand
// activations over that a smaller one cannot, although it runs the mapping's tiles.
bool homes_agree(const Problem& problem, const Accelerator& machine, const Mapping& mapping) {
    const auto handed_over = home_levels(problem, machine, true);
    const auto outermost = home_levels(problem, machine, false);
    return std::all_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
        const auto home =
            std::find_if(mapping.levels.begin(), mapping.levels.end(),
                         [o](const LevelMapping& level) { return level.keeps.contains(o); });
        const auto at = static_cast<std::size_t>(home - mapping.levels.begin());
        return home == mapping.levels.end() || at == handed_over[index(o)] ||
               at == outermost[index(o)];
    });
}

} // namespace

// Loops that divide evenly have trips whose products are those of divisors of the dimensions that
// may lie on an axis: all sizes of it between two of these run the same mappings.
void SearchedNest::list_usable(const Accelerator& machine) {
    const mapper::Task task = ruled_task(problem_, machine, &rules_.dataflow);
    const Extents bounds = loop_bounds(problem_);
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        const auto& axes = task.constraints.levels[i].axis_dims;
        for (std::size_t a = 0; a < machine.levels[i].fanout.size(); ++a) {
            std::set<Count> products = {1};
            for (const Dim dim : kAllDims) {
                const bool here = !axes || (a < axes->size() && (*axes)[a].contains(dim));
                std::set<Count> more;
                for (const Count product : products) {
                    const Count most = std::min(bounds[index(dim)], kLargestAxis / product);
                    for (Count f = 1; here && f <= most; ++f) {
                        if (bounds[index(dim)] % f == 0) {
                            more.insert(product * f);
                        }
                    }
                }
                products.insert(more.begin(), more.end());
            }
            usable_.emplace_back(products.begin(), products.end());
        }
    }
}

Ease SearchedNest::usable(Ease ease) const {
    for (std::size_t a = 0; a < usable_.size() && rules_.factors == mapper::Factors::perfect; ++a) {
        double& size = ease.axes[a];
        if (size <= static_cast<double>(kLargestAxis)) {
            size = *std::prev(std::upper_bound(usable_[a].begin(), usable_[a].end(), size));
        }
    }
    return ease;
}

double SearchedNest::value_of(const NestFigures& figures) const {
    return rules_.objective.value(figures.energy_pj, figures.cycles);
}

bool SearchedNest::runs(Known& known, const SearchedPoint& point) const {
    if (!homes_agree(problem_, *point.machine, known.mapping)) {
        return false;
    }
    if (covers_sizes(point.ease, known.runs)) {
        return true;
    }
    if (!known.fails.rates.empty() && covers_sizes(known.fails, point.ease)) {
        return false;
    }
    const bool legal = !validate(known.mapping, problem_, *point.machine).has_errors();
    (legal ? known.runs : known.fails) = point.ease;
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
    const bool better = value < point.value * (1.0 - kTie);
    // Of equally good mappings one is taken whatever was searched before, but for the dataflow's.
    const bool tie =
        !better && !point.own_is_best && point.best && value <= point.value * (1.0 + kTie) &&
        std::tie(figures.cycles, figures.energy_pj, figures.outer_bytes) <
            std::tie(point.best->cycles, point.best->energy_pj, point.best->outer_bytes);
    if ((better || tie) && runs(known, point)) {
        point.value = std::min(value, point.value);
        point.best = figures;
        point.own_is_best = false;
        known.used = true;
    }
}

bool SearchedNest::add(const Mapping& mapping, const Accelerator& machine, const Ease& ease,
                       const Points& points) {
    const auto there = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& known) { return known.mapping == mapping; });
    if (there != known_.end()) {
        for (SearchedPoint* point : points) {
            consider(*there, *point);
        }
        return true;
    }
    const auto counts = counted_mapping(problem_, machine, mapping);
    if (!counts) {
        return false;
    }
    Known known{mapping, candidate_of(problem_, machine, mapping, *counts), ease, {}};
    for (SearchedPoint* point : points) {
        consider(known, *point);
    }
    const bool used = known.used;
    if (used) {
        known_.push_back(std::move(known));
    }
    return used;
}

// Those of the largest array, by rising value.
SearchedNest::Points SearchedNest::of_largest_array(const Points& open) const {
    const auto units = [](const SearchedPoint* point) {
        double all = 1.0;
        for (const double size : point->ease.axes) {
            all *= size;
        }
        return all;
    };
    const SearchedPoint& first = **std::max_element(
        open.begin(), open.end(),
        [&](const SearchedPoint* a, const SearchedPoint* b) { return units(a) < units(b); });
    Points some;
    std::copy_if(open.begin(), open.end(), std::back_inserter(some),
                 [&](const SearchedPoint* point) { return point->ease.axes == first.ease.axes; });
    std::stable_sort(some.begin(), some.end(), [](const SearchedPoint* a, const SearchedPoint* b) {
        return a->value < b->value;
    });
    return some;
}

// How much larger a value may be at the slowest machine.
double SearchedNest::scale_of(const SearchedPoint& point, const Ease& slowest) const {
    const bool leaks = least_leak_pj_per_cycle(*point.machine) > 0.0;
    const double power =
        rules_.objective.delay_power + (leaks ? rules_.objective.energy_power : 0.0);
    return std::pow(speedup(point.ease, slowest), power);
}

// The open points whose values are near the least, seen from the easiest machine or from the
// slowest, whichever are more.
SearchedNest::Chosen SearchedNest::chosen(const Points& open) const {
    const Points all = of_largest_array(open);
    const double window = window_ < kNarrowest ? 1.0 : 1.0 + window_;
    Chosen fast{all};
    std::erase_if(fast.points, [&](const SearchedPoint* point) {
        return point->value > all.front()->value * window;
    });
    Ease slowest = all.front()->ease;
    bool equal_sizes = true;
    for (const SearchedPoint* point : all) {
        slowest = slower(std::move(slowest), point->ease);
        equal_sizes = equal_sizes && point->ease.capacities == slowest.capacities;
    }
    std::vector<std::pair<double, SearchedPoint*>> scaled;
    for (SearchedPoint* point : all) {
        scaled.emplace_back(point->value * scale_of(*point, slowest), point);
    }
    std::stable_sort(scaled.begin(), scaled.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Chosen slow{{}, true};
    for (const auto& [value, point] : scaled) {
        if (equal_sizes && value <= scaled.front().first * window) {
            slow.points.push_back(point);
        }
    }
    Chosen& more = slow.points.size() > fast.points.size() ? slow : fast;
    more.points.resize(window_ < kNarrowest ? 1 : more.points.size());
    return std::move(more);
}

SearchedNest::Searched SearchedNest::search_all(const Chosen& chosen, const std::stop_token& stop) {
    const Points& points = chosen.points;
    Ease ease = points.front()->ease;
    for (const SearchedPoint* point : points) {
        ease = chosen.slow ? slower(std::move(ease), point->ease) : easier(ease, point->ease);
    }
    Searched searched{ease};
    const Accelerator machine = with_ease(*points.front()->machine, ease);
    mapper::Task task = ruled_task(problem_, machine, &rules_.dataflow);
    task.objective = rules_.objective;
    task.factors = rules_.factors;
    const auto highest = [&] {
        double value = 0.0;
        for (const SearchedPoint* point : points) {
            value = std::max(value, point->value * (chosen.slow ? scale_of(*point, ease) : 1.0));
        }
        return value * (1.0 + 3.0 * kTie); // equally good ones, too
    };
    double cutoff = highest();
    double least = kNothing;
    mapper::SearchOptions options;
    options.max_nodes =
        rules_.max_nodes == 0 ? kShortSearch : std::min(kShortSearch, rules_.max_nodes);
    mapper::Below below;
    below.cutoff = [&] { return cutoff; };
    below.found = [&](const mapper::SearchResult& found) {
        ++searched.found;
        least = std::min(least, found.certificate.value);
        if (add(found.mapping, machine, ease, points)) {
            cutoff = highest();
        }
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
    if (found && !found->certificate.proved) { // nothing but what the exam has
        point.value = kNothing;
        point.own_is_best = false;
    }
    if (found) {
        add(found->mapping, *point.machine, point.ease, {&point});
    }
}

// A point whose value no mapping at the machine of a search could be below, scaled to its rates.
void SearchedNest::settle_with(const Searched& searched, const Points& open) const {
    for (SearchedPoint* point : open) {
        const bool best =
            point->value * scale_of(*point, searched.ease) <= searched.least * (1.0 + 4.0 * kTie);
        point->settled = point->settled || (best && covers_sizes(searched.ease, point->ease));
    }
}

void SearchedNest::solve(const Points& points, const std::stop_token& stop) {
    if (usable_.empty() && !points.empty()) {
        list_usable(*points.front()->machine);
    }
    for (SearchedPoint* point : points) {
        point->ease = usable(std::move(point->ease));
        point->best = point->own;
        point->value = point->own ? value_of(*point->own) : kNothing;
        point->own_is_best = point->own.has_value();
        for (Known& known : known_) {
            consider(known, *point);
        }
    }
    Points open = points;
    for (const Searched& searched : proofs_) {
        settle_with(searched, open);
    }
    bool climbed = false; // is the mapping known here as good as can be had quickly?
    while (!open.empty() && !stop.stop_requested()) {
        std::erase_if(open, [](const SearchedPoint* point) { return point->settled; });
        if (open.empty()) {
            break;
        }
        const Chosen now = chosen(open);
        const Points& some = now.points;
        const std::size_t before = known_.size();
        const bool begun = some.front()->value < kNothing;
        const Searched searched = begun ? search_all(now, stop) : Searched{};
        if (!searched.complete && climbed && some.size() > 1) {
            window_ /= 4.0;
            continue;
        }
        if (!searched.complete) { // as an exam leaves this point, proved or not
            search_one(*some.front(), stop);
            some.front()->settled = true;
        }
        climbed = searched.complete ? some.size() > 1 : begun;
        for (std::size_t k = before; k < known_.size(); ++k) {
            for (SearchedPoint* point : open) {
                consider(known_[k], *point);
            }
        }
        if (searched.complete) {
            window_ = searched.found < kFew ? std::min(kWidest, std::max(kNarrowest, 2.0 * window_))
                                            : window_ / 2.0;
            for (SearchedPoint* point : some) {
                point->settled = true;
            }
            settle_with(searched, open);
            proofs_.push_back(searched);
        }
    }
    std::erase_if(known_, [](const Known& known) { return !known.used; });
    const auto keep_last = [](auto& all) {
        all.erase(all.begin(), all.end() - static_cast<long>(std::min(all.size(), kMostKept)));
    };
    keep_last(known_);
    keep_last(proofs_);
    for (Known& known : known_) {
        known.used = false;
    }
}

} // namespace eyeroof::analysis
