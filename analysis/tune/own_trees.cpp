// Gradient boosting with exact greedy splits: each tree is fitted to gradient and curvature of the
// loss, gain = G_l^2/(H_l + lambda) + G_r^2/(H_r + lambda) - G^2/(H + lambda). Source: Chen and
// Guestrin, XGBoost, KDD 2016, equations 6 and 7.
#include "analysis/tune/own_trees.hpp"

#include "analysis/tune/rng.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eyeroof::analysis::tune {

namespace {

struct Node {
    int feature = -1; // -1: a leaf
    float threshold = 0.0F;
    float value = 0.0F;
    int left = -1; // right is left + 1
};

using Tree = std::vector<Node>;

float answer(const Tree& tree, const float* row) {
    int at = 0;
    while (tree[static_cast<std::size_t>(at)].feature >= 0) {
        const Node& node = tree[static_cast<std::size_t>(at)];
        at = node.left + (row[node.feature] < node.threshold ? 0 : 1);
    }
    return tree[static_cast<std::size_t>(at)].value;
}

class OwnTrees final : public Trees {
  public:
    std::vector<Tree> trees;

    std::vector<float> predict(const Table& table) const override {
        std::vector<float> sums(table.rows(), 0.0F);
        for (std::size_t n = 0; n < sums.size(); ++n) {
            for (const Tree& tree : trees) {
                sums[n] += answer(tree, table.row(n));
            }
        }
        return sums;
    }
};

struct Slope { // of the loss: first and second derivative
    double g = 0.0, h = 0.0;
};

class Booster {
  public:
    Booster(const TrainingSet& training_set, const TreeOptions& options)
        : training_set_(training_set), options_(options), rng_(options.seed),
          now_(training_set.margins), slopes_(training_set.targets.size()),
          node_(training_set.targets.size()) {
        now_.resize(training_set.targets.size(), 0.0F);
        groups_ = training_set.groups;
        if (groups_.empty()) {
            groups_ = {static_cast<unsigned>(training_set.targets.size())};
        }
        sort_columns();
    }

    Tree grow() {
        find_slopes();
        Tree tree(1);
        std::fill(node_.begin(), node_.end(), 0);
        for (auto& node : node_) { // rows that this tree does not see
            node = options_.subsample >= 1.0 || rng_.with_chance(options_.subsample) ? 0 : -1;
        }
        std::size_t first = 0;
        for (int level = 0; level < options_.depth && first < tree.size(); ++level) {
            const std::size_t end = tree.size();
            split_level(tree, first, end);
            first = end;
        }
        set_leaves(tree);
        for (std::size_t n = 0; n < now_.size(); ++n) {
            now_[n] += answer(tree, training_set_.table.row(n));
        }
        return tree;
    }

  private:
    struct Best {
        double gain = 0.0;
        int feature = -1;
        float threshold = 0.0F;
    };

    void sort_columns() {
        const Table& table = training_set_.table;
        order_.resize(table.columns);
        for (std::size_t f = 0; f < table.columns; ++f) {
            order_[f].resize(table.rows());
            std::iota(order_[f].begin(), order_[f].end(), 0U);
            std::stable_sort(order_[f].begin(), order_[f].end(), [&](unsigned a, unsigned b) {
                return table.row(a)[f] < table.row(b)[f];
            });
        }
    }

    void find_slopes() {
        if (options_.loss == Loss::regression) {
            for (std::size_t n = 0; n < slopes_.size(); ++n) {
                slopes_[n] = {now_[n] - training_set_.targets[n], 1.0};
            }
            return;
        }
        std::fill(slopes_.begin(), slopes_.end(), Slope{});
        std::size_t begin = 0;
        for (const unsigned size : groups_) {
            compare(begin, size);
            begin += size;
        }
    }

    // A few partners for each row of a group.
    void compare(std::size_t begin, unsigned size) {
        constexpr int kPartners = 4;
        for (std::size_t i = begin; i < begin + size; ++i) {
            for (int n = 0; n < kPartners; ++n) {
                const std::size_t j = begin + rng_.below(size);
                if (training_set_.targets[i] == training_set_.targets[j]) {
                    continue;
                }
                const bool better = training_set_.targets[i] > training_set_.targets[j];
                const std::size_t up = better ? i : j;
                const std::size_t down = better ? j : i;
                const double p = 1.0 / (1.0 + std::exp(static_cast<double>(now_[up] - now_[down])));
                const double h = std::max(p * (1.0 - p), 1e-6);
                slopes_[up].g -= p;
                slopes_[down].g += p;
                slopes_[up].h += h;
                slopes_[down].h += h;
            }
        }
    }

