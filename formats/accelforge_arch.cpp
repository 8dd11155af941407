#include "base/ascii.hpp"
#include "base/plausible.hpp"
#include "formats/accelforge.hpp"
#include "formats/accelforge_names.hpp"
#include "formats/component_energy.hpp"
#include "formats/level_stack.hpp"
#include "formats/template.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr int kDeepestNodes = 16;

struct ForgeNode {
    enum class Sort { memory, container, network, compute } sort = Sort::memory;
    std::string name;
    StackedStore store;
    std::vector<Axis> axes;
    std::vector<SpatialRule> rules;
    double read_rate = 0.0;  // bits a second; 0: unlimited
    double write_rate = 0.0; // bits a second
    double rate = 0.0;       // of a compute: operations a second
    double compute_pj = 0.0;
    double hop_pj = 0.0; // of a network: a bit
    double leak_w = 0.0;
};

// Words of a set expression: "input | output" names tensors, everything else means all.
OperandSet tensors_in(const std::string& text) {
    OperandSet named;
    for (const Operand o : kAllOperands) {
        const std::size_t at = text.find(operand_name(o));
        const bool negated = at != std::string::npos && at > 0 && text[at - 1] == '~';
        if (at != std::string::npos && !negated) {
            named.insert(o);
        }
    }
    const bool general = text.find("All") != std::string::npos ||
                         text.find('~') != std::string::npos || named.empty();
    return general ? OperandSet{Operand::input, Operand::weight, Operand::output} : named;
}

// "sum(…) / 32 / 200e6": how many actions a second; 0 where the actions have rates of their own.
double total_rate(const std::string& text, ForgeNames& names) {
    double rate = 1.0;
    bool any = false;
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : 0;
        depth -= text[at] == ')' && depth > 0 ? 1 : 0;
        if (text[at] == '/' && depth == 0) {
            const std::size_t end = std::min(text.find('/', at + 1), text.size());
            const auto value = names.number_of(text.substr(at + 1, end - at - 1));
            any = any || (value && *value > 0.0);
            rate *= value && *value > 0.0 ? *value : 1.0;
        }
    }
    return any ? rate : 0.0;
}

// How the words of a node are cut: compute-in-memory arrays take some bits of a word at a time.
struct Slices {
    double actions = 1.0;                                                            // of one word
    double at_once = 1.0;                                                            // of these
    PerOperand<double> word_bits = {kForgeWordBits, kForgeWordBits, kForgeWordBits}; // of a slice
};

class ForgeReader {
  public:
    ForgeReader(ForgeNames& names, const Node& arch, const Technology* technology)
        : names_(names), technology_(technology) {
        for (const char* key : {"extra_attributes_for_all_component_models", "variables"}) {
            const Node shared = arch.has(key) ? arch[key] : Node{};
            if (shared && shared.is_map() && shared.has("tech_node")) {
                shared.ignore_rest();
                const std::string length = shared["tech_node"].text().value_or("");
                nm_ = names_.number_of(length).value_or(0.0) * 1e9;
                break;
            }
        }
    }

    void walk(const Node& list, int depth) {
        for (const Node& node : list.items()) {
            const std::string tag = node.tag();
            node.ignore_rest();
            if ((tag == "!Hierarchical" || tag == "!Array") && depth < kDeepestNodes) {
                if (tag == "!Array") { // nodes with a fan-out of their own
                    add(node, ForgeNode::Sort::container);
                }
                walk(node.need("nodes"), depth + 1);
            } else if (tag == "!Memory") {
                add_memory(node);
            } else if (tag == "!Container" || tag == "!Fanout") {
                add(node, ForgeNode::Sort::container);
            } else if (tag == "!Network") {
                read_actions(node, add(node, ForgeNode::Sort::network));
            } else if (tag == "!Compute") {
                add_compute(node);
            } else if (tag == "!Toll") {
                tolls_.push_back(name_of(node));
            } else {
                node.error("unsupported", fmt::format("nodes of kind {} are not read", tag),
                           "known: !Memory, !Container, !Array, !Network, !Compute, "
                           "!Hierarchical, !Toll");
            }
        }
    }

