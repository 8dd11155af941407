// Training steps over devices that differ: small ones against every order and every placement,
// pipelines against closed forms, a catalog's networks.
#include "analysis/program/memory.hpp"
#include "analysis/scale/heterogeneous.hpp"
#include "analysis/scale/heterogeneous_training.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/scale/split_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace test_scale_heterogeneous_training {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using namespace eyeroof::report;
using tests::near;

namespace {

double number(std::mt19937& random) {
    return 0.01 + static_cast<double>(random() % 1000) / 100.0;
}

// One to three operators in a row, or two branches that are added; then both passes and updates.
analysis::step::Graph random_step(std::mt19937& random) {
    const std::vector<std::string> middle = {
        "  - {name: r, op: elementwise, rows: 4, cols: 8, fn: relu}\n",
        "  - {name: n, op: layernorm, rows: 4, cols: 8}\n",
        "  - {name: g, op: gemm, m: 4, n: 8, k: 8}\n"};
    std::string yaml = "name: t\nlayers:\n  - {name: a, op: gemm, m: 4, n: 8, k: 8}\n";
    if (random() % 3 == 0) {
        yaml += "  - {name: b, op: gemm, m: 4, n: 8, k: 8}\n"
                "  - {name: c, op: elementwise, rows: 4, cols: 8, fn: add}\n"
                "graph:\n"
                "  - {run: a, reads: input, as: left}\n"
                "  - {run: b, reads: input, as: right}\n"
                "  - {run: c, reads: [left, right]}\n";
    } else {
        yaml += random() % 3 > 0 ? middle[random() % middle.size()] : std::string();
    }
    analysis::step::GraphOptions options;
    options.training = TrainingOptions{random() % 2 == 0 ? "sgd" : "adam"};
    const auto graph = tests::graph_from(yaml, options);
    for (const auto& d : graph.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(graph.ok());
    return *graph;
}

double send_s(double bytes) {
    return 0.02 + bytes / 100.0;
}

// Every order of the operators in which no two that share a written tensor change places, on every
// placement that keeps weights, states and what several write in one place; from the graph alone.
class Brute {
  public:
    Brute(const analysis::step::Graph& graph, const std::vector<std::vector<double>>& op_s,
          const std::vector<double>& room)
        : graph_(graph), op_s_(op_s), room_(room), n_(graph.operators.size()), end_(n_), at_(n_),
          done_(n_, false), free_(op_s.size(), 0.0), before_(n_), sent_(n_) {
        for (std::size_t b = 0; b < n_; ++b) {
            for (std::size_t a = 0; a < b; ++a) {
                if (conflict(a, b)) {
                    before_[b].push_back(a);
                }
            }
            for (const analysis::step::TensorId id : ids(b, false)) {
                for (std::size_t a = b; a-- > 0;) {
                    if (ids(a, true).contains(id)) {
                        sent_[b][a] += static_cast<double>(graph.tensors[id].bytes);
                        break;
                    }
                }
            }
        }
    }

    double least() {
        visit(0, 0.0);
        return best_;
    }

  private:
    std::set<analysis::step::TensorId> ids(std::size_t op, bool writes) const {
        const auto all =
            writes ? graph_.writes_of(graph_.operators[op]) : graph_.reads_of(graph_.operators[op]);
        return {all.begin(), all.end()};
    }
    bool stays(analysis::step::TensorId id) const {
        return graph_.tensors[id].role == analysis::step::Role::weight ||
               graph_.tensors[id].role == analysis::step::Role::optimizer;
    }
    bool conflict(std::size_t a, std::size_t b) const {
        for (const analysis::step::TensorId id : ids(a, true)) {
            if (ids(b, true).contains(id) || ids(b, false).contains(id)) {
                return true;
            }
        }
        const auto reads = ids(a, false);
        const auto writes = ids(b, true);
        return std::any_of(writes.begin(), writes.end(),
                           [&](analysis::step::TensorId id) { return reads.contains(id); });
    }

    bool allowed() const {
        std::vector<double> held(free_.size(), 0.0);
        for (analysis::step::TensorId id = 0; id < graph_.tensors.size(); ++id) {
            std::set<std::size_t> users, writers;
            for (std::size_t op = 0; op < n_; ++op) {
                const bool writes = ids(op, true).contains(id);
                if (writes) {
                    writers.insert(at_[op]);
                }
                if (writes || ids(op, false).contains(id)) {
                    users.insert(at_[op]);
                }
            }
            if (writers.size() > 1 || (stays(id) && users.size() > 1)) {
                return false;
            }
            if (stays(id) && !users.empty()) {
                held[*users.begin()] += static_cast<double>(graph_.tensors[id].bytes);
            }
        }
        for (std::size_t d = 0; d < held.size(); ++d) {
            if (room_[d] > 0.0 && held[d] > room_[d]) {
                return false;
            }
        }
        return true;
    }

    void visit(std::size_t placed, double latest) {
        if (latest >= best_) {
            return;
        }
        if (placed == n_) {
            best_ = allowed() ? latest : best_;
            return;
        }
        for (std::size_t op = 0; op < n_; ++op) {
            const bool ready =
                !done_[op] && std::all_of(before_[op].begin(), before_[op].end(),
                                          [&](std::size_t a) { return bool(done_[a]); });
            for (std::size_t d = 0; ready && d < free_.size(); ++d) {
                double start = free_[d];
                for (const std::size_t a : before_[op]) {
                    const auto sent = sent_[op].find(a);
                    const bool goes = at_[a] != d && sent != sent_[op].end();
                    start = std::max(start, end_[a] + (goes ? send_s(sent->second) : 0.0));
                }
                const double freed = free_[d];
                at_[op] = d;
                end_[op] = free_[d] = start + op_s_[d][op];
                done_[op] = true;
                visit(placed + 1, std::max(latest, end_[op]));
                done_[op] = false;
                free_[d] = freed;
            }
        }
    }

    const analysis::step::Graph& graph_;
    const std::vector<std::vector<double>>& op_s_;
    const std::vector<double>& room_;
    std::size_t n_;
    std::vector<double> end_;
    std::vector<std::size_t> at_;
    std::vector<bool> done_;
    std::vector<double> free_;
    std::vector<std::vector<std::size_t>> before_;
    std::vector<std::map<std::size_t, double>> sent_;
    double best_ = std::numeric_limits<double>::infinity();
};

HeterogeneousDevice device(const char* name) {
    return {name, tests::catalog_gpu(name)};
}

} // namespace

TEST_CASE("200 small training steps are divided as well as every order and placement does") {
    std::mt19937 random(11);
    int none = 0, divided = 0, listed_worse = 0;
    for (int i = 0; i < 200; ++i) {
        CAPTURE(i);
        const analysis::step::Graph graph = random_step(random);
        const std::size_t n = graph.operators.size();
        std::vector<std::vector<double>> op_s(2, std::vector<double>(n));
        for (auto& row : op_s) {
            std::generate(row.begin(), row.end(), [&] { return number(random); });
        }
        std::vector<double> room(2, 0.0);
        for (double& bytes : room) {
            bytes = random() % 3 == 0 ? static_cast<double>(random() % 2500) : 0.0;
        }
        const auto tasks = tasks_of_step(graph);
        REQUIRE(tasks.size() == n); // one norm at most: no update is shared
        TaskGraph made = schedule_of_step(graph, tasks, op_s, send_s);
        made.capacity_bytes = room;
        const Schedule exact = exact_schedule(made);
        const double best = Brute(graph, op_s, room).least();
        CHECK(exact.found() == (best < std::numeric_limits<double>::infinity()));
        none += exact.found() ? 0 : 1;
        if (exact.found()) {
            CHECK(exact.proved);
            CHECK(exact.time_s == near(best));
            const Schedule list = list_schedule(made);
            CHECK(list.time_s >= best * (1 - 1e-9));
            CHECK(list.bound_s <= best * (1 + 1e-9));
            listed_worse += list.time_s > best * (1 + 1e-9) ? 1 : 0;
            const auto [low, high] = std::minmax_element(exact.device.begin(), exact.device.end());
            divided += *low != *high ? 1 : 0;
        }
    }
    MESSAGE("divided " << divided << ", none fits " << none << ", the list is worse in "
                       << listed_worse);
    CHECK(none > 0);
    CHECK(divided > 20);
    CHECK(listed_worse > 20); // the baseline is not the answer
}

TEST_CASE("an update of many weights is one task a weight, and its parts take its time") {
    const analysis::step::Graph graph = tests::graph_of("resnet50", true);
    const auto tasks = tasks_of_step(graph);
    CHECK(tasks.size() > graph.operators.size());
    std::vector<double> share(graph.operators.size(), 0.0);
    std::map<analysis::step::TensorId, int> updated;
    for (const StepTask& task : tasks) {
        share[task.op] += task.share;
        if (graph.operators[task.op].kind == model::Issued::update) {
            int weights = 0;
            for (const analysis::step::TensorId id : task.reads) {
                if (graph.tensors[id].role == analysis::step::Role::weight) {
                    ++weights;
                    ++updated[id];
                }
            }
            CHECK(weights == 1);
        }
    }
    for (const double whole : share) {
        CHECK(whole == near(1.0));
    }
    for (analysis::step::TensorId id = 0; id < graph.tensors.size(); ++id) {
        if (graph.tensors[id].role == analysis::step::Role::weight) {
            CHECK(updated[id] == 1);
        }
    }
}

TEST_CASE("one forward, one backward: equal stages fill and empty as the closed form says") {
    for (const std::size_t stages : {1U, 2U, 4U, 7U}) {
        for (const std::size_t microbatches : {1U, 3U, 8U, 20U}) {
            const std::vector<StageTimes> equal(stages, {1.0, 2.0, 0.5});
            const auto turns = static_cast<double>(microbatches + stages - 1);
            CHECK(one_forward_one_backward(equal, microbatches) == near(3.0 * turns + 0.5));
        }
    }
    std::mt19937 random(13);
    for (int i = 0; i < 200; ++i) {
        std::vector<StageTimes> stages(1 + random() % 5);
        const std::size_t microbatches = 1 + random() % 9;
        double once = 0.0, busiest = 0.0;
        for (StageTimes& s : stages) {
            s = {number(random), number(random), 0.0};
            once += s.forward_s + s.backward_s;
            busiest = std::max(busiest, s.forward_s + s.backward_s);
        }
        const double step_s = one_forward_one_backward(stages, microbatches);
        const auto m = static_cast<double>(microbatches);
        CHECK(step_s >= std::max(once, m * busiest) * (1 - 1e-12));
        CHECK(step_s <= m * once * (1 + 1e-12)); // one microbatch after another
    }
}

TEST_CASE("a training step over two GPUs is never slower than on one, and has its schema") {
    const analysis::step::Graph graph = tests::graph_of("resnet50", true);
    HeterogeneousOptions options;
    options.nodes = 2'000;
    options.microbatches = 16;
    const auto answer =
        split_network(graph, {device("v100-sxm2-16gb"), device("a100-sxm-40gb")}, options);
    REQUIRE(answer.ok());
    CHECK(answer->training);
    CHECK(answer->best.time_s <= answer->listed.time_s);
    REQUIRE(std::any_of(answer->devices.begin(), answer->devices.end(),
                        [](const auto& device) { return device.holds_all; }));
    for (const auto& device : answer->devices) {
        CHECK((!device.holds_all || answer->best.time_s <= device.alone_s));
    }
    CHECK(answer->best.bound_s <= answer->best.time_s);
    CHECK(answer->pipeline_bound_s <= answer->pipeline_s * (1 + 1e-9));
    REQUIRE(answer->pipeline_gain().has_value());
    CHECK(*answer->pipeline_gain() >= 1.0 - 1e-9); // one device alone is a pipeline too
    CHECK(*answer->pipeline_gain() <= 2.0);
    double held = 0.0;
    for (const HeterogeneousDeviceShare& share : answer->devices) {
        held += share.held_bytes;
    }
    CHECK(held ==
          near(static_cast<double>(analysis::step::memory_of(graph).resident))); // each once
    tests::SchemaCheck schema(nlohmann::json::parse(schema_of("split")));
    CHECK(schema.faults(nlohmann::json::parse(to_json(split_answer(*answer)))) ==
          std::vector<std::string>{});
}

TEST_CASE("training that one device does not hold is divided over two, or refused with a reason") {
    HeterogeneousDevice small = device("v100-sxm2-16gb");
    const analysis::step::Graph graph =
        tests::graph_of("bert-large", true); // 4.7 GB of weights and states
    HeterogeneousOptions options;
    options.nodes = 100;
    options.microbatches = 4;
    small.gpu.dram_bytes = 4.2e9;
    const auto pair = split_network(graph, {small, small}, options);
    REQUIRE(pair.ok());
    CHECK(std::none_of(pair->devices.begin(), pair->devices.end(),
                       [](const auto& device) { return device.holds_all; }));
    for (const HeterogeneousDeviceShare& share : pair->devices) {
        CHECK(share.held_bytes > 0.0);
        CHECK(share.held_bytes <= share.capacity_bytes);
    }
    CHECK(pair->stages.size() == 2);
    for (const HeterogeneousStage& stage : pair->stages) {
        CHECK(stage.memory_bytes <= pair->devices[stage.device].capacity_bytes);
    }
    small.gpu.dram_bytes = 2.5e9;
    const auto tight = split_network(graph, {small, small}, options);
    REQUIRE_FALSE(tight.ok());
    CHECK(tight.diagnostics().items().front().code == "fits-nowhere");
}

} // namespace test_scale_heterogeneous_training
