#include "mapper/bypass_queue.hpp"
#include "mapper/effort.hpp"
#include "mapper/search.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace test_mapper_search {

using namespace eyeroof;
using namespace eyeroof::model;
using namespace eyeroof::test;
using eyeroof::tests::near;

namespace {

mapper::Task eyeriss_task(const Problem& problem) {
    mapper::Task task;
    task.problem = problem;
    task.machine = eyeriss168();
    task.machine.levels[1].channels.clear(); // neighbours hand nothing on
    for (std::size_t i = 2; i < 5; ++i) {
        task.machine.levels[i].stores[0].may_bypass = false;
    }
    task.constraints = mapper::constraints_of(task.machine, nullptr);
    return task;
}

Problem small_conv() {
    return conv("small", {3, 3, 8, 8, 8, 16, 1});
}

std::string messages(const Diagnostics& d) {
    std::string text;
    for (const Diagnostic& item : d) {
        text += item.message + "\n";
    }
    return text;
}

} // namespace

TEST_CASE("best-known mappings of the published study are met or beaten, with proof") {
    struct Known {
        Problem problem;
        double edp;
    };
    const std::vector<Known> known = {
        {conv("alex1", {11, 11, 55, 55, 3, 96, 4}, 4, 4), 7.9238e15},
        {conv("res_3x3", {3, 3, 14, 14, 256, 256, 1}), 5.1452e14},
        {conv("gemm1024", {1, 1, 1024, 1, 1024, 1024, 1}), 1.4225e17}};
    for (const Known& k : known) {
        CAPTURE(k.problem.name);
        const auto found = mapper::search(eyeriss_task(k.problem), {.threads = 2});
        REQUIRE(found);
        CHECK(found->certificate.proved);
        CHECK(found->certificate.gap < 1e-9);
        CHECK(found->certificate.value <= k.edp);
    }
}

TEST_CASE("the answer does not depend on the number of threads") {
    const auto task = eyeriss_task(small_conv());
    const auto one = mapper::search(task, {.threads = 1});
    const auto two = mapper::search(task, {.threads = 2});
    const auto three = mapper::search(task, {.threads = 3});
    REQUIRE(one);
    REQUIRE(two);
    REQUIRE(three);
    CHECK(one->mapping == two->mapping);
    CHECK(one->mapping == three->mapping);
    CHECK(one->cost == two->cost);
}

TEST_CASE("no baseline beats the certificate on layers of the study") {
    for (const Problem& problem :
         {conv("res_3x3", {3, 3, 14, 14, 256, 256, 1}), conv("vgg5_3", {3, 3, 14, 14, 512, 512, 1}),
          conv("gemm1024", {1, 1, 1024, 1, 1024, 1024, 1}), conv("dw", {3, 3, 28, 28, 1, 1, 32})}) {
        const auto task = eyeriss_task(problem);
        const auto exact = mapper::search(task, {.threads = 2});
        REQUIRE(exact);
        CHECK(exact->certificate.proved);
        for (const auto strategy : {mapper::Strategy::random, mapper::Strategy::random_pruned,
                                    mapper::Strategy::annealing, mapper::Strategy::genetic}) {
            mapper::SearchOptions options;
            options.strategy = strategy;
            options.max_samples = 30000;
            const auto found = mapper::search(task, options);
            CAPTURE(problem.name);
            CAPTURE(mapper::strategy_name(strategy));
            CHECK((!found || found->certificate.value >= exact->certificate.lower_bound));
        }
    }
}

TEST_CASE("no baseline beats the certificate") {
    for (const auto objective :
         {mapper::Objective::latency(), mapper::Objective::energy(), mapper::Objective::edp()}) {
        auto task = eyeriss_task(small_conv());
        task.objective = objective;
        const auto exact = mapper::search(task);
        REQUIRE(exact);
        for (const auto strategy : {mapper::Strategy::random, mapper::Strategy::random_pruned,
                                    mapper::Strategy::annealing, mapper::Strategy::genetic}) {
            mapper::SearchOptions options;
            options.strategy = strategy;
            options.max_samples = 20000;
            const auto found = mapper::search(task, options);
            CAPTURE(mapper::strategy_name(strategy));
            REQUIRE(found);
            CHECK(found->certificate.value >= exact->certificate.lower_bound);
            CHECK_FALSE(found->certificate.proved);
        }
    }
}