    // What the nodes do not bill, each in one warning.
    void report(const Node& arch) const {
        const auto listed = [](const std::vector<std::string>& names) {
            return fmt::format("{}", fmt::join(names, ", "));
        };
        if (!estimated_.empty()) {
            arch.warning("estimated-energy",
                         fmt::format("energies of {} are estimated from their class, size, and "
                                     "process: AccelForge's component models are not run",
                                     listed(estimated_)),
                         "write `energy` at their actions, in joules, for other values");
        }
        if (!unbilled_.empty()) {
            arch.warning(
                "no-energy",
                fmt::format("{} cost no energy: the classes have no model here", listed(unbilled_)),
                "write `energy` at their actions, in joules");
        }
        if (!tolls_.empty()) {
            arch.warning("passed-over",
                         fmt::format("{} add neither time nor energy", listed(tolls_)),
                         "converters between stores are not modelled");
        }
        if (slices_ > 1.0) {
            arch.warning("words-in-slices",
                         fmt::format("words count whole: a step of the array takes {:.3g} slices, "
                                     "an axis holds as many whole words as fit",
                                     slices_),
                         "counts of words are whole words; converters of slices are not billed");
        }
    }

    std::vector<ForgeNode> nodes;
    bool energies = false;

    double slices() const { return slices_; }

  private:
    static std::string name_of(const Node& node) { return node.need("name").text().value_or(""); }

    ForgeNode& add(const Node& node, ForgeNode::Sort sort) {
        ForgeNode made;
        made.sort = sort;
        made.name = name_of(node);
        const Node spatial = node.has("spatial") ? node["spatial"] : Node{};
        if (spatial) {
            for (const Node& axis : spatial.one_or_more()) {
                add_axis(axis, made);
            }
        }
        if (node.has("leak_power")) {
            made.leak_w = number(node["leak_power"]);
        }
        nodes.push_back(std::move(made));
        return nodes.back();
    }

    // 0 is unlimited.
    double number(const Node& node) { return names_.number(node).value_or(0.0); }
    double number(const Node& node, const char* key, double otherwise) {
        return node.has(key) ? names_.number(node[key]).value_or(otherwise) : otherwise;
    }

    void add_axis(const Node& axis, ForgeNode& made) {
        axis.ignore_rest();
        const std::string name = fmt::format("{}.{}", made.name, name_of(axis));
        const double instances = number(axis.need("fanout"));
        const double size = std::floor(instances / number(axis, "usage_scale", 1.0));
        if (!(size >= 1.0) || size > 1e6 || std::floor(instances) != instances) {
            axis["fanout"].error("bad-number", "a fan-out is a whole number from 1 to 1000000",
                                 "write fanout: 16");
            return;
        }
        made.axes.push_back({name, static_cast<Count>(size)});
        const std::string reuse = axis.has("reuse") ? axis["reuse"].text().value_or("") : "";
        DimSet dims;
        for (const Dim d : kAllDims) {
            bool moves = false;
            for (const Operand o : kAllOperands) {
                const bool reused = reuse.find(operand_name(o)) != std::string::npos;
                moves = moves || (reused && relevant(o, d));
            }
            if (!moves) {
                dims.insert(d);
            }
        }
        made.rules.push_back({name, dims});
    }

