// Advice, fleets, sweeps, memory, copies: what is built on the GPU time model.
#include "analysis/advice/what_helps.hpp"
#include "analysis/calibrate/pairs.hpp"
#include "analysis/upgrade/memory_need.hpp"
#include "analysis/upgrade/offload.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "report/answer/write.hpp"
#include "report/calibrate/validation_answers.hpp"
#include "report/exam/advice.hpp"
#include "report/upgrade/purchase_answer.hpp"
#include "report/upgrade/upgrade.hpp"
#include "tests/analysis/upgrade/purchase_of.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace test_analysis_gpu_advice {

using namespace eyeroof; // NOLINT
using analysis::AdviceKind;
using eyeroof::tests::near;
using model::DataType;

namespace {

model::Machine machine(const std::string& id, model::Gpu gpu) {
    model::Machine m;
    m.id = m.name = id;
    m.kind = std::move(gpu);
    return m;
}

model::Machine a100() {
    model::Gpu gpu = test::a100_sxm_40();
    gpu.rate(DataType::int8) = {624e12, model::Pipe::tensor};
    return machine("a100", gpu);
}

model::Machine v100() {
    return machine("v100", test::v100_sxm2());
}

model::Network network(std::vector<model::Layer> layers) {
    model::Network net;
    net.id = net.name = "net";
    for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i].name = "l" + std::to_string(i);
        net.layers.push_back(layers[i]);
    }
    return net;
}

model::Layer elementwise(const std::string& fn, Count rows, Count cols) {
    model::Layer layer;
    layer.op = model::Op::elementwise;
    layer.shape = model::ElementwiseShape{rows, cols, fn};
    layer.types = {DataType::fp16, DataType::fp16, DataType::fp16};
    return layer;
}

std::vector<analysis::Advice> advice_on(const model::Network& net, AdviceKind kind,
                                        const model::Machine& on = a100()) {
    analysis::AdviceOptions options;
    options.most = 1000;
    auto found = analysis::advise(tests::question_of(net, on), options);
    REQUIRE(found.ok());
    std::erase_if(*found, [&](const auto& a) { return a.kind != kind; });
    return *found;
}

const analysis::Advice* on_dimension(const std::vector<analysis::Advice>& advice,
                                     const std::string& dimension) {
    const auto found = std::find_if(advice.begin(), advice.end(),
                                    [&](const auto& a) { return a.dimension == dimension; });
    return found == advice.end() ? nullptr : &*found;
}

} // namespace

TEST_CASE(
    "padding k to a multiple of 8 fp16 elements is advised, and its gain is two predictions") {
    const auto found = advice_on(network({test::gemm(4096, 4096, 1021)}), AdviceKind::align);
    const auto* k = on_dimension(found, "k");
    REQUIRE(k != nullptr);
    CHECK(k->to == 1024); // 16 bytes and 128 bytes agree here
    const auto now = model::predict(test::a100_sxm_40(), test::gemm(4096, 4096, 1021));
    const auto then = model::predict(test::a100_sxm_40(), test::gemm(4096, 4096, 1024));
    REQUIRE(now.ok());
    REQUIRE(then.ok());
    CHECK(k->gain == near(now->time_s / then->time_s));
    CHECK(k->gain > 1.1);
    CHECK_FALSE(k->gradients_only);
}

TEST_CASE("multiples of 8 in fp16 and of 16 in int8 need no padding") {
    CHECK(advice_on(network({test::gemm(4096, 4096, 1024)}), AdviceKind::align).empty());
    CHECK(advice_on(network({test::gemm(4096, 4096, 1008, DataType::int8)}), AdviceKind::align)
              .empty());
    const auto eight =
        advice_on(network({test::gemm(4096, 4096, 1016, DataType::int8)}), AdviceKind::align);
    REQUIRE(on_dimension(eight, "k") != nullptr); // 1016 = 8 x 127: whole for fp16, not for int8
    CHECK(on_dimension(eight, "k")->to % 16 == 0);
}

TEST_CASE("an odd number of outputs costs the product, on AMD's GPUs its gradients alone") {
    model::Gpu amd = test::a100_sxm_40();
    amd.arch = model::GpuArch::amd;
    for (const model::Machine& on : {a100(), machine("amd", amd)}) {
        CAPTURE(on.id);
        const auto found =
            advice_on(network({test::gemm(2048, 50257, 768)}), AdviceKind::align, on);
        const auto* n = on_dimension(found, "n");
        REQUIRE(n != nullptr);
        CHECK(n->gradients_only == (on.id == "amd"));
        CHECK(n->to % 8 == 0);
    }
}

