#include "formats/timeloop_component.hpp"

#include "base/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace eyeroof::formats::timeloop {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr int kDeepestNames = 24;                // attributes and variables that name one another
constexpr double kUnboundedDepth = 4294967295.0; // INF of CiMLoop's files

} // namespace

Attributes::Attributes(Node own, std::vector<Node> around, std::vector<Node> variables)
    : chain_(std::move(around)), variables_(std::move(variables)) {
    chain_.insert(chain_.begin(), std::move(own));
}

Node Attributes::find(std::initializer_list<std::string_view> names) const {
    for (const Node& node : chain_) {
        for (const std::string_view name : names) {
            if (Node found = member(node, name)) {
                return found;
            }
        }
    }
    return {};
}

std::optional<double> Attributes::number(std::initializer_list<std::string_view> names) const {
    const Node node = find(names);
    if (!node) {
        return std::nullopt;
    }
    const std::string text = node.text().value_or("");
    const auto value = evaluated(text, 0);
    const double* number = value ? value->number() : nullptr;
    if (number == nullptr || !std::isfinite(*number) || *number < 0.0 || *number > 1e15) {
        node.error("bad-number", fmt::format("'{}' is no number from 0 to 1e15", text),
                   value ? "" : value.diagnostics().items().front().message);
        return std::nullopt;
    }
    return *number;
}

std::optional<Count> Attributes::count(std::initializer_list<std::string_view> names,
                                       Count least) const {
    const auto value = number(names);
    if (value && (*value != std::floor(*value) || *value < static_cast<double>(least))) {
        find(names).error("bad-number", fmt::format("expected a whole number from {} on", least),
                          "no sign, point or unit");
        return std::nullopt;
    }
    return value ? std::optional(static_cast<Count>(*value)) : std::nullopt;
}

Node Attributes::variable(std::string_view name) const {
    for (const Node& map : variables_) {
        if (map.has(name)) {
            return map[name];
        }
    }
    return {};
}

// Names are attributes, then variables, whose values may be expressions.
Result<ScriptValue> Attributes::evaluated(const std::string& text, int depth) const {
    const auto named = [&](const std::string& name) -> std::optional<ScriptValue> {
        const Node own = find({name});
        const Node node = own ? own : variable(name);
        if (!node || !node.is_scalar()) {
            return std::nullopt;
        }
        if (depth >= kDeepestNames) {
            return ScriptValue{Unset{"too-deep", fmt::format("'{}' names itself", name)}};
        }
        auto value = evaluated(node.text().value_or(""), depth + 1);
        return value ? *std::move(value)
                     : ScriptValue{Unset{value.diagnostics().items().front().code,
                                         fmt::format("'{}' has no value", name)}};
    };
    ScriptNames names;
    names.value = named;
    // "variables.get('DAC_RESOLUTION', 1)"
    names.call = [&](const std::string& name,
                     const ScriptList& given) -> std::optional<ScriptValue> {
        if (!name.ends_with("variables.get") || given.size() != 2 || given[0].text() == nullptr) {
            return std::nullopt;
        }
        return named(*given[0].text()).value_or(given[1]);
    };
    return run_script(text, names);
}

