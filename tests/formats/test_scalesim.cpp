#include "formats/scalesim.hpp"
#include "model/compat/scalesim.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_formats_scalesim {

using namespace eyeroof;
using eyeroof::tests::near;
using formats::parse_scalesim_cfg;
using formats::parse_scalesim_topology;
using model::DataflowKind;

namespace {

const std::string kTopology =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, "
    "Strides,\n"
    "Conv1, 224, 224, 7, 7, 3, 64, 2,\n"
    "CB5a_2 ,7 ,7,3,3,512,512,1,\n"
    "\n"
    "FC6, 1, 1, 1, 1, 2048, 1000, 1,\n";

model::Network topology(const std::string& text) {
    auto network = parse_scalesim_topology(text, "t.csv");
    for (const Diagnostic& d : network.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(network.ok());
    return *network;
}

Diagnostics errors(const std::string& text) {
    const auto network = parse_scalesim_topology(text, "t.csv");
    REQUIRE_FALSE(network.ok());
    return network.diagnostics();
}

Count cycles(const model::Layer& layer, DataflowKind dataflow, Count rows = 32, Count cols = 32) {
    return model::compat::scalesim_compute_cycles(layer, rows, cols, dataflow).value();
}

} // namespace

TEST_CASE("SCALE-Sim's compute cycles come out exactly on a 32 x 32 array") {
    // Runs of SCALE-Sim v3, reference/peers: WS, OS, IS.
    const model::Network net = topology(kTopology);
    REQUIRE(net.layers.size() == 3);
    const Count expected[3][3] = {
        {121'939, 158'421, 299'409}, {274'175, 74'719, 87'263}, {194'559, 67'519, 70'015}};
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(net.layers[i].name);
        CHECK(cycles(net.layers[i], DataflowKind::ws) == expected[i][0]);
        CHECK(cycles(net.layers[i], DataflowKind::os) == expected[i][1]);
        CHECK(cycles(net.layers[i], DataflowKind::is) == expected[i][2]);
    }
}

TEST_CASE("a product and the 1 x 1 convolution that it equals take the same cycles") {
    const model::Network net = topology("Layer,M,N,K,\nfc,1,1000,2048,\nqk,1024,1024,64,\n");
    CHECK(std::get<model::GemmShape>(net.layers[0].shape) == model::GemmShape{1, 1, 1000, 2048});
    CHECK(cycles(net.layers[0], DataflowKind::ws) == 194'559);
    CHECK(cycles(net.layers[0], DataflowKind::is) == 70'015);
}

TEST_CASE("SCALE-Sim's rules differ from ours where windows stick out") {
    // (224 - 7) / 2 = 108.5: SCALE-Sim counts 110 positions, a valid convolution has 109.
    const model::Layer conv1 = topology(kTopology).layers[0];
    const auto work = model::compat::scalesim_work(conv1).value();
    CHECK(work.pixels == 110 * 110);
    CHECK(work.macs() == 113'836'800); // the total that it reports
    CHECK(work_of(conv1)->macs == 111'776'448);
    CHECK(model::compat::scalesim_utilization(work, 113'836'800, 1, 1) == near(1.0));
}

TEST_CASE("groups and images run one after the other") {
    const model::Layer depthwise = topology("Layer name,IFMAP Height,IFMAP Width,Filter Height,"
                                            "Filter Width,Channels,Num Filter,Strides,\n"
                                            "DP1,10,10,3,3,32,1,1,\n")
                                       .layers[0];
    const auto& shape = std::get<model::ConvShape>(depthwise.shape);
    CHECK(shape.groups == 32);
    CHECK(shape.k == 32);
    // one channel: P = 64, S = 9, M = 1: ceil(9/32) ceil(1/32) (64 + 64 + 32 - 2) - 1 = 157
    CHECK(cycles(depthwise, DataflowKind::ws) == 32 * 157);
}

TEST_CASE("what SCALE-Sim does not have is refused") {
    model::Layer pool{
        "p", model::Op::maxpool,    model::PoolShape{1, 1, 4, 4, 2, 2, {1, 1}, {0, 0}},
        {},  model::Direction::fwd, 1};
    CHECK_FALSE(model::compat::scalesim_work(pool).ok());
    model::Layer fc{
        "f", model::Op::gemm, model::GemmShape{1, 2, 3, 4}, {}, model::Direction::bwd_data, 1};
    CHECK_FALSE(model::compat::scalesim_work(fc).ok());
    fc.direction = model::Direction::fwd;
    CHECK_FALSE(model::compat::scalesim_compute_cycles(fc, 0, 32, DataflowKind::ws).ok());
    CHECK_FALSE(model::compat::scalesim_compute_cycles(fc, 32, 32, DataflowKind::rs).ok());
}

TEST_CASE("topologies of both versions are read, wrong ones are refused with their place") {
    const std::string header = "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,"
                               "Channels,Num Filter,Stride Height,Stride Width,\n";
    const auto two = topology(header + "a,9,9,3,3,4,8,2,1,\n");
    CHECK(std::get<model::ConvShape>(two.layers[0].shape).stride == model::Extent2{2, 1});
    const std::string sparse = "Layer name,IFMAP Height,IFMAP Width,Filter Height,Filter Width,"
                               "Channels,Num Filter,Strides,Sparsity,\na,9,9,3,3,4,8,2,1:2,\n";
    CHECK(std::get<model::ConvShape>(topology(sparse).layers[0].shape).stride ==
          model::Extent2{2, 2});

    const auto found =
        errors(kTopology + "bad, 7, 7, 9, 3, 1, 1, 1,\nworse, x, 7, 3, 3, 1, 0, 1,\n");
    REQUIRE(found.size() == 2);
    CHECK(found.items()[0].code == "window-too-large");
    CHECK(found.items()[0].where.line == 6);
    CHECK(found.items()[0].where.column == 12); // the filter height
    CHECK(found.items()[1].code == "not-a-number");
    CHECK(errors(kTopology + "short, 7, 7\n").items()[0].code == "missing-value");
    CHECK(errors("a,b\n1,2\n").items()[0].code == "not-a-topology");
    CHECK(errors("Layer,M,N,K\n").items()[0].code == "no-layers");
}

TEST_CASE("a cfg gives the array, the dataflow and the buffers") {
    const std::string cfg =
        "[general]\nrun_name = scale_example_run_32x32_os\n\n"
        "[architecture_presets]\nArrayHeight:    32\nArrayWidth:     16\n"
        "IfmapSramSzkB:    64\nFilterSramSzkB:   64\nOfmapSramSzkB: 32\n"
        "Dataflow : os\nBandwidth : 10\n[run_presets]\nInterfaceBandwidth: CALC\n";
    const auto config = parse_scalesim_cfg(cfg, "s.cfg").value();
    CHECK(config.run_name == "scale_example_run_32x32_os");
    CHECK(config.rows == 32);
    CHECK(config.cols == 16);
    CHECK(config.dataflow == DataflowKind::os);
    CHECK(config.ifmap_kb == 64);
    CHECK_FALSE(config.bandwidth_words); // CALC: SCALE-Sim computes what the array needs
    const auto broken = parse_scalesim_cfg("ArrayHeight: 0\nDataflow: wz\n", "s.cfg");
    REQUIRE_FALSE(broken.ok());
    CHECK(broken.diagnostics().size() == 3); // height, width missing, dataflow
    CHECK(broken.diagnostics().items()[0].where.line == 1);
    CHECK_FALSE(parse_scalesim_cfg("", "s.cfg").ok());
}

TEST_CASE("a topology's ratios of zeros are read by layer, and dense counts are said to be so") {
    const std::string text =
        "Layer, M, N, K, Sparsity,\ng, 128, 128, 128, 2:4,\nd, 8, 8, 8, 4:4,\n";
    const auto kept = formats::scalesim_sparsity(text);
    REQUIRE(kept.size() == 1);
    CHECK(kept.at("g") == formats::KeptWeights{2, 4});
    const auto network = formats::parse_scalesim_topology(text, "t.csv");
    REQUIRE(network.ok());
    CHECK(network.diagnostics().items()[0].code == "dense-counts");
    const auto cfg = [](const char* more) {
        return formats::parse_scalesim_cfg(
            std::string("ArrayHeight: 32\nArrayWidth: 32\nDataflow: ws\n") + more, "c.cfg");
    };
    CHECK(cfg("SparsitySupport: true\n")->sparse);
    CHECK_FALSE(cfg("")->sparse);
    CHECK_FALSE(
        formats::parse_scalesim_topology("Layer, M, N, K, Sparsity,\ng, 8, 8, 8, 5:4,\n", "t.csv")
            .ok());
}

TEST_CASE("a topology that lacks one of the seven columns is refused") {
    const auto lacking = formats::parse_scalesim_topology(
        "Layer name, IFMAP Height, IFMAP Width, Filter Height, Channels, Num Filter, Strides,\n"
        "a, 9, 9, 3, 4, 8, 1,\n",
        "t.csv");
    REQUIRE_FALSE(lacking.ok());
    CHECK(lacking.diagnostics().items()[0].code == "bad-header");
}

TEST_CASE("a key, word, or line of a SCALE-Sim cfg that is unknown or stands twice is an error") {
    const std::string array = "ArrayHeight: 32\nArrayWidth: 32\nDataflow: ws\n";
    for (const char* more :
         {"SparsitySupport: perhaps\n", "InterfaceBandwidth: MINE\n", "ArrayWidth: 16\n",
          "IfmapSramSzzkB: 64\n", "Bandwidth 10\n", "OptimizedMapping = 3\n"}) {
        CAPTURE(more);
        CHECK_FALSE(parse_scalesim_cfg(array + more, "s.cfg").ok());
    }
    std::string many = array;
    for (int i = 0; i < 100'000; ++i) {
        many += "Quantum" + std::to_string(i) + " : 3\n";
    }
    const auto stopped = parse_scalesim_cfg(many, "s.cfg");
    REQUIRE_FALSE(stopped.ok());
    CHECK(stopped.diagnostics().items().back().message == "more than 64 keys are unknown");
    CHECK(stopped.diagnostics().size() == 65);
    const auto other = parse_scalesim_cfg(array + "Quantum : 3\n", "s.cfg");
    REQUIRE(other.ok());
    CHECK(other.diagnostics().items()[0].code == "unread-key");
    for (const char* more :
         {"IfmapOffset: 0\n", "OfmapSRAMBankNum: 8\n", "; Bandwidth 10\n", "[sparsity]\n",
          "InterfaceBandwidth: calc\n", "sparsitysupport = True\n"}) {
        CAPTURE(more);
        CHECK(parse_scalesim_cfg(array + more, "s.cfg").diagnostics().size() == 0);
    }
}

} // namespace test_formats_scalesim
