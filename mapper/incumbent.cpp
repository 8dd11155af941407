#include "base/parallel.hpp"
#include "mapper/exact.hpp"
#include "mapper/operand_reuse.hpp"
#include "mapper/reported.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <random>

// Hill climbing, group by group: of a sample of its leaves each group takes the best beside what
// the others have, until none changes. It starts from the trees' roots, whose cost factors are the
// least of all, so that the first round is greedy on bounds.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::size_t kSample = 300; // leaves of a group that are looked at in a round
constexpr int kRounds = 6;
constexpr std::size_t kShaken = 4; // spaces, those with the best points
constexpr int kKicks = 12;         // times that two groups are moved away from the best point
constexpr std::array<std::size_t, kGroups> kClimbed = {2, 3, 4, 5, 0, 1}; // K C (P,R) (Q,S) N G

// Accumulators of their own before the array: one more level of orders, thousands of them.
bool keeps_sums_alone(const Level& level) {
    return store_of(level, Operand::output) != nullptr &&
           store_of(level, Operand::input) == nullptr &&
           store_of(level, Operand::weight) == nullptr;
}

class Climber {
  public:
    Climber(const Task& task, const Space& space, std::size_t index, const Effort& effort)
        : task_(task), space_(space), index_(index), effort_(effort), estimator_(space),
          product_(space.cost_factors), others_(space.cost_factors) {
        const std::size_t levels = task.machine.levels.size();
        sums_apart_ = levels > 2 && keeps_sums_alone(task.machine.levels[levels - 2]);
        if (ramps_matter(task)) {
            reuse_.emplace(space, estimator_);
        }
        for (std::size_t g = 0; g < kGroups; ++g) {
            const auto& nodes = space.groups[g].nodes;
            for (std::size_t n = 0; n < nodes.size(); ++n) {
                if (nodes[n].children == 0) {
                    leaves_[g].push_back(static_cast<std::uint32_t>(n));
                }
            }
        }
    }

    // To a first point: its value, endless when nothing fits.
    double climb() {
        at_.fill(0);
        for (const std::size_t g : kClimbed) {
            if (!improve(g, Known::little, kNone)) {
                return value_ = kNone;
            }
        }
        return best_ = ascend();
    }

    // Away from the best point and up again, a few times.
    void shaken() {
        for (int kick = 0; kick < kKicks && !effort_.climb_over(); ++kick) {
            const auto before = at_;
            shake();
            const double value = ascend();
            if (value < best_) {
                best_ = value;
            } else {
                at_ = before;
            }
        }
    }

    std::optional<SearchResult> result() {
        estimator_.products().multiply_tiles(rows(), product_.data());
        if (!estimator_.fits()(product_.data())) {
            return std::nullopt;
        }
        estimator_.products().multiply_rest(rows(), product_.data());
        estimator_.relaxed(product_.data(), Known::all, kNone);
        bool all_placed = true; // of no concern: an incumbent proves nothing
        if (reuse_) {
            for (const auto& good : reuse_->good(chains(), product_.data(), kNone)) {
                if (auto real =
                        realise(task_, space_, {index_, chains(), good.orders}, all_placed)) {
                    return real;
                }
            }
            return std::nullopt;
        }
        for (const auto& [value, c] : estimator_.good_orders(product_.data(), kNone)) {
            if (auto real = realise(task_, space_,
                                    {index_, chains(), estimator_.orders().combinations()[c]},
                                    all_placed)) {
                return real;
            }
        }
        return std::nullopt;
    }

  private:
    // From where the groups stand to where no group alone finds better: the value there.
    double ascend() {
        double value = kNone;
        ++moves_; // the groups were moved since the last climb
        for (int round = 0; round < kRounds && !effort_.climb_over(); ++round) {
            const double before = value;
            for (std::size_t n = 0; n < kGroups; ++n) {
                const std::size_t g = kClimbed[(n + static_cast<std::size_t>(round)) % kGroups];
                if (leaves_[g].size() >= 2 * kSample || found_best_[g] != moves_) {
                    moves_ += improve(g, Known::all, value) ? 1 : 0;
                    found_best_[g] = moves_;
                    value = std::min(value, value_);
                } else {
                    ++shift_; // as many samples as if it had looked
                }
            }
            if (value >= before) {
                break;
            }
        }
        return value;
    }

