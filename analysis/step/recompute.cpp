#include "analysis/step/recompute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::analysis::step {

namespace {

using Kind = Action::Kind;
constexpr double kNever = std::numeric_limits<double>::infinity();

// The table C(s, t, m) in units of memory, with the choices that reach it. Stages count from 0;
// output(s - 1) is the input of s.
class Table {
  public:
    Table(const Chain& chain, Count memory, std::size_t slots, const ChainRules& rules)
        : chain_(chain), rules_(rules), n_(chain.stages.size()) {
        const auto most = static_cast<Count>(std::max<std::size_t>(slots, 1));
        unit_ = memory <= most ? 1 : ceil_div(memory, most);
        const Count inside = memory - chain.input;
        units_ = inside < 0 ? -1 : inside / unit_;
        forward_.assign(n_ + 1, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            forward_[i + 1] = forward_[i] + chain.stages[i].forward_s;
            output_.push_back(up(chain.stages[i].output));
            tape_.push_back(up(chain.stages[i].tape));
            gradient_.push_back(rules.count_working ? up(chain.stages[i].gradient) : 0);
            working_.push_back(rules.count_working ? up(chain.stages[i].working) : 0);
        }
        input_gradient_ = rules.count_working ? up(chain.input_gradient) : 0;
    }

    bool solve() {
        if (units_ < 0 || n_ == 0) {
            return false;
        }
        const std::size_t width = static_cast<std::size_t>(units_) + 1;
        cost_.assign(n_ * n_ * width, kNever);
        choice_.assign(n_ * n_ * width, kNone);
        for (std::size_t length = 1; length <= n_; ++length) {
            for (std::size_t s = 0; s + length <= n_; ++s) {
                fill(s, s + length - 1);
            }
        }
        return cost(0, n_ - 1, units_) < kNever;
    }

    std::vector<Action> actions() const {
        std::vector<Action> list;
        emit(0, n_ - 1, units_, list);
        return list;
    }

  private:
    static constexpr std::uint16_t kNone = 0xFFFF, kTape = 0xFFFE;

    Count up(Count bytes) const { return ceil_div(bytes, unit_); }
    std::size_t at(std::size_t s, std::size_t t, Count m) const {
        return (s * n_ + t) * (static_cast<std::size_t>(units_) + 1) + static_cast<std::size_t>(m);
    }
    double cost(std::size_t s, std::size_t t, Count m) const {
        return m < 0 ? kNever : cost_[at(s, t, m)];
    }
    Count gradient_before(std::size_t s) const {
        return s == 0 ? input_gradient_ : gradient_[s - 1];
    }

    // Memory that running s backward with its tape takes.
    Count backward_need(std::size_t s) const {
        return rules_.count_working ? tape_[s] + gradient_[s] + gradient_before(s) + working_[s]
                                    : 0;
    }

    // What is left for k..t beside the input of k; of a single stage that input is in use, and
    // where what is in use does not count it takes nothing.
    Count rest_of(std::size_t k, std::size_t t, Count m) const {
        return k == t && !rules_.count_working ? m : m - output_[k - 1];
    }

    void fill(std::size_t s, std::size_t t) {
        // Least memory of the forward sweep s..k-1 grows with k.
        std::vector<Count> sweep(t + 1, 0);
        Count most = 0;
        for (std::size_t j = s; j < t && rules_.count_working; ++j) {
            const Count before = j == s ? 0 : output_[j - 1];
            most = std::max(most, before + output_[j] + gradient_[t]);
            sweep[j + 1] = most;
        }
        const Stage& stage = chain_.stages[s];
        for (Count m = 0; m <= units_; ++m) {
            double best = kNever;
            std::uint16_t chosen = kNone;
            if (s == t) {
                best = m >= backward_need(s) ? stage.forward_s + stage.backward_s : kNever;
                chosen = best < kNever ? kTape : kNone;
            } else if (const Count waiting = tape_[s] + gradient_[t];
                       rules_.tapes_wait && m >= backward_need(s) && m >= waiting) {
                const double rest = cost(s + 1, t, m - tape_[s]);
                best = stage.forward_s + rest + stage.backward_s;
                chosen = best < kNever ? kTape : kNone;
            }
            for (std::size_t k = s + 1; k <= t && m >= sweep[k]; ++k) {
                const double time =
                    forward_[k] - forward_[s] + cost(k, t, rest_of(k, t, m)) + cost(s, k - 1, m);
                if (time < best) {
                    best = time;
                    chosen = static_cast<std::uint16_t>(k);
                }
            }
            cost_[at(s, t, m)] = best;
            choice_[at(s, t, m)] = chosen;
        }
    }

    void emit(std::size_t s, std::size_t t, Count m, std::vector<Action>& list) const {
        const std::uint16_t chosen = choice_[at(s, t, m)];
        if (chosen == kTape) {
            list.push_back({Kind::tape, s});
            if (s < t) {
                emit(s + 1, t, m - tape_[s], list);
            }
            list.push_back({Kind::backward, s});
            return;
        }
        const std::size_t k = chosen;
        for (std::size_t j = s; j < k; ++j) {
            list.push_back({j == s ? Kind::forward_keep : Kind::forward, j});
        }
        emit(k, t, rest_of(k, t, m), list);
        emit(s, k - 1, m, list);
    }

