#include "mapper/baselines.hpp"

#include "mapper/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kDefaultTime_s = 1.0;
constexpr std::uint64_t kMostExhaustive = 200'000'000;

// A mapping as the searches see it.
struct Point {
    std::size_t space = 0;
    std::array<std::uint32_t, kGroups> leaves{}; // nodes of the trees
    std::size_t order = 0;
    double value = kNone;
};

// Draws without the library's distributions, whose results differ between platforms.
class Rng {
  public:
    explicit Rng(std::uint64_t seed) : engine_(seed) {}
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(engine_() % n); }
    double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  private:
    std::mt19937_64 engine_;
};

class Baseline {
  public:
    Baseline(const Task& task, const std::vector<Space>& spaces, const SearchOptions& options,
             std::stop_token stop, const ProgressCallback& progress)
        : task_(task), spaces_(spaces), options_(options), stop_(std::move(stop)),
          progress_(progress), rng_(options.seed) {
        std::size_t most = 0;
        for (const Space& space : spaces) {
            estimators_.emplace_back(space);
            leaves_.emplace_back();
            for (std::size_t g = 0; g < kGroups; ++g) {
                for (std::size_t n = 0; n < space.groups[g].nodes.size(); ++n) {
                    if (space.groups[g].nodes[n].children == 0) {
                        leaves_.back()[g].push_back(static_cast<std::uint32_t>(n));
                    }
                }
            }
            most = std::max(most, space.cost_factors);
        }
        for (const Estimator& estimator : estimators_) {
            evaluators_.emplace_back(estimator);
        }
        product_.resize(most);
        limit_s_ = options.time_limit_s > 0  ? options.time_limit_s
                   : options.max_samples > 0 ? kNone
                                             : kDefaultTime_s;
    }

    ExactOutcome run() {
        if (!spaces_.empty()) {
            switch (options_.strategy) {
            case Strategy::annealing:
                anneal();
                break;
            case Strategy::genetic:
                breed();
                break;
            case Strategy::exhaustive:
                exhaust();
                break;
            default:
                draw();
            }
        }
        outcome_.lower_bound = outcome_.complete && outcome_.best ? best_ : 0.0;
        return std::move(outcome_);
    }

  private:
    bool over() {
        if ((outcome_.nodes & 255U) == 0) {
            over_ = over_ || stop_.stop_requested() || seconds() > limit_s_;
        }
        return over_ || (options_.max_samples > 0 && outcome_.nodes >= options_.max_samples);
    }
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

    // The value of a point; infinite when it does not fit. Keeps the best one seen.
    double evaluate(Point& point) {
        ++outcome_.nodes;
        const Space& space = spaces_[point.space];
        Factors6 factors{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            factors[g] = space.cost_factor(g, point.leaves[g]);
        }
        const Estimate e = evaluators_[point.space].evaluate(factors, point.order);
        if (e.energy_pj == kNone) {
            ++outcome_.pruned["capacity or fan-out"];
            point.value = kNone;
            return kNone;
        }
        point.value = estimators_[point.space].value(e);
        if (point.value < best_) {
            keep(point);
        }
        return point.value;
    }

    void keep(Point& point) {
        const Space& space = spaces_[point.space];
        Leaf leaf{point.space, {}, estimators_[point.space].orders().combinations()[point.order]};
        for (std::size_t g = 0; g < kGroups; ++g) {
            leaf.chains[g] = space.groups[g].nodes[point.leaves[g]].chain;
        }
        bool all_placed = true;
        auto real = realise(task_, space, leaf, all_placed);
        outcome_.left_out = all_placed ? outcome_.left_out : 0.0; // no bound is known here
        if (!real) {
            ++outcome_.pruned["axes"];
            point.value = kNone;
            return;
        }
        point.value = real->certificate.value;
        if (point.value < best_) {
            best_ = point.value;
            outcome_.history.push_back({seconds(), outcome_.nodes, best_});
            outcome_.best = std::move(real);
            if (progress_) {
                progress_({0.0, "searching mappings", best_, -1.0});
            }
        }
    }

    std::uint32_t random_leaf(std::size_t space, std::size_t g) {
        const auto& leaves = leaves_[space][g];
        return leaves[rng_.below(leaves.size())];
    }