TEST_CASE("the batch that reaches the ridge is the smallest that does") {
    // 4096 x 1024 fp16: 2 m 4096 1024 / (2 (m 1024 + 4096 1024 + m 4096)) >= 312/1.555 = 200.64
    //   m >= 200.64 x 4194304 / (4194304 - 200.64 x 5120) = 265.7
    const auto found = advice_on(network({test::gemm(1, 4096, 1024)}), AdviceKind::batch);
    REQUIRE(found.size() == 1);
    CHECK(found.front().to == 266);
    CHECK(found.front().gain > 10.0);
    CHECK(advice_on(network({test::gemm(512, 4096, 1024)}), AdviceKind::batch).empty());
}

TEST_CASE("a size that needs a wave more is advised back to the one that fills it") {
    const auto found = advice_on(network({test::gemm(2304, 1537, 4096)}), AdviceKind::fill_waves);
    const auto* n = on_dimension(found, "n");
    REQUIRE(n != nullptr);
    CHECK(n->gain > 1.02);
    CHECK(n->to % 32 == 0);
}

TEST_CASE("a chain of elementwise layers and an epilogue are advised to be fused") {
    const auto chain =
        advice_on(network({elementwise("mulu", 4096, 4096), elementwise("add", 4096, 4096),
                           elementwise("relu", 4096, 4096)}),
                  AdviceKind::fuse);
    REQUIRE(chain.size() == 1);
    CHECK(chain.front().from == 3);
    // 2 + 3 + 2 tensors moved before, two read and one written after: 7 / 3
    CHECK(chain.front().gain == near(7.0 / 3.0, 0.05));
    const auto epilogue = advice_on(
        network({test::gemm(4096, 4096, 1024), elementwise("gelu", 4096, 4096)}), AdviceKind::fuse);
    REQUIRE(epilogue.size() == 1);
    CHECK(epilogue.front().layer == "l0");
    CHECK(advice_on(network({elementwise("relu", 64, 64), elementwise("relu", 64, 65)}),
                    AdviceKind::fuse)
              .empty());
}

TEST_CASE("advice stands in the report's JSON, and machines without it are refused") {
    const auto found = advice_on(network({test::gemm(4096, 4096, 1021)}), AdviceKind::align);
    report::Answer answer;
    answer.tables = report::advice_tables({{}, found, {}});
    const auto json = nlohmann::json::parse(report::to_json(answer));
    CHECK(json["advice"].size() == found.size());
    CHECK(json["advice"][0]["kind"] == "align");
    model::Machine none;
    none.kind = model::Accelerator{};
    CHECK_FALSE(analysis::advise(tests::question_of(network({test::gemm(1, 1, 1)}), none)).ok());
}

TEST_CASE("memory of an upgrade is the peak of the step, by what holds it") {
    // two layers of 1024 x 1024 fp16 weights, 256 tokens: 2 x 2 MiB of weights, results of 512 KiB
    const auto net = network({test::gemm(256, 1024, 1024), test::gemm(256, 1024, 1024)});
    const auto memory = [&](analysis::Scenario scenario, Count batch) {
        scenario.batch = batch;
        const auto report = analysis::run(net, v100(), scenario);
        REQUIRE(report.ok());
        REQUIRE(report->memory);
        const analysis::MemoryNeed need = analysis::memory_need(*report->memory);
        CHECK(need.total() == static_cast<double>(report->memory->peak));
        return need;
    };
    const analysis::MemoryNeed run = memory({}, 1);
    CHECK(run.weights == 2.0 * 2097152.0);
    CHECK(run.activations == 2.0 * 524288.0); // input and output of one layer
    CHECK(run.gradients + run.optimizer + run.workspace == 0.0);
    const analysis::MemoryNeed step = memory(tests::training_with("adam"), 1);
    CHECK(step.weights == run.weights);
    CHECK(step.optimizer == 3.0 * 4.0 * 2.0 * 1048576.0); // two states and an fp32 copy
    CHECK(memory(tests::training_with("adam"), 2).activations == 2.0 * step.activations);
}

