// How many mappings a thread evaluates in a second in closed form, with how many allocations and
// how much more memory, and how long proofs take. Mappings are drawn beforehand, so that only their
// evaluation is timed.
#include "mapper/evaluate.hpp"
#include "mapper/search.hpp"
#include "tests/model/machines.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <new>
#include <random>

namespace {
std::atomic<std::uint64_t> allocations{0};
} // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size)) {
        return memory;
    }
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

using namespace eyeroof;

mapper::Task eyeriss_task(const model::Problem& problem, mapper::Factors factors) {
    mapper::Task task;
    task.problem = problem;
    task.machine = test::eyeriss168();
    task.machine.levels[1].channels.clear();
    for (std::size_t i = 2; i < 5; ++i) {
        task.machine.levels[i].stores[0].may_bypass = false;
    }
    task.constraints = mapper::constraints_of(task.machine, nullptr);
    task.factors = factors;
    return task;
}

const model::Problem kAlex1 = test::conv("alex1", {11, 11, 55, 55, 3, 96, 4}, 4, 4);
const model::Problem kAlex2 = test::conv("alex2", {5, 5, 27, 27, 48, 256, 4});
const model::Problem kVggFirst = test::conv("vgg1_1", {3, 3, 224, 224, 3, 64, 1});
const model::Problem kVgg = test::conv("vgg3_2", {3, 3, 56, 56, 256, 256, 1});
const model::Problem kRes = test::conv("res_3x3", {3, 3, 14, 14, 256, 256, 1});
const model::Problem kGemm = test::conv("gemm1024", {1, 1, 1024, 1, 1024, 1024, 1});

struct Drawn {
    mapper::Factors6 rows{};
    std::size_t order = 0;
};

// Mappings of a space that fit all stores and fan-outs.
std::vector<Drawn> draw(const mapper::Space& space, mapper::Estimator& estimator,
                        std::size_t count) {
    std::mt19937_64 rng(1);
    std::vector<double> product(space.cost_factors);
    std::vector<Drawn> drawn;
    while (drawn.size() < count) {
        Drawn one;
        one.order = rng() % estimator.orders().combinations().size();
        for (std::size_t g = 0; g < mapper::kGroups; ++g) {
            const auto& nodes = space.groups[g].nodes;
            std::size_t n = rng() % nodes.size();
            while (nodes[n].children > 0) {
                n = nodes[n].first_child + rng() % nodes[n].children;
            }
            one.rows[g] = space.cost_factor(g, n);
        }
        estimator.products().multiply_tiles(one.rows, product.data());
        if (estimator.fits()(product.data())) {
            drawn.push_back(one);
        }
    }
    return drawn;
}

double resident_kib() {
    std::ifstream status("/proc/self/statm");
    double size = 0.0;
    double resident = 0.0;
    status >> size >> resident;
    return resident * 4.0;
}

constexpr std::size_t kDrawn = 256; // their rows stay in a core's cache

// All six groups of each mapping again.
void evaluate(benchmark::State& state, const model::Problem& problem) {
    const mapper::Task task = eyeriss_task(problem, mapper::Factors::perfect);
    const mapper::Space space =
        mapper::build_space(task, mapper::bypass_choices(task).front(), 200000);
    mapper::Estimator estimator(space);
    const mapper::Evaluator evaluator(estimator);
    const std::vector<Drawn> drawn = draw(space, estimator, kDrawn);
    const double resident = resident_kib();
    const std::uint64_t before = allocations;
    std::size_t n = 0;
    for (auto _ : state) {
        const Drawn& one = drawn[n++ % kDrawn];
        benchmark::DoNotOptimize(evaluator.evaluate(one.rows, one.order));
    }
    state.counters["allocations"] = static_cast<double>(allocations - before);
    state.counters["more_KiB"] = resident_kib() - resident;
    state.counters["mappings/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(evaluate, alex1, kAlex1)->Iterations(10'000'000)->UseRealTime();
BENCHMARK_CAPTURE(evaluate, alex1, kAlex1)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_CAPTURE(evaluate, vgg3_2, kVgg)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_CAPTURE(evaluate, gemm1024, kGemm)->Threads(1)->Threads(2)->UseRealTime();

// As hill climbing and exhausting do: the last group (Q, S) alone changes.
void evaluate_neighbours(benchmark::State& state, const model::Problem& problem) {
    const mapper::Task task = eyeriss_task(problem, mapper::Factors::perfect);
    const mapper::Space space =
        mapper::build_space(task, mapper::bypass_choices(task).front(), 200000);
    mapper::Estimator estimator(space);
    const mapper::Evaluator evaluator(estimator);
    std::vector<double> others(space.cost_factors);
    const std::vector<Drawn> drawn = draw(space, estimator, kDrawn);
    estimator.products().multiply_others(drawn.front().rows, mapper::kGroups - 1, others.data());
    std::vector<const double*> rows;
    for (const Drawn& one : drawn) {
        const double* row = one.rows[mapper::kGroups - 1];
        const auto e = evaluator.evaluate_beside(others.data(), row, 0);
        if (std::isfinite(e.energy_pj)) {
            rows.push_back(row);
        }
    }
    const std::uint64_t before = allocations;
    std::size_t n = 0;
    for (auto _ : state) {
        n = n + 1 < rows.size() ? n + 1 : 0;
        benchmark::DoNotOptimize(evaluator.evaluate_beside(others.data(), rows[n], 0));
    }
    state.counters["allocations"] = static_cast<double>(allocations - before);
    state.counters["mappings/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(evaluate_neighbours, alex1, kAlex1)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK_CAPTURE(evaluate_neighbours, vgg3_2, kVgg)->Threads(1)->Threads(2)->UseRealTime();

// One proof, spaces and all.
void prove(benchmark::State& state, const model::Problem& problem, model::Counting counting,
           mapper::Factors factors) {
    mapper::Task task = eyeriss_task(problem, factors);
    task.counting = counting;
    mapper::SearchOptions options;
    options.threads = static_cast<int>(state.range(0));
    for (auto _ : state) {
        const auto found = mapper::search(task, options);
        state.counters["nodes"] = static_cast<double>(found->certificate.nodes);
        state.counters["edp"] = found->certificate.value;
        state.counters["proved"] = found->certificate.proved ? 1.0 : 0.0;
    }
}
constexpr auto kOwn = model::Counting::eyeroof;
constexpr auto kTimeloop = model::Counting::timeloop;
constexpr auto kPerfect = mapper::Factors::perfect;
void as_proofs(benchmark::internal::Benchmark* b) {
    b->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();
}
BENCHMARK_CAPTURE(prove, alex1, kAlex1, kOwn, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, alex2, kAlex2, kOwn, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, vgg3_2, kVgg, kOwn, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, res_3x3, kRes, kOwn, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, gemm1024, kGemm, kOwn, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, alex1_timeloop, kAlex1, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, alex2_timeloop, kAlex2, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, vgg3_2_timeloop, kVgg, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, vgg1_1_timeloop, kVggFirst, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, res_3x3_timeloop, kRes, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, gemm1024_timeloop, kGemm, kTimeloop, kPerfect)->Apply(as_proofs);
BENCHMARK_CAPTURE(prove, gemm1024_any, kGemm, kOwn, mapper::Factors::any)->Apply(as_proofs);

} // namespace
