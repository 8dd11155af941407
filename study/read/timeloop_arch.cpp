#include "study/read/expression.hpp"
#include "study/read/timeloop_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

// Timeloop's architectures in three forms, all brought to a list of components from the outermost
// storage to the arithmetic: flat (`arch:`), trees (0.2 and 0.3), and lists of nodes (0.4).

namespace eyeroof::study::read {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using timeloop::member;

namespace {

constexpr double kClock_hz = 1e9; // Timeloop counts cycles and names no clock
constexpr Count kMaxInstances = Count{1} << 31;
constexpr int kMaxDepth = 48;

struct Component {
    std::string name;
    bool arithmetic = false;
    std::optional<Count> entries; // nullopt: unbounded; 0: stores nothing
    Count instances = 1;          // of all, in flat files and trees
    Count mesh_x = 1;
    Count word_bits = 16;
    Count block = 1; // words that a vector access moves, which cost its energy together
    int buffers = 1;
    double read = kUnlimited; // words per cycle
    double write = kUnlimited;
    std::optional<double> pj; // per vector access, or per MAC
    std::vector<Axis> axes;   // 0.4: opened by this node or by containers before it
    OperandSet holds = {Operand::input, Operand::weight, Operand::output};
    Node node;
};

// A component's attributes, and behind them those of the nodes around it, nearest first.
class Attributes {
  public:
    Attributes(Node own, std::vector<Node> around) : chain_(std::move(around)) {
        chain_.insert(chain_.begin(), std::move(own));
    }

    // The first of the names that somebody sets, own ones before inherited ones.
    Node find(std::initializer_list<std::string_view> names) const {
        for (const Node& node : chain_) {
            for (const std::string_view name : names) {
                if (Node found = member(node, name)) {
                    return found;
                }
            }
        }
        return {};
    }
    std::optional<double> number(std::initializer_list<std::string_view> names) const {
        const Node node = find(names);
        if (!node) {
            return std::nullopt;
        }
        const std::string text = node.text().value_or("");
        const auto value = evaluate(text, {});
        if (!value || !std::isfinite(*value) || *value < 0.0 || *value > 1e15) {
            node.error("bad-number", fmt::format("'{}' is no number from 0 to 1e15", text),
                       "names of other attributes are not looked up");
            return std::nullopt;
        }
        return *value;
    }
    std::optional<Count> count(std::initializer_list<std::string_view> names,
                               Count least = 1) const {
        const auto value = number(names);
        if (value && (*value != std::floor(*value) || *value < static_cast<double>(least))) {
            find(names).error("bad-number",
                              fmt::format("expected a whole number from {} on", least));
            return std::nullopt;
        }
        return value ? std::optional(static_cast<Count>(*value)) : std::nullopt;
    }
    bool has(std::initializer_list<std::string_view> names) const { return bool(find(names)); }

