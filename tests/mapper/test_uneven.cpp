#include "mapper/search.hpp"
#include "mapper/uneven.hpp"
#include "tests/mapper/every_mapping.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/random_cases.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace test_mapper_uneven {

// What is proven among even and uneven mappings is compared with two enumerations: one of loop
// nests that are walked iteration by iteration, which shares nothing with model and mapper; and one
// of all mappings of the machines that stores in parts make, which asks the model for step 7.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

int asked(const char* variable, int usual) {
    const char* text = std::getenv(variable);
    return text == nullptr ? usual : std::atoi(text);
}

// ---- loop nests, walked -------------------------------------------------------------------------

struct Loop {
    Dim dim;
    Count bound;

    auto operator<=>(const Loop&) const = default;
};

// Loops of prime trips, outermost first; the last `spatial` of them are spread over the units. The
// tile of an operand in store s begins inside the first at[s][operand] of them; -1: it passes by.
// Store 0 is the outermost memory.
struct Nest {
    std::vector<Loop> loops;
    std::size_t spatial = 0;
    std::vector<std::array<int, kOperands>> at;
    // How often a tile inside so many loops changes, the first one counted.
    std::array<std::vector<double>, kOperands> changes;
};

// Walks all iterations.
std::vector<double> changes_of(const std::vector<Loop>& loops, Operand o) {
    std::vector<Count> at(loops.size(), 0);
    std::vector<Count> before(loops.size(), -1);
    std::vector<double> changes(loops.size() + 1, 0.0);
    changes[0] = 1.0;
    for (bool more = true; more;) {
        bool moved = false;
        for (std::size_t n = 0; n < loops.size(); ++n) {
            moved = moved || (relevant(o, loops[n].dim) && at[n] != before[n]);
            changes[n + 1] += moved || before[n] < 0 ? 1.0 : 0.0;
        }
        before = at;
        more = false;
        for (std::size_t n = at.size(); n-- > 0 && !more;) {
            more = ++at[n] < loops[n].bound;
            at[n] = more ? at[n] : 0;
        }
    }
    return changes;
}

// Words of a store.
struct Words {
    double read = 0.0;
    double filled = 0.0;
    double updated = 0.0;
};

class Walk {
  public:
    Walk(const Nest& nest, const Accelerator& machine) : nest_(nest), machine_(machine) {
        words_.resize(nest.at.size());
        for (const Loop& loop : nest.loops) {
            macs_ *= static_cast<double>(loop.bound);
        }
    }

    bool fits() const {
        for (std::size_t s = 1; s < nest_.at.size(); ++s) {
            double held = 0.0;
            for (const Operand o : kAllOperands) {
                held += kept(s, o) ? tile(s, o) : 0.0;
            }
            const Store& store = machine_.levels[s].stores[0];
            if (held * store.buffers > static_cast<double>(*store.capacity_bytes)) {
                return false;
            }
        }
        return true;
    }

    // Energy and cycles where all transfers overlap.
    std::pair<double, double> cost() {
        for (const Operand o : kAllOperands) {
            count(o);
        }
        double pj = machine_.mac_pj * macs_;
        double cycles = macs_ / unrolled([](Dim) { return true; });
        for (std::size_t s = 0; s < words_.size(); ++s) {
            const Store& store = machine_.levels[s].stores[0];
            const Words& w = words_[s];
            pj += store.read_pj * w.read + store.write_pj * (w.filled + w.updated);
            cycles = std::max({cycles, w.read / store.read_bytes_per_cycle,
                               (w.filled + w.updated) / store.write_bytes_per_cycle});
        }
        const Channel& channel = machine_.levels[0].channels[0];
        cycles = std::max({cycles, (words_[0].read - added_) / channel.down_bytes_per_cycle,
                           words_[0].updated / channel.up_bytes_per_cycle});
        return {pj, cycles};
    }

  private:
    bool kept(std::size_t store, Operand o) const { return nest_.at[store][index(o)] >= 0; }

