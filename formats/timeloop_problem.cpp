#include "formats/conv_roles.hpp"
#include "formats/expression.hpp"
#include "formats/timeloop_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <utility>

// Timeloop's problems: the cnn-layer, or a shape of its own that lists dimensions and data spaces
// with projections.

namespace eyeroof::formats {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field
using hwdb::Node;
using timeloop::member;

namespace {

struct Term {
    std::string dim;
    std::string coefficient;
};

// One coordinate of a tensor: a sum of terms.
struct Coordinate {
    std::vector<Term> terms;
    Node node;
};

struct DataSpace {
    std::string name;
    bool written = false;
    std::vector<Coordinate> coordinates;
    Node node;

    bool has(const std::string& dim) const {
        return std::any_of(coordinates.begin(), coordinates.end(), [&](const Coordinate& c) {
            return std::any_of(c.terms.begin(), c.terms.end(),
                               [&](const Term& t) { return t.dim == dim; });
        });
    }
};

// projection: one list a coordinate, of terms [dim] or [dim, coefficient].
DataSpace read_space(const Node& node, const std::vector<std::string>& dims) {
    DataSpace space;
    space.node = node;
    space.name = node.need("name").text().value_or("");
    if (const Node written = member(node, "read_write")) {
        const std::string text = written.text().value_or("");
        space.written = text == "true" || text == "True" || text == "TRUE";
    }
    for (const Node& row : node.need("projection").items()) { // none: one value
        Coordinate coordinate;
        coordinate.node = row;
        for (const Node& term : row.items(1)) {
            const auto parts = term.items(1);
            Term read;
            if (!parts.empty()) {
                if (const auto which = parts[0].choice_of(dims, "dimension")) {
                    read.dim = dims[*which];
                }
            }
            read.coefficient = parts.size() > 1 ? parts[1].text().value_or("") : "";
            coordinate.terms.push_back(std::move(read));
        }
        space.coordinates.push_back(std::move(coordinate));
    }
    return space;
}

std::string lowered_key(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// A whole number, or an expression of the file's variables. "BATCH_SIZE" that no variable names is
// 1, as a warning says.
Count size_of(const Node& node, const Variables& variables) {
    const std::string text = node.text().value_or("");
    const bool number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const auto value = number ? Result<double>::failure("", "", "") : evaluate(text, variables);
    if (value && *value >= 1.0 && *value <= static_cast<double>(kMaxDimension) &&
        std::floor(*value) == *value) {
        return static_cast<Count>(*value);
    }
    if (!number && lowered_key(text).find("batch") != std::string::npos) {
        node.warning("unset-variable", fmt::format("{} is set nowhere here and taken as 1", text),
                     "set it under variables");
        return 1;
    }
    return node.integer().value_or(1);
}

class Shape {
  public:
    Shape(Node shape, Node instance, const Variables& variables)
        : shape_(std::move(shape)), instance_(std::move(instance)), variables_(variables) {}

    void read() {
        for (const Node& node : shape_.need("dimensions").items(1)) {
            dims_.push_back(node.text().value_or(""));
        }
        shape_["name"].text();
        shape_["version"].text();
        read_coefficients();
        for (const Node& node : spaces_node().items(1)) {
            spaces_.push_back(read_space(node, dims_));
        }
        if (!name_spaces()) {
            return;
        }
        place_windows();
        std::vector<std::string> alone;
        for (const std::string& dim : dims_) {
            if (roles_.has(dim) || is_folded(dim)) {
                continue;
            }
            if (belongs_to_one(dim)) {
                alone.push_back(dim);
            } else {
                place(dim);
            }
        }
        for (const auto& [name, dim] : roles_.dims()) {
            loops.bounds[index(dim)] = size_of(instance_.need(name), variables_);
        }
        multiply_folded();
        for (const std::string& dim : alone) { // a mapping may name it, with one trip
            roles_.place_single(dim);
        }
        names.dims = roles_.dims();
        read_misspelt_coefficients();
    }

    TimeloopNames names;
    ConvLoops loops;
    bool transposed = false;

  private:
    // A dimension of one data space alone, such as the bits of its words: one of them is read.
    bool belongs_to_one(const std::string& dim) const {
        const int spaces = static_cast<int>(output_->has(dim)) +
                           static_cast<int>(input_->has(dim)) + static_cast<int>(weight_->has(dim));
        if (spaces != 1) {
            return false;
        }
        const Node size = instance_[dim];
        const std::string text = size ? size.text().value_or("1") : "1";
        const auto value = evaluate(text, variables_);
        const bool name = text.find_first_not_of("0123456789") != std::string::npos;
        if (value ? *value != 1.0 : !name) {
            size.error("unsupported",
                       fmt::format("dimension {} addresses one tensor alone and has a size of {}",
                                   dim, text),
                       "words in slices of their own are not modelled; give it the size 1");
        } else if (!value) {
            size.warning("unset-variable",
                         fmt::format("{} is set nowhere here: {} is taken as 1", text, dim),
                         "words are counted whole, not in slices of bits");
        }
        return true;
    }

    // "HStride" for a coefficient that is called Hstride.
    void read_misspelt_coefficients() {
        for (const auto& [key, node] : instance_.entries()) {
            for (const auto& [name, value] : coefficients_) {
                if (key != name && lowered_key(key) == lowered_key(name)) {
                    node.warning("misspelt-key", fmt::format("{} is read as {}", key, name),
                                 "Timeloop passes over a coefficient of another name");
                    set_coefficient(name, node.integer().value_or(1));
                }
            }
        }
    }

    void set_coefficient(const std::string& name, Count value) {
        for (const auto& [used, place] : places_) {
            if (used == name) {
                *place = value;
            }
        }
    }

    Node spaces_node() const {
        const Node found = member(shape_, "data_spaces");
        return found ? found : shape_.need("data_spaces");
    }

    void read_coefficients() {
        const Node list = shape_["coefficients"];
        if (!list) {
            return;
        }
        for (const Node& node : list.items()) {
            const std::string name = node.need("name").text().value_or("");
            const Count fallback = node["default"].integer().value_or(1);
            coefficients_[name] = instance_[name].integer().value_or(fallback);
        }
    }

    // One output, up to two inputs: weights by name, else the second.
    bool name_spaces() {
        std::vector<const DataSpace*> inputs;
        for (const DataSpace& space : spaces_) {
            if (space.written && output_ == nullptr) {
                output_ = &space;
            } else {
                inputs.push_back(&space);
            }
        }
        if (output_ == nullptr || inputs.size() != 2) {
            shape_.error("unsupported",
                         "only shapes with two data spaces that are read and one that is written "
                         "(read_write) are read",
                         "write it as Timeloop's cnn-layer or gemm");
            return false;
        }
        const auto sounds_like_weights = [](const DataSpace& s) {
            return s.name.find("eight") != std::string::npos ||
                   s.name.find("ilter") != std::string::npos || s.name == "W";
        };
        const bool swap = sounds_like_weights(*inputs[0]) && !sounds_like_weights(*inputs[1]);
        input_ = inputs[swap ? 1 : 0];
        weight_ = inputs[swap ? 0 : 1];
        // A transposed convolution adds to windows of what it writes, as the gradient of an input
        // does: the same loops, with what is written as the input of a convolution.
        transposed = has_window(*output_) && !has_window(*input_);
        if (transposed) {
            std::swap(input_, output_);
        }
        names.spaces = {{output_->name, Operand::output},
                        {input_->name, Operand::input},
                        {weight_->name, Operand::weight}};
        return true;
    }

    static bool has_window(const DataSpace& space) {
        return std::any_of(space.coordinates.begin(), space.coordinates.end(),
                           [](const Coordinate& c) { return c.terms.size() == 2; });
    }

    // Coordinates of the input with two terms: rows first, unless the names say otherwise. Of three
    // windows the one whose words exceed those that it reaches the least is unfolded.
    void place_windows() {
        std::vector<const Coordinate*> windows;
        for (const Coordinate& c : input_->coordinates) {
            if (c.terms.size() == 2) {
                windows.push_back(&c);
            }
        }
        while (windows.size() > 2 && !transposed && sized(windows)) {
            const auto least =
                std::min_element(windows.begin(), windows.end(), [&](const auto* a, const auto* b) {
                    return factor_of(*a) < factor_of(*b);
                });
            unfold(**least);
            windows.erase(least);
        }
        for (const DataSpace& space : spaces_) {
            for (const Coordinate& c : space.coordinates) {
                const bool plain = (c.terms.size() == 1 && c.terms[0].coefficient.empty()) ||
                                   (!c.terms.empty() && is_folded(c.terms[0].dim));
                if (!plain && (&space != input_ || c.terms.size() != 2 || !place_window(c))) {
                    c.node.error("unsupported",
                                 fmt::format("this coordinate of {} is not a plain dimension, nor "
                                             "an input's sum of a position and a tap",
                                             space.name),
                                 "write it as Timeloop's cnn-layer or gemm");
                }
            }
        }
    }

    const Term& tap_of(const Coordinate& c) const {
        return c.terms[weight_->has(c.terms[0].dim) ? 0 : 1];
    }
    const Term& position_of(const Coordinate& c) const {
        return c.terms[weight_->has(c.terms[0].dim) ? 1 : 0];
    }
    bool sized(const std::vector<const Coordinate*>& windows) const {
        return std::all_of(windows.begin(), windows.end(), [&](const Coordinate* c) {
            const Term& tap = tap_of(*c);
            const Term& position = position_of(*c);
            return weight_->has(tap.dim) && !output_->has(tap.dim) && output_->has(position.dim) &&
                   !weight_->has(position.dim) && instance_.has(tap.dim) &&
                   instance_.has(position.dim);
        });
    }
    double factor_of(const Coordinate& c) {
        const Term& tap = tap_of(c);
        const Term& position = position_of(c);
        return unfolding_factor(size_of(instance_[position.dim], variables_), coefficient(position),
                                size_of(instance_[tap.dim], variables_), coefficient(tap));
    }
    void unfold(const Coordinate& c) {
        const std::string& tap = tap_of(c).dim;
        const std::string& position = position_of(c).dim;
        folded_.emplace_back(position, Dim::N);
        folded_.emplace_back(tap, Dim::C);
        c.node.warning("unfolded-window",
                       fmt::format("the window of {} and {} is the third: its positions count as "
                                   "images and its taps as channels, so that {} has {:.3g} times "
                                   "the words that the windows reach",
                                   position, tap, input_->name, factor_of(c)),
                       "traffic of that tensor is an upper bound; a mapping cannot name the two");
    }
    bool is_folded(const std::string& dim) const {
        return std::any_of(folded_.begin(), folded_.end(),
                           [&](const auto& entry) { return entry.first == dim; });
    }
    void multiply_folded() {
        for (const auto& [name, dim] : folded_) {
            Count& bound = loops.bounds[index(dim)];
            const auto product = checked_mul(bound, size_of(instance_.need(name), variables_));
            if (!product || *product > kMaxDimension) {
                shape_.error("overflow",
                             fmt::format("with {} folded in, a dimension is too large", name),
                             "make the layer smaller");
                return;
            }
            bound = *product;
        }
    }

    bool place_window(const Coordinate& c) {
        const Term& tap = tap_of(c);
        const Term& position = position_of(c);
        if (!weight_->has(tap.dim) || output_->has(tap.dim) || !output_->has(position.dim) ||
            weight_->has(position.dim)) {
            return false;
        }
        const bool columns = position.dim == "Q" || tap.dim == "S";
        const auto rows = roles_.window(position.dim, tap.dim, columns);
        if (!rows) {
            return false;
        }
        Count& stride = *rows ? loops.stride.h : loops.stride.w;
        Count& dilation = *rows ? loops.dilation.h : loops.dilation.w;
        stride = coefficient(position);
        dilation = coefficient(tap);
        places_.emplace_back(position.coefficient, &stride);
        places_.emplace_back(tap.coefficient, &dilation);
        return true;
    }

    Count coefficient(const Term& term) {
        if (term.coefficient.empty()) {
            return 1;
        }
        const auto known = coefficients_.find(term.coefficient);
        return known == coefficients_.end() ? instance_.need(term.coefficient).integer().value_or(1)
                                            : known->second;
    }

    void place(const std::string& dim) {
        const bool o = output_->has(dim);
        const bool i = input_->has(dim);
        const bool w = weight_->has(dim);
        if (roles_.place(dim, {o, i, w})) {
            return;
        }
        if (const auto role = folded_into({o, i, w})) { // exact: the same tensors hold both
            folded_.emplace_back(dim, *role);
            shape_.warning(
                "folded",
                fmt::format("dimension {} is folded into another of the same tensors", dim),
                "a mapping cannot name it");
        } else {
            shape_.error("unsupported", fmt::format("dimension {} addresses no tensor", dim),
                         "remove it");
        }
    }

    Node shape_;
    Node instance_;
    const Variables& variables_;
    std::vector<std::pair<std::string, Count*>> places_; // of coefficients in `loops`
    ConvRoles roles_;
    std::vector<std::pair<std::string, Dim>> folded_; // and what they are a factor of
    std::vector<std::string> dims_;
    std::map<std::string, Count> coefficients_;
    std::vector<DataSpace> spaces_;
    const DataSpace* output_ = nullptr;
    const DataSpace* input_ = nullptr;
    const DataSpace* weight_ = nullptr;
};

ConvLoops read_cnn_layer(const Node& sizes) {
    const auto size = [&](const std::string& key) { return sizes[key].integer().value_or(1); };
    ConvLoops loops;
    for (const Dim d : kAllDims) {
        loops.bounds[index(d)] = size(std::string(1, letter(d)));
    }
    if (sizes.has("M")) {
        loops.bounds[index(Dim::K)] = size("M");
    }
    loops.stride = {size("Wstride"), size("Hstride")};
    loops.dilation = {size("Wdilation"), size("Hdilation")};
    return loops;
}

// "cnn-layer", a name, or a shape of its own.
std::optional<TimeloopProblem> read_problem(const Node& problem, const std::string& file,
                                            const Variables& variables) {
    const std::string name = file;
    TimeloopProblem read;
    ConvLoops loops;
    bool transposed = false;
    const Node instance = problem.has("instance") ? problem.need("instance") : problem;
    const Node shape = problem["shape"];
    for (const char* key : {"version", "name", "dnn_name", "notes", "histograms", "metadata"}) {
        member(problem, key).ignore_rest(); // what other tools say about the layer
    }
    if (const Node densities = member(instance, "densities");
        densities && !(densities.is_map() && densities.entries().empty())) {
        densities.warning("densities", "densities are not applied: every value counts",
                          "pass them with --density");
        densities.ignore_rest();
    }
    if (shape && shape.is_map()) {
        Shape own(shape, instance, variables);
        own.read();
        read.names = std::move(own.names);
        loops = own.loops;
        transposed = own.transposed;
        instance.ignore_rest(); // sizes that no dimension of the shape has, densities
    } else {
        const std::string known = shape ? shape.text().value_or("cnn-layer") : "cnn-layer";
        if (known != "cnn-layer" && known != "cnn_layer") {
            shape.error("unsupported", fmt::format("shape '{}' is not known", known),
                        "known: cnn-layer, or write the shape out with dimensions and data_spaces");
            problem.ignore_rest();
            return std::nullopt;
        }
        read.names = cnn_layer_names();
        loops = read_cnn_layer(instance);
        for (const char* key : {"H", "W", "Hpad", "Wpad"}) {
            instance[key]; // the input's own size follows from the positions
        }
    }
    read.network.id = name;
    read.network.name = name;
    read.network.source = "Timeloop problem";
    read.names.sizes = loops.bounds;
    const auto shape_of_layer = conv_of(loops);
    if (!shape_of_layer) {
        problem.error("overflow", "the sizes do not fit 63 bits", "make the layer smaller");
        return std::nullopt;
    }
    Layer layer;
    layer.name = name;
    layer.op = Op::conv2d;
    layer.direction = transposed ? Direction::bwd_data : Direction::fwd;
    layer.shape = *shape_of_layer;
    layer.types = {DataType::int16, DataType::int16, DataType::int16};
    read.network.layers.push_back(std::move(layer));
    return read;
}

} // namespace

Result<TimeloopProblem> parse_timeloop_problem(std::string text, const std::string& file) {
    const auto document = timeloop::open(std::move(text), file);
    if (!document) {
        return Result<TimeloopProblem>(document.diagnostics());
    }
    document->root().ignore_rest();
    auto problem =
        read_problem(document->root().need("problem"), std::filesystem::path(file).stem().string(),
                     timeloop::variables_of(document->root()));
    Diagnostics found = document->finish();
    if (problem && !found.has_errors()) {
        Diagnostics faults = validate(problem->network.layers.front());
        faults.place({file, 0, 0});
        found.append(faults);
    }
    return found.has_errors() || !problem
               ? Result<TimeloopProblem>(std::move(found))
               : Result<TimeloopProblem>(*std::move(problem), std::move(found));
}

} // namespace eyeroof::formats