    // Energy of an action in pJ a bit, and how many bits it moves in a second. `whole`: bits of an
    // action where the file counts values.
    void read_action(const Node& action, ForgeNode& made, std::optional<double> whole) {
        action.ignore_rest();
        const std::string name = name_of(action);
        const double bits = whole ? *whole : std::max(1.0, number(action, "bits_per_action", 1.0));
        const bool costs = action.has("energy");
        const double pj = costs ? number(action["energy"]) * 1e12 : 0.0;
        const double latency = number(action, "latency", 0.0);
        const double rate = action.has("throughput") ? number(action["throughput"])
                            : latency > 0.0          ? 1.0 / latency
                                                     : 0.0;
        billed_ = billed_ || costs;
        energies = energies || (costs && pj > 0.0);
        if (name == "read") {
            made.store.read_pj_per_bit = pj / bits;
            made.read_rate = rate * bits;
        } else if (name == "write") {
            made.store.write_pj_per_bit = pj / bits;
            made.write_rate = rate * bits;
        } else if (name == "hop") {
            made.hop_pj = pj / bits;
            made.read_rate = rate * bits;
        } else if (name == "compute") {
            made.compute_pj = pj;
            made.rate = rate;
        }
        widest_ = std::max(widest_, bits);
    }

    void read_actions(const Node& node, ForgeNode& made, std::optional<double> whole = {}) {
        widest_ = 1.0;
        billed_ = false;
        if (node.has("actions")) {
            for (const Node& action : node["actions"].items()) {
                read_action(action, made, whole);
            }
        }
        const std::string total =
            node.has("total_latency") ? node["total_latency"].text().value_or("") : "";
        const double rate = total_rate(total, names_);
        if (rate > 0.0) {
            made.read_rate = made.write_rate = rate * widest_;
            made.rate = rate;
        }
        made.store.shared_port = total.find("max(") == std::string::npos;
        if (!billed_) {
            estimate(node, made);
        }
    }

    // The energy of a component that names its class alone.
    void estimate(const Node& node, ForgeNode& made) {
        NamedComponent part;
        part.kind = node.has("component_class") ? node["component_class"].text().value_or("") : "";
        part.bytes = made.store.capacity_bytes;
        part.nm = nm_;
        if (const Node more = node.has("extra_attributes_for_component_model")
                                  ? node["extra_attributes_for_component_model"]
                                  : Node{};
            more && more.is_map()) {
            more.ignore_rest();
            part.multiplier_bits = number(more, "multiplier_width", part.multiplier_bits);
            part.adder_bits = number(more, "adder_width", part.adder_bits);
        }
        const auto pj = technology_ != nullptr ? estimated_pj(*technology_, part) : std::nullopt;
        if (!pj) {
            unbilled_.push_back(fmt::format("{} ({})", made.name, part.kind));
            return;
        }
        const double scaled = *pj * number(node, "energy_scale", 1.0);
        made.store.read_pj_per_bit = made.store.write_pj_per_bit = scaled;
        made.compute_pj = scaled;
        energies = energies || scaled > 0.0;
        if (scaled > 0.0) {
            estimated_.push_back(fmt::format("{} ({})", made.name, part.kind));
        }
    }

    Slices slices_of(const Node& node) {
        Slices s;
        s.actions = number(node, "actions_scale", 1.0);
        s.at_once = number(node, "throughput_scale", 1.0);
        const Node bits = node.has("bits_per_value") ? node["bits_per_value"] : Node{};
        if (bits && bits.is_map()) {
            bits.ignore_rest();
            for (const Operand o : kAllOperands) {
                s.word_bits[index(o)] =
                    number(bits, std::string(operand_name(o)).c_str(), kForgeWordBits);
            }
        }
        return s;
    }

    // A store whose words are wider, or in slices: capacity, energy, and rate of whole words.
    static void cut_words(const Slices& slices, ForgeNode& made) {
        double least = 1e9, most = 0.0;
        for (const Operand o : kAllOperands) {
            if (made.store.operands.contains(o)) {
                least = std::min(least, slices.word_bits[index(o)]);
                most = std::max(most, slices.word_bits[index(o)]);
            }
        }
        if (least != most || !(least > 0.0)) {
            return; // tensors of several widths share the store: counted as words of a byte
        }
        const double wider = least / kForgeWordBits;
        made.store.capacity_bytes /= wider;
        for (double* pj : {&made.store.read_pj_per_bit, &made.store.write_pj_per_bit}) {
            *pj *= wider * slices.actions;
        }
        for (double* rate : {&made.read_rate, &made.write_rate}) {
            *rate *= slices.at_once / (wider * slices.actions);
        }
    }

