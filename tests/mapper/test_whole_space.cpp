#include "mapper/search_below.hpp"
#include "tests/mapper/every_mapping.hpp"
#include "tests/model/machines.hpp"
#include "tests/model/random_cases.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace test_mapper_whole_space {

// "proved" holds of every mapping, those with loops at levels that keep nothing
// included. Machines of two to four levels where a level in between lacks stores; both countings;
// with and without the time of step 7. EYEROOF_RANDOM_CASES asks for more cases,
// EYEROOF_RANDOM_ONLY for one.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

int asked(const char* variable, int usual) {
    const char* text = std::getenv(variable);
    return text == nullptr ? usual : std::atoi(text);
}

template <class T> T one_of(Random& r, std::initializer_list<T> values) {
    return values.begin()[r.upto(static_cast<Count>(values.size()))];
}

// What a family of random tasks is like; chances in percent.
struct Kind {
    Count least_levels = 2;
    Count most_levels = 4;
    int bypass = 30;     // a store may be passed by
    int stored = 60;     // an operand has a store at a level in between
    int fanned = 60;     // a level has a fan-out
    int windows = 60;    // there are positions and taps of one window
    int small = 0;       // stores hold few words
    int timeloop = 40;   // counting
    int any = 20;        // tiles of any size
    int forwards = 0;    // networks hand inputs on
    int lanes = 0;       // fan-outs of 5 to 9
    int updates = 0;     // a store's updates cost otherwise than its fills
    bool apart = false;  // networks of their own for each operand, all of them of finite rate
    bool uneven = false; // one dimension of 5 to 9 trips, and one or two of 2 or 3
};

// One loop that fan-outs and tiles rarely divide evenly, and as few others as let it be listed.
Problem uneven_loops(Random& r, const Kind& kind) {
    Problem p;
    const Count others = r.chance(75) ? 1 : 2;
    for (Count n = 0; n < others; ++n) {
        p.bounds[static_cast<std::size_t>(r.upto(kDims))] = r.between(2, 3);
    }
    const std::size_t uneven = static_cast<std::size_t>(r.upto(kDims));
    p.bounds[uneven] = r.between(5, 9);
    if (r.chance(kind.windows) && uneven >= index(Dim::P)) {
        p.bounds[uneven < index(Dim::R) ? uneven + 2 : uneven - 2] = 2;
    }
    p.stride = {r.chance(70) ? 1 : 2, r.chance(70) ? 1 : 2};
    p.dilation = {r.chance(80) ? 1 : 2, r.chance(80) ? 1 : 2};
    p.has_weight = !r.chance(5);
    return p;
}

// Two to four dimensions of two or three trips, often a position of windows and its tap.
Problem few_loops(Random& r, const Kind& kind) {
    Problem p;
    const auto bound = [&] { return r.chance(65) ? 2 : r.chance(70) ? 3 : 4; };
    const bool rows = r.chance(50);
    const bool windows = r.chance(kind.windows);
    if (windows) {
        p.bounds[index(rows ? Dim::P : Dim::Q)] = bound();
        p.bounds[index(rows ? Dim::R : Dim::S)] = bound();
    }
    const Count more = windows ? r.between(1, 2) : r.between(2, 4);
    for (Count n = 0; n < more; ++n) {
        p.bounds[static_cast<std::size_t>(r.upto(kDims))] = bound();
    }
    if (r.chance(kind.lanes)) {
        p.bounds[index(one_of(r, {Dim::C, Dim::R, Dim::S}))] = r.between(5, 8);
    }
    p.stride = {r.chance(70) ? 1 : 2, r.chance(70) ? 1 : 2};
    p.dilation = {r.chance(80) ? 1 : 2, r.chance(80) ? 1 : 2};
    p.has_weight = !r.chance(5);
    return p;
}

double some_rate(Random& r) {
    return r.chance(50) ? kUnlimited : static_cast<double>(r.between(1, 8));
}

Store some_store(Random& r, const Kind& kind, OperandSet operands, bool outermost) {
    const Count words = r.chance(kind.small) ? r.between(1, 4) : r.between(1, 20);
    Store s = store(operands, outermost ? 0 : words, some_rate(r), some_rate(r), 0.0);
    s.read_pj = one_of(r, {0.5, 1.0, 3.0, 10.0, 40.0, 200.0});
    s.write_pj = s.read_pj * one_of(r, {1.0, 1.0, 1.5});
    s.may_bypass = r.chance(kind.bypass);
    s.buffers = r.chance(15) ? 2 : 1;
    s.prefetch = r.chance(10);
    s.access_words = r.chance(25) ? one_of(r, {2, 4, 8}) : 1;
    if (kind.updates > 0 && r.chance(kind.updates)) {
        s.update_pj = s.write_pj * one_of(r, {0.0, 0.4, 0.85, 1.7});
    }
    return s;
}

