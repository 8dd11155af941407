#include "formats/timeloop_component.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

// Timeloop's architectures in three forms, all brought to a list of components from the outermost
// storage to the arithmetic: flat (`arch:`), trees (0.2 and 0.3), and lists of nodes (0.4).

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using timeloop::Attributes;
using timeloop::Component;
using timeloop::kMaxInstances;
using timeloop::member;

namespace {

constexpr double kClock_hz = 1e9; // Timeloop counts cycles and names no clock

// ---- flat ---------------------------------------------------------------------------------------

void place_mesh(const Node& node, Count instances, Component& c) {
    c.instances = instances;
    if (c.mesh_x == 0) {
        const auto mesh_y = member(node, "meshY");
        c.mesh_x =
            mesh_y ? instances / std::max<Count>(1, mesh_y.integer().value_or(1)) : instances;
    }
}

std::vector<Component> read_flat(const Node& arch) {
    const Node macs = arch.need("arithmetic");
    std::vector<Component> components;
    for (const Node& node : arch.need("storage").items(1)) {
        Component c;
        c.node = node;
        c.name = node.need("name").text().value_or("");
        const bool dram = node["technology"].text().value_or("") == "DRAM";
        node["class"].text();
        const Attributes at(node, {});
        c.word_bits = at.count({"word_bits"}).value_or(timeloop::kWordBits);
        c.mesh_x = at.count({"meshX"}).value_or(0);
        c.pj = at.number({"vector_access_energy"});
        for (const auto key :
             {"num_ports", "num_banks", "network_read", "network_fill", "network_drain",
              "network_update", "network_word_bits", "cluster_area"}) {
            member(node, key); // known, and without effect here
        }
        timeloop::refuse_unmodelled(at);
        timeloop::read_capacity(at, dram && !at.has({"entries", "depth", "sizeKB"}), c);
        timeloop::read_speed(at, c);
        place_mesh(node, at.count({"instances"}).value_or(1), c);
        components.push_back(std::move(c));
    }
    std::reverse(components.begin(), components.end());
    Component mac;
    mac.node = macs;
    mac.arithmetic = true;
    mac.name = macs["name"].text().value_or("MAC");
    const Attributes at(macs, {});
    mac.word_bits = at.count({"word_bits"}).value_or(timeloop::kWordBits);
    mac.mesh_x = at.count({"meshX"}).value_or(0);
    mac.pj = at.number({"energy"});
    member(macs, "network_word_bits");
    place_mesh(macs, at.count({"instances"}).value_or(1), mac);
    components.push_back(std::move(mac));
    return components;
}

// ---- trees (0.2, 0.3) ---------------------------------------------------------------------------

struct Named {
    std::string name;
    Count instances = 1;
};

// "PE[0..167]" -> PE, 168; "PE[12]" is one of that name. `flat`: "system.PE[0..3].RF" is RF, 4.
Named name_of(const Node& node, bool flat = false) {
    Named named;
    const std::string text = flat || node.has("name") ? node.need("name").text().value_or("") : "";
    const std::size_t open = text.find('[');
    const std::size_t dot = text.rfind('.');
    const bool path = flat && dot != std::string::npos && (dot == 0 || text[dot - 1] != '.');
    named.name = path ? text.substr(dot + 1, text.find('[', dot) - dot - 1) : text.substr(0, open);
    for (std::size_t at = open; at != std::string::npos; at = text.find('[', at + 1)) {
        const std::size_t dots = text.find("..", at);
        const std::size_t close = text.find(']', at);
        if (close == std::string::npos || dots == std::string::npos || dots > close) {
            node["name"].error("bad-name", fmt::format("'{}' has no range of instances", text),
                               "write name[0..N] for N + 1 of them");
            return named;
        }
        const auto first = evaluate(text.substr(at + 1, dots - at - 1), {});
        const auto last = evaluate(text.substr(dots + 2, close - dots - 2), {});
        const double many = first && last ? *last - *first + 1.0 : 0.0;
        if (!(many >= 1.0) || many > 1e6 || many != std::floor(many)) {
            node["name"].error("bad-name", fmt::format("'{}' counts no instances", text),
                               "as in PE[0..15]");
            return named;
        }
        named.instances = std::min(kMaxInstances, named.instances * static_cast<Count>(many));
    }
    return named;
}

class Tree {
  public:
    void walk(const Node& node, Count instances, int depth) {
        const Named named = name_of(node);
        const Count here = std::min(kMaxInstances, instances * named.instances);
        if (const Node attributes = node["attributes"]) {
            attributes.ignore_rest();
            around_.insert(around_.begin(), attributes);
        }
        const std::size_t kept = around_.size();
        if (const Node local = node["local"]) {
            for (const Node& part : local.items()) {
                add(part, here);
            }
        }
        const Node below = node["subtree"];
        if (below && depth < timeloop::kMaxDepth) {
            const auto branches = below.items(1);
            if (branches.size() > 1) {
                branches[1].error("unsupported",
                                  "a tree with branches side by side is not modelled",
                                  "put the storages of a level under one node, each for itself");
            }
            if (!branches.empty()) {
                walk(branches.front(), here, depth + 1);
            }
        }
        around_.resize(kept);
    }
    // A list of all parts, with the whole path as their name.
    void flattened(const Node& list) {
        for (const Node& part : list.items(1)) {
            add(part, 1, true);
        }
    }
    std::vector<Component> components;

