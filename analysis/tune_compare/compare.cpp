#include "analysis/tune_compare/compare.hpp"

#include "base/parallel.hpp"
#include "base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace eyeroof::analysis::tune {

namespace {

constexpr std::array<double, 3> kShares = {0.9, 0.95, 0.99};

Contender contender(const std::string& name, StrategyKind kind) {
    Contender made;
    made.name = name;
    made.strategy.kind = kind;
    made.strategy.trees.maker = usual_trees();
    return made;
}

// Scores of the lines of one arena, from a model of all others with another shape.
GlobalModel global_for(const std::vector<Arena>& arenas, std::size_t held, unsigned features,
                       const TreeOptions& trees) {
    TrainingSet training_set;
    for (std::size_t n = 0; n < arenas.size(); ++n) {
        const Arena& arena = arenas[n];
        if (n == held || arena.work.same_shape(arenas[held].work) || arena.points.empty()) {
            continue;
        }
        for (std::size_t i = 0; i < arena.points.size(); ++i) {
            arena.search_task.features(arena.points[i], features, training_set.table.values);
            training_set.targets.push_back(static_cast<float>(arena.best_known / arena.costs[i]));
        }
        training_set.groups.push_back(static_cast<unsigned>(arena.points.size()));
    }
    if (training_set.targets.empty()) {
        return {};
    }
    training_set.table.columns = training_set.table.values.size() / training_set.targets.size();
    TreeOptions more = trees;
    more.rounds = 2 * trees.rounds;
    const std::shared_ptr<const Trees> model = fit_trees(training_set, more);
    return [model](const Table& table) { return model->predict(table); };
}

// One run of a contender on a layer; the costs without noise, in order, kNoCost: failed.
std::vector<double> run_of(Arena& arena, const Contender& contender, const GlobalModel& global,
                           std::uint64_t seed, std::size_t trials, const std::stop_token& stop) {
    SearchPlan plan;
    plan.strategy = contender.strategy;
    plan.strategy.seed = seed;
    plan.strategy.batch = 8;
    plan.strategy.first = 8;
    plan.strategy.global = contender.transfer ? global : GlobalModel{};
    plan.trials = trials;
    const std::unique_ptr<Target> own = arena.fresh ? arena.fresh(seed) : nullptr;
    const SearchEnd end =
        run_search(arena.search_task, own ? *own : *arena.target, plan, {}, {}, stop);
    std::vector<double> costs;
    for (const Trial& trial : end.trials) {
        const Outcome exact = own ? arena.target->measure(trial.point) : trial.outcome;
        costs.push_back(exact.ok() ? exact.cost : kNoCost);
    }
    return costs;
}

double best_of_first(const std::vector<double>& costs, std::size_t n) {
    const auto end = costs.begin() + static_cast<std::ptrdiff_t>(std::min(n, costs.size()));
    return end == costs.begin() ? kNoCost : *std::min_element(costs.begin(), end);
}

// All runs, [contender][layer][seed], on several threads; each on its own.
class Runs {
  public:
    Runs(std::vector<Arena>& arenas, const std::vector<Contender>& contenders, int seeds,
         std::size_t trials, std::stop_token stop, const ProgressCallback& progress)
        : arenas_(arenas), contenders_(contenders), seeds_(static_cast<std::size_t>(seeds)),
          trials_(trials), stop_(std::move(stop)), progress_(progress),
          costs_(contenders.size() * arenas.size() * seeds_) {}

    void run(int jobs) {
        in_parallel(jobs, contenders_.size() * arenas_.size(), [this](std::size_t task) {
            if (!stop_.stop_requested()) {
                work(task);
            }
        });
    }
    std::vector<std::vector<double>> of(std::size_t contender, std::size_t layer) const {
        const auto first = costs_.begin() + static_cast<std::ptrdiff_t>(
                                                (contender * arenas_.size() + layer) * seeds_);
        return {first, first + static_cast<std::ptrdiff_t>(seeds_)};
    }

  private:
    void work(std::size_t task) {
        const Contender& contender = contenders_[task / arenas_.size()];
        const std::size_t layer = task % arenas_.size();
        const GlobalModel global =
            contender.transfer
                ? global_for(arenas_, layer, contender.strategy.features, contender.strategy.trees)
                : GlobalModel{};
        for (std::size_t seed = 0; seed < seeds_ && !stop_.stop_requested(); ++seed) {
            costs_[task * seeds_ + seed] =
                run_of(arenas_[layer], contender, global, seed + 1, trials_, stop_);
        }
        const std::lock_guard lock(mutex_);
        ++done_;
        if (progress_) {
            const auto tasks = static_cast<double>(contenders_.size() * arenas_.size());
            progress_({static_cast<double>(done_) / tasks,
                       fmt::format("{} on {}", contender.name, arenas_[layer].search_task.name)});
        }
    }

    std::vector<Arena>& arenas_;
    const std::vector<Contender>& contenders_;
    std::size_t seeds_, trials_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    std::vector<std::vector<double>> costs_;
    std::size_t done_ = 0;
    std::mutex mutex_;
};

} // namespace

