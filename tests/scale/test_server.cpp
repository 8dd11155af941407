// One server: its weights, its steps' CPU time, more requests than it computes prompts for, and
// what the answer says of them.
#include "analysis/scale/server.hpp"
#include "analysis/scale/split.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/engine_reader.hpp"
#include "report/answer/write.hpp"
#include "report/scale/serving_answer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace test_scale_server {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

Transformer decoder() {
    Transformer t;
    t.layers = 4;
    t.hidden = 1024;
    t.heads = t.kv_heads = 8;
    t.head_size = 128;
    t.inner = 4096;
    t.vocabulary = 32000;
    t.tied = t.biases = false;
    return t;
}

Serving served(const Transformer& t, const ServingOptions& o) {
    model::Fabric alone;
    alone.name = "one GPU";
    alone.levels.resize(1);
    const auto machine = hwdb::load_machine("a100-sxm-80gb", kHwdb);
    REQUIRE(machine.ok());
    const auto result = serve(t, *machine, alone, o);
    REQUIRE(result.ok());
    return *result;
}

bool says(const report::Answer& answer, const std::string& text) {
    return std::ranges::any_of(answer.sentences, [&](const std::string& line) {
        return line.find(text) != std::string::npos;
    });
}

} // namespace

TEST_CASE("the CPU time of a step is what no kernel hides, drafts included") {
    ServingOptions o;
    o.batches = {1};
    o.engine.step_host_s = 0.5;
    const ServingPoint serial = served(decoder(), o).points[0];
    CHECK(serial.host_s == 0.5);
    CHECK(serial.step_s > 0.5);
    o.engine.step_host_s = 0.0;
    o.engine.least_step_s = 0.5;
    const ServingPoint beside = served(decoder(), o).points[0];
    CHECK(beside.step_s == near(0.5));
    CHECK(beside.host_s == near(1.0 - serial.step_s)); // beside the kernels of the step above
    o.speculation.tokens = 2;
    draft_by_own_layer(decoder(), o.speculation);
    const ServingPoint drafted = served(decoder(), o).points[0];
    CHECK(drafted.step_s == near(0.5));
    CHECK(drafted.host_s < beside.host_s);
    CHECK(says(report::serving_answer(served(decoder(), o)), "the engine's CPU time 9"));
}

TEST_CASE("a decoder's own layer drafts with the decoder's embedding and head") {
    const Transformer t = decoder();
    ServingOptions o;
    const double before = server_weight_bytes(t, 1, o);
    CHECK(before == near(2.0 * parameters(t), 1e-4)); // but for a norm
    draft_by_own_layer(t, o.speculation);
    CHECK(server_weight_bytes(t, 1, o) - before == near(2.0 * block_parameters(t), 1e-3));
    o.speculation.shares_ends = false; // any other decoder has its own
    CHECK(server_weight_bytes(t, 1, o) - before ==
          near(2.0 * (block_parameters(t) + 2.0 * 32000 * 1024), 1e-3));
}

TEST_CASE("16-bit attention beside 4-bit experts is that of the layers that attend") {
    Transformer t = decoder();
    t.experts = 8;
    t.active = 2;
    t.states = {3, 8, 8, 128, 4}; // of four layers one attends
    ServingOptions o;
    o.type = model::DataType::nvfp4;
    REQUIRE(o.wide_attention(t));
    const double ends = 2.0 * 32000 * 1024;
    const double attention = 4.0 * 1024 * 1024; // queries, keys, values, and the output
    REQUIRE(attention_parameters(t) == attention);
    const double narrow = device_parameters(t, Plan{}) - ends - attention;
    CHECK(server_weight_bytes(t, 1, o) ==
          near(narrow * model::bytes_per_element(o.type) + 2.0 * (ends + attention), 1e-9));
}

TEST_CASE("more requests than the engine computes prompts for wait, and give no more tokens") {
    ServingOptions o;
    o.prompt = 4000; // two chunks of 2048 tokens
    o.answer = 20;   // steps: beside 10 requests, each takes two with its prompt
    o.engine.chunk = 2048;
    o.batches = {10, 11, 64};
    o.users = {64};
    const Serving s = served(decoder(), o);
    const ServingPoint &ten = s.points[0], &one_more = s.points[1], &many = s.points[2];
    // Chunks that are full take 2048 / (4000 + 19) of a prompt: 20 times as many requests decode.
    const double decoding = 20.0 * 2048.0 / 4019.0;
    for (const ServingPoint* p : {&one_more, &many}) {
        CHECK(p->tpot_s == near(ten.tpot_s, 0.05));
        CHECK(p->tokens_per_s == near(decoding / p->tpot_s));
        CHECK(p->cache_bytes == near(ten.cache_bytes * decoding / 10.0)); // who waits holds none
    }
    CHECK(one_more.tpot_s == many.tpot_s);
    // The 64th request waits for 53 more than the eleventh.
    CHECK(many.ttft_s - one_more.ttft_s == near(53 * 20.0 / many.tokens_per_s));
    const LoadResult& load = s.loads.at(0).result;
    CHECK(many.tokens_per_s == near(load.tokens_per_s, 0.1));
    CHECK(many.ttft_s == near(load.ttft.mean, 0.1));
    CHECK(many.tpot_s == near(load.tpot.mean, 0.15));
    REQUIRE(s.best);
    CHECK(says(report::serving_answer(s), "Bound by prompts: "));
}