  private:
    std::vector<Node> chain_;
};

void read_capacity(const Attributes& at, bool dram, Component& c) {
    const auto width = at.count({"width", "memory_width"});
    const auto cluster = at.count({"cluster_size"}).value_or(1);
    c.block = at.count({"block_size", "n_words"}).value_or(0);
    if (c.block == 0) {
        c.block = width ? std::max<Count>(1, *width / (c.word_bits * cluster)) : 1;
    }
    if (const auto entries = at.count({"entries"}, 0)) {
        c.entries = *entries;
    } else if (const auto depth = at.count({"depth", "memory_depth"}, 0)) {
        c.entries = checked_mul(*depth, c.block).value_or(kMaxInstances);
    } else if (const auto kilobytes = at.count({"sizeKB"}, 0)) {
        c.entries = checked_mul(*kilobytes, 8192).value_or(kMaxInstances) / c.word_bits;
    }
    if (dram) {
        c.entries.reset();
    }
}

void read_speed(const Attributes& at, Component& c) {
    if (const auto both = at.number({"bandwidth"})) {
        c.read = c.write = *both / 2.0; // as Timeloop splits it
    }
    c.read = at.number({"read_bandwidth"}).value_or(c.read);
    c.write = at.number({"write_bandwidth"}).value_or(c.write);
    if (c.read <= 0.0 || c.write <= 0.0) {
        c.node.error("bad-number", fmt::format("a bandwidth of {} is not above 0", c.name));
        c.read = c.write = kUnlimited;
    }
    if (const Node shared = at.find({"shared_bandwidth", "rw_bandwidth"})) {
        shared.error("unsupported", "a bandwidth that reads and writes share is not modelled",
                     "give read_bandwidth and write_bandwidth");
    }
    const double buffers = at.number({"multiple_buffering"}).value_or(1.0);
    c.buffers = static_cast<int>(buffers);
    if (buffers != 1.0 && buffers != 2.0) {
        at.find({"multiple_buffering"}).error("unsupported", "only 1 or 2 buffers are modelled");
        c.buffers = 1;
    }
}

void refuse_unmodelled(const Attributes& at) {
    const auto refuse = [&](std::string_view name, double harmless, const char* what) {
        const auto value = at.number({name});
        if (value && *value > harmless) {
            at.find({name}).error("unsupported",
                                  fmt::format("{} ({}) is not modelled", what, name));
        }
    };
    refuse("min_utilization", 0.0, "a buffer's least utilization");
    for (const auto name : {"metadata_datawidth", "metadata_storage_depth",
                            "per_dataspace_bandwidth_consumption_scale"}) {
        if (const Node found = at.find({name})) {
            found.error("unsupported", fmt::format("{} is not modelled", name));
            found.ignore_rest();
        }
    }
    const Node address = at.find({"addr_gen_energy"});
    if (address && address.number(-1e12, 1e12).value_or(0.0) > 0.0) {
        address.error("unsupported", "the energy of address generators is not modelled");
    }
}

enum class Sort { storage, arithmetic, network, other };

Sort sort_of(const std::string& kind, const Attributes& at) {
    std::string lower = kind;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto has = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (has("mac") || has("compute") || has("multiplier")) {
        return Sort::arithmetic;
    }
    if (has("noc") || has("network") || has("wire") || has("multicast") || has("reduction")) {
        return Sort::network;
    }
    const bool sized =
        at.has({"entries", "depth", "memory_depth", "sizeKB", "width", "memory_width"});
    return sized || has("dram") || has("sram") || has("storage") || has("buffer") || has("reg")
               ? Sort::storage
               : Sort::other;
}

// Name, class and attributes; sets neither instances nor axes. Nothing for what is left out.
std::optional<Component> read_component(const Node& node, const std::string& name,
                                        const std::vector<Node>& around) {
    const std::string kind =
        node["class"].text().value_or("") + " " + node["subclass"].text().value_or("");
    const Node own = node["attributes"];
    const Attributes at(own, around);
    own.ignore_rest(); // what remains is for tools that estimate energy and area
    Component c;
    c.node = node;
    c.name = name;
    const Sort sort = sort_of(kind, at);
    if (sort == Sort::network) {
        node.warning("ignored", fmt::format("network {} is left out: words cross for free", name));
        return std::nullopt;
    }
    if (sort == Sort::other) {
        node.error("unsupported",
                   fmt::format("{} is neither storage nor arithmetic ({})", name, kind),
                   "give a storage its depth or entries, and name the class of arithmetic mac");
        return std::nullopt;
    }
    c.word_bits = at.count({"word_bits", "word_width", "datawidth"}).value_or(16);
    c.mesh_x = at.count({"meshX"}).value_or(0);
    c.instances = Attributes(own, {}).count({"instances"}).value_or(0);
    c.arithmetic = sort == Sort::arithmetic;
    refuse_unmodelled(at);
    if (c.arithmetic) {
        c.pj = at.number({"energy", "energy_per_op"});
        return c;
    }
    c.pj = at.number({"vector_access_energy"});
    read_capacity(at, kind.find("DRAM") != std::string::npos, c);
    read_speed(at, c);
    return c;
}

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
        c.word_bits = at.count({"word_bits"}).value_or(16);
        c.mesh_x = at.count({"meshX"}).value_or(0);
        c.pj = at.number({"vector_access_energy"});
        for (const auto key : {"num_ports", "num_banks", "network_read", "network_fill",
                               "network_drain", "network_update", "cluster_area"}) {
            member(node, key); // known, and without effect here
        }
        refuse_unmodelled(at);
        read_capacity(at, dram && !at.has({"entries", "depth", "sizeKB"}), c);
        read_speed(at, c);
        place_mesh(node, at.count({"instances"}).value_or(1), c);
        components.push_back(std::move(c));
    }
    std::reverse(components.begin(), components.end());
    Component mac;
    mac.node = macs;
    mac.arithmetic = true;
    mac.name = macs["name"].text().value_or("MAC");
    const Attributes at(macs, {});
    mac.word_bits = at.count({"word_bits"}).value_or(16);
    mac.mesh_x = at.count({"meshX"}).value_or(0);
    mac.pj = at.number({"energy"});
    place_mesh(macs, at.count({"instances"}).value_or(1), mac);
    components.push_back(std::move(mac));
    return components;
}

// ---- trees (0.2, 0.3) ---------------------------------------------------------------------------

struct Named {
    std::string name;
    Count instances = 1;
};