TEST_CASE("a network that does not fit is said so") {
    const auto net = network({test::gemm(1024, 100000, 100000)}); // 20 GB of fp16 weights
    const auto u = analysis::upgrade(net, v100(), a100(), {});
    REQUIRE(u.ok());
    CHECK_FALSE(u->memory.from_fits());
    CHECK(u->memory.to_fits());
    REQUIRE(!u->notes.empty());
    CHECK(u->notes.front().find("v100") != std::string::npos);
}

TEST_CASE("a fleet's speed-up is the harmonic mean by the old GPU's time") {
    const auto one = network({test::gemm(8192, 8192, 8192)});
    auto other = network({test::gemm(1, 16, 16)});
    other.name = "other";
    const auto a = analysis::upgrade(one, v100(), a100(), {});
    const auto b = analysis::upgrade(other, v100(), a100(), {});
    const auto fleet = analysis::upgrade_fleet({{one, 3.0}, {other, 1.0}}, v100(), a100(), {});
    REQUIRE(fleet.ok());
    CHECK(fleet->speedup.value == near(1.0 / (0.75 / a->speedup.value + 0.25 / b->speedup.value)));
    CHECK(fleet->members.size() == 2);
    CHECK(fleet->weights[0] == 0.75);
    CHECK(fleet->speedup.low < fleet->speedup.value);
    double shares = 0.0;
    for (const auto& layer : fleet->layers) {
        shares += layer.share_of_from;
    }
    CHECK(shares == near(1.0));
    CHECK(
        report::to_json(report::purchase_answer(tests::purchase_of(*fleet))).find("\"networks\"") !=
        std::string::npos);
    CHECK_FALSE(analysis::upgrade_fleet({}, v100(), a100(), {}).ok());
}

TEST_CASE("a sweep is the upgrade at each batch and pair of types") {
    const auto net = network({test::gemm(8, 4096, 4096)});
    const auto points = analysis::sweep_upgrade(net, v100(), a100(), {}, {1, 64},
                                                {{}, {DataType::fp32, DataType::fp16}});
    REQUIRE(points.ok());
    REQUIRE(points->size() == 4);
    analysis::UpgradeOptions options;
    options.from.batch = options.to.batch = 64;
    const auto at64 = analysis::upgrade(net, v100(), a100(), options);
    REQUIRE(at64.ok());
    CHECK((*points)[1].speedup.value == at64->speedup.value);
    CHECK((*points)[3].to_dtype == "fp16");
    CHECK((*points)[3].speedup.value > (*points)[1].speedup.value);
}

TEST_CASE("the chart and the page of an upgrade name both GPUs and every long layer") {
    const auto u = analysis::upgrade(network({test::gemm(512, 512, 512)}), v100(), a100(), {});
    REQUIRE(u.ok());
    for (const std::string& text : {report::upgrade_svg(*u), report::upgrade_page_body(*u)}) {
        CHECK(text.find("v100") != std::string::npos);
        CHECK(text.find("l0") != std::string::npos);
    }
}

TEST_CASE("copies take the link: a small product is not worth sending, a large one is") {
    model::Gpu host = test::v100_sxm2();
    host.arch = model::GpuArch::host;
    host.sms = 4;
    host.rate(DataType::fp32) = {400e9, model::Pipe::vector};
    host.dram_bytes_per_s = 25e9;
    host.l2_bytes = 6e6;
    host.l2_bytes_per_s = 150e9;
    host.tdp_w = 0.0;
    for (auto& record : host.calibration.records) {
        record.launch = {};
    }
    model::Gpu gpu = test::v100_sxm2();
    gpu.pcie_bytes_per_s = 15.75e9;
    const auto net = network(
        {test::gemm(100, 100, 100, DataType::fp32), test::gemm(4000, 4000, 4000, DataType::fp32)});
    const auto r =
        analysis::offload(tests::question_of(net, machine("gpu", gpu)), machine("host", host));
    REQUIRE(r.ok());
    CHECK(r->layers[0].copied_s() > r->layers[0].host_s);
    CHECK(r->layers[1].copied_s() < r->layers[1].host_s);
    // two inputs of 64 MB at 0.8 x 15.75 GB/s, 10 us to start each
    CHECK(r->layers[1].in_s == near(2.0 * (64e6 / 12.6e9 + 1e-5), 0.02));
    host.rate(DataType::fp64) = {200e9, model::Pipe::vector};
    const auto wide = analysis::offload(tests::question_of(net, machine("gpu", gpu)),
                                        machine("host", host), DataType::fp64);
    REQUIRE(wide.ok());
    CHECK(wide->layers[1].gpu_s == r->layers[1].gpu_s);
    CHECK(wide->layers[1].host_s > 1.5 * r->layers[1].host_s);
    gpu.pcie_bytes_per_s = 0.0;
    CHECK_FALSE(
        analysis::offload(tests::question_of(net, machine("gpu", gpu)), machine("host", host))
            .ok());
}

