#include "base/ascii.hpp"
#include "formats/accelforge.hpp"
#include "formats/accelforge_einsum.hpp"
#include "formats/contraction.hpp"
#include "formats/conv_roles.hpp"
#include "formats/script.hpp"
#include "formats/template.hpp"
#include "hwdb/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;

namespace {

constexpr int kDeepestLists = 8;

using ForgeSizes = std::map<std::string, Count, std::less<>>;

// "0 <= p0 < 112" bounds p0.
void read_bound(const Node& node, ForgeSizes& sizes) {
    const std::string text = node.text().value_or("");
    const std::size_t upper = text.rfind('<');
    const std::size_t lower = text.find("<=");
    const bool range = lower != std::string::npos && upper != std::string::npos && upper > lower;
    const std::string name = range ? stripped(text.substr(lower + 2, upper - lower - 2)) : "";
    const auto size = range ? evaluate(stripped(text.substr(upper + 1)), {})
                            : Result<double>::failure("", "", "");
    if (!plain_word(name) || !size || *size < 1.0 || *size > 1e9 || std::floor(*size) != *size) {
        node.error("unsupported", fmt::format("'{}' bounds no variable", text.substr(0, 60)),
                   "write 0 <= p < 112");
        return;
    }
    sizes[name] = static_cast<Count>(*size);
}

class WorkloadReader {
  public:
    explicit WorkloadReader(const Node& workload) : workload_(workload) { workload.ignore_rest(); }

    void run(NetworkGraph& made) {
        read_sizes();
        read_types();
        add_all(workload_.need("einsums"), made, 0);
    }

  private:
    // Lists in the list are of files that are included.
    void add_all(const Node& list, NetworkGraph& made, int depth) {
        for (const Node& node : list.items(1)) {
            if (node.is_list() && depth < kDeepestLists) {
                add_all(node, made, depth + 1);
            } else {
                add(node, made);
            }
        }
    }

    void read_sizes() {
        if (const Node ranks = optional("rank_sizes")) {
            ScriptNames names; // sizes may be expressions of those above them
            names.value = [&](const std::string& name) {
                const auto found = ranks_.find(name);
                return found == ranks_.end()
                           ? std::nullopt
                           : std::optional(ScriptValue{static_cast<double>(found->second)});
            };
            for (const auto& [name, node] : ranks.entries()) {
                const auto value = run_script(node.text().value_or(""), names);
                const double* size = value ? value->number() : nullptr;
                if (size != nullptr && *size >= 1.0 && *size <= 1e9 && std::floor(*size) == *size) {
                    ranks_[name] = static_cast<Count>(*size);
                } else {
                    node.error("bad-number", fmt::format("rank {} has no whole size", name),
                               "write a number such as 128");
                }
            }
        }
        for (const char* key : {"iteration_space_shape", "shape"}) {
            if (const Node bounds = optional(key)) {
                read_bounds(bounds, sizes_);
            }
        }
    }

    static void read_bounds(const Node& bounds, ForgeSizes& sizes) {
        if (bounds.is_map()) {
            for (const auto& [name, node] : bounds.entries()) {
                read_bound(node, sizes);
            }
            return;
        }
        for (const Node& node : bounds.items()) {
            read_bound(node, sizes);
        }
    }

    void read_types() {
        const Node bits = optional("bits_per_value");
        if (!bits || !bits.is_map()) {
            return;
        }
        for (const auto& [name, node] : bits.entries()) {
            const auto value = evaluate(node.text().value_or(""), {});
            const DataType type = value && *value == 4.0    ? DataType::int4
                                  : value && *value == 16.0 ? DataType::int16
                                  : value && *value == 32.0 ? DataType::int32
                                                            : DataType::int8;
            const bool all = name == "All";
            types_.input = all || name == "input" ? type : types_.input;
            types_.weight = all || name == "weight" ? type : types_.weight;
            types_.output = all || name == "output" ? type : types_.output;
            if (!value || *value != static_cast<double>(storage_bits(type))) {
                node.warning("word-size", "words of this size are counted as 8 bits",
                             "known: 4, 8, 16, 32");
            }
        }
    }

