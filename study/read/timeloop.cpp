#include "study/read/timeloop.hpp"

#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace eyeroof::study::read {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr std::string_view kLetters = "RSPQCKN"; // Timeloop's cnn-layer
constexpr double kClock_hz = 1e9;                // Timeloop counts cycles and names no clock

std::optional<Dim> dim_of(char letter) {
    return kLetters.find(letter) == std::string_view::npos
               ? std::nullopt
               : std::optional(kAllDims[kDimLetters.find(letter)]);
}

constexpr std::array<std::pair<std::string_view, Operand>, kOperands> kDataSpaces = {
    {{"Inputs", Operand::input}, {"Weights", Operand::weight}, {"Outputs", Operand::output}}};

// ---- architecture -------------------------------------------------------------------------------

struct Storage {
    std::string name;
    std::optional<Count> entries;
    Count instances = 1;
    Count mesh_x = 1;
    Count word_bits = 16;
    Count block = 1;
    double read = kUnlimited;
    double write = kUnlimited;
    double pj = 0.0;
    Node node;
};

// Words a vector access moves cost its energy together.
Storage read_storage(const Node& node) {
    Storage s;
    s.node = node;
    s.name = node.need("name").text().value_or("");
    if (const Node entries = node["entries"]) {
        s.entries = entries.integer({0, Count{1} << 50});
    }
    s.instances = node["instances"].integer().value_or(1);
    s.mesh_x = node["meshX"].integer().value_or(s.instances);
    s.word_bits = node["word_bits"].integer({1, 1024}).value_or(16);
    s.block = node["block_size"].integer().value_or(1);
    s.read = node["read_bandwidth"].number(1e-9, 1e12).value_or(kUnlimited);
    s.write = node["write_bandwidth"].number(1e-9, 1e12).value_or(kUnlimited);
    s.pj = node["vector_access_energy"].number(0.0, 1e12).value_or(0.0);
    if (const Node address = node["addr_gen_energy"]) {
        if (address.number(-1e12, 1e12).value_or(0.0) > 0.0) {
            address.error("unsupported", "the energy of address generators is not modelled");
        }
    }
    node["technology"].text();
    return s;
}

void add_fanout(const Storage& outer, Count instances, Count mesh_x, const Node& node,
                Level& level) {
    if (instances % outer.instances != 0 || mesh_x % outer.mesh_x != 0 ||
        instances / outer.instances % (mesh_x / outer.mesh_x) != 0) {
        node.error("unsupported",
                   fmt::format("{} instances do not spread evenly below the {} of {}", instances,
                               outer.instances, outer.name));
        return;
    }
    const Count x = mesh_x / outer.mesh_x;
    const Count y = instances / outer.instances / x;
    if (x > 1) {
        level.fanout.push_back({"x", x});
    }
    if (y > 1) {
        level.fanout.push_back({"y", y});
    }
}

Level level_of(const Storage& s) {
    Level level;
    level.name = s.name;
    if (s.entries && *s.entries == 0) {
        return level; // a place in the hierarchy that stores nothing
    }
    Store store;
    store.operands = {Operand::input, Operand::weight, Operand::output};
    const double bytes = static_cast<double>(s.word_bits) / 8.0;
    if (s.entries) {
        store.capacity_bytes = *s.entries * s.word_bits / 8;
    }
    store.read_bytes_per_cycle = s.read * bytes;
    store.write_bytes_per_cycle = s.write * bytes;
    store.read_pj = s.pj / static_cast<double>(s.block);
    store.write_pj = store.read_pj;
    level.stores.push_back(store);
    return level;
}

// ---- factors ------------------------------------------------------------------------------------

struct Factor {
    Dim dim;
    Count trips;
};

// "R3 S1", "R=3,S=1" or a list of such words.
std::vector<Factor> factors_of(const Node& node) {
    std::vector<Factor> factors;
    for (const Node& part : node.one_or_more()) {
        std::string text = part.text().value_or("");
        std::replace(text.begin(), text.end(), ',', ' ');
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            std::string word = text.substr(at, end - at);
            at = end + 1;
            if (word.empty()) {
                continue;
            }
            std::erase(word, '=');
            const auto dim = dim_of(word.front());
            Count trips = 0;
            const char* last = word.data() + word.size();
            const auto read = std::from_chars(word.data() + 1, last, trips);
            if (!dim || read.ec != std::errc{} || read.ptr != last || trips < 0 ||
                trips > kMaxDimension) {
                part.error("bad-loop", fmt::format("'{}' is no factor", word),
                           "write a dimension of R S P Q C K N and its trips, as in R3");
            } else {
                factors.push_back({*dim, trips});
            }
        }
    }
    return factors;
}