TEST_CASE("where prompts bound a server, it gives what its simulation gives") {
    for (const bool splits : {true, false}) {
        for (const auto& [prompt, answer, chunk] : {std::array<Count, 3>{20000, 4, 2048},
                                                    {20000, 40, 8192},
                                                    {3000, 4, 2048},
                                                    {1024, 8, 8192},
                                                    {300, 16, 2048}}) {
            ServingOptions o;
            o.prompt = prompt;
            o.answer = answer;
            o.engine.chunk = chunk;
            o.engine.splits = splits;
            const double held =
                static_cast<double>(answer * chunk) / static_cast<double>(prompt + answer - 1);
            const Count users = std::max<Count>(2, std::llround(3.0 * held + 2.0));
            o.batches = {users};
            o.users = {users};
            o.requests = 20 * users;
            const Serving s = served(decoder(), o);
            CAPTURE(splits);
            CAPTURE(prompt);
            CAPTURE(answer);
            CAPTURE(chunk);
            CHECK(s.points[0].tokens_per_s == near(s.loads.at(0).result.tokens_per_s, 0.15));
            CHECK(s.points[0].ttft_s == near(s.loads.at(0).result.ttft.mean, 0.15));
        }
    }
}

TEST_CASE("between one prompt a step and a full chunk a server gives what its simulation gives") {
    ServingOptions o;
    o.prompt = 1024; // one fits a chunk whole beside next tokens, 1.6 do in pieces
    o.answer = 64;
    o.engine.chunk = 2048;
    o.batches = {64, 80, 96, 101, 102};
    o.users = {80, 96};
    o.requests = 20 * 96;
    const Serving s = served(decoder(), o);
    for (const std::size_t i : {0, 1}) {
        CHECK(s.points[i + 1].tokens_per_s == near(s.loads.at(i).result.tokens_per_s, 0.1));
        CHECK(s.points[i + 1].tpot_s == near(s.loads.at(i).result.tpot.mean, 0.15));
    }
    for (std::size_t i = 1; i < s.points.size(); ++i) {
        CHECK(s.points[i].tokens_per_s <= 1.02 * s.points.back().tokens_per_s);
    }
    o.batches.clear(); // the fewest requests of those that give most are recommended
    o.users.clear();
    const Serving all = served(decoder(), o);
    REQUIRE(all.best);
    CHECK(all.points[*all.best].batch <= 128);
    CHECK(all.points[*all.best].ttft_s < 0.1 * all.points.back().ttft_s);
}

TEST_CASE("more requests cost a server at most 2 % of its tokens per second") {
    for (const Count answer : {2, 7, 40}) {
        ServingOptions o;
        o.prompt = 6000;
        o.answer = answer;
        o.engine.chunk = 2048;
        o.batches = {2, 3, 4, 8, 16, 32};
        const Serving s = served(decoder(), o);
        for (std::size_t i = 1; i < s.points.size(); ++i) {
            CAPTURE(answer);
            CAPTURE(s.points[i].batch);
            CHECK(s.points[i].tokens_per_s >= 0.98 * s.points[i - 1].tokens_per_s);
        }
    }
}

TEST_CASE("one request waits for no prompt between its tokens") {
    for (const bool mixes : {true, false}) {
        ServingOptions o;
        o.prompt = 4000;
        o.answer = 20;
        o.engine.mixes = mixes;
        o.batches = {1};
        o.users = {1};
        const Serving s = served(decoder(), o);
        const ServingPoint& p = s.points[0];
        CHECK(p.tpot_s == near(p.step_s));
        CHECK(p.tpot_s == near(s.loads.at(0).result.tpot.mean, 0.02));
        CHECK(p.tokens_per_s == near(20.0 / (p.prefill_s + 20.0 * p.step_s)));
        CHECK(p.tokens_per_s == near(s.loads.at(0).result.tokens_per_s, 0.06));
    }
}

TEST_CASE("an engine whose prompts take steps of their own serves every request") {
    ServingOptions o;
    o.prompt = 4000;
    o.answer = 20;
    o.engine.mixes = false;
    o.batches = {10, 64};
    const Serving s = served(decoder(), o);
    CHECK(s.points[1].tpot_s > 2.0 * s.points[0].tpot_s);
}