    const Chain& chain_;
    const ChainRules& rules_;
    std::size_t n_;
    Count unit_ = 1, units_ = -1, input_gradient_ = 0;
    std::vector<double> forward_; // sums before each stage
    std::vector<Count> output_, tape_, gradient_, working_;
    std::vector<double> cost_;
    std::vector<std::uint16_t> choice_;
};

// What is there while a schedule is played.
class Player {
  public:
    explicit Player(const Chain& chain)
        : chain_(chain), kept_(chain.stages.size() + 1, false), taped_(chain.stages.size(), false),
          runs_(chain.stages.size(), 0), gradient_(chain.stages.size()) {
        kept_[0] = true;
    }

    bool act(const Action& action) {
        const std::size_t i = action.stage;
        if (i >= chain_.stages.size() || !(kept_[i] || (i > 0 && taped_[i - 1]))) {
            return false; // its input is not there
        }
        const Stage& stage = chain_.stages[i];
        if (action.kind == Kind::backward) {
            return backward(i, stage);
        }
        const bool tape = action.kind == Kind::tape;
        if (i >= gradient_ || (tape && taped_[i])) {
            return false;
        }
        note((tape ? stage.tape : stage.output));
        time_ += stage.forward_s;
        again_ += runs_[i]++ > 0 ? stage.forward_s : 0.0;
        if (tape) {
            taped_[i] = true;
        } else {
            kept_[i + 1] = true;
            kept_[i] = kept_[i] && action.kind == Kind::forward_keep;
        }
        return true;
    }

    bool done() const { return gradient_ == 0; }
    double time() const { return time_; }
    double again() const { return again_; }
    Count peak() const { return peak_; }

  private:
    Count gradient_bytes(std::size_t of) const { // of the output of stage of-1
        return of == 0 ? chain_.input_gradient : chain_.stages[of - 1].gradient;
    }

    Count held() const {
        Count bytes = kept_[0] ? chain_.input : 0;
        for (std::size_t i = 0; i < chain_.stages.size(); ++i) {
            bytes += kept_[i + 1] ? chain_.stages[i].output : 0;
            bytes += taped_[i] ? chain_.stages[i].tape : 0;
        }
        return bytes + gradient_bytes(gradient_);
    }

    void note(Count more) { peak_ = std::max(peak_, held() + more); }

    bool backward(std::size_t i, const Stage& stage) {
        if (!taped_[i] || gradient_ != i + 1) {
            return false;
        }
        note(gradient_bytes(i) + stage.working);
        time_ += stage.backward_s;
        taped_[i] = false;
        kept_[i + 1] = false;
        kept_[i] = false;
        gradient_ = i;
        return true;
    }

    const Chain& chain_;
    std::vector<bool> kept_;  // outputs of stage i-1, alone; 0: the input
    std::vector<bool> taped_; // of stage i
    std::vector<int> runs_;
    std::size_t gradient_; // of what is there: of the output of stage gradient_-1
    double time_ = 0.0, again_ = 0.0;
    Count peak_ = 0;
};

} // namespace

std::optional<Recomputation> play(const Chain& chain, std::vector<Action> actions) {
    Player player(chain);
    for (const Action& action : actions) {
        if (!player.act(action)) {
            return std::nullopt;
        }
    }
    if (!player.done()) {
        return std::nullopt;
    }
    return Recomputation{player.time(), player.again(), player.peak(), std::move(actions)};
}

std::optional<Recomputation> best_schedule(const Chain& chain, Count memory, std::size_t slots,
                                           const ChainRules& rules) {
    Table table(chain, memory, slots, rules);
    if (!table.solve()) {
        return std::nullopt;
    }
    return play(chain, table.actions());
}

Recomputation plain_schedule(const Chain& chain) {
    return segment_schedule(chain, std::max<std::size_t>(chain.stages.size(), 1));
}

Recomputation segment_schedule(const Chain& chain, std::size_t k) {
    std::vector<Action> actions;
    const std::size_t n = chain.stages.size();
    const std::size_t last = n == 0 ? 0 : (n - 1) / k * k; // the last segment runs with its tapes
    for (std::size_t i = 0; i < last; ++i) {
        actions.push_back({i % k == 0 ? Kind::forward_keep : Kind::forward, i});
    }
    for (std::size_t begin = last;; begin -= k) {
        const std::size_t end = std::min(begin + k, n);
        for (std::size_t i = begin; i < end; ++i) {
            actions.push_back({Kind::tape, i});
        }
        for (std::size_t i = end; i-- > begin;) {
            actions.push_back({Kind::backward, i});
        }
        if (begin < k) {
            break;
        }
    }
    const auto played = play(chain, std::move(actions));
    return played.value_or(Recomputation{});
}

} // namespace eyeroof::analysis::step