OperandSet some_operands(Random& r, const Kind& kind) {
    OperandSet operands;
    for (const Operand o : kAllOperands) {
        if (r.chance(kind.stored)) {
            operands.insert(o);
        }
    }
    return operands;
}

Level some_level(Random& r, const Kind& kind, std::size_t number, bool outermost, bool innermost) {
    Level l = level("L" + std::to_string(number), {});
    const bool all = outermost || (innermost && r.chance(70));
    const OperandSet operands = all ? kAll : some_operands(r, kind);
    const bool together = outermost || r.chance(40);
    for (const Operand o : kAllOperands) {
        if (operands.contains(o) && (!together || l.stores.empty())) {
            l.stores.push_back(some_store(r, kind, together ? operands : OperandSet{o}, outermost));
        }
    }
    const Count axes = !r.chance(kind.fanned) ? 0 : r.chance(70) ? 1 : 2;
    const bool containers = axes == 2 && r.chance(30); // of PEs in columns, not an array
    for (Count a = 0; a < axes; ++a) {
        const Count units = r.chance(kind.lanes) ? r.between(5, 9) : r.between(2, 4);
        const std::string container = !containers ? "" : a == 0 ? "column." : "pe.";
        l.fanout.push_back(
            {container + std::string(a == 0 ? "x" : "y") + std::to_string(number), units});
    }
    for (const Operand o : kAllOperands) {
        if (kind.apart) {
            Channel c;
            c.name = std::string(operand_name(o));
            c.operands = {o};
            c.down_bytes_per_cycle = static_cast<double>(r.between(1, 8));
            c.up_bytes_per_cycle = c.down_bytes_per_cycle;
            l.channels.push_back(c);
        }
    }
    if (!kind.apart && r.chance(60)) {
        Channel c;
        c.name = "net";
        c.operands = kAll;
        c.cast = r.chance(25) ? Cast::unicast : Cast::multicast;
        c.reduces = r.chance(70);
        c.adds_at_once = c.reduces && r.chance(30);
        c.forwards = r.chance(kind.forwards);
        c.down_bytes_per_cycle = some_rate(r);
        c.up_bytes_per_cycle = c.down_bytes_per_cycle;
        c.hop_pj = r.chance(30) ? 2.0 : 0.0;
        l.channels.push_back(c);
    }
    return l;
}

mapper::Task some_task(Random& r, const Kind& kind) {
    mapper::Task task;
    task.problem = kind.uneven ? uneven_loops(r, kind) : few_loops(r, kind);
    task.machine.clock_hz = 1e9;
    task.machine.mac_pj = 1.0;
    task.machine.pipeline_stages = static_cast<int>(r.between(0, 3));
    const auto levels = static_cast<std::size_t>(r.between(kind.least_levels, kind.most_levels));
    for (std::size_t i = 0; i < levels; ++i) {
        task.machine.levels.push_back(some_level(r, kind, i, i == 0, i + 1 == levels));
    }
    task.counting = r.chance(kind.timeloop) ? Counting::timeloop : Counting::eyeroof;
    task.factors = r.chance(kind.any) ? mapper::Factors::any : mapper::Factors::perfect;
    task.objective = one_of(
        r, {mapper::Objective::energy(), mapper::Objective::edp(), mapper::Objective::latency()});
    return task;
}

