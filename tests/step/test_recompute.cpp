// Recomputation against brute force, against the closed form, and against an own simulator.
#include "analysis/step/recompute.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <map>
#include <queue>
#include <random>
#include <set>
#include <tuple>

namespace test_step_recompute {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using eyeroof::tests::near;

namespace {

Chain equal_chain(std::size_t n) {
    return {1, 0, std::vector<Stage>(n, Stage{1.0, 1.0, 1, 1, 0, 0})};
}

// The least time by a search over everything that can be in memory: outputs that are kept until
// their backward use, tapes, one output on its way, the gradient. Written without the program's
// recursion. A tape may be made only where its input stays.
struct State {
    unsigned kept = 1, taped = 0;
    int moving = -1; // index of an output that is not kept, -1: none
    std::size_t gradient = 0;

    auto operator<=>(const State&) const = default;
};

class Search {
  public:
    Search(const Chain& chain, Count memory)
        : c_(chain), memory_(memory), n_(chain.stages.size()) {}

    double least() {
        State start;
        start.gradient = n_;
        push(start, 0.0);
        while (!open_.empty()) {
            const auto [time, state] = open_.top();
            open_.pop();
            if (time > best_[state]) {
                continue;
            }
            if (state.gradient == 0) {
                return time;
            }
            expand(state, time);
        }
        return -1.0;
    }

  private:
    using Entry = std::pair<double, State>;

    Count output(int i) const {
        return i == 0 ? c_.input : c_.stages[static_cast<std::size_t>(i - 1)].output;
    }
    Count gradient(std::size_t g) const {
        return g == 0 ? c_.input_gradient : c_.stages[g - 1].gradient;
    }
    Count held(const State& s) const {
        Count bytes = gradient(s.gradient);
        for (std::size_t i = 0; i <= n_; ++i) {
            bytes += (s.kept >> i & 1U) != 0 ? output(static_cast<int>(i)) : 0;
            bytes += i < n_ && (s.taped >> i & 1U) != 0 ? c_.stages[i].tape : 0;
        }
        return bytes + (s.moving >= 0 ? output(s.moving) : 0);
    }
    bool stays(const State& s, std::size_t i) const { // output i, in memory to its backward use
        return (s.kept >> i & 1U) != 0 || (i > 0 && (s.taped >> (i - 1) & 1U) != 0);
    }
    void push(const State& s, double time) {
        const auto known = best_.find(s);
        if (known == best_.end() || time < known->second) {
            best_[s] = time;
            open_.push({time, s});
        }
    }
    void expand(const State& s, double time) {
        if (s.moving >= 0) {
            State kept = s;
            kept.kept |= 1U << s.moving;
            kept.moving = -1;
            push(kept, time);
            State dropped = s;
            dropped.moving = -1;
            push(dropped, time);
        }
        for (std::size_t i = 0; i < s.gradient; ++i) {
            const Stage& stage = c_.stages[i];
            const bool there = stays(s, i) || s.moving == static_cast<int>(i);
            if (there && (s.moving < 0 || s.moving == static_cast<int>(i)) &&
                held(s) + stage.output <= memory_) {
                State next = s;
                next.moving = static_cast<int>(i) + 1;
                push(next, time + stage.forward_s);
            }
            if (s.moving < 0 && stays(s, i) && (s.taped >> i & 1U) == 0 &&
                held(s) + stage.tape <= memory_) {
                State next = s;
                next.taped |= 1U << i;
                push(next, time + stage.forward_s);
            }
        }
        const std::size_t g = s.gradient - 1;
        if (s.moving < 0 && (s.taped >> g & 1U) != 0 && stays(s, g) &&
            held(s) + gradient(g) + c_.stages[g].working <= memory_) {
            State next = s;
            next.taped &= ~(1U << g);
            next.kept &= (1U << g) - 1U; // output g and what lies above are not needed any more
            next.gradient = g;
            push(next, time + c_.stages[g].backward_s);
        }
    }