    Node optional(const char* key) const { return workload_.has(key) ? workload_[key] : Node{}; }

    void add(const Node& node, NetworkGraph& made) {
        Einsum einsum;
        einsum.node = node;
        ForgeSizes sizes = sizes_;
        bool read = false;
        if (node.is_scalar()) {
            read = read_equation(node.text().value_or(""), einsum);
        } else {
            node.ignore_rest();
            einsum.name = node.has("name") ? node["name"].text().value_or("") : "";
            einsum.copy = node.has("is_copy_operation") && is_true(node["is_copy_operation"]);
            if (const Node names = node.has("renames") ? node["renames"] : Node{};
                names && names.is_map()) {
                names.ignore_rest();
                einsum.weight = names.has("weight") ? names["weight"].text().value_or("") : "";
            }
            if (node.has("iteration_space_shape")) {
                read_bounds(node["iteration_space_shape"], sizes);
            }
            read = node.has("einsum") ? read_equation(node["einsum"].text().value_or(""), einsum)
                                      : read_accesses(node.need("tensor_accesses"), einsum);
        }
        if (!read) {
            node.error("unsupported", "this einsum is not read",
                       "write O[m, n] = A[m, k] * B[k, n], coordinates as sums of variables");
            return;
        }
        wire(einsum, sizes, made);
    }

    // ---- layers ---------------------------------------------------------------------------------

    std::optional<Count> size_of_variable(const std::string& name, const Einsum& einsum,
                                          const ForgeSizes& sizes) const {
        if (const auto found = sizes.find(name); found != sizes.end()) {
            return found->second;
        }
        const auto rank_size = [&](const std::string& rank) -> std::optional<Count> {
            const auto found = ranks_.find(rank);
            return found == ranks_.end() ? std::nullopt : std::optional(found->second);
        };
        if (const auto known = rank_size(capitals(name))) {
            return known;
        }
        for (const ForgeTensor& tensor : with_output(einsum)) {
            for (const ForgeCoordinate& c : tensor.coordinates) {
                if (c.terms.size() == 1 && c.terms[0].variable == name && c.terms[0].factor == 1) {
                    if (const auto known = rank_size(c.rank)) {
                        return known;
                    }
                }
            }
        }
        return std::nullopt;
    }

    static std::vector<ForgeTensor> with_output(const Einsum& einsum) {
        std::vector<ForgeTensor> all = einsum.inputs;
        all.push_back(einsum.output);
        return all;
    }

    // Every variable with its size; nothing, with an error, where one has none.
    std::optional<ForgeSizes> variables_of(const Einsum& einsum, const ForgeSizes& sizes) const {
        ForgeSizes all;
        for (const ForgeTensor& tensor : with_output(einsum)) {
            for (const ForgeCoordinate& c : tensor.coordinates) {
                for (const ForgeTerm& term : c.terms) {
                    const auto size = size_of_variable(term.variable, einsum, sizes);
                    if (!size) {
                        einsum.node.error(
                            "missing-key",
                            fmt::format("variable {} of {} has no size", term.variable,
                                        einsum.name),
                            fmt::format("add {} to rank_sizes", capitals(term.variable)));
                        return std::nullopt;
                    }
                    all[term.variable] = *size;
                }
            }
        }
        return all;
    }

    static std::optional<Count> elements(const ForgeTensor& tensor, const ForgeSizes& sizes) {
        std::optional<Count> all = 1;
        for (const ForgeCoordinate& c : tensor.coordinates) {
            Count extent = 1;
            for (const ForgeTerm& term : c.terms) {
                extent += (sizes.at(term.variable) - 1) * term.factor;
            }
            all = all ? checked_mul(*all, extent) : std::nullopt;
        }
        return all;
    }

    static bool same_shape(const ForgeTensor& a, const ForgeTensor& b, const ForgeSizes& sizes) {
        return std::all_of(sizes.begin(), sizes.end(), [&](const auto& entry) {
            return a.has(entry.first) == b.has(entry.first);
        });
    }

