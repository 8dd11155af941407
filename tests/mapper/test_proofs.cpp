#include "mapper/pattern_climb.hpp"
#include "mapper/search.hpp"
#include "model/cost/dram_pattern.hpp"
#include "tests/mapper/enumerate.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

namespace test_mapper_proofs {

// What a proof of the reported time must hold for: machines of one to four levels with double
// buffers, stores that prefetch, channels of their own for each operand and long pipelines.
// EYEROOF_RANDOM_CASES asks for more cases, EYEROOF_RANDOM_SEED for others, EYEROOF_RANDOM_ONLY for
// one.

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

int number_of(const char* variable, int usual) {
    const char* asked = std::getenv(variable);
    return asked == nullptr ? usual : std::atoi(asked);
}

unsigned seed_of(unsigned own) {
    return static_cast<unsigned>(number_of("EYEROOF_RANDOM_SEED", 0)) * 1000 + own;
}

std::vector<Channel> channels_of(Random& r) {
    std::vector<Channel> channels;
    const bool apart = r.chance(50);
    for (const Operand o : kAllOperands) {
        Channel c;
        c.operands = apart ? OperandSet{o} : kAll;
        c.name = apart ? std::string(operand_name(o)) : "net";
        c.cast = r.chance(20) ? Cast::unicast : Cast::multicast;
        c.reduces = r.chance(70);
        c.adds_at_once = c.reduces && r.chance(30);
        c.half_duplex = r.chance(30);
        c.down_bytes_per_cycle = r.chance(20) ? std::numeric_limits<double>::infinity()
                                              : 1.0 + static_cast<double>(r.upto(6));
        c.up_bytes_per_cycle = c.down_bytes_per_cycle * (r.chance(30) ? 2.0 : 1.0);
        c.hop_pj = r.chance(20) ? 1.0 : 0.0;
        channels.push_back(c);
        if (!apart) {
            break;
        }
    }
    return channels;
}

Accelerator waiting_machine(Random& r) {
    Accelerator a;
    a.clock_hz = 1e9;
    a.mac_pj = 1.0;
    a.pipeline_stages = static_cast<int>(r.between(0, 5));
    const auto levels = static_cast<std::size_t>(r.between(1, 4));
    for (std::size_t i = 0; i < levels; ++i) {
        const double pj = i == 0 ? 100.0 : i + 1 == levels ? 1.0 : 10.0;
        Level l = level("L" + std::to_string(i), {});
        const bool apart = i > 0 && r.chance(50);
        for (const Operand o : kAllOperands) {
            if (i > 0 && apart && r.chance(25)) {
                continue; // passes by
            }
            Store s = store(apart ? OperandSet{o} : kAll, i == 0 ? 0 : r.between(2, 30),
                            1.0 + static_cast<double>(r.upto(8)),
                            1.0 + static_cast<double>(r.upto(8)), pj);
            s.may_bypass = i > 0 && r.chance(15);
            s.buffers = i > 0 && r.chance(30) ? 2 : 1;
            s.prefetch = i > 0 && r.chance(20);
            l.stores.push_back(s);
            if (!apart) {
                break;
            }
        }
        const Count axes = r.chance(50) ? 0 : r.between(1, 2);
        for (Count x = 0; x < axes; ++x) {
            l.fanout.push_back({x == 0 ? "x" : "y", r.between(2, 3)});
        }
        if (r.chance(80)) {
            l.channels = channels_of(r);
        }
        a.levels.push_back(l);
    }
    return a;
}

mapper::Task waiting_task(Random& r) {
    mapper::Task task;
    task.problem = tiny_problem(r);
    task.machine = waiting_machine(r);
    task.factors = r.chance(50) ? mapper::Factors::any : mapper::Factors::perfect;
    task.counting = r.chance(15) ? Counting::timeloop : Counting::eyeroof;
    if (r.chance(10)) {
        task.counting = Counting::eyeroof;
        task.problem.produced =
            task.problem.has_weight && r.chance(50) ? Operand::weight : Operand::input;
    }
    task.objective = std::array{mapper::Objective::latency(), mapper::Objective::energy(),
                                mapper::Objective::edp()}[static_cast<std::size_t>(r.upto(3))];
    if (r.chance(25)) {
        leak(r, task.machine);
    }
    return task;
}

} // namespace

