// Packages of unequal cores: files, layers in parts, and a network placed on them.
#include "analysis/cores/heterogeneous.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/cores/cores_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace test_cores_heterogeneous {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

const std::filesystem::path kSource = tests::source_dir();
const std::vector<std::filesystem::path> kFolders{kSource / "hwdb"};

Result<analysis::CorePackage> package_of(const std::string& cores) {
    return analysis::parse_package("eyeroof: package/1\nsource: a test\nconfidence: user\n" + cores,
                                   "p.yaml", kFolders);
}

analysis::CorePackage unequal(const std::string& more = "") {
    const auto package = package_of("cores:\n  - {machine: nvdla-large, count: 1}\n"
                                    "  - {machine: nvdla-small, count: 2}\n" +
                                    more);
    REQUIRE(package.ok());
    return *package;
}

model::Network products() {
    model::Network network;
    network.id = network.name = "products";
    for (const Count n : {64, 256, 128}) {
        model::Layer layer;
        layer.name = "n" + std::to_string(n);
        layer.op = model::Op::gemm;
        layer.shape = model::GemmShape{1, 64, n, 256};
        network.layers.push_back(layer);
    }
    network.layers.back().count = 2;
    return network;
}

analysis::HeterogeneousReport placed(const analysis::CorePackage& package) {
    analysis::Question question;
    question.network = products();
    question.scenario.objective = mapper::Objective::latency();
    question.scenario.search_nodes = 500;
    question.scenario.threads = 1;
    const auto report = analysis::heterogeneous_report(question, package, {});
    REQUIRE(report.ok());
    return *report;
}

bool says(const Diagnostics& found, const std::string& part) {
    return std::any_of(found.begin(), found.end(), [&](const Diagnostic& d) {
        return to_string(d).find(part) != std::string::npos;
    });
}

} // namespace

TEST_CASE("a pipeline on unequal cores is no slower than any core alone, and its times add up") {
    const auto report = placed(unequal());
    REQUIRE(report.layers.size() == 4); // the last runs twice
    CHECK(report.pipeline.proved);
    for (std::size_t kind = 0; kind < 2; ++kind) {
        double alone = 0.0;
        for (const analysis::HeterogeneousLayer& layer : report.layers) {
            alone += layer.seconds[kind];
        }
        CHECK(report.pipeline.interval_s <= alone * (1.0 + 1e-12));
        CHECK(report.parallel.latency_s <= alone * (1.0 + 1e-12));
    }
    const auto busy = report.busy();
    CHECK(*std::max_element(busy.begin(), busy.end()) == near(report.pipeline.interval_s, 1e-12));
    // Without a link's time one image takes what its layers take.
    CHECK(std::accumulate(busy.begin(), busy.end(), 0.0) == near(report.pipeline.latency_s, 1e-12));
    // 64 x 32 MACs at 1 GHz against 8 x 8.
    CHECK(report.layers[0].seconds[1] > 4.0 * report.layers[0].seconds[0]);
    CHECK(report.pipeline.core_of[1] == 0); // the largest layer, on the largest core
}

TEST_CASE("what unequal cores share holds them up, and is named") {
    const auto free = placed(unequal());
    CHECK(free.bottleneck().find("core ") == 0);
    const auto starved = placed(unequal("memory: 10 MB/s\n"));
    CHECK(starved.pipeline.interval_s > 10.0 * free.pipeline.interval_s);
    CHECK(starved.bottleneck() == "step 6, the memory that all share");
    const auto apart = placed(unequal("link: {rate: 1 MB/s, latency: 1 ms}\n"));
    // So slow a link leaves all on one core.
    CHECK(apart.pipeline.link_busy_s == 0.0);
    CHECK(apart.parallel.latency_s >= free.parallel.latency_s);
    for (const auto& layer : apart.parallel.layers) {
        CHECK(layer.alone == 0);
    }
}

TEST_CASE("layers are divided along output channels, whole groups and columns") {
    model::Layer layer;
    layer.op = model::Op::conv2d;
    model::ConvShape conv;
    conv.c = 16;
    conv.k = 24;
    layer.shape = conv;
    CHECK(std::get<model::ConvShape>(analysis::first_parts(layer, 3, 4)->shape).k == 18);
    CHECK(std::get<model::ConvShape>(analysis::first_parts(layer, 3, 4)->shape).c == 16);
    CHECK(!analysis::first_parts(layer, 1, 5));
    conv.k = conv.c = conv.groups = 16; // depthwise
    layer.shape = conv;
    const auto half = std::get<model::ConvShape>(analysis::first_parts(layer, 1, 2)->shape);
    CHECK(half.groups == 8);
    CHECK(half.c == 8);
    CHECK(half.k == 8);
    layer.op = model::Op::softmax;
    layer.shape = model::RowsShape{4, 4};
    CHECK(!analysis::first_parts(layer, 1, 2));
}

TEST_CASE("what is wrong with a package is told with its place, all at once") {
    const auto bad = package_of("cores:\n  - {machine: t4, count: 1}\n"
                                "  - {machine: eyeris-v1, count: 1}\n"
                                "  - {machine: nvdla-small, count: 70}\n"
                                "  - {machine: nvdla-small, count: 1}\n"
                                "memory: fast\nlinks: {}\n");
    REQUIRE(!bad);
    CHECK(says(bad.diagnostics(), "p.yaml:5:15: error: "));
    CHECK(says(bad.diagnostics(), "is no accelerator"));
    CHECK(says(bad.diagnostics(), "p.yaml:6:15"));
    CHECK(says(bad.diagnostics(), "nvdla-small is listed twice"));
    CHECK(says(bad.diagnostics(), "73 cores; a package has at most 64"));
    CHECK(says(bad.diagnostics(), "p.yaml:9:9"));
    CHECK(says(bad.diagnostics(), "links"));
    CHECK(!package_of("cores: []\n"));
}

TEST_CASE("a package is found by its name and by its file, a machine is none") {
    CHECK(analysis::find_package("one-large-four-small", kFolders));
    const auto file = kSource / "hwdb/packages/one-large-four-small.yaml";
    CHECK(analysis::find_package(file.string(), kFolders) == file);
    CHECK(!analysis::find_package("simba", kFolders));
    CHECK(!analysis::find_package((kSource / "hwdb/accelerators/simba.yaml").string(), kFolders));
    CHECK(analysis::load_package(file, kFolders).ok());
}

TEST_CASE("a placement's JSON is as its schema says, its CSV has a row for each layer") {
    const auto report = placed(unequal());
    const auto json = nlohmann::json::parse(report::to_json(report::placement_answer(report)));
    CHECK(tests::SchemaCheck(nlohmann::json::parse(report::schema_of("placement")))
              .faults(json)
              .empty());
    const std::string csv = report::to_csv(report::placement_answer(report));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
    CHECK(report::to_text(report::placement_answer(report), 80).find("optimal over all") !=
          std::string::npos);
}

} // namespace test_cores_heterogeneous