TEST_CASE("the limit named is that of the next larger number of requests, in any order") {
    Serving s;
    s.tpot_limit_s = 0.02;
    for (const auto& [batch, tpot_s] : {std::pair{64, 0.09}, {1, 0.01}, {16, 0.03}}) {
        ServingPoint p;
        p.batch = batch;
        p.most_batch = 100;
        p.step_s = p.tpot_s = tpot_s;
        p.ttft_s = 0.1;
        p.tokens_per_s = 1.0;
        p.within = batch == 1;
        s.points.push_back(p);
    }
    s.best = 1;
    CHECK(says(report::serving_answer(s), "Bound by the TPOT of 20 ms: 16 requests take 30 ms"));
}

TEST_CASE("percentiles of what no request has are null") {
    ServingOptions o;
    o.answer = 1; // no token behind the first
    o.batches = {1};
    o.users = {1};
    o.requests = 3;
    const auto json =
        nlohmann::json::parse(report::to_json(report::serving_answer(served(decoder(), o))));
    const auto& load = json.at("loads").at(0);
    CHECK(load.at("ttft_s").at("p50").is_number());
    CHECK(load.at("tpot_s").at("p50").is_null());
    CHECK(load.at("tpot_s").at("mean").is_null());
}

TEST_CASE("intervals and host times of engines name where they come from") {
    const auto source_of = [](const char* engine, const char* field) {
        const auto read = hwdb::load_engine(engine, kHwdb);
        REQUIRE(read.ok());
        const Provenance* found = find_provenance(read->provenance, field);
        REQUIRE(found != nullptr);
        return *found;
    };
    for (const char* engine : {"sglang-0.5", "trtllm-1.0", "trtllm-1.2"}) {
        const Provenance apart = source_of(engine, "interval.apart_tpot");
        CHECK(apart.source.find("142 disaggregated servers") != std::string::npos);
        CHECK(apart.confidence == Confidence::fitted);
    }
    CHECK(source_of("sglang-0.5", "host.apart").source.find("142") != std::string::npos);
    CHECK(source_of("vllm-0.11", "interval.tpot").confidence == Confidence::fitted);
    CHECK(source_of("vllm-0.11", "interval.apart_ttft").confidence == Confidence::recalled);
    for (const char* field : {"interval.tpot", "interval.ttft", "host.least"}) {
        CHECK(source_of("trtllm-1.2", field).confidence == Confidence::derived);
    }
    auto document =
        hwdb::parse_yaml("eyeroof: engine/1\nname: mine\nkind: vllm\n"
                         "steps: {mixes: true, splits: true, chunk: {value: 2048, "
                         "source: a table, confidence: paper}}\n"
                         "memory_share: {value: 0.9, source: a table, confidence: paper}\n"
                         "host: {source: a table, confidence: paper, step: 1 ms}\n"
                         "kernels: {}\n"
                         "interval: {tpot: [0.9, 1.1], ttft: [0.9, 1.1], apart_tpot: "
                         "[0.9, 1.1], apart_ttft: [0.9, 1.1]}\n",
                         "mine.yaml");
    REQUIRE(document.ok());
    const auto engine = hwdb::read_engine(*document, "mine");
    REQUIRE_FALSE(engine.ok());
    CHECK(engine.diagnostics().items()[0].code == "missing-source");
}

TEST_CASE(
    "a share of what weights leave free holds more requests than what they leave of a share") {
    const auto trtllm = hwdb::load_engine("trtllm", kHwdb);
    REQUIRE(trtllm.ok());
    CHECK(trtllm->memory_of_free);
    ServingOptions o;
    const double weights = server_weight_bytes(decoder(), 1, o);
    const double each = cache_bytes(decoder(), 1, o.cache(), o.prompt + o.answer);
    for (const bool of_free : {false, true}) {
        o.engine.memory_of_free = of_free;
        const double capacity = served(decoder(), o).capacity_bytes;
        const double left = of_free ? 0.9 * (capacity - weights) : 0.9 * capacity - weights;
        CHECK(served(decoder(), o).points.back().most_batch == static_cast<Count>(left / each));
    }
}

TEST_CASE(
    "attention stays wide beside 4-bit experts, but for int4 weights under wider arithmetic") {
    Transformer t = decoder();
    t.experts = 8;
    t.active = 2;
    ServingOptions o;
    o.type = model::DataType::bf16;
    for (const auto& [type, wide] : {std::pair{model::DataType::mxfp4, true},
                                     {model::DataType::nvfp4, true},
                                     {model::DataType::int4, false},
                                     {model::DataType::fp8, false}}) {
        o.weight_type = type;
        CHECK(o.wide_attention(t) == wide);
    }
}

} // namespace test_scale_server