// Compares one task with its enumeration; false when that has more than `most` mappings.
bool compare(const mapper::Task& task, long most) {
    const bool ramps = task.counting == Counting::eyeroof && task.time == mapper::Time::reported;
    const EveryMapping::Question question{task.problem, task.machine, task.counting,
                                          task.factors == mapper::Factors::perfect, ramps};
    EveryMapping every(question,
                       [&](double pj, double cycles) { return task.objective.value(pj, cycles); });
    const long size = every.size(most);
    if (size > most) {
        return false;
    }
    const auto least = every.least();
    const auto found = mapper::search(task);
    CAPTURE(size);
    CAPTURE(task.objective.name());
    CAPTURE(static_cast<int>(task.factors));
    CAPTURE(static_cast<int>(task.counting));
    CHECK(found.ok() == least.has_value());
    if (found && least) {
        CAPTURE(to_text(found->mapping, task.machine));
        CAPTURE(to_text(every.best(), task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(*least, 1e-9));
    }
    return found && least;
}

void compare_all(unsigned seed, int usual, const Kind& kind) {
    Random r(static_cast<unsigned>(asked("EYEROOF_RANDOM_SEED", 0)) * 1000 + seed);
    const int wanted = asked("EYEROOF_RANDOM_CASES", usual);
    const int only = asked("EYEROOF_RANDOM_ONLY", -1);
    const long most = asked("EYEROOF_RANDOM_MOST", 3000);
    for (int n = 0, compared = 0; compared < wanted && (only < 0 || n <= only); ++n) {
        const mapper::Task task = some_task(r, kind);
        if ((only < 0 || n == only) && !validate(task.machine).has_errors()) {
            CAPTURE(n);
            compared += compare(task, most) ? 1 : 0;
        }
    }
}

// The task with this number of those that a seed draws.
mapper::Task drawn(unsigned seed, const Kind& kind, int number) {
    Random r(seed);
    mapper::Task task;
    for (int n = 0; n <= number; ++n) {
        task = some_task(r, kind);
    }
    return task;
}

// A level in between has stores that may be passed by, and fan-outs; the best mapping under
// Timeloop's counting keeps nothing there, but loops over P and Q outside the units that hand
// windows on.
mapper::Task bypassed_levels() {
    mapper::Task task;
    task.problem = conv("x", {1, 3, 2, 10, 1, 8, 1});
    Accelerator& m = task.machine;
    m.clock_hz = 1e9;
    m.mac_pj = 1.0;
    m.word_bits = {16, 8, 24};
    const auto add = [&](OperandSet operands, Count bytes, double pj, double write_pj,
                         bool passed) {
        Store s = store(operands, 0, kUnlimited, kUnlimited, pj);
        if (bytes > 0) {
            s.capacity_bytes = bytes;
        }
        s.write_pj = write_pj;
        s.may_bypass = passed;
        m.levels.back().stores.push_back(s);
    };
    const auto net = [&](OperandSet operands, Cast cast, bool reduces, double hop_pj) {
        Channel c;
        c.name = "net";
        c.operands = operands;
        c.cast = cast;
        c.reduces = reduces;
        c.hop_pj = hop_pj;
        m.levels.back().channels.push_back(c);
    };
    const OperandSet sums = {Operand::output};
    const OperandSet weights = {Operand::weight};
    const OperandSet inputs = {Operand::input};
    m.levels.push_back(level("L0", {}));
    add(kAll, 0, 200.0, 200.0, true);
    net(kAll, Cast::multicast, true, 2.0);
    m.levels.back().fanout = {{"x00", 5}, {"x01", 4}};
    m.levels.push_back(level("L1", {}));
    add(inputs, 38, 3.0, 3.0, true);
    add({Operand::weight, Operand::output}, 146, 10.0, 15.0, true);
    net(kAll, Cast::unicast, true, 0.0);
    m.levels.back().fanout = {{"x10", 3}, {"x11", 7}};
    m.levels.push_back(level("L2", {}));
    add(kAll, 82, 3.0, 4.5, true);
    net(inputs, Cast::multicast, true, 2.0);
    net({Operand::weight, Operand::output}, Cast::multicast, false, 0.0);
    m.levels.push_back(level("L3", {}));
    add(inputs, 4, 0.5, 0.5, true);
    add(weights, 4, 2.0, 3.0, false);
    add(sums, 0, 0.5, 0.5, false);
    net(kAll, Cast::multicast, true, 2.0);
    const auto allow = [&](std::vector<DimSet> axis_dims) {
        task.constraints.levels.emplace_back();
        task.constraints.levels.back().axis_dims = std::move(axis_dims);
    };
    allow({{Dim::K, Dim::R}, {Dim::C, Dim::Q}});
    allow({{Dim::C, Dim::K, Dim::Q},
           {Dim::N, Dim::G, Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S}});
    task.counting = Counting::timeloop;
    return task;
}

Mapping loops_where_nothing_is_kept() {
    Mapping mapping;
    mapping.levels.resize(4);
    mapping.levels[0].keeps = kAll;
    mapping.levels[0].spatial = {{Dim::K, 2, 0}};
    mapping.levels[1].temporal = {{Dim::P, 2}, {Dim::Q, 10}};
    mapping.levels[1].spatial = {{Dim::S, 3, 1}};
    mapping.levels[3].keeps = kAll;
    mapping.levels[3].temporal = {{Dim::K, 4}};
    return mapping;
}

} // namespace