Score3 scored(const std::vector<std::vector<double>>& runs, double best, std::size_t trials) {
    Score3 score;
    score.runs = static_cast<int>(runs.size());
    if (runs.empty()) {
        return score;
    }
    for (std::size_t s = 0; s < kShares.size(); ++s) {
        std::vector<double> needed;
        for (const auto& costs : runs) {
            const auto at = std::find_if(costs.begin(), costs.end(),
                                         [&](double cost) { return cost * kShares[s] <= best; });
            score.censored[s] += at == costs.end() ? 1 : 0;
            needed.push_back(at == costs.end() ? kNoCost
                                               : static_cast<double>(at - costs.begin() + 1));
        }
        const double middle = median(needed);
        score.trials[s] = middle < kNoCost ? std::optional(middle) : std::nullopt;
    }
    for (std::size_t n = 8; n < 2 * trials; n *= 2) {
        std::vector<double> shares;
        for (const auto& costs : runs) {
            shares.push_back(best / best_of_first(costs, std::min(n, trials)));
        }
        score.share_at.push_back(median(shares));
    }
    score.reached = score.share_at.empty() ? 0.0 : score.share_at.back();
    return score;
}

std::vector<Contender> usual_contenders(bool with_transfer) {
    std::vector<Contender> all;
    for (const std::string& name : strategy_names()) {
        all.push_back(contender(name, *strategy_from_name(name)));
    }
    Contender rank = contender("learned, rank loss", StrategyKind::learned);
    rank.strategy.trees.loss = Loss::rank;
    Contender bold = contender("learned, uncertainty", StrategyKind::learned);
    bold.strategy.uncertainty = 1.0;
    Contender residual = contender("learned, residual", StrategyKind::learned);
    residual.strategy.prior = true;
    all.insert(all.end(), {rank, bold, residual});
    if (with_transfer) {
        Contender transfer = contender("learned, transfer", StrategyKind::learned);
        transfer.transfer = true;
        all.push_back(transfer);
    }
    return all;
}

std::vector<Contender> feature_contenders(bool with_transfer) {
    std::vector<Contender> all;
    for (const unsigned set : {+kKnobs, +kLoops, +kSteps, kLoops + kSteps, +kAllFeatures}) {
        Contender one = contender("features: " + features_name(set), StrategyKind::learned);
        one.strategy.features = set;
        all.push_back(one);
        if (with_transfer && set != kKnobs) {
            one.name += ", transfer";
            one.transfer = true;
            all.push_back(one);
        }
    }
    return all;
}

Comparison compare(std::vector<Arena>& arenas, const std::vector<Contender>& contenders, int seeds,
                   std::size_t trials, int jobs, std::stop_token stop,
                   const ProgressCallback& progress) {
    Runs runs(arenas, contenders, seeds, trials, stop, progress);
    runs.run(jobs);
    Comparison made;
    made.seeds = seeds;
    made.trials = trials;
    made.stopped = stop.stop_requested();
    for (std::size_t layer = 0; layer < arenas.size(); ++layer) {
        Arena& arena = arenas[layer];
        for (std::size_t c = 0; c < contenders.size() && arena.points.empty() && !arena.proved;
             ++c) {
            for (const auto& costs : runs.of(c, layer)) {
                arena.best_known = std::min(arena.best_known, best_of_first(costs, trials));
            }
        }
        made.layers.push_back(arena.search_task.name);
        made.proved.push_back(arena.proved);
        if (!arena.points.empty()) {
            made.pool.push_back(arena.points.size());
        }
    }
    for (std::size_t c = 0; c < contenders.size() && !made.stopped; ++c) {
        made.contenders.push_back(contenders[c].name);
        made.scores.emplace_back();
        for (std::size_t layer = 0; layer < arenas.size(); ++layer) {
            made.scores.back().push_back(
                scored(runs.of(c, layer), arenas[layer].best_known, trials));
        }
    }
    return made;
}

void hold_out(const std::vector<Arena>& pools, const TreeOptions& trees, Comparison& comparison,
              const std::stop_token& stop) {
    const auto correlation = [](const Arena& arena, const std::vector<double>& scores) {
        std::vector<double> speeds;
        for (const double cost : arena.costs) {
            speeds.push_back(1.0 / cost);
        }
        return rank_correlation(scores, speeds);
    };
    std::vector<double> closed;
    for (const Arena& arena : pools) {
        std::vector<double> scores;
        for (const Point& point : arena.points) {
            scores.push_back(-arena.search_task.predicted(point));
        }
        closed.push_back(correlation(arena, scores));
    }
    comparison.held_out.emplace_back("closed form", closed);
    for (const unsigned set : {+kKnobs, +kLoops, +kSteps, kLoops + kSteps, +kAllFeatures}) {
        std::vector<double> found;
        for (std::size_t held = 0; held < pools.size() && !stop.stop_requested(); ++held) {
            const GlobalModel global = global_for(pools, held, set, trees);
            Table table;
            for (const Point& point : pools[held].points) {
                pools[held].search_task.features(point, set, table.values);
            }
            table.columns = table.values.size() / pools[held].points.size();
            const auto scores = global ? global(table) : std::vector<float>(table.rows(), 0.0F);
            found.push_back(correlation(pools[held], {scores.begin(), scores.end()}));
        }
        comparison.held_out.emplace_back(features_name(set), found);
    }
}

} // namespace eyeroof::analysis::tune
