#include "formats/zigzag.hpp"

#include "formats/conv_roles.hpp"
#include "formats/zigzag_words.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using zigzag::Equation;
using zigzag::Relation;

namespace {

using Sizes = std::map<std::string, Count, std::less<>>;

std::optional<DataType> type_of_bits(Count bits) {
    switch (bits) {
    case 4:
        return DataType::int4;
    case 8:
        return DataType::int8;
    case 16:
        return DataType::int16;
    case 32:
        return DataType::int32;
    default:
        return std::nullopt;
    }
}

class ZigzagLayers {
  public:
    ZigzagLayers(Node node, std::string fallback) : node_(std::move(node)) {
        layer_.name = std::move(fallback);
    }

    std::optional<Layer> run() {
        pass_over();
        if (const Node name = node_["name"]) {
            layer_.name = name.text().value_or(layer_.name);
        }
        const Node type = node_["operator_type"];
        operator_ = type.text().value_or("");
        if (type && !zigzag::is_operator(operator_)) {
            type.error("unknown-operator",
                       fmt::format("'{}' is no operator", operator_.substr(0, 40)),
                       "as in Conv, Gemm, MatMul, Add, Pooling");
        }
        const Node written = node_.need("equation");
        if (written && written.text().value_or("") == "input") {
            for (const char* key : {"loop_dim_size", "operand_precision"}) {
                if (const Node size = node_[key]) {
                    size.ignore_rest();
                }
            }
            return std::nullopt; // the older form names the network's input so
        }
        read_sizes();
        const auto equation = written ? zigzag::equation_of(written) : std::nullopt;
        if (!equation || sizes_.empty()) {
            return std::nullopt;
        }
        windows_ = relations();
        if (!all_used(*equation)) {
            return std::nullopt;
        }
        read_types(*equation);
        const bool done = !equation->product      ? fill_sum()
                          : is_pooling(*equation) ? fill_pool()
                                                  : fill_conv(*equation);
        if (!done) {
            return std::nullopt;
        }
        const Diagnostics faults = validate(layer_);
        for (const Diagnostic& d : faults) {
            node_.error(d.code, d.message, d.hint);
        }
        return faults.has_errors() ? std::nullopt : std::optional(layer_);
    }

  private:
    // What says where layers run, and nothing of their work.
    void pass_over() const {
        for (const char* key : {"id",
                                "name",
                                "operand_source",
                                "constant_operands",
                                "core_allocation",
                                "core_allocation_is_fixed",
                                "memory_operand_links",
                                "spatial_mapping",
                                "spatial_mapping_hint",
                                "temporal_ordering",
                                "fixed_loops",
                                "fixed_temporal_loops",
                                "operand_source_dimension_mapping",
                                "pr_loop_dims",
                                "pr_loop_sizes",
                                "padding",
                                "dimension_relations",
                                "equation_relations",
                                "attrs",
                                "layer_type",
                                "group_allocation",
                                "inter_core_tiling",
                                "intra_core_tiling",
                                "predecessors"}) {
            const Node node = node_[key];
            if (node && !node.is_scalar()) {
                node.ignore_rest();
            }
        }
    }

    void read_sizes() {
        const Node pairs = node_["loop_dim_size"];
        if (pairs) {
            for (const auto& [name, value] : pairs.entries()) {
                sizes_[zigzag::upper(name)] = value.integer({1, kMaxDimension}).value_or(1);
            }
            return;
        }
        const auto names = node_.need("loop_dims").items(1);
        const auto values = node_.need("loop_sizes").items(1);
        if (names.size() != values.size()) {
            node_["loop_sizes"].error(
                "wrong-number",
                fmt::format("{} sizes stand beside {} dimensions", values.size(), names.size()),
                "give each dimension of loop_dims its size");
            return;
        }
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string name = zigzag::upper(names[i].text().value_or(""));
            if (!sizes_.emplace(name, values[i].integer({1, kMaxDimension}).value_or(1)).second) {
                names[i].error("duplicate-key", fmt::format("dimension {} comes twice", name),
                               "give it once");
            }
        }
    }

    // A size of more than 1 is of a dimension that a tensor or a window has.
    bool all_used(const Equation& equation) const {
        for (const auto& [name, value] : sizes_) {
            const bool used =
                value == 1 || std::ranges::any_of(equation.tensors, [&](const auto& tensor) {
                    return has(equation, tensor.first, name, windows_);
                });
            if (!used) {
                node_["equation"].error(
                    "unknown-dimension",
                    fmt::format("no tensor has the dimension {}", name.substr(0, 40)),
                    "name each of loop_dims in the equation or in dimension_relations");
                return false;
            }
        }
        return true;
    }

