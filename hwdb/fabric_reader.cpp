#include "hwdb/fabric_reader.hpp"

#include "base/suggest.hpp"
#include "hwdb/named_files.hpp"
#include "hwdb/sourced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace eyeroof::hwdb {

namespace fs = std::filesystem;
using model::Fabric;
using model::FabricLevel;
using model::Topology;

namespace {

constexpr std::pair<std::string_view, int> kFabricFormats[] = {{"fabric/1", 1}};
constexpr std::pair<std::string_view, Topology> kTopologies[] = {
    {"switched", Topology::switched},
    {"mesh", Topology::mesh},
    {"bus", Topology::bus},
    {"torus", Topology::torus},
    {"dragonfly", Topology::dragonfly}};

// As analysis/scale names them.
constexpr std::pair<std::string_view, int> kAlgorithms[] = {
    {"ring", 0},         {"tree", 1},      {"double-tree", 2}, {"halving-doubling", 3},
    {"hierarchical", 4}, {"in-switch", 5}, {"direct", 6}};

template <class Q> double quantity(const Sourced& place) {
    return place.quantity<Q>(Zero::allowed).value_or(Q{}).value;
}

std::vector<double> read_latencies(const Sourced& place, std::size_t protocols) {
    std::vector<double> latencies;
    if (!place.node().is_list()) {
        latencies.push_back(quantity<Seconds>(place));
        return latencies;
    }
    for (const Sourced& item : place.items(1)) {
        latencies.push_back(quantity<Seconds>(item));
    }
    if (latencies.size() != protocols) {
        place.node().error(
            "latencies", fmt::format("{} latencies for {} protocols", latencies.size(), protocols),
            "one for each protocol, or a single one for all");
    }
    return latencies;
}

void read_shape(const Sourced& place, FabricLevel& level) {
    const Node node = place.node();
    level.name = node.need("name").text().value_or("");
    level.topology = node["topology"].choice(kTopologies, "topology").value_or(Topology::switched);
    Count units = 1;
    for (const Node& d : node["dims"] ? node["dims"].items(1) : std::vector<Node>{}) {
        level.dims.push_back(d.integer({1, model::kMaxDevices}).value_or(1));
        units = checked_mul(units, level.dims.back()).value_or(0);
    }
    level.size = place["size"].integer({1, model::kMaxDevices}).value_or(0);
    if (level.size == 0 && level.topology == Topology::torus && !level.dims.empty()) {
        level.size = units;
    }
    level.reduces = node["reduces"].boolean().value_or(false);
}

model::DirectReduce read_direct(const Sourced& place, double level_share) {
    model::DirectReduce d;
    d.name = place.node().need("name").text().value_or("");
    d.base_s = quantity<Seconds>(place.need("base"));
    d.two_shot_s = place["two_shot"] ? quantity<Seconds>(place["two_shot"]) : 2.0 * d.base_s;
    d.share = place["share"].number(1e-6, 1.0).value_or(level_share);
    d.devices = place["devices"].integer({2, model::kMaxDevices}).value_or(0);
    if (const auto staging = place["staging"]) {
        const double rate = quantity<BytesPerSec>(staging);
        d.staging_s_per_byte = rate > 0.0 ? 1.0 / rate : 0.0;
    }
    d.call_s = quantity<Seconds>(place["call"]);
    d.copy_s = quantity<Seconds>(place["copy"]);
    d.copy_bytes_per_s = quantity<BytesPerSec>(place["copy_bandwidth"]);
    return d;
}

model::PairTraffic read_pairs(const Sourced& place) {
    model::PairTraffic p;
    p.share = place.need("share").number(1e-6, 1.0).value_or(1.0);
    p.pair_share = place.need("pair_share").number(1e-6, 1.0).value_or(1.0);
    p.base_s = quantity<Seconds>(place.need("base"));
    p.partner_s = quantity<Seconds>(place["partner"]);
    p.long_s = quantity<Seconds>(place["long"]);
    p.long_bytes = place["long_above"].quantity<Bytes>(Zero::allowed).value_or(Bytes{}).value;
    p.short_bytes_per_s = quantity<BytesPerSec>(place.need("short_bandwidth"));
    return p;
}

FabricLevel read_level(const Sourced& place, std::size_t protocols) {
    FabricLevel level;
    read_shape(place, level);
    level.ports = place["ports"].integer({1, 65536}).value_or(1);
    level.bytes_per_s = quantity<BytesPerSec>(place.need("bandwidth"));
    level.share = place["share"].number(1e-6, 1.0).value_or(1.0);
    level.oversubscription = place["oversubscription"].number(1.0, 1e4).value_or(1.0);
    level.overhead_s = quantity<Seconds>(place["overhead"]);
    level.latency_s = read_latencies(place.need("latency"), protocols);
    level.reduced_share = place["reduced_share"].number(0.0, 1.0).value_or(0.0);
    level.reduced_base_s = quantity<Seconds>(place["reduced_base"]);
    level.occupies = place["occupies"].number(0.0, 0.99).value_or(0.0);
    level.watts = quantity<Watts>(place["power"]);
    level.global_bytes_per_s = quantity<BytesPerSec>(place["global"]);
    for (const Sourced& d : place["direct"] ? place["direct"].items(1) : std::vector<Sourced>{}) {
        level.direct.push_back(read_direct(d, level.share));
    }
    if (const auto pairs = place["pairs"]) {
        level.pairs = read_pairs(pairs);
    }
    return level;
}

model::Transport read_transport(const Sourced& place) {
    model::Transport t;
    t.name = place.node().need("name").text().value_or("");
    t.overhead_s = quantity<Seconds>(place.need("overhead"));
    t.copies = place["copies"].number(0.0, 64.0).value_or(0.0);
    t.copy_bytes_per_s = quantity<BytesPerSec>(place["copy_bandwidth"]);
    t.wire_share = place["wire_share"].number(1e-3, 1.0).value_or(1.0);
    t.piece_bytes = quantity<Bytes>(place["piece"]);
    t.connection_bytes_per_s = quantity<BytesPerSec>(place["connection"]);
    return t;
}

} // namespace

