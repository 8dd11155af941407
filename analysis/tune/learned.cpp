// Boosted trees on what was measured, annealing on the trees, a batch of different points of the
// best, and some at random: the loop of AutoTVM (Chen et al., NeurIPS 2018).
#include "analysis/tune/strategy_parts.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace eyeroof::analysis::tune {

namespace {

class LearnedStrategy final : public Strategy {
  public:
    LearnedStrategy(const SearchTask& search_task, const StrategyOptions& options,
                    std::stop_token stop)
        : search_task_(search_task), options_(options), stop_(std::move(stop)),
          first_(options.seed), rng_(mixed(options.seed) + 1) {}

    std::vector<Proposal> propose(std::size_t n, const History& history) override {
        const bool blind = history.size() < options_.first;
        Batch batch(search_task_.space, history, n);
        if (blind && !options_.global && !options_.prior) {
            batch.fill(first_); // as every strategy's
            return batch.take();
        }
        prior_best_ = 1.0; // any scale: nothing was measured that it would be a share of
        if (!blind) {
            fit(history);
        }
        AnnealOptions how;
        how.keep = 4 * n;
        measured_ = history.size();
        auto best = anneal_on(
            search_task_.space, [this](std::span<const Point> points) { return scores(points); },
            history, how, chains_, rng_, stop_);
        if (stop_.stop_requested()) {
            return {};
        }
        const auto drawn = static_cast<std::size_t>(
            std::floor(options_.epsilon * static_cast<double>(n) + rng_.unit()));
        pick(best, n - std::min(n, drawn), batch);
        batch.fill(rng_);
        return batch.take();
    }

  private:
    Table table_of(std::span<const Point> points) const {
        Table table;
        for (const Point& point : points) {
            search_task_.features(point, options_.features, table.values);
        }
        table.columns = points.empty() ? 0 : table.values.size() / points.size();
        return table;
    }

    // What is known of the points without the trees.
    std::vector<float> margins(std::span<const Point> points, const Table& table) const {
        std::vector<float> all(points.size(), 0.0F);
        const double weight = options_.global ? transfer_weight(measured_) : 0.0;
        if (weight > 0.0) {
            all = options_.global(table);
            for (float& margin : all) {
                margin *= static_cast<float>(weight);
            }
        }
        const bool prior = options_.prior && std::isfinite(prior_best_);
        for (std::size_t i = 0; prior && i < points.size(); ++i) {
            all[i] += static_cast<float>(prior_best_ / search_task_.predicted(points[i]));
        }
        return all;
    }

    void fit(const History& history) {
        const auto& trials = history.trials();
        const double best = best_cost(trials);
        std::vector<Point> points;
        TrainingSet training_set;
        prior_best_ = kNoCost;
        for (const Trial& trial : trials) {
            points.push_back(trial.point);
            training_set.targets.push_back(
                trial.outcome.ok() ? static_cast<float>(best / trial.outcome.cost) : 0.0F);
            prior_best_ = options_.prior
                              ? std::min(prior_best_, search_task_.predicted(trial.point))
                              : prior_best_;
        }
        measured_ = trials.size();
        training_set.table = table_of(points);
        training_set.margins = margins(points, training_set.table);
        trees_.clear();
        const int fits = options_.uncertainty > 0.0 ? 4 : 1;
        for (int n = 0; n < fits; ++n) {
            TreeOptions how = options_.trees;
            how.seed = options_.seed * 1000 + static_cast<std::uint64_t>(n) + trials.size();
            how.subsample = fits > 1 ? 0.7 : how.subsample;
            trees_.push_back(fit_trees(training_set, how));
        }
    }

    std::vector<double> scores(std::span<const Point> points) const {
        const Table table = table_of(points);
        const std::vector<float> known = margins(points, table);
        std::vector<double> sum(points.size(), 0.0), squares(points.size(), 0.0);
        for (const auto& trees : trees_) {
            const std::vector<float> found = trees->predict(table);
            for (std::size_t i = 0; i < found.size(); ++i) {
                sum[i] += found[i];
                squares[i] += static_cast<double>(found[i]) * found[i];
            }
        }
        const double fits = std::max<double>(1.0, static_cast<double>(trees_.size()));
        for (std::size_t i = 0; i < sum.size(); ++i) {
            const double mean = sum[i] / fits;
            const double spread = std::sqrt(std::max(0.0, squares[i] / fits - mean * mean));
            sum[i] = known[i] + mean + options_.uncertainty * spread;
        }
        return sum;
    }

    // Greedy on the sum of scores and of knob values that the batch covers: submodular, so within
    // 1 - 1/e of the best batch (Nemhauser et al., 1978).
    void pick(std::vector<Proposal> from, std::size_t n, Batch& batch) {
        std::vector<double> values;
        for (const Proposal& proposal : from) {
            values.push_back(proposal.score);
        }
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const double range = values.empty() ? 1.0 : std::max(*high - *low, 1e-9);
        const auto knobs = static_cast<double>(search_task_.space.knobs().size());
        std::set<std::pair<std::size_t, std::uint32_t>> covered;
        for (std::size_t taken = 0; taken < n && !from.empty(); ++taken) {
            const auto worth = [&](const Proposal& proposal) {
                double fresh = 0.0;
                for (std::size_t k = 0; k < search_task_.space.knobs().size(); ++k) {
                    fresh += covered.contains({k, proposal.point.digit[k]}) ? 0.0 : 1.0;
                }
                return proposal.score / range + options_.diversity * fresh / knobs;
            };
            const auto at = std::max_element(
                from.begin(), from.end(),
                [&](const Proposal& a, const Proposal& b) { return worth(a) < worth(b); });
            for (std::size_t k = 0; k < search_task_.space.knobs().size(); ++k) {
                covered.insert({k, at->point.digit[k]});
            }
            batch.add(at->point, at->score);
            from.erase(at);
        }
    }

    const SearchTask& search_task_;
    StrategyOptions options_;
    std::stop_token stop_;
    Rng first_, rng_;
    std::vector<std::unique_ptr<const Trees>> trees_;
    std::vector<Point> chains_;
    std::size_t measured_ = 0;
    double prior_best_ = kNoCost;
};

} // namespace

std::unique_ptr<Strategy> make_learned(const SearchTask& search_task,
                                       const StrategyOptions& options, std::stop_token stop) {
    return std::make_unique<LearnedStrategy>(search_task, options, std::move(stop));
}

} // namespace eyeroof::analysis::tune