    template <class Which> double unrolled(Which which) const {
        double trips = 1.0;
        for (std::size_t n = nest_.loops.size() - nest_.spatial; n < nest_.loops.size(); ++n) {
            trips *= which(nest_.loops[n].dim) ? static_cast<double>(nest_.loops[n].bound) : 1.0;
        }
        return trips;
    }

    double tile(std::size_t store, Operand o) const {
        double words = 1.0;
        for (auto n = static_cast<std::size_t>(nest_.at[store][index(o)]); n < nest_.loops.size();
             ++n) {
            words *=
                relevant(o, nest_.loops[n].dim) ? static_cast<double>(nest_.loops[n].bound) : 1.0;
        }
        return words;
    }

    void count(Operand o) {
        std::size_t outer = 0;
        for (std::size_t s = 1; s < words_.size(); ++s) {
            if (kept(s, o)) {
                move(o, outer,
                     tile(s, o) *
                         nest_.changes[index(o)][static_cast<std::size_t>(nest_.at[s][index(o)])],
                     &words_[s]);
                outer = s;
            }
        }
        // Units that want one word get it together, and add their sums on the way.
        move(o, outer, macs_ / unrolled([o](Dim d) { return !relevant(o, d); }), nullptr);
    }

    // `words` between store `outer` and the one inside it (nullptr: the units). Each sum starts
    // from zero once, and is read and brought back at all other times.
    void move(Operand o, std::size_t outer, double words, Words* inner) {
        const bool sums = o == Operand::output;
        double again = words;
        if (sums) {
            double distinct = 1.0;
            for (const Loop& loop : nest_.loops) {
                distinct *= relevant(o, loop.dim) ? static_cast<double>(loop.bound) : 1.0;
            }
            again -= distinct;
            words_[outer].updated += words;
        }
        words_[outer].read += again;
        if (inner != nullptr) {
            inner->filled += again;
        } else if (sums && outer == 0) {
            added_ = again;
        }
    }

    const Nest& nest_;
    const Accelerator& machine_;
    std::vector<Words> words_;
    double macs_ = 1.0;
    double added_ = 0.0; // sums that the outermost memory reads to add to them itself
};

// The least value over all nests: orders of loops, storage of each operand at every place in every
// store, and loops in space. Stores further in begin inside those further out.
class EveryNest {
  public:
    EveryNest(const mapper::Task& task) : task_(task), stores_(task.machine.levels.size()) {
        for (const Dim d : kAllDims) {
            Count left = task.problem.bounds[index(d)];
            for (Count prime = 2; left > 1; ++prime) {
                for (; left % prime == 0; left /= prime) {
                    nest_.loops.push_back({d, prime});
                }
            }
        }
        nest_.at.assign(stores_, {0, 0, 0});
    }

    double least() {
        std::sort(nest_.loops.begin(), nest_.loops.end());
        do {
            for (const Operand o : kAllOperands) {
                nest_.changes[index(o)] = changes_of(nest_.loops, o);
            }
            Count units = 1;
            for (nest_.spatial = 0; units <= fanout(); ++nest_.spatial) {
                place(1, kOperands, 0, 0);
                if (nest_.spatial == nest_.loops.size()) {
                    break;
                }
                units *= nest_.loops[nest_.loops.size() - 1 - nest_.spatial].bound;
            }
        } while (std::next_permutation(nest_.loops.begin(), nest_.loops.end()));
        return least_;
    }
    double even() const { return even_; }
    long nests() const { return nests_; }

  private:
    Count fanout() const {
        return task_.machine.levels.back().fanout.empty()
                   ? 1
                   : task_.machine.levels.back().fanout[0].size;
    }