    void read_types(const Equation& equation) {
        const Node bits = node_["operand_precision"];
        if (!bits) {
            return;
        }
        for (const auto& [name, value] : bits.entries()) {
            const std::string_view tensor =
                std::string_view(name).substr(0, std::min(name.find("_final"), name.size()));
            if (tensor != "W" && (tensor.size() != 1 || !equation.tensors.contains(tensor[0]))) {
                value.error("unknown-operand",
                            fmt::format("'{}' is no tensor of the equation", name.substr(0, 40)),
                            "as in I, W, O, O_final");
            }
            (void)value.integer({0, 1024});
        }
        const auto read = [&](const char* key, DataType& type) {
            const Node node = bits[key];
            const auto value = node ? node.integer({0, 1024}) : std::nullopt;
            if (value && *value > 0) { // 0: there is no such operand
                if (const auto known = type_of_bits(*value)) {
                    type = *known;
                } else {
                    node.error("unsupported", fmt::format("a precision of {} bits", *value),
                               "known: 4, 8, 16, 32");
                }
            }
        };
        read("I", layer_.types.input);
        layer_.types.weight = layer_.types.input; // where a precision of 0 says that there are none
        read("W", layer_.types.weight);
        read(bits.has("O_final") ? "O_final" : "O", layer_.types.output);
    }

    bool is_pooling(const Equation& equation) const {
        const auto w = equation.tensors.find('W');
        const bool taps_only =
            w != equation.tensors.end() &&
            std::all_of(w->second.begin(), w->second.end(),
                        [](const std::string& d) { return d == "FX" || d == "FY"; });
        return taps_only || zigzag::upper(operator_).find("POOL") != std::string::npos;
    }

    Count size(const char* name) const {
        const auto found = sizes_.find(name);
        return found == sizes_.end() ? 1 : found->second;
    }

    std::optional<Count> product(const std::set<std::string>& without) const {
        std::optional<Count> all = 1;
        for (const auto& [name, value] : sizes_) {
            all = all && !without.contains(name) ? checked_mul(*all, value) : all;
        }
        return all;
    }

    bool fill_sum() {
        const auto elements = product({});
        if (!elements || *elements > kMaxDimension) {
            node_.error("overflow", "the tensor does not fit", "make the layer smaller");
            return false;
        }
        layer_.op = Op::elementwise;
        layer_.shape = ElementwiseShape{1, *elements, "add"};
        return true;
    }

    std::vector<Relation> relations() const {
        std::vector<Relation> all;
        Node list = node_["dimension_relations"];
        list = list ? list : node_["equation_relations"];
        if (list) {
            for (const Node& item : list.items()) {
                if (const auto relation = zigzag::relation_of(item)) {
                    all.push_back(*relation);
                }
            }
        }
        return all;
    }

    // The same on both sides of a coordinate, by its name or by the place in pr_loop_dims.
    Count padding_of(const std::string& coordinate) const {
        const Node padding = node_["padding"];
        std::vector<Node> sides;
        if (padding && padding.is_map()) {
            padding.ignore_rest();
            sides = padding.has(coordinate) ? padding[coordinate].items() : sides;
        } else if (padding && padding.is_list()) {
            const Node order = node_["pr_loop_dims"];
            const auto names = order ? order.items() : std::vector<Node>{};
            const auto rows = padding.items();
            for (std::size_t i = 0; i < std::min(names.size(), rows.size()); ++i) {
                if (zigzag::upper(names[i].text().value_or("")) == coordinate &&
                    rows[i].is_list()) {
                    sides = rows[i].items();
                }
            }
        }
        const bool both = sides.size() == 2;
        const Count before = both ? sides[0].integer({0, kMaxDimension}).value_or(0) : 0;
        const Count after = both ? sides[1].integer({0, kMaxDimension}).value_or(0) : 0;
        return before == after ? before : 0;
    }

    // Windows into loops; false when a relation does not fit a convolution.
    bool place_windows(const std::vector<Relation>& windows, ConvRoles& roles, ConvLoops& loops) {
        for (const Relation& r : windows) {
            if (!sizes_.contains(r.position) && !sizes_.contains(r.tap)) {
                continue;
            }
            const bool columns = r.coordinate == "IX";
            const auto rows = roles.window(r.position, r.tap, columns);
            if (!rows) {
                node_["dimension_relations"].error(
                    "unsupported",
                    fmt::format("{} is one window more than a convolution has", r.coordinate),
                    "a convolution has two");
                return false;
            }
            (*rows ? loops.stride.h : loops.stride.w) = r.stride;
            (*rows ? loops.dilation.h : loops.dilation.w) = r.dilation;
            (*rows ? loops.pad.h : loops.pad.w) = padding_of(r.coordinate);
        }
        return true;
    }

