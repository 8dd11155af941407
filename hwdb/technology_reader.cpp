#include "hwdb/technology_reader.hpp"

#include <array>

namespace eyeroof::hwdb {

namespace {

constexpr std::pair<std::string_view, int> kTechnologyFormats[] = {{"technology/1", 1}};
constexpr std::pair<std::string_view, Confidence> kTechnologyConfidence[] = {
    {"datasheet", Confidence::datasheet},
    {"paper", Confidence::paper},
    {"measured", Confidence::measured},
    {"derived", Confidence::derived},
    {"secondary", Confidence::secondary},
    {"recalled", Confidence::recalled},
    {"user", Confidence::user}};

Provenance origin_of(const Node& node) {
    return {node.need("source").text().value_or(""),
            node.need("confidence")
                .choice(kTechnologyConfidence, "confidence")
                .value_or(Confidence::recalled)};
}

double positive(const Node& node, const char* key) {
    return node.need(key).number(1e-6, 1e9).value_or(1.0);
}

double process_nm(const Node& node) {
    return node.need("nm").number(1.0, 1000.0).value_or(1.0);
}

std::vector<model::ProcessNode> read_nodes(const Node& list) {
    std::vector<model::ProcessNode> nodes;
    for (const Node& node : list.items(2)) {
        nodes.push_back({process_nm(node), positive(node, "cell_um2"), positive(node, "gate_um2"),
                         positive(node, "supply_v"), origin_of(node)});
        if (nodes.size() > 1 && nodes.back().nm >= nodes[nodes.size() - 2].nm) {
            node.error("node-order", "a process that is not smaller than the one before it",
                       "list them from large to small");
        }
    }
    return nodes;
}

model::ReferenceCircuits read_reference(const Node& node) {
    model::ReferenceCircuits r;
    r.nm = process_nm(node);
    const std::array<std::pair<const char*, double*>, 11> fields = {
        {{"supply_v", &r.supply_v},
         {"multiply_8_pj", &r.multiply_8_pj},
         {"multiply_32_pj", &r.multiply_32_pj},
         {"add_8_pj", &r.add_8_pj},
         {"add_32_pj", &r.add_32_pj},
         {"multiply_8_um2", &r.multiply_8_um2},
         {"multiply_32_um2", &r.multiply_32_um2},
         {"add_8_um2", &r.add_8_um2},
         {"add_32_um2", &r.add_32_um2},
         {"sram_pj_per_bit", &r.sram_pj_per_bit},
         {"sram_bytes", &r.sram_bytes}}};
    for (const auto& [key, field] : fields) {
        *field = positive(node, key);
    }
    r.origin = origin_of(node);
    return r;
}

model::AssumedCircuits read_assumed(const Node& node) {
    model::AssumedCircuits a;
    const std::array<std::pair<const char*, double*>, 8> fields = {
        {{"register_gates_per_bit", &a.register_gates_per_bit},
         {"flip_flop_gates", &a.flip_flop_gates},
         {"sram_edge_cells", &a.sram_edge_cells},
         {"smallest_sram_bits", &a.smallest_sram_bits},
         {"router_gates_per_bit", &a.router_gates_per_bit},
         {"control_share", &a.control_share},
         {"flip_flop_pj", &a.flip_flop_pj},
         {"wire_pj_per_bit_mm_v2", &a.wire_pj_per_bit_mm_v2}}};
    for (const auto& [key, field] : fields) {
        *field = positive(node, key);
    }
    a.placed_share = node.need("placed_share").number(0.05, 1.0).value_or(1.0);
    a.origin = origin_of(node);
    return a;
}

std::vector<model::PublishedChip> read_chips(const Node& list) {
    std::vector<model::PublishedChip> chips;
    for (const Node& node : list.items()) {
        model::PublishedChip chip;
        chip.machine = node.need("machine").text().value_or("");
        chip.nm = process_nm(node);
        chip.area_mm2 = node.need("area_mm2").number(0.0, 1e6).value_or(0.0);
        chip.power_w = node.need("power_w").number(0.0, 1e6).value_or(0.0);
        chip.note = node.has("note") ? node["note"].text().value_or("") : "";
        chip.origin = origin_of(node);
        chips.push_back(chip);
    }
    return chips;
}

std::vector<model::DramEnergy> read_drams(const Node& list) {
    std::vector<model::DramEnergy> drams;
    for (const Node& node : list ? list.items() : std::vector<Node>{}) {
        drams.push_back(
            {node.need("name").text().value_or(""), positive(node, "pj_per_bit"), origin_of(node)});
    }
    return drams;
}

} // namespace

Result<model::Technology> read_technology(Document& document) {
    const Node root = document.root();
    root.need("eyeroof").choice(kTechnologyFormats, "format of this file");
    model::Technology technology;
    technology.nodes = read_nodes(root.need("nodes"));
    technology.reference = read_reference(root.need("reference"));
    technology.assumed = read_assumed(root.need("assumed"));
    technology.chips = read_chips(root.need("chips"));
    technology.drams = read_drams(root["drams"]);
    return document.conclude(std::move(technology));
}

Result<model::Technology> load_technology(Folders folders) {
    const auto path = nearest_file(folders, "technology.yaml");
    if (!path) {
        return Result<model::Technology>::failure("no-technology",
                                                  "no technology.yaml in any folder of machines",
                                                  "`eyeroof --version` lists the folders");
    }
    auto document = load_yaml(*path);
    return document ? read_technology(*document)
                    : Result<model::Technology>(document.diagnostics());
}

} // namespace eyeroof::hwdb