    // Operands from `left` - 1 down of a store are open; its tiles begin inside loop `from`, those
    // of the next store inside the deepest of this one.
    void place(std::size_t store, std::size_t left, int from, int deepest) {
        if (store == stores_) {
            judge();
            return;
        }
        if (left == 0) {
            place(store + 1, kOperands, deepest, deepest);
            return;
        }
        int& at = nest_.at[store][left - 1];
        at = -1;
        place(store, left - 1, from, deepest);
        const auto last = static_cast<int>(nest_.loops.size() - nest_.spatial);
        for (at = from; at <= last; ++at) {
            place(store, left - 1, from, std::max(deepest, at));
        }
    }

    void judge() {
        ++nests_;
        Walk walk(nest_, task_.machine);
        if (!walk.fits()) {
            return;
        }
        const auto [pj, cycles] = walk.cost();
        const double value = task_.objective.value(pj, cycles);
        least_ = std::min(least_, value);
        bool even = true;
        for (std::size_t s = 1; s < stores_; ++s) {
            int place = -1;
            for (const int at : nest_.at[s]) {
                even = even && (at < 0 || place < 0 || at == place);
                place = at < 0 ? place : at;
            }
        }
        even_ = even ? std::min(even_, value) : even_;
    }

    const mapper::Task& task_;
    std::size_t stores_;
    Nest nest_;
    double least_ = std::numeric_limits<double>::infinity();
    double even_ = std::numeric_limits<double>::infinity();
    long nests_ = 0;
};

double some_rate(Random& r) {
    return r.chance(40) ? kUnlimited : static_cast<double>(r.between(1, 6));
}

Store some_store(Random& r, bool outermost) {
    Store s;
    s.operands = kAll;
    if (!outermost) {
        s.capacity_bytes = r.between(4, 16);
    }
    s.read_bytes_per_cycle = some_rate(r);
    s.write_bytes_per_cycle = some_rate(r);
    s.read_pj = outermost ? 100.0 : static_cast<double>(r.between(1, 12));
    s.write_pj = s.read_pj * (r.chance(50) ? 1.0 : 1.5);
    s.buffers = !outermost && r.chance(20) ? 2 : 1;
    return s;
}

// Two levels and a product of up to 36 MACs, or three and one of 8.
mapper::Task some_task(Random& r) {
    mapper::Task task;
    const bool deep = r.chance(20);
    const std::array<Dim, 4> dims = {Dim::K, Dim::C, Dim::P, Dim::N};
    const Count primes = deep ? 4 : 6;
    for (Count n = 0; n < primes; ++n) {
        const Count which = n < 3 ? n : r.upto(4);
        task.problem.bounds[index(dims[static_cast<std::size_t>(which)])] *= r.chance(75) ? 2 : 3;
    }
    Accelerator& m = task.machine;
    m.clock_hz = 1e9;
    m.mac_pj = 1.0;
    m.word_bits = {8, 8, 8};
    m.levels = {level("DRAM", {some_store(r, true)}), level("buffer", {some_store(r, false)})};
    if (deep) {
        m.levels.push_back(level("registers", {some_store(r, false)}));
    }
    Channel bus;
    bus.operands = kAll;
    bus.down_bytes_per_cycle = some_rate(r);
    bus.up_bytes_per_cycle = some_rate(r);
    m.levels[0].channels = {bus};
    if (r.chance(50)) {
        m.levels.back().fanout = {{"x", r.between(2, 4)}};
    }
    const std::array<mapper::Objective, 3> objectives = {
        mapper::Objective::energy(), mapper::Objective::latency(), mapper::Objective::edp()};
    task.objective = objectives[static_cast<std::size_t>(r.upto(3))];
    task.time = mapper::Time::overlapped;
    return task;
}

// A store of all operands between memory and units, words of 8 bit.
Accelerator one_buffer(Count words, double rate) {
    Accelerator m;
    m.clock_hz = 1e9;
    m.word_bits = {8, 8, 8};
    m.levels = {level("DRAM", {store(kAll, 0, kUnlimited, kUnlimited, 100.0)}),
                level("buffer", {store(kAll, 1, kUnlimited, kUnlimited, 1.0)})};
    m.levels[1].stores[0].capacity_bytes = words;
    m.levels[1].stores[0].read_bytes_per_cycle = rate;
    return m;
}

