#include "formats/network_layers.hpp"

#include "base/suggest.hpp"
#include "formats/layer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace eyeroof::formats {

namespace {

using hwdb::Node;

// Values that parameters like 0.1 make only nearly whole count as whole.
constexpr double kWholeTolerance = 1e-9;

constexpr std::array<Column, 3> kDefaultColumns = {Column::count, Column::dtype, Column::direction};

std::string_view column_name(Column column) {
    return column_names()[static_cast<std::size_t>(column)];
}

std::optional<double> worked_out(const Node& node, std::string_view expression,
                                 const Variables& values) {
    const auto value = evaluate(expression, values);
    for (const Diagnostic& d : value.diagnostics()) {
        node.error(d.code, d.message, d.hint);
    }
    return value ? std::optional(*value) : std::nullopt;
}

// A number, or an expression behind "=".
std::optional<double> number_of(const Node& node, const Variables& values) {
    const auto text = node.text();
    return text ? worked_out(node, text->starts_with('=') ? text->substr(1) : *text, values)
                : std::nullopt;
}

std::optional<double> whole_number(const Node& node, const std::string& text, double value) {
    const double whole = std::round(value);
    const bool is_whole =
        std::abs(value - whole) <= kWholeTolerance * std::max(1.0, whole) && std::abs(whole) < 1e15;
    if (!is_whole) {
        node.error("not-a-number", fmt::format("{} is {}, not a whole number", text, value),
                   "choose other parameters, or use floor(), ceil() or round()");
        return std::nullopt;
    }
    return whole == 0.0 ? 0.0 : whole;
}

// Reads one layer: gathers its cells, with expressions worked out, and places what is wrong.
class LayerReader {
  public:
    explicit LayerReader(const Node& defaults) : defaults_(defaults) {}

    std::optional<model::Layer> read(const Node& node, const Variables& values) {
        std::array<std::string, kColumns> owned;
        LayerText text;
        bool fine = true;
        for (std::size_t i = 0; i < kColumns; ++i) {
            const auto column = static_cast<Column>(i);
            const Node own = own_of(node, column);
            const Node& source = own.present() || !is_default(column) ? own : default_of(column);
            if (source.present()) {
                fine = cell(source, column, values, owned[i]) && fine;
                text.cells[i] = owned[i];
            }
        }
        if (!fine) {
            return std::nullopt;
        }
        Diagnostics found;
        auto layer = layer_from_text(text, found);
        report(node, found);
        const double input_zeros = node["input_zeros"].number(0.0, 1.0).value_or(0.0);
        const double output_zeros = node["output_zeros"].number(0.0, 1.0).value_or(0.0);
        const auto parameters = learned(node["parameters"], values);
        const auto bias = learned(node["bias"], values);
        const auto trained = learned(node["in_training"], values);
        const auto cached = learned(node["cached"], values);
        if (layer) {
            layer->input_zeros = input_zeros;
            layer->output_zeros = output_zeros;
            layer->parameters = parameters;
            layer->cached = cached.value_or(0);
            layer->in_training = trained.value_or(1);
            if (layer->in_training < 1) {
                node["in_training"].error("bad-dimension", "it is 0", "count from 1");
            }
            add_bias(node, bias, *layer);
        }
        return layer;
    }

  private:
    static std::optional<Count> learned(const Node& node, const Variables& values) {
        const auto value = node.present() ? number_of(node, values) : std::nullopt;
        const auto whole =
            value ? whole_number(node, node.text().value_or(""), *value) : std::nullopt;
        if (whole && *whole < 0.0) {
            node.error("bad-dimension", fmt::format("it is {}", *whole), "count from 0");
        }
        return whole ? std::optional(static_cast<Count>(*whole)) : std::nullopt;
    }

    // One learned value an output channel, as often as `bias` says.
    static void add_bias(const Node& node, std::optional<Count> bias, model::Layer& layer) {
        if (bias.value_or(0) == 0) {
            return;
        }
        const auto* conv = std::get_if<model::ConvShape>(&layer.shape);
        const auto* gemm = std::get_if<model::GemmShape>(&layer.shape);
        const bool transposed = layer.direction == model::Direction::bwd_data;
        const auto outputs = conv != nullptr   ? (transposed ? conv->c : conv->k)
                             : gemm != nullptr ? (transposed ? gemm->k : gemm->n)
                                               : 0;
        const auto biases = checked_mul(outputs, *bias);
        const auto all = biases ? checked_add(model::parameters_of(layer), *biases) : std::nullopt;
        if (outputs == 0 || !all) {
            node["bias"].error("unused-value", "only convolutions and products have biases here",
                               "write `parameters` with the number of learned values");
            return;
        }
        layer.parameters = all;
    }