TEST_CASE("pruned draws have tiles that fit, plain ones do not") {
    const auto task = eyeriss_task(small_conv());
    const auto unfit = [&](mapper::Strategy strategy) {
        mapper::SearchOptions options;
        options.strategy = strategy;
        options.max_samples = 2000;
        const auto found = mapper::search(task, options);
        REQUIRE(found);
        const auto& pruned = found->certificate.pruned;
        return pruned.contains("capacity or fan-out") ? pruned.at("capacity or fan-out") : 0;
    };
    CHECK(unfit(mapper::Strategy::random) > 1000);
    CHECK(unfit(mapper::Strategy::random_pruned) == 0);
}

TEST_CASE("annealing tries other choices of kept operands than the one that it starts with") {
    mapper::Task task;
    task.problem.bounds = {1, 1, 4, 2, 2, 1, 1, 1};
    task.machine.clock_hz = 1e9;
    task.machine.levels = {level("DRAM", {store(kAll, 0, 2, 2, 100.0)}),
                           level("buffer", {store(kAll, 32, 8, 8, 10.0)}, {{"x", 2}}),
                           level("PE", {store(kAll, 12, 4, 4, 1.0)})};
    task.machine.levels[1].stores[0].may_bypass = true;
    const auto exact = mapper::search(task);
    REQUIRE(exact);
    REQUIRE(exact->certificate.proved);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        mapper::SearchOptions options;
        options.strategy = mapper::Strategy::annealing;
        options.seed = seed;
        options.max_samples = 15000; // before it starts again elsewhere
        const auto found = mapper::search(task, options);
        REQUIRE(found);
        CAPTURE(seed);
        CHECK(found->certificate.value == near(exact->certificate.value));
    }
}

TEST_CASE("under Timeloop's counting the best-known mappings are met or beaten") {
    struct Known {
        Problem problem;
        double edp; // as printed, to five digits
    };
    const std::vector<Known> known = {
        {conv("alex1", {11, 11, 55, 55, 3, 96, 4}, 4, 4), 7.9238e15},
        {conv("res_3x3", {3, 3, 14, 14, 256, 256, 1}), 5.1452e14},
        {conv("gemm1024", {1, 1, 1024, 1, 1024, 1024, 1}), 1.4225e17}};
    for (const Known& k : known) {
        CAPTURE(k.problem.name);
        auto task = eyeriss_task(k.problem);
        task.counting = Counting::timeloop;
        const auto found = mapper::search(task, {.threads = 2});
        REQUIRE(found);
        CHECK(found->certificate.proved);
        CHECK(found->certificate.value <= k.edp * 1.00002);
    }
}

TEST_CASE("what is found is never worse than a known mapping that keeps the rules") {
    auto task = eyeriss_task(conv("prime", {1, 1, 13, 1, 17, 19, 1}));
    const auto divisors = mapper::search(task);
    task.factors = mapper::Factors::any;
    const auto any = mapper::search(task);
    REQUIRE(divisors);
    REQUIRE(any);
    CHECK(any->certificate.value < divisors->certificate.value);
    CHECK(any->certificate.note.empty());

    task.factors = mapper::Factors::perfect;
    task.known = {divisors->mapping, any->mapping};
    const auto helped = mapper::search(task);
    REQUIRE(helped);
    CHECK(helped->mapping == any->mapping);
    CHECK(helped->certificate.lower_bound <= helped->certificate.value);
    CHECK(helped->certificate.note.find("known mapping") != std::string::npos);
    CHECK(helped->certificate.space == "even mappings, perfect factors");
    const auto cut = mapper::search(task, {.max_nodes = 1}); // before it is sure of that
    REQUIRE(cut);
    CHECK(cut->mapping == any->mapping);
    CHECK(cut->certificate.note.find("known mapping") != std::string::npos);

    task.constraints.levels[1].spatial[index(Dim::K)] = 1; // which the known mapping breaks
    const auto ruled = mapper::search(task);
    REQUIRE(ruled);
    CHECK(ruled->mapping != any->mapping);
}

