// Compiled steps, networks that leave operators out, and measured steps beside predicted ones.
#include "analysis/calibrate/networks.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/missing_operators.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

namespace test_analysis_upgrade_whole_networks {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::Layer;

namespace {

Layer pointwise(const std::string& fn, Count rows = 64) {
    Layer layer;
    layer.name = fn;
    layer.op = model::Op::elementwise;
    layer.shape = model::ElementwiseShape{rows, 1024, fn};
    return layer;
}

Layer norm() {
    Layer layer;
    layer.name = "norm";
    layer.op = model::Op::layernorm;
    layer.shape = model::RowsShape{64, 1024};
    return layer;
}

model::Network network(std::vector<Layer> layers) {
    model::Network net;
    net.id = net.name = "net";
    net.layers = std::move(layers);
    return net;
}

model::Machine v100() {
    model::Machine m;
    m.id = m.name = "v100";
    m.kind = test::v100_sxm2();
    return m;
}

} // namespace

TEST_CASE("a compiler makes one kernel of a chain of pointwise operators, and none of products") {
    analysis::Scenario compiled;
    compiled.compiled = true;
    const auto program_of = [&](const model::Network& net) {
        auto program = analysis::lower(tests::question_of(net, v100(), compiled));
        REQUIRE(program.ok());
        return *std::move(program);
    };
    const auto program = program_of(
        network({test::gemm(64, 1024, 1024), pointwise("mulu"), pointwise("add"), norm(),
                 test::gemm(64, 1024, 1024), pointwise("relu"), pointwise("relu", 128)}));
    CHECK(program.operators.size() == 5); // relu of other elements is a kernel of its own
    REQUIRE(program.fused.size() == 1);
    const auto& [layer, group] = *program.fused.begin();
    REQUIRE(group.members.size() == 3);
    CHECK(group.members.back().layer.name == "norm");
    CHECK(program.operators[1].layer == layer);
    CHECK(program_of(network({test::gemm(64, 64, 64), norm(), norm()})).fused.empty());
}

TEST_CASE("a compiled step takes less than an eager one, and no less than its products") {
    const auto net = network({test::gemm(2048, 2048, 2048), pointwise("mulu", 8192),
                              pointwise("add", 8192), pointwise("relu", 8192)});
    const auto time_of = [&](model::Launch launch, bool compiled, const model::Network& of) {
        analysis::Scenario scenario;
        scenario.launch = launch;
        scenario.compiled = compiled;
        const auto report = analysis::run(of, v100(), scenario);
        REQUIRE(report.ok());
        return report->total.time_s;
    };
    const double compiled = time_of(model::Launch::eager, true, net);
    CHECK(compiled < time_of(model::Launch::eager, false, net));
    CHECK(compiled < time_of(model::Launch::stream, false, net));
    CHECK(compiled > time_of(model::Launch::none, false, network({test::gemm(2048, 2048, 2048)})));
}

TEST_CASE("a network of products alone is reported, one operator under study is not") {
    const auto missing = [](const model::Network& net, const analysis::Scenario& scenario) {
        const auto program = analysis::lower(tests::question_of(net, v100(), scenario));
        REQUIRE(program.ok());
        return analysis::missing_operators(*program);
    };
    const auto products =
        network({test::gemm(64, 64, 64), test::gemm(64, 64, 64), test::gemm(64, 64, 64)});
    CHECK(missing(products, {}).find("products alone") != std::string::npos);
    auto whole = products;
    whole.layers.push_back(pointwise("relu"));
    CHECK(missing(whole, {}).empty());
    CHECK(missing(whole, tests::training_with("adam")).empty()); // lowering adds the updates
    CHECK(missing(network({test::gemm(64, 64, 64)}), {}).empty());
    auto unlearned = whole; // products of activations
    for (Layer& layer : unlearned.layers) {
        layer.op = layer.op == model::Op::gemm ? model::Op::bmm : layer.op;
    }
    CHECK(missing(unlearned, tests::training_with("adam")).find("optimizer") != std::string::npos);
}

TEST_CASE("a measured step is predicted with the edges of its network") {
    const auto rows =
        analysis::parse_networks("network,gpu,measured_s,phase\nnet,v100,1,training\n", "x.csv");
    REQUIRE(rows.ok());
    // The second and the third product read the first one's output: its two gradients are added.
    const model::NetworkGraph chain = {
        network({test::gemm(512, 512, 512), test::gemm(512, 512, 512), test::gemm(512, 512, 512),
                 pointwise("add", 256)}),
        {}};
    model::NetworkGraph branches = chain;
    branches.edges.emplace();
    const std::vector<std::vector<std::size_t>> reads = {{model::kNetworkInput}, {0}, {0}, {1, 2}};
    for (std::size_t i = 0; i < reads.size(); ++i) {
        model::GraphStep step;
        step.layer = i;
        step.reads = reads[i];
        branches.edges->steps.push_back(step);
    }
    branches.edges->places.resize(1);
    const auto predicted_of = [&](const model::NetworkGraph& net) {
        const analysis::PairsSources sources{
            [&](const std::string&) { return Result<model::NetworkGraph>(net); },
            [](const std::string&) { return Result<model::Machine>(v100()); },
            [](const model::Machine&) {
                return model::HostIssue{40e-6, 16e-6, 3e-6, 1e-6};
            }};
        const auto result = analysis::validate_networks(*rows, sources);
        REQUIRE(result.ok());
        return result->rows.front().device_s;
    };
    CHECK(predicted_of(branches) > predicted_of(chain));
}

TEST_CASE("measured steps stand beside predicted ones, by GPU, phase and type") {
    const std::string table = "network,gpu,measured_s,phase,optimizer,dtype,batch,launch\n"
                              "net,v100,0.001,inference,,fp16,2,eager\n"
                              "net,v100,0.002,training,adam,fp16,,compiled\n";
    const auto rows = analysis::parse_networks(table, "steps.csv");
    REQUIRE(rows.ok());
    CHECK((*rows)[1].compiled);
    CHECK_FALSE((*rows)[0].compiled);
    const auto net = network({test::gemm(1024, 1024, 1024), pointwise("relu")});
    const analysis::PairsSources sources{
        [&](const std::string&) {
            return Result<model::NetworkGraph>({net, {}});
        },
        [](const std::string&) { return Result<model::Machine>(v100()); },
        [](const model::Machine&) {
            return model::HostIssue{40e-6, 16e-6, 3e-6, 1e-6};
        }};
    const auto result = analysis::validate_networks(*rows, sources);
    REQUIRE(result.ok());
    REQUIRE(result->groups.size() == 2);
    const auto& row = result->rows.front();
    CHECK(row.predicted_s >= row.device_s);
    CHECK(row.host_s == near(2 * 40e-6));
    CHECK(result->groups.front().mape == near(std::abs(row.predicted_s / 0.001 - 1.0)));
    const auto bad =
        analysis::parse_networks("network,gpu,measured_s,launch\nnet,v100,1,fast\n", "x");
    CHECK_FALSE(bad.ok());
}

} // namespace test_analysis_upgrade_whole_networks