TEST_CASE("measured speed-ups stand beside predicted ones and beside guessing the median") {
    const auto by_name = [](const std::string& id) {
        return Result<model::Machine>(id == "a100" ? a100() : v100());
    };
    const auto networks = [](const std::string& name) {
        const Count n = name == "large" ? 8192 : name == "middle" ? 1024 : 16;
        return Result<model::NetworkGraph>({network({test::gemm(n, n, n)}), {}});
    };
    const auto truth = [&](const std::string& name) {
        analysis::UpgradeOptions options;
        options.from.launch = options.to.launch = model::Launch::stream;
        return analysis::upgrade(networks(name)->network, v100(), a100(), options)->speedup.value;
    };
    std::string text = "network,from,to,speedup,phase\n";
    for (const std::string name : {"large", "middle", "small"}) {
        text += name + ",v100,a100," + std::to_string(truth(name)) + ",inference\n";
    }
    const auto pairs = analysis::parse_pairs(text, "p.csv");
    REQUIRE(pairs.ok());
    const auto hosts = [](const model::Machine&) { return model::HostIssue{}; };
    analysis::Scenario stream;
    stream.launch = model::Launch::stream;
    const auto v = analysis::validate_pairs(*pairs, {networks, by_name, hosts}, stream);
    REQUIRE(v.ok());
    CHECK(v->all.mape < 1e-4);
    CHECK(v->all.inside == near(1.0));
    CHECK(v->all.order == near(1.0));
    CHECK(v->all.guess_mape > 0.05);
    CHECK(v->rows[0].peak_ratio == near(312.0 / 125.0));
    CHECK(v->rows[0].kind == "inference mixed");
    CHECK(report::to_text(report::pairs_validated(*v), 80).find("median") != std::string::npos);
}

TEST_CASE("a pair may have another network, with more items, on the new GPU") {
    const auto by_name = [](const std::string& id) {
        return Result<model::Machine>(id == "a100" ? a100() : v100());
    };
    const auto networks = [](const std::string& name) {
        return Result<model::NetworkGraph>(
            {network({test::gemm(name == "four" ? 16384 : 4096, 4096, 4096)}), {}});
    };
    const auto hosts = [](const model::Machine&) { return model::HostIssue{}; };
    const auto pairs = analysis::parse_pairs(
        "network,to_network,to_items,from,to,phase,speedup\none,,,v100,a100,inference,2\n"
        "one,four,4,v100,a100,inference,2\n",
        "p.csv");
    REQUIRE(pairs.ok());
    analysis::Scenario kernels;
    kernels.launch = model::Launch::none;
    const auto v = analysis::validate_pairs(*pairs, {networks, by_name, hosts}, kernels);
    REQUIRE(v.ok());
    CHECK(v->rows[1].kernel_speedup == near(v->rows[0].kernel_speedup, 0.15));
    CHECK_FALSE(
        analysis::parse_pairs("network,to_items,from,to,speedup\na,-4,v,a,2\n", "p.csv").ok());
}

TEST_CASE("every broken cell of a table of pairs is told with its place") {
    const auto bad = analysis::parse_pairs("network,from,to,speedup,phase,to_dtype\n"
                                           "a,b,c,fast,training,fp16\na,b,c,2,sleeping,fp17\n",
                                           "p.csv");
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.diagnostics().size() == 3);
    CHECK(bad.diagnostics().items().front().where.line == 2);
    CHECK_FALSE(analysis::parse_pairs("network,from,speedup\n", "p.csv").ok());
    CHECK_FALSE(analysis::parse_pairs("network,from,to,speedup\n", "p.csv").ok());
}

} // namespace test_analysis_gpu_advice
