// Whole servers that others measured: time to the first token and per token after it.
#include "analysis/exam/run.hpp"
#include "analysis/scale/engine_steps.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/engine_reader.hpp"
#include "hwdb/fabric_reader.hpp"
#include "tests/near.hpp"
#include "tests/scale/published.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace test_scale_published_serving {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
namespace fs = std::filesystem;

namespace {

const std::vector<fs::path> kHwdb = {fs::path(tests::source_dir()) / "hwdb"};
const std::vector<fs::path> kNetworks = {fs::path(tests::source_dir()) / "examples" / "networks"};

Transformer decoder_named(const std::string& name) {
    const auto network = formats::load_network(name, kNetworks);
    REQUIRE(network.ok());
    const auto decoder = transformer_of(*network);
    REQUIRE(decoder.ok());
    return *decoder;
}

} // namespace

// ai-dynamo/aiconfigurator@095f58a, silicon_sample.csv: the rows of H100. Those of GB200 are in
// fp4, for which the catalog has no rate. The benchmark's users begin together, ten requests each.
// Even rows settled the engines' constants (step and request host time, vLLM's chunk of 2048), odd
// rows were not looked at for them.
TEST_CASE("measured servers of Qwen3-32B and Llama 3.1 70B on H100: errors and intervals") {
    const auto rows = tests::published_rows("calib_serving");
    if (rows.empty()) {
        MESSAGE("skipped: the shared measurements are absent");
        return;
    }
    const auto machine = *hwdb::load_machine("h100-sxm-80gb", kHwdb);
    const auto fabric = *hwdb::load_fabric("dgx-h100-ndr", kHwdb);
    const std::map<std::string, Transformer> decoders = {
        {"Qwen/Qwen3-32B", decoder_named("qwen3-32b")},
        {"meta-llama/Llama-3.1-70B", decoder_named("llama-3-70b")}};
    std::map<std::string, tests::Ratios> tpot, ttft;
    std::map<std::string, tests::Ratios> held_tpot, held_ttft;
    int index = 0;
    for (const tests::PublishedRow& row : rows) {
        if (row.at("gpu").find("H100") == std::string::npos) {
            continue;
        }
        ServingOptions o;
        o.engine = *hwdb::load_engine(row.at("backend"), kHwdb);
        o.prompt = std::stol(row.at("isl"));
        o.answer = std::stol(row.at("osl"));
        o.type = row.at("precision") == "fp8" ? model::DataType::fp8 : model::DataType::bf16;
        o.tensor = {std::stol(row.at("tp"))};
        o.users = {std::stol(row.at("concurrency"))};
        o.together = true;
        o.exam.launch = model::Launch::graph;
        const auto served = serve(decoders.at(row.at("network")), machine, fabric, o);
        REQUIRE(served.ok());
        const LoadResult& r = served->loads.at(0).result;
        const std::string name = row.at("backend") + " " + row.at("network").substr(0, 4);
        const bool held = index++ % 2 == 1;
        const std::string& even = row.at("backend"); // all of an engine give its interval
        (held ? held_tpot[name] : tpot[even]).add(r.tpot.mean * 1e3, std::stod(row.at("tpot_ms")));
        (held ? held_ttft[name] : ttft[even]).add(r.ttft.mean * 1e3, std::stod(row.at("ttft_ms")));
    }
    for (const auto& [name, ratios] : tpot) {
        MESSAGE(name, ": even rows over the prediction, 10th to 90th percentile: TPOT ",
                1.0 / ratios.quantile(0.9), " to ", 1.0 / ratios.quantile(0.1), ", TTFT ",
                1.0 / ttft[name].quantile(0.9), " to ", 1.0 / ttft[name].quantile(0.1));
    }
    tests::Ratios all_tpot, all_ttft;
    double covered_tpot = 0.0, covered_ttft = 0.0;
    for (const auto& [name, ratios] : held_tpot) {
        const tests::Ratios& first = held_ttft[name];
        const Engine e = *hwdb::load_engine(name.substr(0, name.find(' ')), kHwdb);
        MESSAGE(name, ": ", ratios.values.size(), " rows held out; TPOT off by ", ratios.error(),
                ", median ", ratios.quantile(0.5), "; TTFT median ", first.quantile(0.5),
                ", within 1.5x ", first.within(1.5));
        all_tpot.values.insert(all_tpot.values.end(), ratios.values.begin(), ratios.values.end());
        all_ttft.values.insert(all_ttft.values.end(), first.values.begin(), first.values.end());
        const auto n = static_cast<double>(ratios.values.size());
        covered_tpot += n * ratios.covered(e.tpot.low, e.tpot.high);
        covered_ttft += n * first.covered(e.ttft.low, e.ttft.high);
    }
    const auto n = static_cast<double>(all_tpot.values.size());
    MESSAGE("held out: TPOT off by ", all_tpot.error(), "; TTFT within 1.5x ", all_ttft.within(1.5),
            "; inside the interval: TPOT ", covered_tpot / n, ", TTFT ", covered_ttft / n);
    CHECK(all_tpot.error() <= 0.10);
    CHECK(all_ttft.within(1.5) >= 0.80);
    for (const double covered : {covered_tpot / n, covered_ttft / n}) {
        CHECK(covered >= 0.75);
        CHECK(covered <= 0.88);
    }
}