    void add_memory(const Node& node) {
        ForgeNode& made = add(node, ForgeNode::Sort::memory);
        made.store.name = made.name;
        made.store.capacity_bytes = number(node.need("size")) / 8.0;
        const Node tensors = node.has("tensors") ? node["tensors"] : Node{};
        tensors.ignore_rest();
        const auto text = [&](const char* key) {
            return tensors && tensors.has(key) ? tensors[key].text().value_or("") : std::string();
        };
        const std::string keep = text("keep");
        const std::string may = text("may_keep");
        made.store.operands = tensors_in(keep);
        if (!may.empty()) {
            for (const Operand o : kAllOperands) {
                if (tensors_in(may).contains(o)) {
                    made.store.operands.insert(o);
                }
            }
        }
        made.store.may_bypass = keep.empty() || keep.find('~') != std::string::npos;
        const Slices slices = slices_of(node);
        const Node values = node.has("values_per_action") ? node["values_per_action"] : Node{};
        const bool whole = values && values.is_map();
        values.ignore_rest();
        read_actions(node, made,
                     whole ? std::optional(kForgeWordBits * number(values, "All", 1.0))
                           : std::nullopt);
        cut_words(slices, made);
        slices_ = std::max(slices_, slices.actions / std::max(slices.at_once, 1.0));
    }

    void add_compute(const Node& node) {
        const std::string enabled = node.has("enabled") ? node["enabled"].text().value_or("") : "";
        if (!enabled.empty() && names_.number_of(enabled).value_or(1.0) == 0.0) {
            node.warning(
                "passed-over",
                fmt::format("{} runs operators of one tensor and is not part of the array",
                            name_of(node)),
                "a vector unit is described under `vector_unit` of eyeroof's own machines");
            return;
        }
        read_actions(node, add(node, ForgeNode::Sort::compute));
    }

    ForgeNames& names_;
    const Technology* technology_;
    double nm_ = 0.0; // of the process; 0: the file names none
    double widest_ = 1.0;
    bool billed_ = false;
    double slices_ = 1.0;
    std::vector<std::string> estimated_, unbilled_, tolls_;
};

// Files of examples count accesses with an energy of 1 J: such energies are taken as relative.
void scale_energies(std::vector<ForgeNode>& nodes, const Node& root) {
    double most = 0.0;
    for (const ForgeNode& node : nodes) {
        most =
            std::max({most, node.compute_pj, kForgeWordBits * node.store.read_pj_per_bit,
                      kForgeWordBits * node.store.write_pj_per_bit, kForgeWordBits * node.hop_pj});
    }
    if (most <= kMaxPicojoules) {
        return;
    }
    root.warning("relative-energy", "energies of this size are taken as relative: 1 J is 1 pJ",
                 "write joules such as 7e-12");
    for (ForgeNode& node : nodes) {
        node.compute_pj *= 1e-12;
        node.hop_pj *= 1e-12;
        node.store.read_pj_per_bit *= 1e-12;
        node.store.write_pj_per_bit *= 1e-12;
    }
}