    // random: any leaf of each group. Pruned: a leaf that fits beside those drawn before it, with
    // the others at their smallest; after some misses the draw is given up.
    bool random_point(Point& point) {
        point.space = rng_.below(spaces_.size());
        point.order = rng_.below(estimators_[point.space].orders().combinations().size());
        if (options_.strategy == Strategy::random) {
            for (std::size_t g = 0; g < kGroups; ++g) {
                point.leaves[g] = random_leaf(point.space, g);
            }
            return true;
        }
        const Space& space = spaces_[point.space];
        Factors6 factors{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            factors[g] = space.cost_factor(g, 0);
        }
        for (std::size_t g = 0; g < kGroups; ++g) {
            bool fits = false;
            for (int tries = 0; tries < 20 && !fits; ++tries) {
                point.leaves[g] = random_leaf(point.space, g);
                factors[g] = space.cost_factor(g, point.leaves[g]);
                estimators_[point.space].products().multiply_tiles(factors, product_.data());
                fits = estimators_[point.space].fits()(product_.data());
            }
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    void draw() {
        while (!over()) {
            Point point;
            if (random_point(point)) {
                evaluate(point);
            } else {
                ++outcome_.nodes;
            }
        }
    }

    Point start_point() {
        Point point;
        while (!over()) {
            if (random_point(point) && evaluate(point) < kNone) {
                break;
            }
            ++outcome_.nodes;
        }
        return point;
    }

    void mutate(Point& point) {
        const std::size_t what = rng_.below(kGroups + 2);
        if (what < kGroups) {
            point.leaves[what] = random_leaf(point.space, what);
        } else if (what == kGroups) {
            point.order = rng_.below(estimators_[point.space].orders().combinations().size());
        } else {
            Point other;
            if (random_point(other)) {
                point = other;
            }
        }
    }

    // The temperature falls geometrically from a tenth of the value to a ten-thousandth, then
    // starts again from a new point.
    void anneal() {
        constexpr int kRound = 20000;
        while (!over()) {
            Point now = start_point();
            double temperature = 0.1;
            for (int i = 0; i < kRound && !over(); ++i) {
                Point next = now;
                mutate(next);
                const double value = evaluate(next);
                const double rise = (value - now.value) / now.value;
                if (value < kNone && (rise <= 0 || rng_.unit() < std::exp(-rise / temperature))) {
                    now = next;
                }
                temperature *= std::pow(1e-3, 1.0 / kRound);
            }
        }
    }

    // Tournament selection; children take each group from either parent, if both are in one space.
    void breed() {
        constexpr std::size_t kPopulation = 100;
        std::vector<Point> population;
        while (population.size() < kPopulation && !over()) {
            population.push_back(start_point());
        }
        const auto parent = [&]() -> const Point& {
            const Point& a = population[rng_.below(population.size())];
            const Point& b = population[rng_.below(population.size())];
            return a.value < b.value ? a : b;
        };
        while (!over() && !population.empty()) {
            Point child = parent();
            const Point& other = parent();
            for (std::size_t g = 0; g < kGroups && other.space == child.space; ++g) {
                child.leaves[g] = rng_.below(2) == 0 ? child.leaves[g] : other.leaves[g];
            }
            if (rng_.below(2) == 0) {
                mutate(child);
            }
            evaluate(child);
            Point& worse = population[rng_.below(population.size())];
            if (child.value < worse.value) {
                worse = child;
            }
        }
    }

    void exhaust() {
        double size = 0.0;
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            double points = static_cast<double>(estimators_[s].orders().combinations().size());
            for (const auto& leaves : leaves_[s]) {
                points *= static_cast<double>(leaves.size());
            }
            size += points;
        }
        if (size > static_cast<double>(kMostExhaustive)) {
            outcome_.pruned["space too large to exhaust"] = 1;
            return;
        }
        for (std::size_t s = 0; s < spaces_.size(); ++s) {
            Point point;
            point.space = s;
            exhaust_group(point, 0);
        }
        outcome_.complete = !over_;
    }

    void exhaust_group(Point& point, std::size_t g) {
        if (over()) {
            over_ = true;
            return;
        }
        if (g < kGroups) {
            for (const std::uint32_t leaf : leaves_[point.space][g]) {
                point.leaves[g] = leaf;
                exhaust_group(point, g + 1);
            }
            return;
        }
        for (point.order = 0; point.order < estimators_[point.space].orders().combinations().size();
             ++point.order) {
            evaluate(point);
        }
    }

    const Task& task_;
    const std::vector<Space>& spaces_;
    const SearchOptions& options_;
    std::stop_token stop_;
    const ProgressCallback& progress_;
    Rng rng_;
    std::vector<Estimator> estimators_;
    std::vector<Evaluator> evaluators_;
    std::vector<std::array<std::vector<std::uint32_t>, kGroups>> leaves_;
    std::vector<double> product_;
    double limit_s_ = kDefaultTime_s;
    double best_ = kNone;
    bool over_ = false;
    ExactOutcome outcome_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace

ExactOutcome search_baseline(const Task& task, const std::vector<Space>& spaces,
                             const SearchOptions& options, std::stop_token stop,
                             const ProgressCallback& progress) {
    return Baseline(task, spaces, options, std::move(stop), progress).run();
}

} // namespace eyeroof::mapper