// Memory, a buffer, and often a store of one operand in each unit; windows, step 7.
mapper::Task task_with_stalls(Random& r) {
    mapper::Task task;
    Problem& p = task.problem;
    p.bounds[index(Dim::K)] = r.between(1, 2);
    p.bounds[index(Dim::C)] = 2;
    p.bounds[index(Dim::P)] = r.between(2, 3);
    p.bounds[index(r.chance(40) ? Dim::R : Dim::N)] = 2;
    p.stride = {r.chance(70) ? 1 : 2, 1};
    Accelerator& m = task.machine;
    m = one_buffer(r.between(4, 14), some_rate(r));
    m.mac_pj = 1.0;
    m.pipeline_stages = static_cast<int>(r.between(1, 2));
    Store& buffer = m.levels[1].stores[0];
    buffer.read_pj = static_cast<double>(r.between(1, 12));
    buffer.write_bytes_per_cycle = some_rate(r);
    buffer.buffers = r.chance(30) ? 2 : 1;
    buffer.leak_pj = r.chance(20) ? 1.0 : 0.0;
    buffer.may_bypass = r.chance(60);
    for (Level& l : m.levels) {
        Channel c;
        c.operands = kAll;
        c.down_bytes_per_cycle = some_rate(r);
        c.up_bytes_per_cycle = c.down_bytes_per_cycle;
        c.half_duplex = r.chance(30);
        c.reduces = r.chance(70);
        c.hop_pj = r.chance(30) ? 2.0 : 0.0;
        l.channels = {c};
    }
    if (r.chance(60)) {
        m.levels[1].fanout = {{"x", 2}};
    }
    if (r.chance(40)) {
        const Operand o = kAllOperands[static_cast<std::size_t>(r.upto(3))];
        m.levels.push_back(level("unit", {store({o}, r.between(1, 3), kUnlimited, 2, 1.0)}));
    }
    task.factors = r.chance(15) ? mapper::Factors::any : mapper::Factors::perfect;
    const std::array<mapper::Objective, 3> objectives = {
        mapper::Objective::energy(), mapper::Objective::latency(), mapper::Objective::edp()};
    task.objective = objectives[static_cast<std::size_t>(r.upto(3))];
    return task;
}

// The least value of all mappings of a task, endless where none fits; nullopt: there are too many.
std::optional<double> least_of(const mapper::Task& task) {
    const EveryMapping::Question question{task.problem, task.machine, task.counting,
                                          task.factors == mapper::Factors::perfect, true};
    EveryMapping every(question,
                       [&](double pj, double cycles) { return task.objective.value(pj, cycles); });
    const long most = asked("EYEROOF_RANDOM_MOST", 5000);
    if (every.size(most) > most) {
        return std::nullopt;
    }
    return every.least().value_or(std::numeric_limits<double>::infinity());
}

mapper::SearchOptions uneven() {
    mapper::SearchOptions options;
    options.uneven = true;
    return options;
}

} // namespace

TEST_CASE("no loop nest, walked step by step, beats what is proven among uneven mappings") {
    Random r(static_cast<unsigned>(asked("EYEROOF_RANDOM_SEED", 0)) + 1);
    const int wanted = asked("EYEROOF_RANDOM_CASES", 60);
    int gained = 0;
    for (int n = 0; n < wanted; ++n) {
        const mapper::Task task = some_task(r);
        CAPTURE(n);
        CAPTURE(task.objective.name());
        EveryNest every(task);
        const double least = every.least();
        const auto found = mapper::search(task, uneven());
        REQUIRE(found.ok());
        CAPTURE(to_text(found->mapping, found->machine.value_or(task.machine)));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(least, 1e-9));
        CHECK(mapper::search(task)->certificate.value == near(every.even(), 1e-9));
        gained += least < every.even() * (1.0 - 1e-9) ? 1 : 0;
        CHECK(found->machine.has_value() == (least < every.even() * (1.0 - 1e-9)));
    }
    MESSAGE(gained << " of " << wanted << " have a better uneven mapping");
    CHECK(gained > 0);
}