  private:
    void add(const Node& part, Count instances, bool flat = false) {
        const Named named = name_of(part, flat);
        auto c = timeloop::read_component(part, named.name, around_);
        if (c) {
            const Count counted = std::min(kMaxInstances, instances * named.instances);
            c->instances = c->instances == 0 ? counted : c->instances;
            c->mesh_x = c->mesh_x == 0 ? c->instances : c->mesh_x;
            components.push_back(*std::move(c));
        }
    }

    std::vector<Node> around_; // attributes of the nodes above, nearest first
};

std::vector<Component> read_tree(const Node& root) {
    Tree tree;
    if (!root.has("subtree") && root.has("local")) {
        tree.flattened(root["local"]);
        return std::move(tree.components);
    }
    const auto trunk = root.need("subtree").items(1);
    for (const Node& node : trunk) {
        tree.walk(node, 1, 0);
    }
    return std::move(tree.components);
}

// ---- machine ------------------------------------------------------------------------------------

// The axes between a component and the next inner one.
std::vector<Axis> axes_between(const Component& outer, const Component& inner, bool nodes) {
    if (nodes) {
        return inner.axes;
    }
    const Count many = outer.instances == 0 ? 0 : inner.instances / outer.instances;
    const Count x = outer.mesh_x == 0 ? 0 : inner.mesh_x / outer.mesh_x;
    if (inner.instances % outer.instances != 0 || inner.mesh_x % outer.mesh_x != 0 || x == 0 ||
        many % x != 0) {
        outer.node.error("unsupported",
                         fmt::format("the {} instances of {} do not spread evenly below the {} of "
                                     "{}",
                                     inner.instances, inner.name, outer.instances, outer.name),
                         "let the inner count be a multiple of the outer one");
        return {};
    }
    std::vector<Axis> axes;
    if (x > 1) {
        axes.push_back({"x", x});
    }
    if (many / x > 1) {
        axes.push_back({"y", many / x});
    }
    return axes;
}

// Words are Timeloop's unit: all levels are sized in words of the arithmetic's width, so that
// counts, energies and cycles come out as its own.
Level level_of(const Component& c, Count word_bits) {
    Level level;
    level.name = c.name;
    if (c.entries && *c.entries == 0) {
        return level; // a place in the hierarchy that stores nothing
    }
    Store store;
    store.operands = c.holds;
    const double bytes = static_cast<double>(word_bits) / 8.0;
    if (c.entries) {
        store.capacity_bytes = checked_mul(*c.entries, word_bits).value_or(kMaxInstances) / 8;
    }
    store.buffers = c.buffers;
    store.read_bytes_per_cycle = c.read * bytes;
    store.write_bytes_per_cycle = c.write * bytes;
    const double words = static_cast<double>(c.block) * static_cast<double>(c.cluster);
    store.access_words = c.block;
    store.read_pj = c.pj.value_or(0.0) / words;
    store.write_pj = c.write_pj.value_or(c.pj.value_or(0.0)) / words;
    if (c.update_pj && c.update_pj != c.write_pj) {
        store.update_pj = *c.update_pj / words;
    }
    store.leak_pj = c.leak_pj;
    level.stores.push_back(store);
    return level;
}

std::optional<Accelerator> machine_of(const std::vector<Component>& components, bool nodes,
                                      const Node& root) {
    const auto mac = std::find_if(components.begin(), components.end(),
                                  [](const Component& c) { return c.arithmetic; });
    if (mac == components.end() || mac == components.begin() || mac + 1 != components.end()) {
        root.error("unsupported", "an architecture needs storage, and arithmetic as its last part",
                   "name the arithmetic's class mac or compute, and put it innermost");
        return std::nullopt;
    }
    Accelerator a;
    a.clock_hz = kClock_hz;
    a.mac_pj = mac->pj.value_or(nodes ? 0.0 : 1.0);
    a.mac_leak_pj = mac->leak_pj;
    a.gates_idle = true; // Timeloop bills what leaks to the instances that are used
    // Arithmetic that names no words has those of most of the storage.
    std::map<Count, int> used;
    for (auto c = components.begin(); c != mac; ++c) {
        used[c->word_bits] += c->entries == 0 ? 0 : 1;
    }
    const auto most = std::max_element(
        used.begin(), used.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    const Count word = mac->word_bits != 0 ? mac->word_bits : most->first;
    const int bits = static_cast<int>(std::clamp<Count>(word, 1, 1024));
    a.word_bits = {bits, bits, bits};
    bool energies = false;
    for (auto c = components.begin(); c != mac; ++c) {
        if (c->word_bits != bits && c->entries != 0) {
            c->node.warning("word-size",
                            fmt::format("data of {} with {} bits are counted as data of {}",
                                        c->name, c->word_bits, bits),
                            "counts of words are right; bytes of this level are not");
        }
        a.levels.push_back(level_of(*c, bits));
        a.levels.back().fanout = axes_between(*c, *(c + 1), nodes);
        energies = energies || c->pj.value_or(0.0) > 0.0;
    }
    if (!energies) {
        root.warning("no-energy", "no storage names the energy of an access; energies are zero",
                     "add vector_access_energy to the attributes, in pJ, or name Accelergy's "
                     "tables with --energies");
    }
    return a;
}

using Tables = std::map<std::string, timeloop::Energies>;

std::optional<Accelerator> made(std::vector<Component> components, bool nodes, const Node& root,
                                const Tables& tables, Diagnostics& told) {
    told.append(timeloop::add_energies(tables, components));
    return machine_of(components, nodes, root);
}

std::optional<Accelerator> read_machine(const Node& root, Tables tables, Diagnostics& told) {
    root.ignore_rest(); // problem, mapper, component classes … may stand in the same file
    if (root.has("sparse_optimizations")) {
        root["sparse_optimizations"].warning(
            "dense-counts", "counts are those of dense tensors: sparse_optimizations are not read",
            "zeros: `exam --density` with the machine's own rules for them");
    }
    tables.merge(timeloop::energies_of(root)); // what is there already stays
    if (!root.has("architecture")) {
        return made(read_flat(root.need("arch")), false, root, tables, told);
    }
    const Node tree = root.need("architecture");
    const std::string version = tree["version"].text().value_or("0.2");
    if (version != "0.2" && version != "0.3" && version != "0.4") {
        tree["version"].error("unsupported", fmt::format("version {} is not read", version),
                              "known: 0.2, 0.3, 0.4");
        tree.ignore_rest();
        return std::nullopt;
    }
    if (!tree.has("nodes") && (version != "0.4" || tree.has("subtree"))) { // 0.4, flattened
        return made(read_tree(tree), false, tree, tables, told);
    }
    const auto variables = timeloop::variable_maps(root);
    auto a = made(timeloop::read_nodes(tree.need("nodes"), variables), true, tree, tables, told);
    const timeloop::WordSlices words = timeloop::word_slices(variables);
    if (a && words.word_bits > 0) {
        a->clock_hz = 1.0 / ((words.step_s > 0.0 ? words.step_s : 1.0 / kClock_hz) * words.steps);
        tree.warning("words-in-slices",
                     fmt::format("words count whole: a step takes {:.3g} slices of inputs, a "
                                 "weight {:.3g} columns",
                                 words.steps, words.per_column),
                     "problems: one word for all bits (X=1, Y=1, Z=1), as in CiMLoop's own files");
    }
    return a;
}

// The tables of another file; errors: none are in it.
Result<Tables> read_energies(const NamedText& from) {
    if (from.file.empty()) {
        return Result<Tables>(Tables{});
    }
    const auto document = timeloop::open(from.text, from.file);
    if (!document) {
        return Result<Tables>(document.diagnostics());
    }
    document->root().ignore_rest();
    Tables tables = timeloop::energies_of(document->root());
    if (tables.empty()) {
        document->root().error("no-tables", "there are no tables of energies",
                               "Accelergy writes them below ERT, or below ERT_summary");
    }
    return document->conclude(std::move(tables));
}

} // namespace

Result<Machine> parse_timeloop_architecture(std::string text, const std::string& file,
                                            const NamedText& tables, const TemplateWords& words) {
    const auto document = timeloop::open(std::move(text), file, words);
    auto energies = read_energies(tables);
    if (!document || !energies) {
        Diagnostics all = document.diagnostics();
        all.append(energies.diagnostics());
        return Result<Machine>(std::move(all));
    }
    Diagnostics told;
    auto accelerator = read_machine(document->root(), *std::move(energies), told);
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = machine.id;
    machine.summary = "read from a Timeloop architecture; cycles at 1 GHz";
    machine.provenance[""] = {"Timeloop architecture " + file, Confidence::user};
    Diagnostics found = document->finish();
    found.append(told);
    if (accelerator && !found.has_errors()) {
        Diagnostics faults = validate(*accelerator);
        faults.place({file, 0, 0});
        found.append(faults);
    }
    if (!found.has_errors()) {
        machine.kind = *std::move(accelerator);
    }
    return found.has_errors() ? Result<Machine>(std::move(found))
                              : Result<Machine>(std::move(machine), std::move(found));
}

} // namespace eyeroof::formats