    static bool is_default(Column column) {
        return std::find(kDefaultColumns.begin(), kDefaultColumns.end(), column) !=
               kDefaultColumns.end();
    }
    // The cell under the column's name, or under another name that it has.
    static Node own_of(const Node& node, Column column) {
        Node own = node[column_name(column)];
        for (const OtherName& other : other_column_names()) {
            if (other.column != column) {
                continue;
            }
            const Node named = node[other.name];
            if (named.present() && own.present()) {
                named.error(
                    "given-twice",
                    fmt::format("{} is {} by another name", other.name, column_name(column)),
                    "leave one of them out");
            }
            own = named.present() ? named : own;
        }
        return own;
    }
    Node default_of(Column column) const {
        return defaults_.is_map() ? defaults_[column_name(column)] : Node();
    }

    static bool cell(const Node& node, Column column, const Variables& values, std::string& out) {
        const auto text = node.text();
        if (!text) {
            return false;
        }
        if (!text->starts_with('=') || column == Column::name) {
            out = *text;
            return true;
        }
        const auto value = worked_out(node, std::string_view(*text).substr(1), values);
        const auto whole = value ? whole_number(node, *text, *value) : std::nullopt;
        out = fmt::format("{:.0f}", whole.value_or(0.0));
        return whole.has_value();
    }

    static void report(const Node& node, const Diagnostics& found) {
        for (const Diagnostic& d : found) {
            const Node member = d.field.empty() || !node.has(d.field) ? node : node[d.field];
            if (d.severity == Severity::error) {
                member.error(d.code, d.message, d.hint);
            } else {
                member.warning(d.code, d.message, d.hint);
            }
        }
    }

    const Node& defaults_;
};

// Walks a list of layers and uses of blocks.
class Expander {
  public:
    Expander(const Node& root, const Node& defaults) : reader_(defaults) {
        for (auto& [name, node] : root["blocks"].entries()) {
            blocks_.push_back({name, node, false, false});
        }
    }

    void expand(const std::vector<Node>& nodes, const Variables& values, const std::string& prefix,
                Count times, std::size_t known_blocks) {
        std::size_t number = 0;
        for (const Node& node : nodes) {
            ++number;
            const bool is_block = node.is_map() && node.has("block");
            if (full_ || !wanted(node, values)) {
                is_block ? node.ignore_rest() : ask_all(node);
            } else if (is_block) {
                use(node, values, prefix, times, known_blocks);
            } else {
                add(node, values, prefix, times, number);
            }
        }
    }

    std::size_t block_count() const { return blocks_.size(); }

    // What nothing used is not looked into.
    void finish() {
        for (const Block& block : blocks_) {
            if (!block.used) {
                for (const Node& node : block.node.items(1)) {
                    node.ignore_rest();
                }
            }
        }
    }

    std::vector<model::Layer> layers;

  private:
    struct Block {
        std::string name;
        Node node;
        bool used = false;
        bool broken = false;
    };

    static void ask_all(const Node& node) {
        for (const std::string_view key : column_names()) {
            (void)node[key]; // asked for, so that only misspelt keys are unknown
        }
        for (const OtherName& other : other_column_names()) {
            (void)node[other.name];
        }
        for (const std::string_view key :
             {"input_zeros", "output_zeros", "parameters", "bias", "in_training", "cached"}) {
            (void)node[key];
        }
    }

    // `when` leaves a layer or a block out where its expression is 0.
    static bool wanted(const Node& node, const Variables& values) {
        const Node condition = node["when"];
        return !condition.present() || number_of(condition, values).value_or(1.0) != 0.0;
    }