TEST_CASE("no mapping with stores in parts beats what is proven with stalls and windows") {
    Random r(static_cast<unsigned>(asked("EYEROOF_RANDOM_SEED", 0)) + 2);
    const int wanted = asked("EYEROOF_RANDOM_CASES", 40);
    const int only = asked("EYEROOF_RANDOM_ONLY", -1);
    int gained = 0;
    int compared = 0;
    for (int n = 0; compared < wanted; ++n) {
        const mapper::Task task = task_with_stalls(r);
        if (only >= 0 && n != only) {
            compared += n > only ? wanted : 0;
            continue;
        }
        const auto parts = mapper::unfolded(task);
        REQUIRE(parts.ok());
        CAPTURE(n);
        CAPTURE(task.objective.name());
        const auto even = least_of(task);
        if (!even) {
            continue;
        }
        double least = *even;
        bool listed = true;
        for (const mapper::Task& one : parts->tasks) {
            const auto other = least_of(one);
            listed = listed && other;
            least = std::min(least, other.value_or(least));
        }
        if (!listed || least == std::numeric_limits<double>::infinity()) {
            continue;
        }
        ++compared;
        const auto found = mapper::search(task, uneven());
        REQUIRE(found.ok());
        CAPTURE(to_text(found->mapping, found->machine.value_or(task.machine)));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(least, 1e-9));
        gained += least < *even * (1.0 - 1e-9) ? 1 : 0;
    }
    MESSAGE(gained << " of " << compared << " have a better uneven mapping");
    CHECK((gained > 0 || only >= 0));
}

TEST_CASE("an even mapping costs the same where its store is in parts") {
    Random r(3);
    int compared = 0;
    for (int n = 0; n < 60; ++n) {
        const mapper::Task task = task_with_stalls(r);
        const auto found = mapper::search(task);
        const auto parts = mapper::unfolded(task);
        REQUIRE(parts.ok());
        if (!found) {
            continue;
        }
        for (const mapper::Task& one : parts->tasks) {
            Mapping same;
            same.levels.resize(one.machine.levels.size());
            const std::size_t more = one.machine.levels.size() - task.machine.levels.size();
            OperandSet kept;
            for (std::size_t i = 1; i <= 1 + more; ++i) {
                same.levels[i].keeps = one.machine.levels[i].stores[0].operands;
                for (const Operand o : kAllOperands) {
                    if (same.levels[i].keeps.contains(o)) {
                        kept.insert(o);
                    }
                }
            }
            if (kept != found->mapping.levels[1].keeps) {
                continue;
            }
            same.levels[0] = found->mapping.levels[0];
            same.levels[1 + more].temporal = found->mapping.levels[1].temporal;
            same.levels[1 + more].spatial = found->mapping.levels[1].spatial;
            for (std::size_t i = 2; i < task.machine.levels.size(); ++i) {
                same.levels[i + more] = found->mapping.levels[i];
            }
            auto cost = cost_of(task.problem, one.machine, same);
            REQUIRE(cost.ok());
            const Latency time = latency_of(task.problem, one.machine, same, *cost);
            add_leakage(one.machine, same, time.total_cycles(), *cost);
            CHECK(cost->energy_pj == near(found->cost.energy_pj, 1e-12));
            CHECK(time.total_cycles() == near(found->latency.total_cycles(), 1e-12));
            ++compared;
        }
    }
    CHECK(compared > 30);
}