TEST_CASE("proofs of the reported time equal an enumeration on machines that wait in many ways") {
    Random r(seed_of(31));
    const int wanted = number_of("EYEROOF_RANDOM_CASES", 400);
    const int only = number_of("EYEROOF_RANDOM_ONLY", -1);
    for (int n = 0, compared = 0; compared < wanted && (only < 0 || n <= only); ++n) {
        const mapper::Task task = waiting_task(r);
        if ((only >= 0 && n != only) || validate(task.machine).has_errors()) {
            continue;
        }
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many() || best < 0) {
            continue;
        }
        ++compared;
        CAPTURE(n);
        CAPTURE(task.objective.name());
        CAPTURE(static_cast<int>(task.factors));
        CAPTURE(static_cast<int>(task.counting));
        const auto found = mapper::search(task);
        CAPTURE(found.ok() ? std::string() : found.diagnostics().begin()->message);
        REQUIRE(found);
        CAPTURE(to_text(found->mapping, task.machine));
        CAPTURE(to_text(every.best_mapping, task.machine));
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value == near(best, 1e-9));
    }
}

// The search takes such a DRAM as a stream: its bound holds for every mapping, and what it calls
// proven is the best. What it finds is climbed from there at the rates of the tiles.
TEST_CASE("where a DRAM's rate follows the mapping the bound holds, and only the best is proven") {
    Random r(seed_of(33));
    const int wanted = number_of("EYEROOF_RANDOM_CASES", 150);
    int proved = 0;
    int open = 0;
    int better = 0;       // than the mapping that is the best at the rate of a stream
    int least_before = 0; // of these, equal to the enumeration
    int least = 0;        // of all that are found
    for (int compared = 0; compared < wanted;) {
        mapper::Task task = waiting_task(r);
        std::vector<Channel>& channels = task.machine.levels.front().channels;
        if (channels.empty() || task.counting != Counting::eyeroof) {
            continue;
        }
        const auto& standard = dram_standards()[static_cast<std::size_t>(r.upto(7))];
        const TensorLayout layout =
            r.chance(50) ? TensorLayout::channels_first : TensorLayout::channels_last;
        channels.front().dram = DramLink{std::string(standard.name), 1, 0, false, true, layout};
        if (validate(task.machine).has_errors()) {
            continue;
        }
        Enumerator every(task);
        const double best = every.run();
        if (every.too_many() || best < 0) {
            continue;
        }
        ++compared;
        CAPTURE(compared);
        CAPTURE(task.objective.name());
        const auto found = mapper::search(task);
        REQUIRE(found);
        const mapper::Certificate& c = found->certificate;
        mapper::Task streamed = task;
        streamed.machine = at_stream_rate(task.machine);
        const auto first = mapper::search(streamed);
        REQUIRE(first);
        const auto own = mapper::valued(task, first->mapping);
        if (own) { // at the rates of its own tiles
            CHECK(c.value <= own->certificate.value * (1.0 + 1e-9));
            better += c.value < own->certificate.value * (1.0 - 1e-9) ? 1 : 0;
            least_before += own->certificate.value <= best * (1.0 + 1e-9) ? 1 : 0;
        }
        least += c.value <= best * (1.0 + 1e-9) ? 1 : 0;
        CHECK(c.proved == (c.open_by == mapper::OpenBy::nothing));
        CHECK((c.proved || c.open_by == mapper::OpenBy::stream));
        CHECK(c.lower_bound <= best * (1.0 + 1e-9));
        CHECK(c.value >= best * (1.0 - 1e-9));
        CHECK(std::abs(c.gap - (1.0 - c.lower_bound / c.value)) < 1e-9);
        if (c.proved) {
            CHECK(c.value == near(best, 1e-9));
        }
        (c.proved ? proved : open) += 1;
    }
    CHECK(proved > wanted / 10); // both happen
    CHECK(open > wanted / 10);
    CHECK(least > least_before + wanted / 10);
    CHECK(better > wanted / 10);
}

} // namespace test_mapper_proofs