Result<Fabric> read_fabric(Document& document, const std::string& id) {
    SourceBook book;
    const Sourced root(document.root(), book);
    Fabric fabric;
    root.node().need("eyeroof").choice(kFabricFormats, "format of this file");
    fabric.id = root.node()["id"].text().value_or(id);
    fabric.name = root.node().need("name").text().value_or("");
    fabric.summary = root.node()["summary"].text().value_or("");
    for (const Sourced& p :
         root["protocols"] ? root["protocols"].items(1) : std::vector<Sourced>{}) {
        fabric.protocols.push_back({p.node().need("name").text().value_or(""),
                                    quantity<Seconds>(p.need("base")),
                                    p.need("share").number(1e-3, 1.0).value_or(1.0)});
    }
    const Node algorithms = root.node()["algorithms"];
    for (const Node& name : algorithms ? algorithms.items(1) : std::vector<Node>{}) {
        name.choice(kAlgorithms, "algorithm");
        fabric.algorithms.push_back(name.text().value_or(""));
    }
    const Node usual = root.node()["usual_of"];
    for (const Node& gpu : usual ? usual.items(1) : std::vector<Node>{}) {
        fabric.usual_of.push_back(gpu.text().value_or(""));
    }
    for (const Sourced& level : root.need("levels").items(1)) {
        for (const char* key : {"pairs", "direct"}) {
            if (const Node inner = level.node()[key]; inner && !fabric.levels.empty()) {
                inner.error("outer-level", fmt::format("'{}' is of the first level alone", key),
                            "move it there, or leave it out");
            }
        }
        fabric.levels.push_back(read_level(level, fabric.protocol_count()));
    }
    for (const Sourced& t :
         root["transports"] ? root["transports"].items(1) : std::vector<Sourced>{}) {
        fabric.transports.push_back(read_transport(t));
    }
    if (const Sourced chunk = root["chunk"]) {
        fabric.chunk_bytes = quantity<Bytes>(chunk);
    }
    report_unsourced(root.node(), book);
    adopt_apart(document, model::validate(fabric));
    fabric.provenance = std::move(book.provenance);
    return document.conclude(std::move(fabric));
}

std::vector<CatalogEntry> list_fabrics(Folders folders) {
    return list_files(folders, "fabrics");
}

Result<Fabric> load_fabric(std::string_view name, Folders folders) {
    fs::path file(name);
    if (!is_path(name)) {
        std::vector<std::string> names;
        file.clear();
        for (const CatalogEntry& entry : list_fabrics(folders)) {
            names.push_back(entry.id);
            if (entry.id == name) {
                file = entry.file;
            }
        }
        if (file.empty()) {
            return Result<Fabric>::failure(
                "unknown-fabric", fmt::format("no fabric is called \"{}\"", name),
                suggestion(name, names) + " (a file needs its path, such as ./mine.yaml)");
        }
    }
    auto document = load_yaml(file);
    if (!document) {
        return document.diagnostics();
    }
    return read_fabric(*document, file.stem().string());
}

std::optional<Fabric> usual_fabric(std::string_view gpu, Folders folders) {
    for (const CatalogEntry& entry : list_fabrics(folders)) {
        auto fabric = load_fabric(entry.id, folders);
        if (fabric && std::ranges::find(fabric->usual_of, gpu) != fabric->usual_of.end()) {
            return *std::move(fabric);
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::hwdb
