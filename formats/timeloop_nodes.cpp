#include "formats/timeloop_component.hpp"

#include <fmt/format.h>

#include <utility>

// Lists of nodes (0.4): components with the axes that they open and the containers around them.

namespace eyeroof::formats::timeloop {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

class Nodes {
  public:
    explicit Nodes(const std::vector<Node>& variables)
        : variables_(variables), words_(word_slices(variables)) {}

    void walk(const Node& list, int depth) {
        for (const Node& node : list.items()) {
            const std::string tag = node.tag();
            if (tag == "!Parallel" && depth < kMaxDepth) {
                ++parallel_;
                walk(node.need("nodes"), depth + 1);
                --parallel_;
            } else if ((tag == "!Hierarchical" || tag == "!Pipelined") && depth < kMaxDepth) {
                walk(node.need("nodes"), depth + 1);
            } else if (tag == "!Container" || tag == "!ArrayContainer") {
                container(node);
            } else if (tag == "!Nothing") { // what keeps to it passes by the nodes beside it
                node.ignore_rest();
            } else if (tag == "!Component" || tag.empty()) {
                component(node);
            } else {
                node.error("unsupported", fmt::format("nodes of kind {} are not read", tag),
                           "known: !Component, !Container, !Parallel, !Hierarchical, !Nothing");
                node.ignore_rest();
            }
        }
    }

    void report(const Node& list) const {
        if (!passed_.empty()) {
            list.warning("passed-over",
                         fmt::format("{} add neither time nor energy", fmt::join(passed_, ", ")),
                         "converters and drivers are not modelled");
        }
    }

    std::vector<Component> components;

  private:
    void open_axes(const Node& node, const std::string& name) {
        const Node spatial = node["spatial"];
        for (const auto& [key, axis] : {std::pair{"meshX", "x"}, std::pair{"meshY", "y"}}) {
            const auto size =
                spatial ? Attributes(spatial, {}, variables_).count({key}) : std::nullopt;
            const Count whole = size ? whole_words(node, *size) : 1;
            if (whole > 1) {
                axes_.push_back({name + "." + axis, whole});
            }
        }
    }
    // Of CiMLoop's axes over bits of words, those of whole words: X, Y, and Z are the bits of
    // inputs, weights, and outputs, which count as one word each.
    Count whole_words(const Node& node, Count size) const {
        const Node rules = node["constraints"];
        const Node spatial = rules && words_.word_bits > 0 ? member(rules, "spatial") : Node{};
        if (!spatial) {
            return size;
        }
        spatial.ignore_rest();
        if (member(spatial, "factors_only")) {
            return 1; // the virtual units of single bits
        }
        const Node most = member(spatial, "maximize_dims");
        for (const Node& group : most ? most.items() : std::vector<Node>{}) {
            for (const Node& dim : group.one_or_more()) {
                if (dim.text().value_or("") == "Y") { // columns hold slices of weights
                    const double words = static_cast<double>(size) / words_.per_column;
                    return std::max<Count>(1, static_cast<Count>(words));
                }
            }
        }
        return size;
    }

    // Converters and drivers, which keep nothing: no two uses of a word are one.
    bool passes_through(const Node& node) const {
        const Node rules = node["constraints"];
        const Node tensors = rules ? member(rules, "dataspace") : Node{};
        return words_.word_bits > 0 && tensors && member(tensors, "no_coalesce");
    }

    void container(const Node& node) {
        open_axes(node, node.need("name").text().value_or(""));
        if (const Node attributes = node["attributes"]) {
            attributes.ignore_rest();
            around_.insert(around_.begin(), attributes);
        }
        node["max_utilization"].ignore_rest();
        constraints_of(node);
    }
    void component(const Node& node) {
        const std::string name = node.need("name").text().value_or("");
        open_axes(node, name);
        if (passes_through(node)) {
            passed_.push_back(name);
            node.ignore_rest();
            return;
        }
        auto c = read_component(node, name, around_, variables_);
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
    OperandSet constraints_of(const Node& node) const {
        OperandSet left_out;
        const Node rules = node["constraints"];
        const Node tensors = rules ? member(rules, "dataspace") : Node{};
        if (tensors) {
            left_out = known_of(tensors["bypass"]);
            // Each tensor goes by one of several nodes side by side.
            const bool all = tensors.has("keep_only") || (parallel_ > 0 && tensors.has("keep"));
            const OperandSet kept =
                known_of(tensors.has("keep_only") ? tensors["keep_only"] : tensors["keep"]);
            for (const Operand o : kAllOperands) {
                if (all && kept.size() > 0 && !kept.contains(o)) {
                    left_out.insert(o);
                }
            }
            tensors.ignore_rest();
        }
        rules.ignore_rest();
        return left_out;
    }
    // Of tensors with the names of a convolution; those of other problems are known to
    // parse_timeloop_constraints() only.
    static OperandSet known_of(const Node& list) {
        OperandSet set;
        for (const Node& item : list ? list.one_or_more() : std::vector<Node>{}) {
            const auto& spaces = cnn_layer_names().spaces;
            const auto at = spaces.find(item.text().value_or(""));
            if (at != spaces.end()) {
                set.insert(at->second);
            }
        }
        return set;
    }

    int parallel_ = 0;
    std::vector<Axis> axes_;
    std::vector<Node> around_;
    std::vector<Node> variables_;
    WordSlices words_;
    std::vector<std::string> passed_;
};

} // namespace

std::vector<Component> read_nodes(const Node& list, const std::vector<Node>& variables) {
    Nodes nodes(variables);
    nodes.walk(list, 0);
    nodes.report(list);
    return std::move(nodes.components);
}

} // namespace eyeroof::formats::timeloop