// Innermost first.
std::vector<Dim> permutation_of(const Node& node) {
    std::vector<Dim> dims;
    for (const Node& part : node.one_or_more()) {
        for (const char c : part.text().value_or("")) {
            const auto dim = dim_of(c);
            if (dim && std::find(dims.begin(), dims.end(), *dim) == dims.end()) {
                dims.push_back(*dim);
            } else if (c != ' ' && c != ',') {
                part.error("bad-loop", fmt::format("'{}' is no dimension, or comes twice", c));
            }
        }
    }
    return dims;
}

OperandSet operands_of(const Node& node) {
    OperandSet set;
    if (node) {
        for (const Node& item : node.items()) {
            if (const auto o = item.choice(kDataSpaces, "data space")) {
                set.insert(*o);
            }
        }
    }
    return set;
}

// One entry of a mapping or of constraints.
struct Target {
    std::optional<std::size_t> level;
    std::string type;
    std::vector<Factor> factors;
    std::vector<Dim> permutation;
    std::optional<Count> split;
    OperandSet keep;
    OperandSet bypass;
    std::optional<double> min_utilization;
    Node node;
};

Target read_target(const Node& node, const Accelerator& machine) {
    Target target;
    target.node = node;
    const auto name = node.need("target").text();
    for (std::size_t i = 0; name && i < machine.levels.size(); ++i) {
        if (machine.levels[i].name == *name) {
            target.level = i;
        }
    }
    if (name && !target.level) {
        node["target"].error("unknown-level", fmt::format("the machine has no level '{}'", *name));
    }
    target.type = node.need("type").text().value_or("");
    if (const Node factors = node["factors"]) {
        target.factors = factors_of(factors);
    }
    if (const Node permutation = node["permutation"]) {
        target.permutation = permutation_of(permutation);
    }
    if (const Node split = node["split"]) {
        target.split = split.integer({0, 7});
    }
    target.keep = operands_of(node["keep"]);
    target.bypass = operands_of(node["bypass"]);
    if (const Node least = node["min"]) {
        target.min_utilization = least.number(0.0, 1.0);
    }
    return target;
}

bool is_bypass(const std::string& type) {
    return type == "datatype" || type == "bypass" || type == "bypassing" || type == "dataspace";
}

std::size_t axis_named(const Level& level, const char* name) {
    std::size_t a = 0;
    while (a < level.fanout.size() && level.fanout[a].name != name) {
        ++a;
    }
    return a;
}

// Dimensions in the first `split` places of the permutation lie along x, the others along y.
bool along_x(const Target& target, Dim dim) {
    const auto at = std::find(target.permutation.begin(), target.permutation.end(), dim);
    return !target.split || at - target.permutation.begin() < *target.split;
}

void apply_loops(const Target& target, const Accelerator& machine, Mapping& mapping) {
    LevelMapping& level = mapping.levels[*target.level];
    const Level& own = machine.levels[*target.level];
    std::vector<Factor> ordered; // innermost first
    for (const Dim dim : target.permutation) {
        for (const Factor& f : target.factors) {
            if (f.dim == dim) {
                ordered.push_back(f);
            }
        }
    }
    for (const Factor& f : target.factors) {
        if (std::find(target.permutation.begin(), target.permutation.end(), f.dim) ==
            target.permutation.end()) {
            ordered.push_back(f);
        }
    }
    for (auto f = ordered.rbegin(); f != ordered.rend(); ++f) {
        if (f->trips == 0) {
            target.node.error("unsupported",
                              "a mapping needs every factor: 0 stands for no number");
        } else if (f->trips > 1 && target.type == "temporal") {
            level.temporal.push_back({f->dim, f->trips});
        } else if (f->trips > 1) {
            const char* wanted = along_x(target, f->dim) ? "x" : "y";
            const std::size_t axis = axis_named(own, wanted);
            if (axis == own.fanout.size()) {
                target.node.error("unknown-axis",
                                  fmt::format("{} has no fan-out along {} for {}{}", own.name,
                                              wanted, letter(f->dim), f->trips));
            } else {
                level.spatial.push_back({f->dim, f->trips, static_cast<std::uint8_t>(axis)});
            }
        }
    }
    std::stable_sort(level.spatial.begin(), level.spatial.end(),
                     [](const SpatialLoop& a, const SpatialLoop& b) { return a.axis > b.axis; });
}