TEST_CASE("no mapping with loops at a level that keeps nothing beats a proved one") {
    mapper::Task task = bypassed_levels();
    const Mapping known = loops_where_nothing_is_kept();
    const auto cost = cost_of(task.problem, task.machine, known, task.counting);
    REQUIRE(cost);
    CHECK(cost->energy_pj == near(43670.0, 1e-4));
    for (const auto& objective : {mapper::Objective::energy(), mapper::Objective::edp()}) {
        task.objective = objective;
        const auto found = mapper::search(task);
        REQUIRE(found);
        CHECK(found->certificate.proved);
        const double cycles = overlapped_latency(*cost).total_cycles();
        CHECK(found->certificate.value <= objective.value(cost->energy_pj, cycles) * (1 + 1e-12));
    }
}

TEST_CASE("proved is proved of every mapping, with loops at levels that keep nothing as well") {
    compare_all(43, 200, {});
}

Kind few_words() {
    Kind kind;
    kind.least_levels = 3;
    kind.bypass = 5;
    kind.stored = 40;
    kind.fanned = 15;
    kind.windows = 25;
    kind.small = 80;
    kind.timeloop = 20;
    kind.any = 10;
    return kind;
}

// The loop over K is best at the level that keeps inputs alone. One level further out it stands
// between the loop over positions and the store of the windows, inside the array over taps:
// 18486 of 19668, and 26232 of 28152.
TEST_CASE("a loop that moves outwards inside an array may end what units hand on") {
    for (const mapper::Task& task : {drawn(108043, {}, 69), drawn(209044, few_words(), 105)}) {
        REQUIRE(task.counting == Counting::timeloop);
        CHECK(compare(task, 3000));
    }
}

TEST_CASE("proved is proved of every mapping where levels keep one operand of few words") {
    compare_all(44, 200, few_words());
}

Kind windows_in_space() {
    Kind kind;
    kind.least_levels = 3;
    kind.bypass = 10;
    kind.stored = 40;
    kind.fanned = 80;
    kind.windows = 100;
    kind.small = 40;
    kind.timeloop = 40;
    kind.any = 30;
    kind.forwards = 30;
    return kind;
}

TEST_CASE("proved is proved of every mapping where windows lie beside one another in space") {
    compare_all(45, 200, windows_in_space());
}

// Levels below a network that forwards: a window that slides first may cost more there than a loop
// without windows that comes first.
TEST_CASE("where units hand windows on, a loop without windows may be the better first one") {
    Random r(5045);
    const Kind kind = windows_in_space();
    mapper::Task task;
    for (int n = 0; n <= 900; ++n) { // Q2 before P2, R3 over three units: 867.375 of 887.25
        task = some_task(r, kind);
    }
    REQUIRE(task.machine.levels.front().channels.front().forwards);
    CHECK(compare(task, 3000));
}

Kind other_updates() {
    Kind kind;
    kind.bypass = 40;
    kind.updates = 70;
    kind.any = 30;
    return kind;
}

TEST_CASE("proved is proved of every mapping where updates cost otherwise than fills") {
    compare_all(47, 150, other_updates());
}

// Tiles of two of four positions fit twice into the store that prefetches, and those of three do
// not: the sums are then waited for while inputs arrive on the same network, 18.2 cycles of 22.8.
TEST_CASE("a larger tile may save time where the smaller one comes early") {
    const mapper::Task task = drawn(401047, other_updates(), 549);
    REQUIRE(task.factors == mapper::Factors::any);
    REQUIRE(task.machine.levels.back().stores.back().prefetch);
    CHECK(compare(task, 6000));
}

Kind uneven_sizes() {
    Kind kind;
    kind.most_levels = 3;
    kind.bypass = 20;
    kind.stored = 60;
    kind.fanned = 85;
    kind.windows = 25;
    kind.small = 50;
    kind.timeloop = 15;
    kind.any = 100;
    kind.uneven = true;
    return kind;
}

// Four taps on two units: three trips inside two tiles, of which the second is partial, bring the
// inputs in three parts. Two trips outside bring them in two, and the first one takes longer:
// 83,701 of 83,784. Under Timeloop's counting, P2 inside P3 in space: 13,937 of 14,000.
TEST_CASE("a loop may be better inside uneven trips in space than outside") {
    const std::array tasks = {drawn(404047, other_updates(), 217),
                              drawn(1048, uneven_sizes(), 2015)};
    CHECK(tasks[1].counting == Counting::timeloop);
    for (const mapper::Task& task : tasks) {
        REQUIRE(task.factors == mapper::Factors::any);
        CHECK(compare(task, 8000));
    }
}

