#include "base/plausible.hpp"
#include "formats/accelforge.hpp"
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

constexpr double kWordBits = 8.0; // bits_per_value of AccelForge's workloads
constexpr int kDeepestNodes = 16;

struct ForgeNode {
    enum class Sort { memory, container, compute } sort = Sort::memory;
    std::string name;
    StackedStore store;
    std::vector<Axis> axes;
    std::vector<SpatialRule> rules;
    double read_rate = 0.0;  // bits a second; 0: unlimited
    double write_rate = 0.0; // bits a second
    double rate = 0.0;       // of a compute: operations a second
    double compute_pj = 0.0;
    double leak_w = 0.0;
};

// "inf" and what names no number is 0, which stands for unlimited.
double number_in(const Node& node, const Variables& variables) {
    const std::string text = node.text().value_or("inf");
    if (text == "inf" || text == ".inf" || text == "-1") {
        return 0.0;
    }
    if (text.find(".bits_per_value") != std::string::npos) {
        return kWordBits; // "weight.bits_per_value if weight else 0"
    }
    const auto value = evaluate(text, variables, Exponents::allowed);
    if (!value) {
        node.error("unsupported", fmt::format("'{}' is not read", text.substr(0, 40)),
                   "write a number, or an expression of the architecture's variables");
        return 0.0;
    }
    return *value;
}

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
double total_rate(const std::string& text, const Variables& variables) {
    double rate = 1.0;
    bool any = false;
    std::size_t depth = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        depth += text[at] == '(' ? 1 : 0;
        depth -= text[at] == ')' && depth > 0 ? 1 : 0;
        if (text[at] == '/' && depth == 0) {
            const std::size_t end = std::min(text.find('/', at + 1), text.size());
            const auto value =
                evaluate(text.substr(at + 1, end - at - 1), variables, Exponents::allowed);
            any = any || (value && *value > 0.0);
            rate *= value && *value > 0.0 ? *value : 1.0;
        }
    }
    return any ? rate : 0.0;
}

class ForgeReader {
  public:
    explicit ForgeReader(Variables variables) : variables_(std::move(variables)) {}

    void walk(const Node& list, int depth) {
        for (const Node& node : list.items()) {
            const std::string tag = node.tag();
            node.ignore_rest();
            for (const char* key : {"actions_scale", "usage_scale", "throughput_scale"}) {
                if (node.has(key)) {
                    node[key].error("unsupported", "words in slices of bits are not modelled",
                                    "describe the array with whole words");
                }
            }
            if (tag == "!Hierarchical" && depth < kDeepestNodes) {
                walk(node.need("nodes"), depth + 1);
            } else if (tag == "!Memory") {
                add_memory(node);
            } else if (tag == "!Container" || tag == "!Fanout") {
                add(node, ForgeNode::Sort::container);
            } else if (tag == "!Compute") {
                add_compute(node);
            } else if (tag == "!Toll") {
                node.warning("passed-over",
                             fmt::format("{} adds neither time nor energy", name_of(node)),
                             "converters between stores are not modelled");
            } else {
                node.error("unsupported", fmt::format("nodes of kind {} are not read", tag),
                           "known: !Memory, !Container, !Compute, !Hierarchical, !Toll");
            }
        }
    }