    // Two groups go to some other leaf, and the first of them looks for its best beside the rest.
    void shake() {
        for (int n = 0; n < 2; ++n) {
            const std::size_t g = kClimbed[rng_() % kGroups];
            at_[g] = leaves_[g][rng_() % leaves_[g].size()];
        }
    }

    Factors6 rows() const {
        Factors6 rows{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            rows[g] = space_.cost_factor(g, at_[g]);
        }
        return rows;
    }

    // Moves a group to the leaf with the least value below `cut`; false when it has none.
    bool improve(std::size_t g, Known known, double cut) {
        estimator_.products().multiply_others(rows(), g, others_.data());
        const std::uint32_t before = at_[g];
        std::uint32_t best = before;
        bool found = false;
        value_ = cut;
        const std::size_t step = std::max<std::size_t>(1, leaves_[g].size() / kSample);
        for (std::size_t n = shift_++ % step; n < leaves_[g].size(); n += step) {
            const std::uint32_t leaf = leaves_[g][n];
            at_[g] = leaf;
            const double value = value_of(space_.cost_factor(g, leaf), known);
            if (value < value_) {
                if (axes_fit(space_, chains())) {
                    value_ = value;
                    best = leaf;
                    found = true;
                }
            }
        }
        at_[g] = best;
        return found;
    }

    double value_of(const double* row, Known known) {
        estimator_.products().complete_tiles(others_.data(), row, product_.data());
        if (!estimator_.fits()(product_.data())) {
            return kNone;
        }
        estimator_.products().complete_rest(others_.data(), row, product_.data());
        const double bound = estimator_.relaxed(product_.data(), known, value_);
        if (known != Known::all || bound >= value_) {
            return bound;
        }
        if (sums_apart_) {
            effort_.look(estimator_.orders().meant().size());
        }
        if (reuse_) {
            return reuse_->least(chains(), product_.data(), value_);
        }
        const auto good = estimator_.good_orders(product_.data(), value_);
        return good.empty() ? kNone : good.front().first;
    }

    // A group that is still at its root stands for its first leaf: it has no trips to pack yet.
    std::array<std::uint32_t, kGroups> chains() const {
        std::array<std::uint32_t, kGroups> chains{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            std::uint32_t n = at_[g];
            while (space_.groups[g].nodes[n].children > 0) {
                n = space_.groups[g].nodes[n].first_child;
            }
            chains[g] = space_.groups[g].nodes[n].chain;
        }
        return chains;
    }

    const Task& task_;
    const Space& space_;
    std::size_t index_;
    const Effort& effort_;
    Estimator estimator_;
    std::optional<OperandReuse> reuse_; // where step 7 counts
    bool sums_apart_ = false;
    std::vector<double> product_;
    std::vector<double> others_;
    std::array<std::vector<std::uint32_t>, kGroups> leaves_;
    std::array<std::uint32_t, kGroups> at_{};
    double value_ = kNone;
    double best_ = kNone;
    std::size_t shift_ = 0;
    std::uint64_t moves_ = 0; // of all groups
    // The value of moves_ when each group was last at its best; it still is if none moved since.
    std::array<std::uint64_t, kGroups> found_best_{};
    std::mt19937 rng_{1};
};

} // namespace

std::optional<SearchResult> first_incumbent(const Task& task, const std::vector<Space>& spaces,
                                            int threads, const Effort& effort) {
    std::deque<Climber> climbers;
    for (std::size_t i = 0; i < spaces.size(); ++i) {
        climbers.emplace_back(task, spaces[i], i, effort);
    }
    std::vector<std::pair<double, std::size_t>> values(spaces.size());
    in_parallel(threads, spaces.size(), [&](std::size_t i) {
        values[i] = {climbers[i].climb(), i};
    });
    std::sort(values.begin(), values.end());
    values.resize(std::min(values.size(), kShaken));
    std::erase_if(values, [](const auto& v) { return v.first == kNone; });
    std::vector<std::optional<SearchResult>> found(values.size());
    in_parallel(threads, values.size(), [&](std::size_t n) {
        Climber& climber = climbers[values[n].second];
        climber.shaken();
        found[n] = climber.result();
    });
    std::optional<SearchResult> best;
    for (std::optional<SearchResult>& one : found) {
        if (one && (!best || one->certificate.value < best->certificate.value)) {
            best = std::move(one);
        }
    }
    return best;
}

} // namespace eyeroof::mapper
