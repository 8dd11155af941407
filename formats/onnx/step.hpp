// One node of an ONNX graph on its way to a layer: its operands with what is
// known of them, its attributes, and what it gives. Made by convert, handed to
// the operators' functions (operators.hpp).
#pragma once

#include "formats/onnx/graph.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace eyeroof::formats::onnx {

using Dims = std::vector<std::int64_t>;

// Where a tensor comes from: data that the network works on, an input of the
// graph, a constant.
enum class Origin { data, input, constant };

// A tensor that the file stores, and its elements.
struct Stored {
    std::string name;
    std::int64_t elements = 0;

    auto operator<=>(const Stored&) const = default;
};

struct Value {
    std::optional<Dims> dims;
    int element = 0;                           // TensorProto.DataType; 0: not known
    std::optional<std::vector<double>> values; // of constants that may be shapes
    Origin origin = Origin::data;
    // The tensors that it is made of, as they lie or by arithmetic: what is learned. Data that is
    // made of weights alone has them too: those that a loop or a branch hands on.
    std::vector<Stored> made_of;
    int stored = 0; // of a dequantised tensor: its own element type
    // Sizes depend on the data (what NonZero or NonMaxSuppression keeps): those here are upper
    // bounds. bounds: so are the values.
    bool at_most = false;
    bool bounds = false;
    std::shared_ptr<const std::vector<Value>> items = nullptr; // of a sequence

    bool known() const { return dims.has_value(); }
    std::int64_t rank() const { return dims ? static_cast<std::int64_t>(dims->size()) : 0; }
    // Product of all sizes; nothing where it is not known or does not fit.
    std::optional<std::int64_t> elements() const;
};

inline constexpr std::size_t kMostKept = 4096; // values of a constant

// An axis from the front; nothing where there is none such.
std::optional<std::size_t> axis_of(const Value& x, std::int64_t axis);

std::optional<std::int64_t> product(const Dims& dims, std::size_t from, std::size_t to);
// Sizes of two tensors that are stretched to each other; nothing where they do
// not match.
std::optional<Dims> broadcast(const Dims& a, const Dims& b);
// The same; of two sizes that differ because one is an upper bound the smaller holds.
std::optional<Dims> broadcast(const Value& a, const Value& b);

// What became of a node. view: no tensor is moved; folded: known before the
// network runs.
enum class Outcome { costed, view, folded, unknown };

// Weights whose values are counted already. What was counted since a mark can be taken back.
class Counted {
  public:
    bool insert(const std::string& name) {
        const bool fresh = names_.insert(name).second;
        if (fresh) {
            log_.push_back(name);
        }
        return fresh;
    }
    std::size_t mark() const { return log_.size(); }
    std::vector<std::string> take_back(std::size_t mark);

  private:
    std::set<std::string> names_;
    std::vector<std::string> log_;
};

class Step {
  public:
    Step(const OnnxNode& of, std::int64_t version, std::vector<Value> inputs, Counted& counted)
        : node(of), opset(version), outputs(std::max<std::size_t>(1, of.outputs.size())),
          inputs_(std::move(inputs)), counted_(counted) {}

    const OnnxNode& node;
    const std::int64_t opset;
    std::vector<Value> outputs; // one at least, also of a node that names none
    std::vector<model::Layer> layers;
    Outcome outcome = Outcome::unknown;
    std::string why; // of unknown

    std::size_t inputs() const { return inputs_.size(); }
    bool has(std::size_t i) const; // an operand that is given
    const Value& in(std::size_t i) const;
    bool at_most() const; // a size of an operand is an upper bound
    bool bounds() const;  // a value of an operand is

    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    double real(const std::string& name, double otherwise) const;
    std::string text(const std::string& name, const std::string& otherwise) const;
    std::optional<Dims> integers(const std::string& name) const;
    // From an attribute, or since a later opset from an operand.
    std::optional<Dims> integers(const std::string& name, std::size_t operand) const;

    // The first output's sizes; its element type is that of operand `like`.
    void give(Dims dims, std::size_t like = 0);
    // Learned values among the operands that stand where weights do: the tensors that the file
    // stores for them, each counted once in the network. And those of constants that are added,
    // multiplied, or joined: real numbers, and more than one. A factor is learned where it varies
    // along one axis; one of more axes is a table of places: rotary angles.
    std::int64_t learned(std::size_t from, std::size_t to);
    std::int64_t learned_constants();

    void add(model::Op op, model::Shape shape, std::int64_t parameters = 0, std::string suffix = {},
             std::int64_t count = 1);
    // rows x last size of the first output.
    void add_elementwise(const std::string& fn, std::int64_t parameters = 0);
    void fail(std::string reason);

    // Of the layers that follow: first operand, second, result.
    model::TensorTypes types() const;

  private:
    std::vector<Value> inputs_;
    Counted& counted_;
};

} // namespace eyeroof::formats::onnx