Accelerator built(const std::vector<ForgeNode>& nodes, double step_s, const Node& root) {
    const auto compute = std::find_if(nodes.rbegin(), nodes.rend(), [](const ForgeNode& n) {
        return n.sort == ForgeNode::Sort::compute;
    });
    if (compute == nodes.rend()) {
        root.error("unsupported", "an architecture needs a node that computes",
                   "end its nodes with a !Compute");
        return {};
    }
    const double rate = compute->rate > 0.0 ? compute->rate : step_s > 0.0 ? 1.0 / step_s : 0.0;
    const double clock = rate > 1e3 && rate < 1e12 ? rate : 1e9;
    Dataflow rules;
    rules.kind = DataflowKind::nlr;
    LevelStack stack({8, 8, 8});
    std::vector<Axis> pending;          // axes below the next store outwards
    const ForgeNode* network = nullptr; // between it and what is there
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        rules.spatial.insert(rules.spatial.begin(), node->rules.begin(), node->rules.end());
        if (node->sort == ForgeNode::Sort::memory) {
            StackedStore store = node->store;
            store.read_bytes = node->read_rate / 8.0 / clock;
            store.write_bytes = node->write_rate / 8.0 / clock;
            store.leak_pj = node->leak_w / clock * 1e12;
            store.in_seconds = true;
            if (network != nullptr) {
                store.hop_pj_per_bit = network->hop_pj;
                store.link_bytes = network->read_rate / 8.0 / clock;
                network = nullptr;
            }
            stack.add(store, pending);
            pending = node->axes;
        } else if (node->sort == ForgeNode::Sort::network) {
            network = &*node;
        } else {
            pending.insert(pending.begin(), node->axes.begin(), node->axes.end());
        }
    }
    Accelerator a = stack.finish(pending, root);
    a.clock_hz = clock;
    a.mac_pj = compute->compute_pj;
    a.mac_leak_pj = compute->leak_w / clock * 1e12;
    a.mac_leak_in_seconds = compute->leak_w > 0.0;
    a.dataflows = {rules};
    return a;
}

bool line_begins(std::string_view text, std::string_view words) {
    const std::size_t at = text.find(words);
    return at != std::string_view::npos && (at == 0 || text[at - 1] == '\n');
}

} // namespace

bool is_accelforge_arch(std::string_view text) {
    const std::string_view head = text.substr(0, 200'000);
    return line_begins(head, "arch:") && head.find("nodes:") != std::string_view::npos &&
           (head.find("!Memory") != std::string_view::npos ||
            head.find("!Compute") != std::string_view::npos);
}

bool is_accelforge_workload(std::string_view text) {
    const std::string_view head = text.substr(0, 200'000);
    return line_begins(head, "workload:") && head.find("einsums:") != std::string_view::npos;
}

Result<Machine> parse_accelforge_arch(std::string text, const std::string& file,
                                      const Technology* technology, const TemplateWords& words) {
    hwdb::YamlOptions options{.allow_aliases = true, .allow_tags = true, .allow_merge_keys = true};
    Diagnostics template_notes;
    if (is_template(text)) {
        auto expanded = expand_template(std::move(text), file, {}, words);
        if (!expanded) {
            return Result<Machine>(expanded.diagnostics());
        }
        template_notes = expanded.diagnostics();
        options.lines = std::move(expanded->lines);
        text = std::move(expanded->text);
    }
    const auto document = hwdb::parse_yaml(std::move(text), file, std::move(options));
    if (!document) {
        return Result<Machine>(document.diagnostics());
    }
    const Node root = document->root();
    (void)root.entries(); // what is included brings keys of its own
    const Node arch = root.need("arch");
    arch.ignore_rest();
    ForgeNames names(root);
    ForgeReader reader(names, arch, technology);
    reader.walk(arch.need("nodes"), 0);
    Accelerator accelerator;
    if (!document->finish().has_errors()) {
        scale_energies(reader.nodes, arch);
        const double step_s = names.variable("cycle_period").value_or(0.0) * reader.slices();
        accelerator = built(reader.nodes, step_s, arch);
        reader.report(arch);
    }
    Diagnostics found = document->finish();
    found.append(template_notes);
    if (!found.has_errors()) {
        Diagnostics faults = validate(accelerator);
        faults.place({file, 0, 0});
        found.append(faults);
    }
    if (found.has_errors()) {
        return Result<Machine>(std::move(found));
    }
    Machine machine;
    machine.id = std::filesystem::path(file).stem().string();
    machine.name = machine.id;
    machine.summary = "read from an AccelForge architecture";
    machine.kind = std::move(accelerator);
    machine.provenance[""] = {"AccelForge architecture " + file, Confidence::user};
    return {std::move(machine), std::move(found)};
}

} // namespace eyeroof::formats