std::optional<double> Attributes::value_of(const std::string& text) const {
    const auto value = evaluated(text, 0);
    const double* number = value ? value->number() : nullptr;
    return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::vector<Node> variable_maps(const Node& root) {
    const Node given = root.is_map() && root.has("variables") ? root["variables"] : Node{};
    std::vector<Node> maps;
    for (const Node& map : given ? given.one_or_more() : std::vector<Node>{}) {
        if (map.is_map()) {
            map.ignore_rest();
            maps.push_back(map);
        }
    }
    return maps;
}

WordSlices word_slices(const std::vector<Node>& variables) {
    const Attributes at({}, {}, variables);
    WordSlices slices;
    if (const auto bits = at.value_of("INPUT_BITS")) {
        slices.word_bits = static_cast<Count>(std::clamp(*bits, 1.0, 64.0));
        slices.per_column = std::max(1.0, at.value_of("N_WEIGHT_SLICES").value_or(1.0));
        slices.steps = std::max(1.0, at.value_of("N_INPUT_SLICES").value_or(1.0));
        slices.step_s = at.value_of("GLOBAL_CYCLE_SECONDS").value_or(0.0);
    }
    return slices;
}

void read_capacity(const Attributes& at, bool dram, Component& c) {
    const auto width = at.count({"width", "memory_width", "data_storage_width"});
    c.cluster = at.count({"cluster_size"}).value_or(1);
    c.block = at.count({"block_size", "n_words"}).value_or(0);
    if (c.block == 0) {
        c.block = width ? std::max<Count>(1, *width / c.word_bits / c.cluster) : 1;
    }
    if (const auto entries = at.count({"entries"}, 0)) {
        c.entries = *entries;
    } else if (const Node node = at.find({"depth", "memory_depth", "data_storage_depth"})) {
        const std::string text = lowered(node.text().value_or(""));
        const bool endless = text == "inf" || at.value_of(text).value_or(0.0) == kUnboundedDepth;
        const auto depth =
            endless ? std::nullopt : at.count({"depth", "memory_depth", "data_storage_depth"}, 0);
        if (depth && static_cast<double>(*depth) < kUnboundedDepth) {
            c.entries = checked_mul(*depth, c.block).value_or(kMaxInstances);
        }
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
        c.node.error("bad-number", fmt::format("a bandwidth of {} is not above 0", c.name),
                     "words a cycle, more than 0");
        c.read = c.write = kUnlimited;
    }
    if (const Node shared = at.find({"shared_bandwidth", "rw_bandwidth"})) {
        shared.error("unsupported", "a bandwidth that reads and writes share is not modelled",
                     "give read_bandwidth and write_bandwidth");
    }
    const double buffers = at.number({"multiple_buffering"}).value_or(1.0);
    c.buffers = static_cast<int>(buffers);
    if (buffers != 1.0 && buffers != 2.0) {
        at.find({"multiple_buffering"})
            .error("unsupported", "only 1 or 2 buffers are modelled",
                   "set multiple_buffering to 1 or 2");
        c.buffers = 1;
    }
}

void refuse_unmodelled(const Attributes& at) {
    const auto refuse = [&](std::string_view name, double harmless, const char* what) {
        const auto value = at.number({name});
        if (value && *value > harmless) {
            at.find({name}).error("unsupported", fmt::format("{} ({}) is not modelled", what, name),
                                  "take the attribute away if it does not matter");
        }
    };
    refuse("min_utilization", 0.0, "a buffer's least utilization");
    if (const Node found = at.find({"metadata_datawidth", "metadata_storage_depth"})) {
        found.warning("dense-counts", "metadata of compressed tensors takes no room and no time",
                      "words count as those of dense tensors; zeros: `exam --density`");
    }
    if (const Node found = at.find({"per_dataspace_bandwidth_consumption_scale"})) {
        found.warning("passed-over", "each tensor takes the bandwidth of its own words",
                      "per_dataspace_bandwidth_consumption_scale is not modelled");
        found.ignore_rest();
    }
    const Node address = at.find({"addr_gen_energy"});
    if (address && address.number(-1e12, 1e12).value_or(0.0) > 0.0) {
        address.error("unsupported", "the energy of address generators is not modelled",
                      "set addr_gen_energy to 0, or take it away");
    }
}

namespace {

enum class ComponentSort { storage, arithmetic, network, other };

ComponentSort sort_of(const std::string& kind, const Attributes& at) {
    const std::string lower = lowered(kind);
    const auto has = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (has("mac") || has("compute") || has("multiplier")) {
        return ComponentSort::arithmetic;
    }
    if (has("noc") || has("network") || has("wire") || has("multicast") || has("reduction")) {
        return ComponentSort::network;
    }
    const bool sized = at.has({"entries", "depth", "memory_depth", "data_storage_depth", "sizeKB",
                               "width", "memory_width"});
    return sized || has("dram") || has("sram") || has("storage") || has("buffer") || has("reg")
               ? ComponentSort::storage
               : ComponentSort::other;
}

} // namespace

std::optional<Component> read_component(const Node& node, const std::string& name,
                                        const std::vector<Node>& around,
                                        const std::vector<Node>& variables) {
    const std::string kind =
        node["class"].text().value_or("") + " " + node["subclass"].text().value_or("");
    const Node own = node["attributes"];
    const Attributes at(own, around, variables);
    own.ignore_rest(); // what remains is for tools that estimate energy and area
    const WordSlices words = word_slices(variables);
    Component c;
    c.node = node;
    c.name = name;
    for (const auto key :
         {"required_actions", "energy_scale", "area_scale", "leak_scale", "max_utilization"}) {
        node[key].ignore_rest(); // for tools that estimate
    }
    const std::string enabled = lowered(node["enabled"].text().value_or("true"));
    if (enabled == "false") {
        return std::nullopt;
    }
    const ComponentSort sort = sort_of(kind, at);
    if (sort == ComponentSort::network) {
        node.warning("ignored", fmt::format("network {} is left out: words cross for free", name));
        return std::nullopt;
    }
    if (sort == ComponentSort::other) {
        node.error("unsupported",
                   fmt::format("{} is neither storage nor arithmetic ({})", name, kind),
                   "give a storage its depth or entries, and name the class of arithmetic mac");
        return std::nullopt;
    }
    c.word_bits = at.count({"word_bits", "word_width", "datawidth"}).value_or(0);
    c.mesh_x = at.count({"meshX"}).value_or(0);
    c.instances = Attributes(own, {}).count({"instances"}).value_or(0);
    c.arithmetic = sort == ComponentSort::arithmetic;
    refuse_unmodelled(at);
    if (c.arithmetic) {
        c.pj = at.number({"energy", "energy_per_op"});
        return c;
    }
    c.word_bits = c.word_bits == 0 ? kWordBits : c.word_bits;
    c.pj = at.number({"vector_access_energy"});
    read_capacity(at, kind.find("DRAM") != std::string::npos, c);
    read_speed(at, c);
    if (kind.find("dummy_storage") != std::string::npos && !words.word_bits) {
        c.entries = 0; // a place for loops in space
    }
    if (words.word_bits > 0 && c.word_bits == 1) { // CiMLoop counts bits, here words count whole
        const double bits = static_cast<double>(words.word_bits);
        c.word_bits = words.word_bits;
        c.block = std::max<Count>(1, c.block / words.word_bits);
        c.entries = c.entries ? std::optional(std::max<Count>(1, *c.entries / words.word_bits))
                              : std::nullopt;
        c.read /= bits;
        c.write /= bits;
    }
    return c;
}

namespace {

// Does it take an energy from the table?
bool take_energy(const Energies& e, Component& c) {
    if (!c.arithmetic && c.entries == 0) { // stores nothing
        return false;
    }
    c.leak_pj = e.leak.value_or(0.0);
    if (c.arithmetic) {
        c.pj = e.compute ? e.compute : c.pj;
        return e.compute || e.leak;
    }
    const auto& written = e.write ? e.write : e.update;
    if (e.read || written) {
        c.pj = e.read ? e.read : written;
        c.write_pj = written;
        c.update_pj = e.update;
    }
    return e.read || written || e.leak;
}

std::string joined(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

Diagnostics add_energies(const std::map<std::string, Energies>& tables,
                         std::vector<Component>& components) {
    std::vector<std::string> unused;
    std::optional<SourceLocation> where;
    for (const auto& [name, energies] : tables) {
        bool known = false, used = false;
        for (Component& c : components) {
            if (c.name == name) {
                known = true;
                used = take_energy(energies, c) || used;
            }
        }
        const char* why = !known                       ? "no part has the name"
                          : !used                      ? "no action that is counted"
                          : energies.tables.size() > 1 ? "one name: the costliest counts"
                                                       : nullptr;
        if (why != nullptr) {
            unused.push_back(fmt::format("{} ({})", joined(energies.tables), why));
            where = where.value_or(energies.where);
        }
    }
    Diagnostics found;
    if (!unused.empty()) {
        found.warning(
            "unused-energies",
            fmt::format("not used as the table of energies has them: {}", fmt::join(unused, "; ")),
            "counted are reads, writes and updates of storage, computing of the arithmetic, "
            "and what leaks, by the last part of a component's name",
            *where);
    }
    return found;
}

} // namespace eyeroof::formats::timeloop