    // Element-wise operators and softmax.
    bool fill_rows(const Einsum& einsum, const ForgeSizes& sizes, Layer& layer) const {
        const ForgeTensor& wide = einsum.inputs.front();
        const auto all = elements(wide, sizes);
        Count columns = 1;
        if (!wide.coordinates.empty()) {
            for (const ForgeTerm& term : wide.coordinates.back().terms) {
                columns += (sizes.at(term.variable) - 1) * term.factor;
            }
        }
        if (!all) {
            einsum.node.error("overflow", "the tensor does not fit 63 bits", "make it smaller");
            return false;
        }
        const bool softmax = lowered(einsum.name).find("softmax") != std::string::npos;
        if (softmax && einsum.inputs.size() == 1) {
            layer.op = Op::softmax;
            layer.shape = RowsShape{*all / columns, columns, 0};
            return true;
        }
        layer.op = Op::elementwise;
        layer.shape = ElementwiseShape{*all / columns, columns,
                                       einsum.inputs.size() == 1 ? "relu"
                                       : einsum.sum              ? "add"
                                                                 : "mul"};
        return true;
    }

    // The second operand: the one that the file calls weight, one whose name says so, one that no
    // einsum makes, or else the second.
    std::size_t weight_of(const Einsum& einsum) const {
        const auto is = [&](auto test) -> std::optional<std::size_t> {
            const bool first = test(einsum.inputs[0]);
            const bool second = test(einsum.inputs[1]);
            return first == second ? std::nullopt : std::optional<std::size_t>(first ? 0 : 1);
        };
        const auto called = is([&](const ForgeTensor& t) { return t.name == einsum.weight; });
        const auto windows = is([](const ForgeTensor& t) {
            return std::all_of(t.coordinates.begin(), t.coordinates.end(),
                               [](const auto& c) { return c.terms.size() == 1; });
        });
        const auto named = is([](const ForgeTensor& t) { return t.name.starts_with("W"); });
        const auto given = is([&](const ForgeTensor& t) { return !makers_.contains(t.name); });
        return called ? *called : windows ? *windows : named ? *named : given ? *given : 1;
    }