    bool fill_pool() {
        ConvRoles roles;
        ConvLoops loops;
        if (!place_windows(windows_, roles, loops)) {
            return false;
        }
        loops.bounds[index(Dim::P)] = size("OY");
        loops.bounds[index(Dim::Q)] = size("OX");
        loops.bounds[index(Dim::R)] = size("FY");
        loops.bounds[index(Dim::S)] = size("FX");
        loops.dilation = {1, 1};
        const auto channels = product({"B", "OY", "OX", "FY", "FX"});
        const auto conv = conv_of(loops);
        if (!channels || !conv) {
            node_.error("overflow", "the tensor does not fit", "make the layer smaller");
            return false;
        }
        layer_.op =
            zigzag::upper(operator_).find("AV") != std::string::npos ? Op::avgpool : Op::maxpool;
        layer_.shape = PoolShape{size("B"), *channels, conv->h,      conv->w,
                                 conv->r,   conv->s,   conv->stride, conv->pad};
        return true;
    }

    static bool has(const Equation& equation, char tensor, const std::string& dim,
                    const std::vector<Relation>& windows) {
        const auto found = equation.tensors.find(tensor);
        if (found == equation.tensors.end()) {
            return false;
        }
        return std::any_of(found->second.begin(), found->second.end(), [&](const std::string& d) {
            return d == dim || std::any_of(windows.begin(), windows.end(), [&](const Relation& r) {
                       return r.coordinate == d && (r.position == dim || r.tap == dim);
                   });
        });
    }

    bool fill_conv(const Equation& equation) {
        ConvRoles roles;
        ConvLoops loops;
        if (!place_windows(windows_, roles, loops)) {
            return false;
        }
        for (const auto& [name, value] : sizes_) {
            const TensorsOf tensors{has(equation, 'O', name, windows_),
                                    has(equation, 'I', name, windows_),
                                    has(equation, 'W', name, windows_)};
            if (!roles.has(name) && value > 1 && !roles.place(name, tensors)) {
                node_["equation"].error(
                    "unsupported",
                    fmt::format("dimension {} does not fit a convolution or a matrix product",
                                name),
                    "at most one dimension each may lie in all tensors, and in O and W");
                return false;
            }
        }
        for (const auto& [name, dim] : roles.dims()) {
            loops.bounds[index(dim)] = sizes_.contains(name) ? sizes_.at(name) : 1;
        }
        const auto shape = conv_of(loops);
        if (!shape) {
            node_.error("overflow", "the sizes do not fit 63 bits", "make the layer smaller");
            return false;
        }
        layer_.op = Op::conv2d;
        layer_.shape = *shape;
        return true;
    }

    Node node_;
    std::string operator_;
    Sizes sizes_;
    std::vector<Relation> windows_;
    Layer layer_;
};

} // namespace

bool is_zigzag(std::string_view text) {
    const std::string_view head = text.substr(0, 20000);
    const auto has = [&](const char* part) { return head.find(part) != std::string_view::npos; };
    return has("equation") && (has("loop_dim_size") || has("loop_sizes"));
}

Result<Network> parse_zigzag(std::string text, const std::string& file) {
    const auto document =
        hwdb::parse_yaml(zigzag::as_yaml(std::move(text)), file, {.allow_aliases = true});
    if (!document) {
        return Result<Network>(document.diagnostics());
    }
    const std::string stem = std::filesystem::path(file).stem().string();
    Network network{stem, stem, "ZigZag workload", {}};
    const Node root = document->root();
    const auto add = [&](const Node& node, const std::string& fallback) {
        if (auto layer = ZigzagLayers(node, fallback).run()) {
            network.layers.push_back(*std::move(layer));
        }
    };
    if (root.is_list()) {
        for (const Node& node : root.items(1)) {
            const Node id = node.is_map() ? node["id"] : Node{};
            add(node, "layer" + (id ? id.text().value_or("") : ""));
        }
    } else {
        for (const auto& [key, node] : root.entries()) {
            add(node, "layer" + key);
        }
    }
    Diagnostics found = document->finish();
    if (network.layers.empty() && !found.has_errors()) {
        found.error("no-layers", "the workload has no layers",
                    "it is a list of layers, each with an id", {file, 1, 1});
    }
    return found.has_errors() ? Result<Network>(std::move(found))
                              : Result<Network>(std::move(network), std::move(found));
}

} // namespace eyeroof::formats