// "PE[0..167]" -> PE, 168; "PE[12]" is one of that name.
Named name_of(const Node& node) {
    Named named;
    const std::string text = node.need("name").text().value_or("");
    const std::size_t open = text.find('[');
    named.name = text.substr(0, open);
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
            node["name"].error("bad-name", fmt::format("'{}' counts no instances", text));
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
        if (below && depth < kMaxDepth) {
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
    std::vector<Component> components;

  private:
    void add(const Node& part, Count instances) {
        const Named named = name_of(part);
        auto c = read_component(part, named.name, around_);
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
    const auto trunk = root.need("subtree").items(1);
    for (const Node& node : trunk) {
        tree.walk(node, 1, 0);
    }
    return std::move(tree.components);
}

// ---- lists of nodes (0.4) -----------------------------------------------------------------------

class Nodes {
  public:
    void walk(const Node& list, int depth) {
        for (const Node& node : list.items()) {
            const std::string tag = node.tag();
            if ((tag == "!Parallel" || tag == "!Hierarchical" || tag == "!Pipelined") &&
                depth < kMaxDepth) {
                walk(node.need("nodes"), depth + 1);
            } else if (tag == "!Container") {
                container(node);
            } else if (tag == "!Component" || tag.empty()) {
                component(node);
            } else {
                node.error("unsupported", fmt::format("nodes of kind {} are not read", tag),
                           "known: !Component, !Container, !Parallel, !Hierarchical");
                node.ignore_rest();
            }
        }
    }
    std::vector<Component> components;

  private:
    void open_axes(const Node& node, const std::string& name) {
        const Node spatial = node["spatial"];
        for (const auto& [key, axis] : {std::pair{"meshX", "x"}, std::pair{"meshY", "y"}}) {
            const auto size = spatial ? Attributes(spatial, {}).count({key}) : std::nullopt;
            if (size && *size > 1) {
                axes_.push_back({name + "." + axis, *size});
            }
        }
    }
    void container(const Node& node) {
        open_axes(node, node.need("name").text().value_or(""));
        if (const Node attributes = node["attributes"]) {
            attributes.ignore_rest();
            around_.insert(around_.begin(), attributes);
        }
        constraints_of(node);
    }
    void component(const Node& node) {
        const std::string name = node.need("name").text().value_or("");
        node["enabled"].text();
        open_axes(node, name);
        auto c = read_component(node, name, around_);
        const OperandSet left_out = constraints_of(node);
        if (!c) {
            return;
        }
        for (const Operand o : kAllOperands) {
            if (left_out.contains(o) && !components.empty()) {
                c->holds.erase(o);
            }
        }
        c->axes = std::move(axes_);
        axes_.clear();
        components.push_back(*std::move(c));
    }
    // What a storage never holds. The rest of a node's constraints is for mappers and is read by
    // parse_timeloop_constraints().
    static OperandSet constraints_of(const Node& node) {
        OperandSet left_out;
        const Node rules = node["constraints"];
        const Node tensors = rules ? member(rules, "dataspace") : Node{};
        if (tensors) {
            left_out = timeloop::operands_of(tensors["bypass"], cnn_layer_names());
            if (const Node only = tensors["keep_only"]) {
                for (const Operand o : kAllOperands) {
                    if (!timeloop::operands_of(only, cnn_layer_names()).contains(o)) {
                        left_out.insert(o);
                    }
                }
            }
            tensors.ignore_rest();
        }
        rules.ignore_rest();
        return left_out;
    }

    std::vector<Axis> axes_;
    std::vector<Node> around_;
};

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
                                     inner.instances, inner.name, outer.instances, outer.name));
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
    store.read_pj = c.pj.value_or(0.0) / static_cast<double>(c.block);
    store.write_pj = store.read_pj;
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
    const int bits = static_cast<int>(std::clamp<Count>(mac->word_bits, 1, 1024));
    a.word_bits = {bits, bits, bits};
    bool energies = false;
    for (auto c = components.begin(); c != mac; ++c) {
        if (c->word_bits != bits) {
            c->node.warning("word-size",
                            fmt::format("words of {} with {} bits are counted as words of {}",
                                        c->name, c->word_bits, bits),
                            "counts of words are right; bytes of this level are not");
        }
        a.levels.push_back(level_of(*c, bits));
        a.levels.back().fanout = axes_between(*c, *(c + 1), nodes);
        energies = energies || c->pj.value_or(0.0) > 0.0;
    }
    if (!energies) {
        root.warning("no-energy", "no storage names the energy of an access; energies are zero",
                     "add vector_access_energy to the attributes, in pJ");
    }
    return a;
}

std::optional<Accelerator> read_machine(const Node& root) {
    root.ignore_rest(); // problem, mapper, component classes … may stand in the same file
    timeloop::refuse(root, "sparse_optimizations", "sparse optimizations");
    if (!root.has("architecture")) {
        return machine_of(read_flat(root.need("arch")), false, root);
    }
    const Node tree = root.need("architecture");
    const std::string version = tree["version"].text().value_or("0.2");
    if (version != "0.2" && version != "0.3" && version != "0.4") {
        tree["version"].error("unsupported", fmt::format("version {} is not read", version),
                              "known: 0.2, 0.3, 0.4");
        tree.ignore_rest();
        return std::nullopt;
    }
    if (version != "0.4" && !tree.has("nodes")) {
        return machine_of(read_tree(tree), false, tree);
    }
    Nodes nodes;
    nodes.walk(tree.need("nodes"), 0);
    return machine_of(nodes.components, true, tree);
}

} // namespace

Result<Machine> parse_timeloop_architecture(std::string text, const std::string& file) {
    const auto document = timeloop::open(std::move(text), file);
    if (!document) {
        return Result<Machine>(document.diagnostics());
    }
    auto accelerator = read_machine(document->root());
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = machine.id;
    machine.summary = "read from a Timeloop architecture; cycles at 1 GHz";
    Diagnostics found = document->finish();
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

} // namespace eyeroof::study::read