TEST_CASE("parts of a store share its capacity and its rates") {
    mapper::Task task;
    task.problem.bounds[index(Dim::K)] = 4;
    task.problem.bounds[index(Dim::C)] = 4;
    task.machine = one_buffer(10, 2.0);
    const auto parts = mapper::unfolded(task);
    REQUIRE(parts.ok());
    // Weights 4 x 4 outside, sums 4, inputs 1: 21 words. Inputs 4, sums 4, weights 1: 9.
    const auto nest = [&](const mapper::Task& one, Count outer, Count inner) {
        Mapping m;
        m.levels.resize(one.machine.levels.size());
        for (std::size_t i = 0; i < m.levels.size(); ++i) {
            m.levels[i].keeps = one.machine.levels[i].stores[0].operands;
        }
        m.levels[1].temporal = {{Dim::K, outer}, {Dim::C, inner}};
        m.levels[3].temporal = {{Dim::K, 4 / outer}, {Dim::C, 4 / inner}};
        return cost_of(task.problem, one.machine, m);
    };
    const auto in_order = [&](std::array<Operand, 3> order) {
        return std::find_if(parts->tasks.begin(), parts->tasks.end(), [&](const mapper::Task& t) {
            bool same = t.machine.levels.size() == 4;
            for (std::size_t i = 1; same && i < 4; ++i) {
                same = t.machine.levels[i].stores[0].operands.contains(order[i - 1]);
            }
            return same;
        });
    };
    const auto weight = in_order({Operand::weight, Operand::input, Operand::output});
    const auto input = in_order({Operand::input, Operand::output, Operand::weight});
    REQUIRE(weight != parts->tasks.end());
    REQUIRE(input != parts->tasks.end());
    CHECK(parts->tasks.size() == 12); // 3! orders of three operands, 2 of each pair
    CHECK(!nest(*weight, 4, 4));
    const auto cost = nest(*input, 1, 4); // inputs 4, sums 4, weights 4: too much
    CHECK(!cost);
    const auto fits = nest(*input, 4, 4);
    REQUIRE(fits.ok());
    // 16 inputs, 16 weights, and 16 sums less the 4 that start from zero; 2 words a cycle.
    CHECK(fits->cycles == near((16 + 16 + 16 - 4) / 2.0, 1e-12));
    CHECK(fits->cycles_limit == "buffer read");
}

TEST_CASE("where nodes end the search of uneven mappings the bound holds for them, too") {
    mapper::Task task;
    for (const Dim d : {Dim::P, Dim::K, Dim::C}) {
        task.problem.bounds[index(d)] = 24;
    }
    task.machine = one_buffer(60, 2.0);
    task.objective = mapper::Objective::energy();
    const auto even = mapper::search(task);
    const auto whole = mapper::search(task, uneven());
    mapper::SearchOptions few = uneven();
    few.max_nodes = 2 * even->certificate.nodes;
    const auto cut = mapper::search(task, few);
    REQUIRE(whole.ok());
    REQUIRE(cut.ok());
    CHECK(whole->certificate.proved);
    CHECK(whole->certificate.space == "even mappings and uneven ones of buffer, perfect factors");
    const mapper::Certificate& c = cut->certificate;
    CHECK(!c.proved);
    CHECK(c.open_by == mapper::OpenBy::effort);
    CHECK(c.space == whole->certificate.space);
    CHECK(c.note.starts_with("the best even mapping is proven"));
    CHECK(c.lower_bound <= whole->certificate.value);
    CHECK(c.value <= even->certificate.value);
}

TEST_CASE("what has no uneven mappings is refused with the reason") {
    mapper::Task task;
    task.problem.bounds[index(Dim::K)] = 4;
    task.machine = one_buffer(16, 2.0);
    const auto why = [&] {
        const auto found = mapper::search(task, uneven());
        return found ? "" : found.diagnostics().begin()->message;
    };
    CHECK(why().empty());
    task.counting = Counting::timeloop;
    CHECK(why() == "uneven mappings are not searched: Timeloop's counting is of even ones");
    task.counting = Counting::eyeroof;
    task.machine.levels[1].stores[0].prefetch = true;
    CHECK(why() == "uneven mappings are not searched: buffer prefetches");
    task.machine.levels[1].stores[0].operands = {Operand::weight};
    CHECK(why() == "uneven mappings are not searched: no store keeps several operands");
}

} // namespace test_mapper_uneven
