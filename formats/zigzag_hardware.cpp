#include "formats/zigzag_hardware.hpp"

#include "base/ascii.hpp"
#include "formats/level_stack.hpp"
#include "formats/stream_system.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr double kMostBits = 1e15;

struct Memory {
    std::string name;
    std::set<std::string> served;
    StackedStore store;
    Node node;
};

struct Core {
    std::vector<Memory> memories; // innermost first
    std::vector<Axis> axes;
    double mac_pj = 0.0;
    PerOperand<int> word_bits = {8, 8, 0};
    Dataflow rules;
    std::string name;
};

std::optional<Operand> operand_of(const std::string& name) {
    return name == "I1"   ? std::optional(Operand::input)
           : name == "I2" ? std::optional(Operand::weight)
           : name == "O"  ? std::optional(Operand::output)
                          : std::nullopt;
}

// Bits a cycle that the ports of a memory read and write together, and whether one port does both.
struct Ports {
    double read = 0.0;
    double write = 0.0;
    double widest = 0.0; // of one access
    bool both = false;
};

// `ports` with a bandwidth each, or the older counts: r_bw, w_bw, r_port, w_port, rw_port.
Ports ports_of(const Node& memory) {
    Ports ports;
    const auto bits = [](const Node& node) { return node.number(0.0, kMostBits).value_or(0.0); };
    if (memory.has("r_bw")) {
        const auto count = [&](const char* key) {
            return memory.has(key) ? bits(memory[key]) : 0.0;
        };
        const double r = bits(memory["r_bw"]);
        const double w = memory.has("w_bw") ? bits(memory["w_bw"]) : r;
        ports.read = r * (count("r_port") + count("rw_port"));
        ports.write = w * (count("w_port") + count("rw_port"));
        ports.widest = std::max(r, w);
        ports.both = count("r_port") + count("w_port") == 0.0;
        if (const Node list = memory["ports"]) {
            list.ignore_rest();
        }
        return ports;
    }
    bool only_both = true;
    for (const Node& port : memory.need("ports").items(1)) {
        for (const char* key : {"name", "allocation", "bandwidth_min", "bandwidth"}) {
            if (port.has(key)) {
                port[key].ignore_rest();
            }
        }
        const Node kind = port.need("type");
        const std::string type = kind.text().value_or("");
        if (kind && type != "read" && type != "write" && type != "read_write") {
            kind.error("unknown-word", fmt::format("'{}' is no type of a port", type.substr(0, 40)),
                       "read, write, or read_write");
        }
        const double wide =
            bits(port.has("bandwidth_max") ? port["bandwidth_max"] : port.need("bandwidth"));
        ports.read += type != "write" ? wide : 0.0;
        ports.write += type != "read" ? wide : 0.0;
        ports.widest = std::max(ports.widest, wide);
        only_both = only_both && type == "read_write";
    }
    ports.both = only_both;
    return ports;
}

Memory memory_of(const std::string& name, const Node& node) {
    for (const char* key :
         {"area", "latency", "mem_type", "auto_cost_extraction", "name", "min_r_granularity",
          "min_w_granularity", "double_buffering_support", "r_port", "w_port", "rw_port", "w_bw"}) {
        const Node passed = node[key]; // costs of estimators, and what the older form says besides
        if (passed && !passed.is_scalar()) {
            passed.ignore_rest();
        }
    }
    const Node forced = node["force_double_buffering"];
    if (forced && lowered(forced.text().value_or("")) == "true") {
        forced.warning("unread-key", "the key 'force_double_buffering' is not read",
                       "what it changes is not in the answer");
    }
    Memory m;
    m.name = name;
    m.node = node;
    m.store.name = name;
    for (const Node& item : node.need("operands").items(1)) {
        const std::string text = item.text().value_or("");
        if (const auto o = operand_of(text)) {
            m.store.operands.insert(*o);
        } else {
            item.error("unsupported", fmt::format("operand {} is not read", text),
                       "known: I1 (inputs), I2 (weights), O");
        }
    }
    for (const Node& item : node.need("served_dimensions").items()) {
        m.served.insert(item.text().value_or(""));
    }
    const Ports ports = ports_of(node);
    m.store.capacity_bytes = node.need("size").number(1.0, kMostBits).value_or(8.0) / 8.0;
    m.store.read_bytes = ports.read / 8.0;
    m.store.write_bytes = ports.write / 8.0;
    m.store.shared_port = ports.both;
    const double wide = std::max(ports.widest, 1.0);
    const auto cost = [&](const char* key) {
        return node.has(key) ? node[key].number(0.0, 1e12).value_or(0.0) / wide : 0.0;
    };
    m.store.read_pj_per_bit = cost("r_cost");
    m.store.write_pj_per_bit = cost("w_cost");
    return m;
}