void apply_rule(const Target& target, const Accelerator& machine, mapper::Constraints& rules) {
    mapper::LevelConstraint& level = rules.levels[*target.level];
    level.where = machine.levels[*target.level].name;
    const bool temporal = target.type == "temporal";
    for (const Factor& f : target.factors) {
        if (f.trips > 0) { // 0: whatever the other levels leave
            (temporal ? level.temporal : level.spatial)[index(f.dim)] = f.trips;
        }
    }
    if (temporal) {
        level.order = target.permutation;
    } else if (target.split) {
        std::vector<DimSet> axes(machine.levels[*target.level].fanout.size());
        for (const Dim dim : target.permutation) {
            const std::size_t axis =
                axis_named(machine.levels[*target.level], along_x(target, dim) ? "x" : "y");
            if (axis < axes.size()) {
                axes[axis].insert(dim);
            }
        }
        level.axis_dims = axes;
    }
}

Result<hwdb::Document> open(std::string text, const std::string& file) {
    return hwdb::parse_yaml(std::move(text), file, {.allow_aliases = true, .allow_tags = true});
}

} // namespace

TimeloopKind timeloop_kind(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, TimeloopKind>, 7> kKeys = {
        {{"arch:", TimeloopKind::architecture},
         {"architecture:", TimeloopKind::architecture},
         {"problem:", TimeloopKind::problem},
         {"mapping:", TimeloopKind::mapping},
         {"mapspace:", TimeloopKind::constraints},
         {"architecture_constraints:", TimeloopKind::constraints},
         {"mapspace_constraints:", TimeloopKind::constraints}}};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.empty() || line.front() == '#' || line.front() == '\r' ||
            line.starts_with("---")) {
            continue;
        }
        for (const auto& [key, kind] : kKeys) {
            if (line.starts_with(key)) {
                return kind;
            }
        }
        return TimeloopKind::none;
    }
    return TimeloopKind::none;
}

Result<Machine> parse_timeloop_architecture(std::string text, const std::string& file) {
    const auto document = open(std::move(text), file);
    if (!document) {
        return Result<Machine>(document.diagnostics());
    }
    const Node root = document->root();
    if (const Node tree = root["architecture"]) {
        tree.error("unsupported", "hierarchical architectures (v0.2 and later) are not read",
                   "write the flat form: arch: {arithmetic: …, storage: […]}");
        tree.ignore_rest();
        return document->conclude(Machine{});
    }
    const Node arch = root.need("arch");
    const Node macs = arch.need("arithmetic");
    macs["name"].text();
    const Count units = macs["instances"].integer().value_or(1);
    const Count units_x = macs["meshX"].integer().value_or(units);
    Accelerator a;
    a.clock_hz = kClock_hz;
    a.mac_pj = macs["energy"].number(0.0, 1e12).value_or(1.0);
    std::vector<Storage> storage;
    for (const Node& node : arch.need("storage").items(1)) {
        storage.push_back(read_storage(node));
    }
    const auto bits = static_cast<int>(macs["word_bits"].integer({1, 1024}).value_or(16));
    a.word_bits = {bits, bits, bits};
    for (std::size_t i = storage.size(); i-- > 0;) {
        if (storage[i].word_bits != bits) {
            storage[i].node.error("unsupported", "words of different sizes are not modelled");
        }
        a.levels.push_back(level_of(storage[i]));
        const bool inner = i == 0;
        add_fanout(storage[i], inner ? units : storage[i - 1].instances,
                   inner ? units_x : storage[i - 1].mesh_x, storage[i].node, a.levels.back());
    }
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = machine.id;
    machine.summary = "read from a Timeloop architecture; cycles at 1 GHz";
    Diagnostics found = document->finish();
    found.append(found.has_errors() ? Diagnostics{} : validate(a));
    machine.kind = std::move(a);
    return found.has_errors() ? Result<Machine>(std::move(found))
                              : Result<Machine>(std::move(machine), std::move(found));
}