// NVIDIA/TensorRT-LLM, docs/source/performance/perf-overview.md, v1.0: output tokens a second of
// all devices in fp8, every request there from the start. Predicted: the batch with most.
TEST_CASE("the most tokens a second of TensorRT-LLM's table") {
    const struct {
        const char *network, *machine, *fabric;
        Count tensor;
        double rates[9];
    } columns[] = {{"llama-3-8b",
                    "h100-sxm-80gb",
                    "dgx-h100-ndr",
                    1,
                    {28312, 22714, 14325, 17660, 15220, 3450, 9305, 3459, 1351}},
                   {"llama-3-8b",
                    "h200-sxm-141gb",
                    "hgx-h200-ndr",
                    1,
                    {27911, 26221, 18027, 20770, 17744, 3538, 12194, 3902, 1804}},
                   {"llama-3-70b",
                    "h200-sxm-141gb",
                    "hgx-h200-ndr",
                    1,
                    {3803, 4336, 2872, 3666, 2909, 442, 2003, 566, 283}},
                   {"llama-3-70b",
                    "h100-sxm-80gb",
                    "dgx-h100-ndr",
                    2,
                    {6378, 6651, 4199, 5222, 4205, 762, 3082, 898, 437}},
                   {"llama-3.1-405b",
                    "h100-sxm-80gb",
                    "dgx-h100-ndr",
                    8,
                    {3627, 4340, 3116, 3994, 2919, 453, 2296, 610, 345}},
                   {"llama-3.1-405b",
                    "h200-sxm-141gb",
                    "hgx-h200-ndr",
                    8,
                    {3814, 5348, 4741, 4724, 3330, 456, 2948, 650, 505}}};
    const Count sizes[9][2] = {{128, 128},  {128, 2048},  {128, 4096}, {500, 2000},  {1000, 1000},
                               {2048, 128}, {2048, 2048}, {5000, 500}, {20000, 2000}};
    for (const bool settled : {true, false}) {
        tests::Ratios all;
        for (const auto& column : columns) {
            tests::Ratios ratios;
            for (std::size_t i = 0; i < 9; ++i) {
                ServingOptions o;
                o.engine = *hwdb::load_engine("trtllm", kHwdb);
                o.prompt = sizes[i][0];
                o.answer = sizes[i][1];
                o.tensor = {column.tensor};
                o.type = model::DataType::fp8;
                o.exam.launch = model::Launch::graph;
                o.exam.settled_clocks = settled;
                const auto served =
                    serve(decoder_named(column.network), *hwdb::load_machine(column.machine, kHwdb),
                          *hwdb::load_fabric(column.fabric, kHwdb), o);
                REQUIRE(served.ok());
                double most = 0.0;
                for (const ServingPoint& p : served->points) {
                    most = std::max(most, p.tokens_per_s);
                }
                ratios.add(most, column.rates[i]);
                all.add(most, column.rates[i]);
            }
            MESSAGE(std::string(column.network), " on ", std::string(column.machine),
                    std::string(settled ? ", settled" : ", burst"), ": off by ", ratios.error(),
                    ", median ", ratios.quantile(0.5));
        }
        MESSAGE("TensorRT-LLM's table, ", std::string(settled ? "settled" : "burst"), ": off by ",
                all.error());
        CHECK(all.error() <= 0.15); // 12 % is asked for: docs/dev/scale-evidence.md
    }
}

TEST_CASE("an engine's step is the sum of what a whole network's exam takes") {
    const auto machine = *hwdb::load_machine("h100-sxm-80gb", kHwdb);
    const auto fabric = *hwdb::load_fabric("dgx-h100-ndr", kHwdb);
    const Transformer t = decoder_named("llama-3-8b");
    ServingOptions o;
    o.exam.launch = model::Launch::graph;
    EngineSteps steps(t, machine, fabric, o, 1, {});
    for (const Count batch : {1, 16, 100}) {
        model::Network whole = serving_body(t, {}, batch, o);
        for (const model::Network& part :
             {serving_attention(t, 1, batch, 1, 1500, o), serving_head(t, 1, batch, o)}) {
            whole.layers.insert(whole.layers.end(), part.layers.begin(), part.layers.end());
        }
        Scenario scenario = o.exam;
        scenario.settled_clocks = true;
        const auto report = run(whole, machine, scenario);
        REQUIRE(report.ok());
        CAPTURE(batch);
        CHECK(steps.step({batch, 1501.0, 1, {}, 0}).time_s() ==
              tests::near(report->total.time_s, 0.03));
    }
    CHECK_FALSE(steps.found().has_errors());
}

TEST_CASE("weights of fewer bits: gpt-fast's tokens a second at batch 1") {
    // pytorch-labs/gpt-fast@32971d3, README: A100-80 at 330 W; int4 in groups of 32.
    const struct {
        const char* name;
        model::DataType weights;
        double rate;
    } rows[] = {{"llama-2-7b", model::DataType::int8, 155.58},
                {"llama-2-7b", model::DataType::int4, 196.80},
                {"llama-2-70b", model::DataType::int8, 19.13},
                {"llama-2-70b", model::DataType::int4, 25.25},
                {"llama-3-8b", model::DataType::int8, 137.64}};
    tests::Ratios ratios;
    for (const auto& row : rows) {
        ServingOptions o;
        o.prompt = 5;
        o.answer = 200;
        o.batches = {1};
        o.memory_share = 1.0;
        o.weight_type = row.weights;
        o.exam.launch = model::Launch::graph;
        const auto served =
            serve(decoder_named(row.name), *hwdb::load_machine("a100-sxm-80gb", kHwdb),
                  *hwdb::load_fabric("dgx-a100-hdr", kHwdb), o);
        REQUIRE(served.ok());
        const double rate = 1.0 / served->points[0].step_s;
        MESSAGE(std::string(row.name), ": ", rate, " of ", row.rate, " tokens/s");
        ratios.add(rate, row.rate);
    }
    MESSAGE("gpt-fast, narrow weights: mean error ", ratios.error());
    CHECK(ratios.error() <= 0.15);
}

} // namespace test_scale_published_serving