// Dimensions of a workload as ZigZag calls them.
DimSet dims_of(const Node& list) {
    static const std::map<std::string, Dim> names = {{"B", Dim::N},  {"G", Dim::G},  {"K", Dim::K},
                                                     {"C", Dim::C},  {"OY", Dim::P}, {"OX", Dim::Q},
                                                     {"FY", Dim::R}, {"FX", Dim::S}};
    DimSet dims;
    for (const Node& item : list.items()) {
        std::string text =
            item.is_list() ? item.items(1).front().text().value_or("") : item.text().value_or("");
        text = text.substr(0, text.find(','));
        const auto found = names.find(text);
        if (found != names.end()) {
            dims.insert(found->second);
        } else {
            item.warning("unread-dimension",
                         fmt::format("'{}' is no dimension of a convolution and does not restrict "
                                     "this axis",
                                     text.substr(0, 40)),
                         "known: B, G, K, C, OY, OX, FY, FX");
        }
    }
    return dims;
}

bool is_axis(const Core& core, const std::string& name) {
    return std::ranges::find(core.axes, name, &Axis::name) != core.axes.end();
}

void unknown_axis(const Node& node, const std::string& name, const Core& core) {
    std::string known;
    for (const Axis& axis : core.axes) {
        known += (known.empty() ? "" : ", ") + axis.name;
    }
    node.error("unknown-axis", fmt::format("'{}' is no dimension of the array", name.substr(0, 40)),
               "the array has " + known);
}

// Dataflows and served dimensions name axes of the array.
void check_axes(const Node& flows, const Core& core) {
    if (flows && flows.is_map()) {
        for (const auto& [name, node] : flows.entries()) {
            if (!is_axis(core, name)) {
                unknown_axis(node, name, core);
            }
        }
    }
    for (const Memory& memory : core.memories) {
        for (const std::string& name : memory.served) {
            if (!is_axis(core, name)) {
                unknown_axis(memory.node["served_dimensions"], name, core);
            }
        }
    }
}

void read_array(const Node& root, Core& core) {
    const Node array = root.need("operational_array");
    array.ignore_rest(); // areas, and what describes the cells of compute-in-memory arrays
    const auto names = array.need("dimensions").items();
    const auto sizes = array.need("sizes").items();
    if (names.size() != sizes.size()) {
        array["sizes"].error(
            "wrong-number",
            fmt::format("{} sizes stand beside {} dimensions", sizes.size(), names.size()),
            "give each of `dimensions` its size");
    }
    for (std::size_t i = 0; i < std::min(names.size(), sizes.size()); ++i) {
        core.axes.push_back(
            {names[i].text().value_or(""), sizes[i].integer({0, 1'000'000}).value_or(1)});
    }
    for (const char* key : {"unit_energy", "multiplier_energy"}) {
        if (array.has(key)) {
            core.mac_pj = array[key].number(0.0, 1e9).value_or(0.0);
        }
    }
    if (array.has("is_imc")) {
        array["is_imc"].warning("no-energy",
                                "the energy of an array that computes in memory is not estimated",
                                "counts, cycles, and the energy of the other memories are right");
    }
    if (array.has("input_precision")) {
        const auto bits = array["input_precision"].items();
        for (std::size_t i = 0; i < std::min<std::size_t>(bits.size(), 2); ++i) {
            core.word_bits[i] = static_cast<int>(bits[i].integer({1, 64}).value_or(8));
        }
    }
    core.rules.kind = DataflowKind::nlr;
    const Node flows = root.has("dataflows") ? root["dataflows"] : Node{};
    for (const Axis& axis : core.axes) {
        const bool ruled = flows && flows.is_map() && flows.has(axis.name);
        const DimSet dims = ruled ? dims_of(flows[axis.name]) : DimSet{};
        const DimSet all = {Dim::N, Dim::G, Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S};
        core.rules.spatial.push_back({axis.name, dims.empty() ? all : dims});
    }
    check_axes(flows, core);
    flows.ignore_rest();
}