    double worth(const Slope& s) const { return s.g * s.g / (s.h + options_.lambda); }

    void split_level(Tree& tree, std::size_t first, std::size_t end) {
        std::vector<Slope> whole(end - first);
        for (std::size_t n = 0; n < node_.size(); ++n) {
            if (node_[n] >= static_cast<int>(first)) {
                Slope& sum = whole[static_cast<std::size_t>(node_[n]) - first];
                sum.g += slopes_[n].g;
                sum.h += slopes_[n].h;
            }
        }
        std::vector<Best> best(end - first);
        for (std::size_t f = 0; f < training_set_.table.columns; ++f) {
            search_feature(f, first, whole, best);
        }
        for (std::size_t i = 0; i < best.size(); ++i) {
            if (best[i].feature >= 0 && best[i].gain > options_.gamma) {
                const int left = static_cast<int>(tree.size());
                tree.resize(tree.size() + 2);
                tree[first + i] = {best[i].feature, best[i].threshold, 0.0F, left};
            }
        }
        for (std::size_t n = 0; n < node_.size(); ++n) {
            if (node_[n] >= static_cast<int>(first)) {
                const Node& node = tree[static_cast<std::size_t>(node_[n])];
                if (node.feature >= 0) {
                    const bool below = training_set_.table.row(n)[node.feature] < node.threshold;
                    node_[n] = node.left + (below ? 0 : 1);
                }
            }
        }
    }

    void search_feature(std::size_t f, std::size_t first, const std::vector<Slope>& whole,
                        std::vector<Best>& best) {
        std::vector<Slope> left(whole.size());
        std::vector<float> last(whole.size());
        std::vector<bool> seen(whole.size(), false);
        for (const unsigned n : order_[f]) {
            if (node_[n] < static_cast<int>(first)) {
                continue;
            }
            const std::size_t at = static_cast<std::size_t>(node_[n]) - first;
            const float value = training_set_.table.row(n)[f];
            if (seen[at] && value > last[at]) {
                const Slope right{whole[at].g - left[at].g, whole[at].h - left[at].h};
                const double gain = worth(left[at]) + worth(right) - worth(whole[at]);
                if (gain > best[at].gain && left[at].h >= options_.min_child_weight &&
                    right.h >= options_.min_child_weight) {
                    best[at] = {gain, static_cast<int>(f), 0.5F * (last[at] + value)};
                    if (!(last[at] < best[at].threshold)) { // neighbours in floating point
                        best[at].threshold = value;
                    }
                }
            }
            left[at].g += slopes_[n].g;
            left[at].h += slopes_[n].h;
            last[at] = value;
            seen[at] = true;
        }
    }

    void set_leaves(Tree& tree) {
        std::vector<Slope> sums(tree.size());
        for (std::size_t n = 0; n < node_.size(); ++n) {
            if (node_[n] >= 0) {
                sums[static_cast<std::size_t>(node_[n])].g += slopes_[n].g;
                sums[static_cast<std::size_t>(node_[n])].h += slopes_[n].h;
            }
        }
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (tree[i].feature < 0) {
                tree[i].value =
                    static_cast<float>(-options_.eta * sums[i].g / (sums[i].h + options_.lambda));
            }
        }
    }

    const TrainingSet& training_set_;
    const TreeOptions& options_;
    Rng rng_;
    std::vector<float> now_;
    std::vector<Slope> slopes_;
    std::vector<int> node_; // of each row, -1: not seen
    std::vector<unsigned> groups_;
    std::vector<std::vector<unsigned>> order_; // rows by value, of each feature
};

} // namespace

std::unique_ptr<const Trees> fit_own_trees(const TrainingSet& training_set,
                                           const TreeOptions& options) {
    auto trees = std::make_unique<OwnTrees>();
    Booster booster(training_set, options);
    for (int n = 0; n < options.rounds; ++n) {
        trees->trees.push_back(booster.grow());
    }
    return trees;
}

} // namespace eyeroof::analysis::tune
