// Remedies: the front, what is offered, chains of graphs, offloading.
#include "analysis/step/chain.hpp"
#include "analysis/step/improve.hpp"
#include "report/answer/write.hpp"
#include "report/step/improve_answer.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <set>

namespace test_step_improve {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using namespace eyeroof::report;
using tests::catalog_gpu;
using tests::near;

namespace {

// The question, on layers that the GPU runs.
analysis::Question asked(const std::string& name, const model::Gpu& gpu, bool training) {
    auto question = tests::question_of(tests::catalog_network(name), tests::machine_with(gpu));
    for (auto& layer : question.network.layers) {
        if (gpu.rate(layer.types.input).flops_per_s <= 0.0) {
            layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
        }
    }
    if (training) {
        question.scenario.training = analysis::TrainingOptions{"adam"};
    }
    return question;
}

Improvement improved(const analysis::Question& question, Count limit,
                     std::vector<Count> batches = {1, 2}) {
    ImproveOptions options;
    options.limit = limit;
    options.batches = std::move(batches);
    auto found = improve(question, options);
    REQUIRE(found.ok());
    return *std::move(found);
}

// What is offered alone to free memory.
std::set<Freeing> freed_by(const Improvement& found) {
    std::set<Freeing> freed;
    for (const Outcome& o : found.alone) {
        freed.insert(o.combination.freeing);
    }
    freed.erase(Freeing::none);
    return freed;
}

} // namespace

TEST_CASE("a layer that differs from a known one in name and count alone is not computed again") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    const Graph graph = tests::graph_of("resnet18", true);
    LayerCosts known(gpu, tests::usual_software());
    const auto first = known.of(graph);
    REQUIRE(first.ok());
    const std::size_t distinct = known.known();
    CHECK(distinct <= graph.layers.size());
    CHECK(known.of(graph)->layers == first->layers);
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        model::Layer same = graph.layers[i];
        same.name = "another name";
        same.count += 1;
        REQUIRE(*known.of(same) == first->layers[i]);
        REQUIRE(*LayerCosts(gpu, tests::usual_software()).of(same) == first->layers[i]);
    }
    CHECK(known.known() == distinct);

    known.set_software([](const model::Layer&) {
        model::Software first_library;
        first_library.library = model::Library::until_10;
        return first_library;
    });
    CHECK(known.of(graph).ok());
    CHECK(known.known() == 2 * distinct);
}

TEST_CASE("a layer that the machine does not run is named, and is not kept") {
    const model::Gpu gpu = catalog_gpu("v100-sxm2-16gb");
    LayerCosts known(gpu, tests::usual_software());
    const Graph graph = tests::graph_of("resnet18");
    model::Layer layer = graph.layers.front();
    layer.name = "narrow";
    layer.types = {model::DataType::fp8, model::DataType::fp8, model::DataType::fp8};
    const auto cost = known.of(layer);
    REQUIRE(!cost.ok());
    CHECK(to_string(*cost.diagnostics().begin()).find("narrow") != std::string::npos);
    CHECK(known.known() == 0);
}

TEST_CASE("no outcome on a front is dominated, and none that is left out dominates") {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::vector<Outcome> all(1 + random() % 40);
        for (Outcome& o : all) {
            o.item_s = static_cast<double>(1 + random() % 10);
            o.peak = static_cast<Count>(1 + random() % 10);
        }
        const auto front = front_of(all);
        const auto beats = [](const Outcome& a, const Outcome& b) {
            return a.item_s <= b.item_s && a.peak <= b.peak &&
                   (a.item_s < b.item_s || a.peak < b.peak);
        };
        for (const Outcome& f : front) {
            for (const Outcome& o : all) {
                REQUIRE(!beats(o, f));
            }
        }
        for (const Outcome& o : all) {
            REQUIRE(std::any_of(front.begin(), front.end(), [&](const Outcome& f) {
                return f.item_s <= o.item_s && f.peak <= o.peak;
            }));
        }
    }
}

