#include "hwdb/engine_reader.hpp"

#include "base/text_file.hpp"
#include "hwdb/named_files.hpp"
#include "hwdb/sourced.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace eyeroof::hwdb {

using model::Engine;
using model::EngineKind;

namespace {

constexpr std::pair<std::string_view, int> kEngineFormats[] = {{"engine/1", 1}};
constexpr std::pair<std::string_view, EngineKind> kEngineKinds[] = {
    {"vllm", EngineKind::vllm}, {"sglang", EngineKind::sglang}, {"trtllm", EngineKind::trtllm}};
constexpr Count kMostTokensOfStep = 10'000'000;

double host_s(const Sourced& place) {
    return place.quantity<Seconds>(Zero::allowed).value_or(Seconds{}).value;
}

// [0.9, 1.2], or {value: [0.9, 1.2], source: …}.
model::RatioBand band_at(const Sourced& place) {
    model::RatioBand band;
    const auto ends = place.value().items(2);
    if (ends.size() == 2) {
        band.low = ends[0].number(0.01, 1.0).value_or(1.0);
        band.high = ends[1].number(1.0, 100.0).value_or(1.0);
    } else if (!ends.empty()) {
        place.node().error("interval", "an interval has two ends", "as in [0.9, 1.2]");
    }
    return band;
}

void read_steps(const Sourced& place, Engine& e) {
    e.mixes = place.node().need("mixes").boolean().value_or(true);
    e.splits = place.node().need("splits").boolean().value_or(true);
    e.chunk = place.need("chunk").integer({1, kMostTokensOfStep}).value_or(e.chunk);
    e.most_running = place["requests"].integer({1, 65536}).value_or(e.most_running);
}

} // namespace

Result<Engine> read_engine(Document& document, const std::string& id) {
    SourceBook book;
    const Sourced root(document.root(), book);
    Engine e;
    root.node().need("eyeroof").choice(kEngineFormats, "format of this file");
    e.id = root.node()["id"].text().value_or(id);
    e.name = root.node().need("name").text().value_or("");
    e.kind = root.node().need("kind").choice(kEngineKinds, "kind of engine").value_or(e.kind);
    e.usual = root.node()["usual"].boolean().value_or(false);
    read_steps(root.need("steps"), e);
    e.memory_share = root.need("memory_share").number(0.1, 1.0).value_or(e.memory_share);
    e.memory_of_free = root.node()["memory_of_free"].boolean().value_or(false);
    const Sourced host = root.need("host");
    e.step_host_s = host_s(host.need("step"));
    e.least_step_s = host_s(host["least"]);
    e.queue_host_s = host_s(host["queue"]);
    e.request_host_s = host_s(host["request"]);
    e.apart_host_s = host_s(host["apart"]);
    const Node kernels = root.node().need("kernels");
    e.library = kernels["library"].text().value_or("");
    e.block_library = kernels["block_library"].text().value_or("");
    e.direct = kernels["reduce"].text().value_or("");
    e.fused = kernels["fused"].boolean().value_or(false);
    e.rotary_in_attention = kernels["rotary_in_attention"].boolean().value_or(false);
    e.norm_in_reduce = kernels["norm_in_reduce"].boolean().value_or(false);
    e.shared_beside = kernels["shared_beside"].boolean().value_or(false);
    e.narrow_cache = root.node()["narrow_cache"].boolean().value_or(false);
    const Sourced interval = root.need("interval");
    e.tpot = band_at(interval.need("tpot"));
    e.ttft = band_at(interval.need("ttft"));
    e.apart_tpot = band_at(interval.need("apart_tpot"));
    e.apart_ttft = band_at(interval.need("apart_ttft"));
    report_unsourced(root.node(), book);
    e.provenance = std::move(book.provenance);
    return document.conclude(std::move(e));
}

std::vector<CatalogEntry> list_engines(Folders folders) {
    return list_files(folders, "engines");
}

Result<Engine> load_engine(std::string_view name, Folders folders) {
    const auto read = [](const std::filesystem::path& file) {
        auto document = load_yaml(file);
        return document ? read_engine(*document, file.stem().string())
                        : Result<Engine>(document.diagnostics());
    };
    if (is_path(name)) {
        return read(std::filesystem::path(name));
    }
    std::vector<std::string> names;
    for (const CatalogEntry& entry : list_engines(folders)) {
        if (entry.id == name) {
            return read(entry.file);
        }
        names.push_back(entry.id);
    }
    for (const CatalogEntry& entry : list_engines(folders)) {
        if (entry.id.substr(0, entry.id.find('-')) == name) {
            auto engine = read(entry.file);
            if (!engine || engine->usual) {
                return engine;
            }
        }
    }
    return Result<Engine>::failure(
        "unknown-engine", fmt::format("no engine is called \"{}\"", name),
        fmt::format("one of {}, or without a version; a file needs its path, such as ./mine.yaml",
                    fmt::join(names, ", ")));
}

} // namespace eyeroof::hwdb
