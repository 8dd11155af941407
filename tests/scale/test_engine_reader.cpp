// Engines as files: all that stand in the catalog, names without a version, and what is wrong.
#include "hwdb/engine_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace test_scale_engine_reader {

using namespace eyeroof;

namespace {

const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

} // namespace

TEST_CASE("every engine of the catalog can be read, and a kind names one version of it") {
    std::map<model::EngineKind, int> usual;
    for (const auto& entry : hwdb::list_engines(kHwdb)) {
        const auto engine = hwdb::load_engine(entry.id, kHwdb);
        REQUIRE_MESSAGE(engine.ok(), entry.id);
        CHECK(engine->id == entry.id);
        CHECK(engine->tpot.low < engine->tpot.high);
        CHECK(find_provenance(engine->provenance, "steps.chunk") != nullptr);
        usual[engine->kind] += engine->usual ? 1 : 0;
    }
    CHECK(usual.size() == 3);
    CHECK(std::ranges::all_of(usual, [](const auto& kind) { return kind.second == 1; }));
    CHECK(hwdb::load_engine("vllm", kHwdb)->usual);
    CHECK(hwdb::load_engine("vllm-0.22", kHwdb)->memory_share == 0.92);
}

TEST_CASE("an unknown engine is refused with the names that there are") {
    for (const char* name : {"vllm-9", "tgi", ""}) {
        const auto none = hwdb::load_engine(name, kHwdb);
        REQUIRE_FALSE(none.ok());
        const Diagnostic& first = none.diagnostics().items()[0];
        CHECK(first.code == "unknown-engine");
        CHECK(first.hint.find("sglang-0.5, trtllm-1.0, trtllm-1.2") != std::string::npos);
    }
}

TEST_CASE("all mistakes of an engine are told at once, each in its line") {
    auto document =
        hwdb::parse_yaml("eyeroof: engine/1\n"
                         "name: mine\n"
                         "kind: tgi\n"
                         "steps: {mixes: true, splits: true, chunk: 0, chunks: 1}\n"
                         "memory_share: 0.9\n"
                         "host: {step: 1 GB}\n"
                         "kernels: {}\n"
                         "interval: {tpot: [0.9], ttft: [0.9, 1.1, 1.2], apart_tpot: [1, 1], "
                         "apart_ttft: [1, 1]}\n",
                         "mine.yaml");
    REQUIRE(document.ok());
    const auto engine = hwdb::read_engine(*document, "mine");
    REQUIRE_FALSE(engine.ok());
    for (const int line : {3, 4, 6, 8}) {
        CHECK(std::ranges::any_of(engine.diagnostics(),
                                  [&](const Diagnostic& d) { return d.where.line == line; }));
    }
    CHECK(std::ranges::any_of(engine.diagnostics(),
                              [](const Diagnostic& d) { return d.code == "interval"; }));
}

} // namespace test_scale_engine_reader