Core core_of(const Node& root) {
    root.ignore_rest(); // type, mappings, coordinates
    Core core;
    core.name = root.has("name") ? root["name"].text().value_or("") : "";
    for (const auto& [name, node] : root.need("memories").entries()) {
        core.memories.push_back(memory_of(name, node));
    }
    if (root.has("operational_array")) {
        read_array(root, core);
    }
    return core;
}

bool computes(const Core& core) {
    return !core.axes.empty() && std::all_of(core.axes.begin(), core.axes.end(),
                                             [](const Axis& a) { return a.size > 0; });
}

// Sums are as wide as the innermost memory that holds them takes in at a time.
void take_sum_width(Core& core) {
    for (const Memory& m : core.memories) {
        if (m.store.operands.contains(Operand::output) && core.word_bits[2] == 0) {
            const double bits = std::min(m.store.write_bytes * 8.0, m.store.capacity_bytes * 8.0);
            core.word_bits[2] = static_cast<int>(std::clamp(bits, 8.0, 64.0));
        }
    }
    core.word_bits[2] = core.word_bits[2] == 0 ? 16 : core.word_bits[2];
}

bool contains(const std::set<std::string>& all, const std::set<std::string>& part) {
    return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Sets of served dimensions that contain one another, the smallest first: of several of one size
// the one with the most memories.
std::vector<std::set<std::string>> chain_of(const std::vector<Memory>& memories) {
    std::map<std::set<std::string>, int> uses;
    for (const Memory& m : memories) {
        ++uses[m.served];
    }
    std::vector<std::pair<std::set<std::string>, int>> sets(uses.begin(), uses.end());
    std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
        return a.first.size() != b.first.size() ? a.first.size() < b.first.size()
                                                : a.second > b.second;
    });
    std::vector<std::set<std::string>> chain;
    for (const auto& [served, count] : sets) {
        if (chain.empty() || contains(served, chain.back())) {
            chain.push_back(served);
        }
    }
    return chain;
}

// All instances of a memory along the axes that it does not serve yet, as one store.
void serve(Memory& m, const std::set<std::string>& target, const std::vector<Axis>& axes) {
    double instances = 1.0;
    for (const Axis& axis : axes) {
        const bool repeated = target.contains(axis.name) && !m.served.contains(axis.name);
        instances *= repeated ? static_cast<double>(axis.size) : 1.0;
    }
    m.node.warning(
        "shared-store",
        fmt::format("the {:.0f} instances of {} are taken as one store", instances, m.name),
        "they are shared along another axis than the other memories");
    m.served = target;
    m.store.capacity_bytes *= instances;
    m.store.read_bytes *= instances;
    m.store.write_bytes *= instances;
}

// A memory that fits no chain becomes one store of all its instances.
void widen(Memory& m, const std::vector<std::set<std::string>>& chain,
           const std::vector<Axis>& axes) {
    if (std::find(chain.begin(), chain.end(), m.served) != chain.end()) {
        return;
    }
    const auto outer = std::find_if(chain.begin(), chain.end(),
                                    [&](const auto& served) { return contains(served, m.served); });
    std::set<std::string> target;
    for (const Axis& axis : axes) {
        target.insert(axis.name);
    }
    target = outer == chain.end() ? target : *outer;
    serve(m, target, axes);
}

// A memory further out, of a tensor that one further in holds, serves what that one serves: where
// it names fewer axes, its instances along the others are one store.
void nest(std::vector<Memory>& memories, const std::vector<Axis>& axes) {
    for (std::size_t outer = 0; outer < memories.size(); ++outer) {
        Memory& m = memories[outer];
        std::set<std::string> within = m.served;
        for (std::size_t inner = 0; inner < outer; ++inner) {
            const bool shared = std::ranges::any_of(kAllOperands, [&](Operand o) {
                return m.store.operands.contains(o) && memories[inner].store.operands.contains(o);
            });
            if (shared) {
                within.insert(memories[inner].served.begin(), memories[inner].served.end());
            }
        }
        if (within == m.served) {
            continue;
        }
        serve(m, within, axes);
    }
}