    // Windows of the input beyond two: those whose words exceed what they reach the least. Their
    // positions and taps are folded as dimensions of two tensors.
    static std::vector<const ForgeCoordinate*>
    unfolded_of(const Einsum& einsum, const ForgeSizes& sizes, std::size_t weight) {
        const ForgeTensor& input = einsum.inputs[1 - weight];
        std::vector<std::pair<double, const ForgeCoordinate*>> windows;
        for (const ForgeCoordinate& c : input.coordinates) {
            if (c.terms.size() != 2) {
                continue;
            }
            const bool first_is_tap = !einsum.output.has(c.terms[0].variable);
            const ForgeTerm& position = c.terms[first_is_tap ? 1 : 0];
            const ForgeTerm& tap = c.terms[first_is_tap ? 0 : 1];
            const auto positions = sizes.find(position.variable);
            const auto taps = sizes.find(tap.variable);
            if (positions == sizes.end() || taps == sizes.end() ||
                !einsum.inputs[weight].has(tap.variable)) {
                return {};
            }
            windows.emplace_back(
                unfolding_factor(positions->second, position.factor, taps->second, tap.factor), &c);
        }
        std::stable_sort(windows.begin(), windows.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<const ForgeCoordinate*> unfolded;
        for (std::size_t i = 0; i + 2 < windows.size(); ++i) {
            unfolded.push_back(windows[i].second);
            einsum.node.warning(
                "unfolded-window",
                fmt::format(
                    "{} has a third window: its positions count as images and its taps as "
                    "channels, so that {} has {:.3g} times the words that the windows reach",
                    einsum.name, input.name, windows[i].first),
                "traffic of that tensor is an upper bound");
        }
        return unfolded;
    }

    bool fill_product(const Einsum& einsum, const ForgeSizes& sizes, Layer& layer) const {
        const std::size_t w = weight_of(einsum);
        const ForgeTensor& weight = einsum.inputs[w];
        const ForgeTensor& input = einsum.inputs[1 - w];
        const ForgeTensor& output = einsum.output;
        ConvRoles roles;
        ConvLoops loops;
        std::set<std::string> placed;
        const std::vector<const ForgeCoordinate*> unfolded = unfolded_of(einsum, sizes, w);
        for (const ForgeCoordinate& c : input.coordinates) {
            if ((c.terms.size() == 1 && c.terms[0].factor == 1) ||
                std::find(unfolded.begin(), unfolded.end(), &c) != unfolded.end()) {
                continue;
            }
            ForgeTerm position = c.terms.front();
            ForgeTerm tap = c.terms.size() > 1 ? c.terms[1] : ForgeTerm{"", 1};
            if (output.has(tap.variable)) {
                std::swap(position, tap);
            }
            const bool window =
                c.terms.size() <= 2 && output.has(position.variable) && !output.has(tap.variable);
            const auto rows =
                window
                    ? roles.window(position.variable,
                                   tap.variable.empty() ? position.variable + " tap" : tap.variable,
                                   false)
                    : std::nullopt;
            if (!rows) {
                einsum.node.error(
                    "unsupported",
                    fmt::format("a window of {} is no sum of a position and a tap", input.name),
                    "write it as one of each");
                return false;
            }
            (*rows ? loops.stride.h : loops.stride.w) = position.factor;
            (*rows ? loops.dilation.h : loops.dilation.w) = tap.factor;
            placed.insert({position.variable, tap.variable});
        }
        for (const auto& [name, dim] : roles.dims()) {
            const auto size = sizes.find(name);
            loops.bounds[index(dim)] = size == sizes.end() ? 1 : size->second;
        }
        return fold(einsum, sizes, placed, {&output, &input, &weight}, loops) &&
               finish(einsum, loops, layer);
    }

    struct Tensors {
        const ForgeTensor* output;
        const ForgeTensor* input;
        const ForgeTensor* weight;
    };

    // Dimensions in the same tensors count as one of their product.
    static bool fold(const Einsum& einsum, const ForgeSizes& sizes,
                     const std::set<std::string>& placed, const Tensors& t, ConvLoops& loops) {
        for (const auto& [name, size] : sizes) {
            if (placed.contains(name)) {
                continue;
            }
            const bool o = t.output->has(name);
            const bool i = t.input->has(name);
            const bool w = t.weight->has(name);
            const std::optional<Dim> role = o && i && w ? std::optional(Dim::G)
                                            : o && w    ? std::optional(Dim::K)
                                            : o && i    ? std::optional(Dim::N)
                                            : i && w    ? std::optional(Dim::C)
                                                        : std::nullopt;
            const auto bound = role ? checked_mul(loops.bounds[index(*role)], size) : std::nullopt;
            if (size > 1 && (!bound || *bound > kMaxDimension)) {
                einsum.node.error("unsupported",
                                  role ? fmt::format("the dimensions of {} do not fit", einsum.name)
                                       : fmt::format("variable {} of {} lies in one tensor alone",
                                                     name, einsum.name),
                                  "each variable lies in two tensors or in all three");
                return false;
            }
            if (role && bound) {
                loops.bounds[index(*role)] = *bound;
            }
        }
        return true;
    }

    static bool finish(const Einsum& einsum, const ConvLoops& loops, Layer& layer) {
        const auto shape = conv_of(loops);
        if (!shape) {
            einsum.node.error("overflow", "the sizes do not fit 63 bits", "make them smaller");
            return false;
        }
        layer.op = Op::conv2d;
        layer.shape = *shape;
        return true;
    }

    void contract(const Einsum& einsum, const ForgeSizes& sizes, NetworkGraph& made) {
        const auto split = contracted(einsum, sizes);
        if (!split) {
            einsum.node.error("unsupported",
                              fmt::format("{} reads {} tensors", einsum.name, einsum.inputs.size()),
                              fmt::format("split it into einsums of two; up to {} tensors without "
                                          "windows are split here",
                                          kMostContracted));
            return;
        }
        for (const Einsum& part : split->parts) {
            wire(part, sizes, made);
        }
        einsum.node.warning("contracted", split->said, "write einsums of two for another order");
    }

    void wire(const Einsum& einsum, const ForgeSizes& bounds, NetworkGraph& made) {
        const auto sizes = variables_of(einsum, bounds);
        if (!sizes) {
            return;
        }
        if (einsum.copy) {
            makers_[einsum.output.name] = makers_.contains(einsum.inputs.front().name)
                                              ? makers_[einsum.inputs.front().name]
                                              : kNetworkInput;
            return;
        }
        if (einsum.inputs.size() > 2 && !einsum.sum) {
            contract(einsum, *sizes, made);
            return;
        }
        Layer layer;
        layer.name = einsum.name;
        layer.types = types_;
        const bool rows =
            einsum.inputs.size() == 1 || einsum.sum ||
            (einsum.inputs.size() == 2 && same_shape(einsum.inputs[0], einsum.output, *sizes) &&
             same_shape(einsum.inputs[1], einsum.output, *sizes));
        if (rows ? !fill_rows(einsum, *sizes, layer) : !fill_product(einsum, *sizes, layer)) {
            return;
        }
        const Diagnostics faults = validate(layer);
        for (const Diagnostic& d : faults) {
            einsum.node.error(d.code, d.message, d.hint);
        }
        GraphStep step;
        step.layer = made.network.layers.size();
        step.place = static_cast<std::uint32_t>(step.layer);
        for (const ForgeTensor& tensor : einsum.inputs) {
            const auto maker = makers_.find(tensor.name);
            if (maker != makers_.end()) {
                step.reads.push_back(maker->second);
            }
        }
        if (step.reads.empty()) {
            step.reads.push_back(kNetworkInput);
        }
        makers_[einsum.output.name] = made.edges->steps.size();
        made.edges->steps.push_back(step);
        made.edges->places.push_back(einsum.node.where());
        made.edges->names.push_back(layer.name);
        made.network.layers.push_back(std::move(layer));
    }

    const Node& workload_;
    ForgeSizes ranks_;
    ForgeSizes sizes_;
    TensorTypes types_ = {DataType::int8, DataType::int8, DataType::int8};
    std::map<std::string, std::size_t, std::less<>> makers_; // of tensors: a step, or the input
};

} // namespace

Result<NetworkGraph> parse_accelforge_workload(std::string text, const std::string& file,
                                               const Variables& given) {
    hwdb::YamlOptions options{.allow_aliases = true, .allow_tags = true, .allow_merge_keys = true};
    Diagnostics template_notes;
    if (is_template(text)) {
        auto expanded = expand_template(std::move(text), file, given);
        if (!expanded) {
            return Result<NetworkGraph>(expanded.diagnostics());
        }
        template_notes = expanded.diagnostics();
        options.lines = std::move(expanded->lines);
        text = std::move(expanded->text);
    }
    const auto document = hwdb::parse_yaml(std::move(text), file, std::move(options));
    if (!document) {
        return Result<NetworkGraph>(document.diagnostics());
    }
    (void)document->root().entries(); // what is included brings keys of its own
    const std::string stem = std::filesystem::path(file).stem().string();
    NetworkGraph made;
    made.network = {stem, stem, "AccelForge workload", {}};
    made.edges.emplace();
    const Node workload = document->root().need("workload");
    WorkloadReader(workload).run(made);
    Diagnostics found = document->finish();
    found.append(template_notes);
    if (made.network.layers.empty() && !found.has_errors()) {
        found.error("no-layers", "the workload has no einsums that compute", "", {file, 1, 1});
    }
    if (found.has_errors()) {
        return Result<NetworkGraph>(std::move(found));
    }
    for (GraphStep& step : made.edges->steps) {
        step.output = true;
    }
    for (const GraphStep& step : made.edges->steps) {
        for (const std::size_t read : step.reads) {
            if (read < made.edges->steps.size()) {
                made.edges->steps[read].output = false;
            }
        }
    }
    return {std::move(made), std::move(found)};
}

} // namespace eyeroof::formats