    void add(const Node& node, const Variables& values, const std::string& prefix, Count times,
             std::size_t number) {
        auto layer = reader_.read(node, values);
        if (!layer) {
            ++failures_;
            return;
        }
        if (layers.size() >= kMostLayers) {
            full_ = true;
            node.error("too-many-layers", fmt::format("more than {} layers", kMostLayers),
                       "use `count` for layers that are alike");
            return;
        }
        layer->name = prefix + (layer->name.empty() ? fmt::format("layer{}", number) : layer->name);
        const auto product = checked_mul(layer->count, times);
        layer->count = product.value_or(model::kMaxDimension);
        if (!product || *product > model::kMaxDimension) {
            node.error("bad-dimension", "the layer is run too often",
                       fmt::format("the largest count is {}", model::kMaxDimension));
        }
        layers.push_back(std::move(*layer));
    }

    // Position of the block among those that this place may use: the ones above it, so that none
    // uses itself.
    std::optional<std::size_t> find(const Node& node, std::size_t known_blocks) {
        const Node reference = node["block"];
        const auto name = reference.text();
        if (!name) {
            return std::nullopt;
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < known_blocks; ++i) {
            if (blocks_[i].name == *name) {
                return i;
            }
            names.push_back(blocks_[i].name);
        }
        reference.error("unknown-block", fmt::format("there is no block '{}' here", *name),
                        names.empty() ? "a block may use the blocks above it"
                                      : suggestion(*name, names));
        return std::nullopt;
    }

    // A whole number of at least 1; nothing where it is wrong.
    static std::optional<Count> times_of(const Node& node, const Variables& values) {
        if (!node.present()) {
            return 1;
        }
        const auto value = number_of(node, values);
        const auto whole =
            value ? whole_number(node, node.text().value_or(""), *value) : std::nullopt;
        if (whole && (*whole < 1.0 || *whole > static_cast<double>(model::kMaxDimension))) {
            node.error("bad-dimension", fmt::format("it is {}", *whole),
                       "use a whole number from 1; `when` leaves a layer out");
            return std::nullopt;
        }
        return whole ? std::optional(static_cast<Count>(*whole)) : std::nullopt;
    }

    void use(const Node& node, const Variables& values, const std::string& prefix, Count times,
             std::size_t known_blocks) {
        const auto at = find(node, known_blocks);
        const std::string name = node["name"].text().value_or("");
        const auto count = times_of(node["count"], values);
        const auto repeat = times_of(node["repeat"], values);
        Variables inner = values;
        const bool bound = bind(node, values, inner);
        if (!at || !count || !repeat || !bound || blocks_[*at].broken) {
            return;
        }
        blocks_[*at].used = true;
        const std::size_t failures = failures_;
        const std::vector<Node> items = blocks_[*at].node.items(1);
        const auto all = checked_mul(times, *count);
        for (Count i = 0; i < *repeat && failures == failures_ && !full_; ++i) {
            inner["i"] = static_cast<double>(i);
            const std::string number = *repeat > 1 ? fmt::format("{}", i + 1) : "";
            const std::string own = name.empty() && number.empty() ? "" : name + number + "_";
            expand(items, inner, prefix + own, all.value_or(model::kMaxDimension), *at);
        }
        blocks_[*at].broken = failures != failures_; // an error is reported once, not per use
    }

    // The other keys of a use are the block's own values.
    static bool bind(const Node& node, const Variables& values, Variables& inner) {
        bool fine = true;
        for (const auto& [key, value] : node.entries()) {
            if (key == "block" || key == "name" || key == "count" || key == "repeat" ||
                key == "when") {
                continue;
            }
            const auto number = number_of(value, values);
            fine = fine && number.has_value();
            inner[key] = number.value_or(1.0);
        }
        return fine;
    }

    LayerReader reader_;
    std::vector<Block> blocks_;
    std::size_t failures_ = 0;
    bool full_ = false;
};

} // namespace

std::vector<model::Layer> read_layers(const hwdb::Node& root, Variables values) {
    const Node defaults = root["defaults"];
    if (defaults.present()) {
        for (const Column column : kDefaultColumns) {
            (void)defaults[column_name(column)]; // asked for, also where no layer needs it
        }
    }
    for (const auto& [name, node] : root["let"].entries()) {
        if (const auto value = number_of(node, values)) {
            values[name] = *value;
        }
    }
    Expander expander(root, defaults);
    expander.expand(root.need("layers").items(1), values, "", 1, expander.block_count());
    expander.finish();
    return std::move(expander.layers);
}

} // namespace eyeroof::formats