Accelerator accelerator_of(Core core, const Node& root) {
    nest(core.memories, core.axes);
    const auto chain = chain_of(core.memories);
    for (Memory& m : core.memories) {
        widen(m, chain, core.axes);
    }
    take_sum_width(core);
    LevelStack stack(core.word_bits);
    std::vector<Axis> left = core.axes; // not yet between two levels, from the PEs outwards
    std::stable_sort(
        core.memories.begin(), core.memories.end(),
        [](const Memory& a, const Memory& b) { return a.served.size() < b.served.size(); });
    for (const Memory& m : core.memories) {
        std::vector<Axis> between;
        for (const Axis& axis : left) {
            if (m.served.contains(axis.name)) {
                between.push_back(axis);
            }
        }
        std::erase_if(left, [&](const Axis& axis) { return m.served.contains(axis.name); });
        stack.add(m.store, between);
    }
    Accelerator a = stack.finish(left, root);
    a.mac_pj = core.mac_pj;
    a.clock_hz = 1e9;
    a.dataflows = {core.rules};
    return a;
}

Result<Machine> machine_of(Accelerator accelerator, const std::string& name,
                           const std::string& file, Diagnostics found) {
    Diagnostics faults = validate(accelerator);
    faults.place({file, 0, 0});
    found.append(faults);
    if (found.has_errors()) {
        return Result<Machine>(std::move(found));
    }
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = name.empty() ? machine.id : name;
    machine.summary = "read from ZigZag's or Stream's hardware; cycles at 1 GHz";
    machine.kind = std::move(accelerator);
    machine.provenance[""] = {"ZigZag hardware " + file, Confidence::user};
    return {std::move(machine), std::move(found)};
}

} // namespace

// One core as a machine, below the memories of the core outside, where there is one.
Result<Machine> read_zigzag_core(const hwdb::Document& document, const std::string& file,
                                 const hwdb::Document* outside) {
    const Node root = document.root();
    Core core = core_of(root);
    if (!computes(core)) {
        root.error("not-a-machine", "this core has no array that computes",
                   "read the system that names it, or a core that computes");
    }
    Diagnostics found;
    if (outside != nullptr) {
        for (Memory& memory : core_of(outside->root()).memories) {
            memory.served.clear();
            for (const Axis& axis : core.axes) {
                memory.served.insert(axis.name);
            }
            core.memories.push_back(std::move(memory));
        }
        found.append(outside->finish());
    }
    const std::string name = core.name;
    const bool good = !document.finish().has_errors() && !found.has_errors();
    Accelerator accelerator = good ? accelerator_of(std::move(core), root) : Accelerator{};
    found.append(document.finish());
    return found.has_errors() ? Result<Machine>(std::move(found))
                              : machine_of(std::move(accelerator), name, file, std::move(found));
}

Result<hwdb::Document> open_zigzag_hardware(std::string text, const std::string& file) {
    hwdb::YamlOptions options{.allow_aliases = true};
    options.keep_last_key =
        true; // of two lists of ports that one memory has, ZigZag takes the last
    return hwdb::parse_yaml(std::move(text), file, std::move(options));
}

Result<hwdb::Document> load_zigzag_hardware(const std::filesystem::path& path) {
    auto text = read_text_file(path);
    return text ? open_zigzag_hardware(*std::move(text), path.string())
                : Result<hwdb::Document>(text.diagnostics());
}

bool is_zigzag_hardware(std::string_view text) {
    const std::string_view head = text.substr(0, 100'000);
    const auto key = [&](std::string_view name) {
        const std::size_t at = head.find(name);
        return at != std::string_view::npos && (at == 0 || head[at - 1] == '\n');
    };
    const bool core = key("operational_array:") && key("memories:");
    return core || (key("cores:") && head.find(".yaml") != std::string_view::npos &&
                    (key("bus:") || key("2d_mesh:") || key("core_connectivity:") ||
                     key("offchip_core_id:")));
}

Result<Machine> parse_zigzag_hardware(std::string text, const std::string& file) {
    const auto document = open_zigzag_hardware(std::move(text), file);
    if (!document) {
        return Result<Machine>(document.diagnostics());
    }
    const Node root = document->root();
    if (!root.is_map() || !root.has("cores")) {
        return read_zigzag_core(*document, file, nullptr);
    }
    return one_core_of(*document, file);
}

} // namespace eyeroof::formats