TEST_CASE("remedies of a training step stay within the limit and name what excludes what") {
    const auto question =
        asked("bert-base:layers=4,dropout=1", catalog_gpu("v100-sxm2-16gb"), true);
    const Improvement found = improved(question, 1'200'000'000);
    REQUIRE(!found.front.empty());
    for (const Outcome& o : found.front) {
        CHECK(o.fits);
        CHECK(o.peak <= 1'200'000'000);
        CHECK(o.low_s <= o.time_s);
        CHECK(o.time_s <= o.high_s);
        CHECK(!o.combination.weights); // weights that are trained are not quantized
    }
    for (std::size_t i = 1; i < found.front.size(); ++i) {
        CHECK(found.front[i].item_s > found.front[i - 1].item_s);
        CHECK(found.front[i].peak < found.front[i - 1].peak);
    }
    CHECK(std::any_of(found.excluded.begin(), found.excluded.end(),
                      [](const Excluded& e) { return e.what.find("host") != std::string::npos; }));
    CHECK(found.front.front().gain >= 1.0);
    const auto json = nlohmann::json::parse(
        to_json(improve_answer(found, question.network.id, question.machine.id, 1)));
    CHECK(json["front"].size() == found.front.size());
}

TEST_CASE("a machine without tensor cores is offered no shorter type, and a chain no attention") {
    const Improvement found =
        improved(asked("alexnet", catalog_gpu("k80-die"), false), 11'000'000'000, {1});
    for (const Outcome& o : found.alone) {
        CHECK(!o.combination.type);
        CHECK(!o.combination.attention);
        CHECK(o.combination.freeing == Freeing::none);
    }
}

TEST_CASE("one remedy alone: recomputation and offloading free memory and cost time") {
    const Improvement found =
        improved(asked("resnet50", catalog_gpu("v100-sxm2-16gb"), true), 15'000'000'000, {1});
    for (const Outcome& o : found.alone) {
        if (o.combination.freeing != Freeing::none) {
            CHECK(o.peak < found.now.peak);
            CHECK(o.time_s >= found.now.time_s);
        }
    }
    CHECK(freed_by(found) ==
          std::set{Freeing::segments, Freeing::recompute, Freeing::cheapest, Freeing::offload});
}

TEST_CASE("weights come from the host in inference, where what there is does not hold them") {
    const auto question = asked("vgg16", catalog_gpu("v100-sxm2-16gb"), false); // 277 MB of weights
    const Improvement found = improved(question, 200'000'000, {1});
    CHECK_FALSE(found.now.fits);
    CHECK(freed_by(found) == std::set{Freeing::stream});
    CHECK(std::ranges::any_of(found.all, [](const Outcome& o) {
        return o.combination.freeing == Freeing::stream && o.fits;
    }));
}

TEST_CASE("a step that has no stages is offered no recomputation in stages") {
    auto question = asked("alexnet", catalog_gpu("v100-sxm2-16gb"), true);
    question.network.layers.resize(1);
    question.edges.reset();
    const auto freed = freed_by(improved(question, 15'000'000'000, {1}));
    CHECK_FALSE(freed.contains(Freeing::segments));
    CHECK_FALSE(freed.contains(Freeing::recompute));
    // Nor one that cannot be within the limit.
    const auto least = asked("alexnet", catalog_gpu("v100-sxm2-16gb"), true);
    CHECK_FALSE(freed_by(improved(least, 1'000'000, {1})).contains(Freeing::recompute));
}

TEST_CASE("single zeros gain below the density at which lanes beat dense tensor cores") {
    const model::Gpu gpu = catalog_gpu("v100-sxm2-16gb");
    const auto question = asked("vgg16", gpu, false);
    const Improvement found = improved(question, 15'000'000'000, {1});
    const auto zeros = std::ranges::find(found.excluded, "single zeros", &Excluded::what);
    REQUIRE(zeros != found.excluded.end());
    const double percent =
        100.0 * unstructured_break_even(gpu, question.network.layers.front().types.input);
    CHECK(percent > 1.0);
    CHECK(percent < 100.0);
    CHECK(zeros->why.find(fmt::format(" {:.1f} % ", percent)) != std::string::npos);
}

TEST_CASE("twice the batch costs the time and memory of the step that asks for it") {
    analysis::Question question = asked("alexnet", catalog_gpu("v100-sxm2-16gb"), false);
    const Improvement found = improved(question, 15'000'000'000, {1, 2});
    Combination twice;
    twice.batch = 2;
    twice.freeing = found.now.combination.freeing;
    const auto at = std::ranges::find(found.all, twice, &Outcome::combination);
    REQUIRE(at != found.all.end());
    question.scenario.batch = 2 * analysis::own_batch(question.network);
    const Outcome now = improved(question, 15'000'000'000, {1}).now;
    CHECK(at->time_s == near(now.time_s, 1e-12));
    CHECK(at->item_s == near(now.time_s / 2.0, 1e-12));
    CHECK(at->peak == now.peak);
    CHECK(at->peak > found.now.peak);
}

TEST_CASE("a graph's chain carries its times and at least its memory") {
    const model::Gpu gpu = catalog_gpu("v100-sxm2-16gb");
    for (const char* name : {"resnet50", "bert-base:dropout=1", "vgg16"}) {
        CAPTURE(name);
        const Graph graph = tests::graph_of(name, true);
        const Costs costs = tests::costs_on(graph, gpu);
        const Memory memory = memory_of(graph);
        const auto chain = chain_of(graph, costs, memory, 0.0);
        REQUIRE(chain);
        CHECK(chain->chain.stages.size() > 10);
        const Recomputation plain = plain_schedule(chain->chain);
        double kernels = 0.0;
        for (const Operator& op : graph.operators) {
            kernels += op.kind == model::Issued::update ? 0.0 : costs.layers[op.layer].device_s;
        }
        CHECK(plain.time_s == near(kernels, 1e-9));
        for (std::size_t i = 0; i + 1 < chain->chain.stages.size(); ++i) {
            CHECK(chain->chain.stages[i].output > 0); // the tensor that the cut crosses
            CHECK(chain->chain.stages[i].gradient == chain->chain.stages[i].output);
        }
        CHECK(chain->fixed + plain.peak >= memory.peak);
        // Half of the activations: fits, and costs less than a second forward run.
        double forward = 0.0;
        for (const Stage& stage : chain->chain.stages) {
            forward += stage.forward_s;
        }
        const auto half = best_schedule(chain->chain, plain.peak / 2, 200);
        REQUIRE(half);
        CHECK(half->peak <= plain.peak / 2);
        CHECK(half->again_s > 0.0);
        CHECK(half->again_s < forward);
    }
}

TEST_CASE("decoding in fewer bits: published rates within a tenth") {
    // gpt-fast@32971d3, Llama-2-7B on an A100 80GB, prompt of 5 words, compiled and captured:
    // 104.9, 155.58 and 196.8 words a second in bf16, int8 and int4 in groups of 32.
    analysis::Scenario scenario;
    scenario.data_type = model::DataType::bf16;
    ImproveOptions options;
    options.limit = 79'500'000'000;
    options.batches = {1};
    const auto found =
        improve(tests::catalog_question("llama-2-7b:new=1,context=105", "a100-sxm-80gb", scenario),
                options);
    REQUIRE(found.ok());
    const auto rate = [&](std::optional<model::DataType> weights) {
        double best = 0.0;
        for (const Outcome& o : found->all) {
            const Combination& c = o.combination;
            if (c.capture && c.fuse && c.weights == weights && !c.type && !c.padded &&
                c.pruning == Pruning::none) {
                best = 1.0 / o.time_s;
            }
        }
        return best;
    };
    CHECK(rate(std::nullopt) == near(104.9, 0.1));
    CHECK(rate(model::DataType::int8) == near(155.58, 0.1));
    CHECK(rate(model::DataType::int4) == near(196.8, 0.1));
    MESSAGE(rate(std::nullopt), " ", rate(model::DataType::int8), " ", rate(model::DataType::int4));
}

TEST_CASE("experts are kept in fewer bits and pruned as other weights are") {
    analysis::Scenario scenario;
    scenario.data_type = model::DataType::bf16;
    ImproveOptions options;
    options.limit = Count{1} << 50;
    options.batches = {1};
    const auto found = improve(
        tests::catalog_question("mixtral-8x7b:new=1,context=64", "b200-sxm", scenario), options);
    REQUIRE(found.ok());
    const auto peak = [&](std::optional<model::DataType> weights, Pruning pruning) {
        const auto o = std::ranges::find_if(found->alone, [&](const Outcome& outcome) {
            const Combination& c = outcome.combination;
            return c.weights == weights && c.pruning == pruning && !c.type &&
                   c.freeing == Freeing::none && !c.fuse && !c.capture && !c.padded &&
                   !c.attention && c.batch == 1;
        });
        REQUIRE(o != found->alone.end());
        return static_cast<double>(o->peak);
    };
    const double whole = 2.0 * 46.7e9; // published parameters; experts are 45.1 billion of them
    CHECK(peak(model::DataType::int8, Pruning::none) == near(whole / 2.0, 0.05));
    CHECK(peak(std::nullopt, Pruning::two_of_four) == near(whole * 0.5625, 0.05));
}

} // namespace test_step_improve