TEST_CASE("proved is proved of every mapping where sizes divide unevenly") {
    compare_all(48, 100, uneven_sizes());
}

Kind networks_apart() {
    Kind kind = uneven_sizes();
    kind.least_levels = 2;
    kind.stored = 80;
    kind.windows = 10;
    kind.small = 30;
    kind.timeloop = 0;
    kind.apart = true;
    return kind;
}

TEST_CASE("proved is proved of every mapping where operands have networks of their own") {
    compare_all(49, 100, networks_apart());
}

Kind many_lanes() {
    Kind kind;
    kind.least_levels = 3;
    kind.bypass = 5;
    kind.stored = 50;
    kind.fanned = 60;
    kind.windows = 20;
    kind.small = 60;
    kind.timeloop = 0;
    kind.any = 10;
    kind.lanes = 70;
    return kind;
}

TEST_CASE("proved is proved of every mapping where many lanes add to one sum") {
    compare_all(46, 150, many_lanes());
}

// Four sums return to ten stores: the busiest takes at least one of them, not 0.4 rounded down, by
// which a mapping seemed faster than its words allow.
TEST_CASE("returning sums take time where they are fewer than the stores") {
    Random r(316046);
    mapper::Task task;
    for (int n = 0; n <= 672; ++n) {
        task = some_task(r, many_lanes());
    }
    CHECK(compare(task, 3000));
}

// The task on a machine that is harder: rates and stores are smaller, nothing else.
mapper::Task harder(const mapper::Task& task, Random& r) {
    mapper::Task hard = task;
    const auto slower = [&](double& rate) {
        rate *= std::isfinite(rate) ? static_cast<double>(r.between(2, 10)) / 10.0 : 1.0;
    };
    for (Level& level : hard.machine.levels) {
        for (Store& store : level.stores) {
            slower(store.read_bytes_per_cycle);
            slower(store.write_bytes_per_cycle);
            if (store.capacity_bytes && !store.prefetch) {
                *store.capacity_bytes = *store.capacity_bytes * r.between(6, 10) / 10;
            }
        }
        for (Channel& channel : level.channels) {
            slower(channel.down_bytes_per_cycle);
            slower(channel.up_bytes_per_cycle);
        }
    }
    return hard;
}

// The least value at `hard` of those mappings that are below `cutoff` at `task`.
double least_of(const mapper::Task& task, const mapper::Task& hard, double cutoff) {
    double least = std::numeric_limits<double>::infinity();
    mapper::Below below;
    below.cutoff = [&] { return cutoff; };
    below.found = [&](const mapper::SearchResult& found) {
        auto cost = cost_of(hard.problem, hard.machine, found.mapping, hard.counting);
        if (cost) {
            const Latency latency = latency_of(hard.problem, hard.machine, found.mapping, *cost);
            add_leakage(hard.machine, found.mapping, latency.total_cycles(), *cost);
            const double value = hard.objective.value(cost->energy_pj, latency.total_cycles());
            CHECK(value >= found.certificate.value * (1.0 - 1e-9));
            least = std::min(least, value);
        }
    };
    CHECK(mapper::search_below(task, {}, below, {}));
    return least;
}

TEST_CASE("the mappings below a value hold the best one of every harder machine") {
    Kind kind;
    kind.timeloop = 0;
    kind.any = 0;
    kind.most_levels = 3;
    Random r(611);
    for (int n = 0, compared = 0; compared < 60; ++n) {
        mapper::Task task = some_task(r, kind);
        task.objective = one_of(r, {mapper::Objective::edp(), mapper::Objective::latency()});
        task.constraints.max_cycles.reset();
        task.constraints.max_energy_pj.reset();
        const mapper::Task hard = harder(task, r);
        const auto found = validate(hard.machine).has_errors()
                               ? Result<mapper::SearchResult>::failure("none", "no machine")
                               : mapper::search(hard);
        if (!found || !found->certificate.proved) {
            continue;
        }
        CAPTURE(n);
        const double best = found->certificate.value;
        CHECK(least_of(task, hard, best * (1.0 + 1e-9)) == near(best, 1e-9));
        ++compared;
    }
}

} // namespace test_mapper_whole_space