Result<Network> parse_timeloop_problem(std::string text, const std::string& file) {
    const auto document = open(std::move(text), file);
    if (!document) {
        return Result<Network>(document.diagnostics());
    }
    const Node problem = document->root().need("problem");
    const Node shape = problem["shape"];
    if (shape && shape.text().value_or("cnn-layer") != "cnn-layer") {
        shape.error("unsupported", "only problems of shape cnn-layer are read");
    }
    const Node sizes = problem.has("instance") ? problem.need("instance") : problem;
    const auto size = [&](const char* key) { return sizes[key].integer().value_or(1); };
    ConvShape s;
    s.r = size("R");
    s.s = size("S");
    s.c = size("C");
    s.k = size("K");
    s.n = size("N");
    const Count p = size("P");
    const Count q = size("Q");
    s.stride = {size("Wstride"), size("Hstride")};
    s.dilation = {size("Wdilation"), size("Hdilation")};
    s.h = (p - 1) * s.stride.h + (s.r - 1) * s.dilation.h + 1;
    s.w = (q - 1) * s.stride.w + (s.s - 1) * s.dilation.w + 1;
    Layer layer;
    layer.name = std::filesystem::path(file).stem().string();
    layer.op = Op::conv2d;
    layer.shape = s;
    layer.types = {DataType::int16, DataType::int16, DataType::int16};
    Network network;
    network.id = layer.name;
    network.name = layer.name;
    network.source = "Timeloop problem";
    network.layers.push_back(layer);
    Diagnostics found = document->finish();
    found.append(found.has_errors() ? Diagnostics{} : validate(layer));
    return found.has_errors() ? Result<Network>(std::move(found))
                              : Result<Network>(std::move(network));
}

Result<Mapping> parse_timeloop_mapping(std::string text, const std::string& file,
                                       const Accelerator& machine) {
    const auto document = open(std::move(text), file);
    if (!document) {
        return Result<Mapping>(document.diagnostics());
    }
    Mapping mapping;
    mapping.levels.resize(machine.levels.size());
    std::vector<OperandSet> bypassed(machine.levels.size());
    for (const Node& node : document->root().need("mapping").items(1)) {
        const Target target = read_target(node, machine);
        if (!target.level) {
            continue;
        }
        if (is_bypass(target.type)) {
            bypassed[*target.level] = target.bypass;
        } else if (target.type == "temporal" || target.type == "spatial") {
            apply_loops(target, machine, mapping);
        } else {
            node["type"].error("unsupported",
                               fmt::format("entries of type '{}' are not read", target.type));
        }
    }
    for (std::size_t i = 0; i < machine.levels.size(); ++i) {
        for (const Operand o : kAllOperands) { // what is not said to pass by rests
            if (store_of(machine.levels[i], o) != nullptr && !bypassed[i].contains(o)) {
                mapping.levels[i].keeps.insert(o);
            }
        }
    }
    return document->conclude(std::move(mapping));
}

Result<mapper::Constraints> parse_timeloop_constraints(std::string text, const std::string& file,
                                                       const Accelerator& machine) {
    const auto document = open(std::move(text), file);
    if (!document) {
        return Result<mapper::Constraints>(document.diagnostics());
    }
    const Node root = document->root();
    mapper::Constraints rules;
    rules.levels.resize(machine.levels.size());
    std::vector<Node> lists;
    if (const Node space = root["mapspace"]) {
        lists.push_back(space.need("constraints"));
    }
    for (const char* key : {"architecture_constraints", "mapspace_constraints"}) {
        if (const Node part = root[key]) {
            part["version"].text();
            lists.push_back(part.need("targets"));
        }
    }
    for (const Node& list : lists) {
        for (const Node& node : list.items()) {
            const Target target = read_target(node, machine);
            if (!target.level) {
                continue;
            }
            if (is_bypass(target.type)) {
                if (store_of(machine.levels[*target.level], Operand::input) != nullptr) {
                    rules.levels[*target.level].keep = target.keep;
                    rules.levels[*target.level].bypass = target.bypass;
                }
            } else if (target.type == "temporal" || target.type == "spatial") {
                apply_rule(target, machine, rules);
            } else if (target.type == "utilization") {
                rules.min_utilization = target.min_utilization.value_or(0.0);
            } else {
                node["type"].error(
                    "unsupported",
                    fmt::format("constraints of type '{}' are not read", target.type));
            }
        }
    }
    return document->conclude(std::move(rules));
}

} // namespace eyeroof::study::read