    const Chain& c_;
    Count memory_;
    std::size_t n_;
    std::map<State, double> best_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
};

// An own look at a schedule: sets of named tensors, nothing of the program's player.
struct Seen {
    bool valid = true;
    double time = 0.0;
    Count peak = 0;
};
Seen seen_of(const Chain& c, const std::vector<Action>& actions) {
    Seen seen;
    std::map<std::pair<char, std::size_t>, Count> there; // 'a' output, 't' tape, 'g' gradient
    const std::size_t n = c.stages.size();
    there[{'a', 0}] = c.input;
    there[{'g', n}] = n == 0 ? 0 : c.stages[n - 1].gradient;
    const auto look = [&](Count more) {
        Count sum = more;
        for (const auto& entry : there) {
            sum += entry.second;
        }
        seen.peak = std::max(seen.peak, sum);
    };
    for (const Action& action : actions) {
        const std::size_t i = action.stage;
        const Stage& stage = c.stages[i];
        seen.valid = seen.valid && (there.contains({'a', i}) || there.contains({'t', i}));
        if (action.kind == Action::Kind::backward) {
            seen.valid = seen.valid && there.contains({'t', i + 1}) && there.contains({'g', i + 1});
            there[{'g', i}] = i == 0 ? c.input_gradient : c.stages[i - 1].gradient;
            look(stage.working);
            there.erase({'t', i + 1});
            there.erase({'g', i + 1});
            there.erase({'a', i + 1});
            there.erase({'a', i});
            seen.time += stage.backward_s;
            continue;
        }
        seen.time += stage.forward_s;
        const bool tape = action.kind == Action::Kind::tape;
        there[{tape ? 't' : 'a', i + 1}] = tape ? stage.tape : stage.output;
        look(0);
        if (action.kind == Action::Kind::forward) {
            there.erase({'a', i});
        }
    }
    seen.valid = seen.valid && there.contains({'g', 0});
    return seen;
}

Chain random_chain(std::mt19937& random) {
    const auto draw = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    Chain chain;
    chain.input = draw(1, 4);
    chain.input_gradient = draw(0, 1) * chain.input;
    const int n = draw(2, 5);
    for (int i = 0; i < n; ++i) {
        Stage stage;
        stage.forward_s = draw(1, 9);
        stage.backward_s = draw(1, 9);
        stage.output = draw(1, 5);
        stage.tape = stage.output + draw(0, 6);
        stage.gradient = stage.output;
        stage.working = draw(0, 2);
        chain.stages.push_back(stage);
    }
    return chain;
}

std::optional<Count> binomial(Count n, Count k) {
    Count value = 1;
    for (Count i = 1; i <= k; ++i) {
        const auto product = checked_mul(value, n - k + i);
        if (!product) {
            return std::nullopt;
        }
        value = *product / i;
    }
    return value;
}

// revolve: forward runs, the first ones not counted, for l equal stages and c slots (the input's
// included): r l - C(c+r, r-1) with the least r for which C(c+r, c) >= l.
std::optional<Count> revolve_forwards(Count stages, Count slots) {
    if (stages < 1 || slots < 1) {
        return std::nullopt;
    }
    for (Count r = 0;; ++r) {
        const auto reach = binomial(slots + r, slots);
        if (!reach) {
            return std::nullopt;
        }
        if (*reach >= stages) {
            const auto saved = r > 0 ? binomial(slots + r, r - 1) : std::optional<Count>(0);
            return saved ? std::optional(r * stages - *saved) : std::nullopt;
        }
    }
}

} // namespace

TEST_CASE("recomputation equals brute force on 500 random chains with random memory limits") {
    std::mt19937 random(11);
    int feasible = 0, again = 0;
    for (int round = 0; round < 500; ++round) {
        const Chain chain = random_chain(random);
        const Count whole = plain_schedule(chain).peak;
        const Count memory = std::uniform_int_distribution<Count>(whole / 2, whole)(random);
        const auto found = best_schedule(chain, memory, 1000);
        const double least = Search(chain, memory).least();
        CAPTURE(round);
        REQUIRE(found.has_value() == (least >= 0.0));
        if (!found) {
            continue;
        }
        ++feasible;
        again += found->again_s > 0.0 ? 1 : 0;
        CHECK(found->time_s == near(least));
        const Seen seen = seen_of(chain, found->actions);
        CHECK(seen.valid);
        CHECK(seen.time == near(found->time_s));
        CHECK(seen.peak <= memory); // never over the limit
        CHECK(seen.peak == found->peak);
    }
    CHECK(feasible > 250);
    CHECK(again > 100); // limits that bind
}

TEST_CASE("on equal stages recomputation needs as many forward runs as revolve") {
    CHECK(*binomial(5, 3) == 10); // slots 3, repeats 2
    CHECK(*binomial(8, 5) == 56);
    CHECK(*binomial(12, 10) == 66);
    for (Count slots = 1; slots <= 6; ++slots) {
        for (Count stages = 1; stages <= 40; ++stages) {
            const Chain chain = equal_chain(static_cast<std::size_t>(stages));
            const auto found = best_schedule(chain, slots, 100, {false, false});
            REQUIRE(found);
            const double forwards = found->time_s - static_cast<double>(2 * stages);
            CHECK(forwards == near(static_cast<double>(*revolve_forwards(stages, slots))));
        }
        // The longest chain that r repeats of any stage reach is C(c + r, c).
        for (Count r = 1; r <= 2; ++r) {
            const Count longest = *binomial(slots + r, slots);
            const auto runs = [&](Count stages) {
                const auto found = best_schedule(equal_chain(static_cast<std::size_t>(stages)),
                                                 slots, 100, {false, false});
                std::map<std::size_t, Count> of;
                Count most = 0;
                for (const Action& a : found->actions) {
                    if (a.kind != Action::Kind::backward) {
                        most = std::max(most, ++of[a.stage]);
                    }
                }
                return most - 1;
            };
            CHECK(runs(longest) <= r);
            CHECK(*revolve_forwards(longest + 1, slots) - *revolve_forwards(longest, slots) ==
                  r + 1);
        }
    }
}

TEST_CASE("a hundred equal stages in segments of ten take 20 units and one more forward run") {
    const Chain chain = equal_chain(100);
    const Recomputation segments = segment_schedule(chain, 10);
    // The last segment runs once; all others twice. Inputs of ten segments and a segment's tapes.
    CHECK(segments.again_s == near(90.0));
    CHECK(segments.peak == 20);
    const auto best = best_schedule(chain, 20);
    REQUIRE(best);
    CHECK(best->time_s <= segments.time_s);
    CHECK(best->peak <= 20);
}

TEST_CASE("more memory never costs time, and enough costs none") {
    std::mt19937 random(5);
    for (int round = 0; round < 50; ++round) {
        const Chain chain = random_chain(random);
        const Recomputation plain = plain_schedule(chain);
        double before = -1.0;
        for (Count memory = plain.peak; memory > 0; --memory) {
            const auto found = best_schedule(chain, memory, 1000);
            if (!found) {
                break;
            }
            CHECK(found->time_s >= before);
            before = found->time_s;
        }
        CHECK(best_schedule(chain, plain.peak, 1000)->time_s == near(plain.time_s));
    }
}

TEST_CASE("rounded sizes still fit, and a limit below the input has no schedule") {
    Chain chain = equal_chain(30);
    for (Stage& stage : chain.stages) {
        stage.output = 1'000'003;
        stage.tape = 3'000'017;
        stage.gradient = 1'000'003;
    }
    chain.input = 1'000'003;
    for (const Count memory : {20'000'000, 40'000'000, 80'000'000}) {
        const auto found = best_schedule(chain, memory, 64);
        REQUIRE(found);
        CHECK(found->peak <= memory);
        const auto finer = best_schedule(chain, memory, 256);
        CHECK(finer->peak <= memory);
        CHECK(finer->time_s <= found->time_s + 3.0); // finer units lose less to rounding
    }
    CHECK(!best_schedule(chain, 1'000'000));
    CHECK(!best_schedule(chain, 5'000'000));
}

} // namespace test_step_recompute