    std::vector<ForgeNode> nodes;
    bool energies = false;

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
            made.leak_w = number_in(node["leak_power"], variables_);
        }
        nodes.push_back(std::move(made));
        return nodes.back();
    }

    void add_axis(const Node& axis, ForgeNode& made) {
        axis.ignore_rest();
        const std::string name = fmt::format("{}.{}", made.name, name_of(axis));
        const double size = number_in(axis.need("fanout"), variables_);
        if (!(size >= 1.0) || size > 1e6 || std::floor(size) != size) {
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

    // Energy of an action in pJ a bit, and how many bits it moves in a second.
    void read_action(const Node& action, ForgeNode& made) {
        action.ignore_rest();
        const std::string name = name_of(action);
        const double bits = action.has("bits_per_action")
                                ? std::max(1.0, number_in(action["bits_per_action"], variables_))
                                : 1.0;
        const bool costs = action.has("energy");
        const double pj = costs ? number_in(action["energy"], variables_) * 1e12 : 0.0;
        const double rate =
            action.has("throughput") ? number_in(action["throughput"], variables_) : 0.0;
        energies = energies || (costs && pj > 0.0);
        if (name == "read") {
            made.store.read_pj_per_bit = pj / bits;
            made.read_rate = rate * bits;
        } else if (name == "write") {
            made.store.write_pj_per_bit = pj / bits;
            made.write_rate = rate * bits;
        } else if (name == "compute") {
            made.compute_pj = pj;
            made.rate = rate;
        }
        widest_ = std::max(widest_, bits);
    }

    void read_actions(const Node& node, ForgeNode& made) {
        widest_ = 1.0;
        if (node.has("actions")) {
            for (const Node& action : node["actions"].items()) {
                read_action(action, made);
            }
        }
        const std::string total =
            node.has("total_latency") ? node["total_latency"].text().value_or("") : "";
        const double rate = total_rate(total, variables_);
        if (rate > 0.0) {
            made.read_rate = made.write_rate = rate * widest_;
            made.rate = rate;
        }
        made.store.shared_port = total.find("max(") == std::string::npos;
    }

    void add_memory(const Node& node) {
        ForgeNode& made = add(node, ForgeNode::Sort::memory);
        made.store.name = made.name;
        made.store.capacity_bytes = number_in(node.need("size"), variables_) / 8.0;
        read_actions(node, made);
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
    }

    void add_compute(const Node& node) {
        const std::string enabled = node.has("enabled") ? node["enabled"].text().value_or("") : "";
        if (enabled.find("== 2") != std::string::npos) {
            node.warning(
                "passed-over",
                fmt::format("{} runs operators of one tensor and is not part of the array",
                            name_of(node)),
                "a vector unit is described under `vector_unit` of eyeroof's own machines");
            return;
        }
        read_actions(node, add(node, ForgeNode::Sort::compute));
    }

    Variables variables_;
    double widest_ = 1.0;
};

// Files of examples count accesses with an energy of 1 J: such energies are taken as relative.
void scale_energies(std::vector<ForgeNode>& nodes, const Node& root) {
    double most = 0.0;
    for (const ForgeNode& node : nodes) {
        most = std::max({most, node.compute_pj, kWordBits * node.store.read_pj_per_bit,
                         kWordBits * node.store.write_pj_per_bit});
    }
    if (most <= kMaxPicojoules) {
        return;
    }
    root.warning("relative-energy", "energies of this size are taken as relative: 1 J is 1 pJ",
                 "write joules such as 7e-12");
    for (ForgeNode& node : nodes) {
        node.compute_pj *= 1e-12;
        node.store.read_pj_per_bit *= 1e-12;
        node.store.write_pj_per_bit *= 1e-12;
    }
}

Accelerator built(const std::vector<ForgeNode>& nodes, const Node& root) {
    const auto compute = std::find_if(nodes.rbegin(), nodes.rend(), [](const ForgeNode& n) {
        return n.sort == ForgeNode::Sort::compute;
    });
    if (compute == nodes.rend()) {
        root.error("unsupported", "an architecture needs a node that computes",
                   "end its nodes with a !Compute");
        return {};
    }
    const double clock = compute->rate > 1e3 && compute->rate < 1e12 ? compute->rate : 1e9;
    Dataflow rules;
    rules.kind = DataflowKind::nlr;
    LevelStack stack({8, 8, 8});
    std::vector<Axis> pending; // axes below the next store outwards
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        rules.spatial.insert(rules.spatial.begin(), node->rules.begin(), node->rules.end());
        if (node->sort == ForgeNode::Sort::memory) {
            StackedStore store = node->store;
            store.read_bytes = node->read_rate / 8.0 / clock;
            store.write_bytes = node->write_rate / 8.0 / clock;
            store.leak_pj = node->leak_w / clock * 1e12;
            stack.add(store, pending);
            pending = node->axes;
        } else {
            pending.insert(pending.begin(), node->axes.begin(), node->axes.end());
        }
    }
    Accelerator a = stack.finish(pending, root);
    a.clock_hz = clock;
    a.mac_pj = compute->compute_pj;
    a.mac_leak_pj = compute->leak_w / clock * 1e12;
    a.dataflows = {rules};
    return a;
}

Variables forge_variables(const Node& arch) {
    Variables known;
    const Node list = arch.has("variables") ? arch["variables"] : Node{};
    if (list && list.is_map()) {
        for (const auto& [name, node] : list.entries()) {
            if (node.is_scalar()) {
                const auto value = evaluate(node.text().value_or(""), known, Exponents::allowed);
                if (value) {
                    known[name] = *value;
                }
            }
        }
    }
    return known;
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

Result<Machine> parse_accelforge_arch(std::string text, const std::string& file) {
    hwdb::YamlOptions options{.allow_aliases = true, .allow_tags = true, .allow_merge_keys = true};
    Diagnostics told;
    if (is_template(text)) {
        auto expanded = expand_template(std::move(text), file);
        if (!expanded) {
            return Result<Machine>(expanded.diagnostics());
        }
        told = expanded.diagnostics();
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
    ForgeReader reader(forge_variables(arch));
    reader.walk(arch.need("nodes"), 0);
    Accelerator accelerator;
    if (!document->finish().has_errors()) {
        scale_energies(reader.nodes, arch);
        accelerator = built(reader.nodes, arch);
        if (!reader.energies) {
            arch.warning("no-energy", "no action names an energy; energies are zero",
                         "component models are not run: write `energy` at the actions");
        }
    }
    Diagnostics found = document->finish();
    found.append(told);
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