TEST_CASE("splits that are left out are told, and nothing is called proved") {
    const auto task = eyeriss_task(small_conv());
    const auto found = mapper::search(task, {.max_chains = 40});
    if (found) {
        CHECK_FALSE(found->certificate.proved);
        CHECK(found->certificate.lower_bound < found->certificate.value);
        CHECK(found->certificate.note.find("max_chains") != std::string::npos);
    }
    CHECK((found || found.diagnostics().items().front().code == "no-mapping"));
}

TEST_CASE("however early a search ends, its bound is at least the lower bound of the choices of "
          "what is kept") {
    for (const Problem& problem : {small_conv(), conv("gemm", {1, 1, 48, 1, 36, 60, 1})}) {
        const auto task = eyeriss_task(problem);
        const double lower_bound = mapper::BypassQueue(task).lower_bound();
        CHECK(lower_bound > 0.0);
        for (const std::size_t chains : {40U, 200'000U}) {
            for (const std::uint64_t nodes : {1U, 300U}) {
                CAPTURE(problem.name);
                CAPTURE(chains);
                CAPTURE(nodes);
                const auto found = mapper::search(task, {.max_nodes = nodes, .max_chains = chains});
                CHECK((!found || found->certificate.lower_bound >= lower_bound * (1.0 - 1e-9)));
            }
        }
    }
}

TEST_CASE("the certificate says which step of Eyexam left how many nodes") {
    const auto found = mapper::search(eyeriss_task(small_conv()));
    REQUIRE(found);
    std::uint64_t left = 0;
    for (const char* rule : {"B1 workload", "B2 dataflow", "B3 units", "B4 fan-out", "B4 axes",
                             "B4 steps", "B5 storage", "B6 bandwidth", "orders", "dominated"}) {
        REQUIRE(found->certificate.pruned.count(rule) == 1);
        left += found->certificate.pruned.at(rule);
    }
    CHECK(left > 0);
    CHECK(left <= found->certificate.nodes);
}

TEST_CASE("exhausting a small space finds what the exact search finds") {
    Problem p;
    p.bounds = {1, 1, 4, 2, 4, 1, 3, 1};
    Accelerator a;
    a.clock_hz = 1e9;
    a.levels = {level("DRAM", {store(kAll, 0, 2, 2, 100.0)}, {{"x", 2}}),
                level("PE", {store(kAll, 12, 4, 4, 1.0)})};
    mapper::Task task;
    task.problem = p;
    task.machine = a;
    const auto exact = mapper::search(task);
    mapper::SearchOptions options;
    options.strategy = mapper::Strategy::exhaustive;
    options.time_limit_s = 60;
    const auto all = mapper::search(task, options);
    REQUIRE(exact);
    REQUIRE(all);
    CHECK(all->certificate.proved);
    CHECK(exact->certificate.value == near(all->certificate.value));
}

TEST_CASE("fixed trips, kept operands and a least utilization are obeyed") {
    auto task = eyeriss_task(small_conv());
    task.constraints.levels[1].spatial[index(Dim::K)] = 4;
    task.constraints.levels[0].temporal[index(Dim::C)] = 2;
    task.constraints.levels[1].bypass = {Operand::weight};
    task.constraints.min_utilization = 0.5;
    const auto found = mapper::search(task);
    REQUIRE(found);
    Count spread = 1;
    for (const SpatialLoop& loop : found->mapping.levels[1].spatial) {
        spread *= loop.dim == Dim::K ? loop.bound : 1;
    }
    CHECK(spread == 4);
    CHECK_FALSE(found->mapping.levels[1].keeps.contains(Operand::weight));
    CHECK(found->cost.averaged_mac_units >= 0.5 * 168);
    const auto& outer = found->mapping.levels[0].temporal;
    CHECK(std::count(outer.begin(), outer.end(), TemporalLoop{Dim::C, 2}) == 1);
}

TEST_CASE("a dimension that is constrained away is named") {
    auto task = eyeriss_task(small_conv());
    for (auto& level : task.constraints.levels) {
        level.temporal[index(Dim::K)] = 1;
        level.spatial[index(Dim::K)] = 1;
    }
    const auto found = mapper::search(task);
    REQUIRE_FALSE(found);
    CHECK(messages(found.diagnostics()).find("K is constrained away") != std::string::npos);
}

TEST_CASE(
    "an outermost memory that does not hold the tensors is named, where nothing is constrained") {
    auto task = eyeriss_task(small_conv());
    task.machine.levels.front().stores.front().capacity_bytes = 64;
    const auto found = mapper::search(task);
    REQUIRE_FALSE(found);
    const std::string& outer = task.machine.levels.front().name;
    CHECK(messages(found.diagnostics()).find("must rest in " + outer) != std::string::npos);
    CHECK(found.diagnostics().begin()->hint.starts_with("a smaller batch"));
}

TEST_CASE("a capacity that no tile fits is named") {
    auto task = eyeriss_task(small_conv());
    task.constraints.levels[4].temporal[index(Dim::K)] = 16;
    task.constraints.levels[4].temporal[index(Dim::P)] = 8; // 128 sums in 24 words
    const auto found = mapper::search(task);
    REQUIRE_FALSE(found);
    CHECK(messages(found.diagnostics()).find("PsumSpad need 256 of its 48 bytes") !=
          std::string::npos);
}

TEST_CASE("a fan-out that cannot be filled is named") {
    auto task = eyeriss_task(small_conv());
    task.constraints.levels[1].axis_dims = std::vector<DimSet>{{Dim::R}, {Dim::S}};
    task.constraints.min_utilization = 0.9; // 3 of 14 by 3 of 12 at most
    const auto found = mapper::search(task);
    REQUIRE_FALSE(found);
    CHECK(messages(found.diagnostics()).find("fill at most 0.05357") != std::string::npos);
    task.constraints.min_utilization = 0.0;
    task.constraints.levels[1].spatial[index(Dim::K)] = 4;
    const auto spread = mapper::search(task);
    REQUIRE_FALSE(spread);
    CHECK(messages(spread.diagnostics()).find("asks for K4 in space") != std::string::npos);
}

TEST_CASE("a search that is stopped says how far it came") {
    auto task = eyeriss_task(conv("vgg3_2", {3, 3, 56, 56, 256, 256, 1}));
    const auto found = mapper::search(task, {.threads = 1, .time_limit_s = 0.3});
    if (found && !found->certificate.proved) {
        CHECK(found->certificate.lower_bound > 0.0);
        CHECK(found->certificate.lower_bound < found->certificate.value);
    } else if (!found) {
        CHECK(found.diagnostics().items().front().code == "no-mapping");
    }
}

TEST_CASE("tiles of any size are never worse than tiles that divide evenly under the same limit") {
    // The limits are those at which the search for even tiles has just found something better.
    for (const Problem& problem :
         {conv("rows", {3, 1, 16, 1, 12, 16, 1}), conv("gemm", {1, 1, 48, 1, 36, 60, 1}),
          conv("taps", {5, 1, 12, 1, 24, 18, 1})}) {
        auto task = eyeriss_task(problem);
        const auto whole = mapper::search(task, {.max_nodes = 1'000'000});
        REQUIRE(whole);
        for (const mapper::Improvement& step : whole->history) {
            CAPTURE(problem.name);
            const std::uint64_t nodes = step.nodes + 1;
            CAPTURE(nodes);
            task.factors = mapper::Factors::perfect;
            const auto even = mapper::search(task, {.max_nodes = nodes});
            task.factors = mapper::Factors::any;
            const auto any = mapper::search(task, {.max_nodes = nodes});
            REQUIRE(even);
            REQUIRE(any);
            CHECK(any->certificate.value <= even->certificate.value);
            CHECK(any->certificate.nodes >= even->certificate.nodes);
        }
    }
}

TEST_CASE("a time limit holds while the spaces are built, and what is known then has a bound") {
    // Hundreds of thousands of splits: the spaces alone take seconds.
    auto task = eyeriss_task(conv("large", {7, 7, 112, 112, 64, 2048, 8}, 2));
    task.factors = mapper::Factors::any;
    Mapping plain; // word by word from the outermost level
    for (const Level& level : task.machine.levels) {
        plain.levels.emplace_back();
        for (const Store& store : level.stores) {
            for (const Operand o : kAllOperands) {
                if (store.operands.contains(o)) {
                    plain.levels.back().keeps.insert(o);
                }
            }
        }
    }
    for (const Dim d : kAllDims) {
        plain.levels[0].temporal.push_back({d, task.problem.bounds[index(d)]});
    }
    task.known = {plain};
    const auto start = std::chrono::steady_clock::now();
    const auto found = mapper::search(task, {.threads = 2, .time_limit_s = 0.3});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    CHECK(took.count() < 3.0); // machines that run other tests beside are slow
    REQUIRE(found);
    CHECK_FALSE(found->certificate.proved);
    CHECK(found->certificate.lower_bound > 0.0);
    CHECK(found->certificate.lower_bound < found->certificate.value);
    CHECK(found->certificate.gap > 0.0);
}

TEST_CASE("a search that is cancelled before it begins proves nothing") {
    const auto task = eyeriss_task(conv("vgg3_2", {3, 3, 56, 56, 256, 256, 1}));
    std::stop_source stop;
    stop.request_stop();
    const auto none = mapper::search(task, {}, stop.get_token());
    CHECK((!none || !none->certificate.proved));
}

TEST_CASE("a limit of nodes gives the same answer whatever the number of threads") {
    mapper::Task task;
    task.problem.bounds = {1, 1, 64, 48, 28, 28, 3, 3};
    task.machine = test::eyeriss168();
    task.constraints = mapper::constraints_of(task.machine, nullptr);
    mapper::SearchOptions options;
    options.max_nodes = 3000;
    options.threads = 1;
    const auto one = mapper::search(task, options);
    options.threads = 3;
    const auto three = mapper::search(task, options);
    REQUIRE(one);
    REQUIRE(three);
    CHECK_FALSE(one->certificate.proved);
    CHECK(one->mapping == three->mapping);
    CHECK(one->certificate.nodes == three->certificate.nodes);
    CHECK(one->certificate.lower_bound == three->certificate.lower_bound);
}

TEST_CASE("looks end a climb and never the proof, later where more nodes are allowed") {
    const mapper::Effort few(0.0, {}, 1000);
    few.look(20'000'000 - 1);
    CHECK_FALSE(few.climb_over());
    few.look(1);
    CHECK(few.climb_over());
    CHECK_FALSE(few.over());
    few.spend(1000);
    CHECK(few.over());
    const mapper::Effort many(0.0, {}, 3'000'000); // ten looks a node
    many.look(20'000'000);
    CHECK_FALSE(many.climb_over());
    many.look(10'000'000);
    CHECK(many.climb_over());
    const mapper::Effort endless;
    endless.look(1'000'000'000);
    CHECK_FALSE(endless.climb_over());
}

TEST_CASE("with five levels and free bypass no more is made than effort and memory allow") {
    mapper::Task task;
    task.problem.bounds = {1, 1, 32, 32, 14, 14, 3, 3};
    task.machine = test::eyeriss168();
    for (std::size_t i = 1; i < task.machine.levels.size(); ++i) {
        task.machine.levels[i].stores = {
            test::store(test::kAll, i == 1 ? 131072 : 1024, 8, 8, i == 1 ? 6.0 : 1.0)};
        task.machine.levels[i].stores[0].may_bypass = true;
    }
    task.constraints = mapper::constraints_of(task.machine, nullptr);
    mapper::SearchOptions options;
    options.max_nodes = 2000;
    const auto found = mapper::search(task, options);
    REQUIRE(found);
    CHECK(found->certificate.lower_bound > 0.0);
    CHECK(found->certificate.lower_bound <= found->certificate.value);
}

} // namespace test_mapper_search
