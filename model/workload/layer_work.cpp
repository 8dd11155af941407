// Exact work of a layer. Conventions: a MAC is two operations; multiplications by padding count
// (a dense engine does them, and published totals include them); compulsory traffic moves each
// element that is touched once, padding never. FLOP formulas stand above each operator.
#include "model/workload/layer_work.hpp"

#include "model/workload/elementwise.hpp"
#include "model/workload/experts.hpp"
#include "model/workload/input_footprint.hpp"
#include "model/workload/operators.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace eyeroof::model {

namespace {

constexpr int kIndexBits = 32;      // row numbers of an embedding, positions of maxima
constexpr int kStatisticsBits = 32; // mean and 1/deviation that a norm keeps for its gradients

// An exact number that remembers whether it still is one.
class Exact {
  public:
    Exact(Count value) : value_(value) {}                // NOLINT(google-explicit-constructor)
    Exact(std::optional<Count> value) : value_(value) {} // NOLINT(google-explicit-constructor)

    friend Exact operator*(Exact a, Exact b) {
        return a.value_ && b.value_ ? checked_mul(*a.value_, *b.value_) : std::nullopt;
    }
    friend Exact operator+(Exact a, Exact b) {
        return a.value_ && b.value_ ? checked_add(*a.value_, *b.value_) : std::nullopt;
    }
    std::optional<Count> get() const { return value_; }

  private:
    std::optional<Count> value_;
};

// Collects a layer's work; total() is empty when any part of it overflowed.
class Tally {
  public:
    explicit Tally(const Layer& layer) : types(layer.types), direction(layer.direction) {
        constexpr std::size_t kUsual = 4;
        work_.tensors.reserve(kUsual);
    }

    void macs(Exact count) {
        keep(work_.macs, count);
        keep(work_.flops, count * 2 + work_.flops);
    }
    void flops(Exact count) { keep(work_.flops, count + work_.flops); }
    void read(std::string name, Exact elements, int bits) {
        move(std::move(name), elements, bits, false);
    }
    void write(std::string name, Exact elements, int bits) {
        move(std::move(name), elements, bits, true);
    }
    void read(std::string name, Exact elements, DataType type) {
        move(std::move(name), elements, type, false);
    }
    void write(std::string name, Exact elements, DataType type) {
        move(std::move(name), elements, type, true);
    }
    std::optional<Work> total() {
        Exact bytes = 0;
        for (const TensorUse& tensor : work_.tensors) {
            bytes = bytes + tensor.bytes;
        }
        return fits_ && bytes.get() ? std::optional<Work>(std::move(work_)) : std::nullopt;
    }

    const TensorTypes types;
    const Direction direction;

  private:
    void keep(Count& target, Exact value) {
        fits_ = fits_ && value.get();
        target = value.get().value_or(0);
    }
    void move(std::string name, Exact elements, DataType type, bool written) {
        TensorUse use{std::move(name), 0, 0, written};
        keep(use.elements, elements);
        keep(use.bytes, stored_bytes(type, use.elements));
        work_.tensors.push_back(std::move(use));
    }
    // A tensor of sub-byte elements is packed: bytes = ceil(elements * bits / 8).
    void move(std::string name, Exact elements, int bits, bool written) {
        TensorUse use{std::move(name), 0, 0, written};
        keep(use.elements, elements);
        Count all_bits = 0;
        keep(all_bits, elements * bits);
        use.bytes = ceil_div(all_bits, 8);
        work_.tensors.push_back(std::move(use));
    }

    Work work_;
    bool fits_ = true;
};

// LayerTensors of a product-like operator: forward reads input and weight and writes output; the
// gradient of one operand reads the other one and the output's gradient. Same MACs in all three
// directions.
struct LayerTensors {
    Exact input, weight, output;
    Exact input_whole; // what its gradient writes: elements outside every window too
    std::string weight_name;
};

void tally_operands(Tally& t, const LayerTensors& o) {
    switch (t.direction) {
    case Direction::fwd:
        t.read("input", o.input, t.types.input);
        t.read(o.weight_name, o.weight, t.types.weight);
        t.write("output", o.output, t.types.output);
        return;
    case Direction::bwd_data:
        t.read("grad_output", o.output, t.types.output);
        t.read(o.weight_name, o.weight, t.types.weight);
        t.write("grad_input", o.input_whole, t.types.input);
        return;
    case Direction::bwd_weight:
        t.read("input", o.input, t.types.input);
        t.read("grad_output", o.output, t.types.output);
        t.write("grad_" + o.weight_name, o.weight, t.types.weight);
        return;
    }
}

template <class S> Exact image_footprint(const S& s, Extent2 dilation) {
    return Exact(input_footprint_rows({s.h, s.r, s.stride.h, s.pad.h, dilation.h, s.p()})) *
           input_footprint_rows({s.w, s.s, s.stride.w, s.pad.w, dilation.w, s.q()});
}

// MACs = n k p q (c / groups) r s.
void tally(Tally& t, const ConvShape& s, Op) {
    const Exact outputs = Exact(s.n) * s.k * s.p() * s.q();
    const Exact taps = Exact(s.c / s.groups) * s.r * s.s;
    t.macs(outputs * taps);
    const Exact channels = Exact(s.n) * s.c;
    tally_operands(t, {channels * image_footprint(s, s.dilation), taps * s.k, outputs,
                       channels * s.h * s.w, "weight"});
}

// MACs = batch m n k. The second operand of bmm is data, one matrix for each of the batch.
void tally(Tally& t, const GemmShape& s, Op op) {
    const Exact batch = s.batch;
    t.macs(batch * s.m * s.n * s.k);
    const Exact input = batch * s.m * s.k;
    const Exact second = Exact(s.k) * s.n;
    const bool shared = op == Op::gemm;
    tally_operands(t, {input, shared ? second : batch * second, batch * s.m * s.n, input,
                       shared ? "weight" : "input2"});
}

// maxpool: r s comparisons an output (the first one against -infinity); avgpool: r s - 1 additions
// and a division. Gradients: maxpool adds one value an output at the kept position of the maximum;
// avgpool divides once and adds r s values an output.
void tally(Tally& t, const PoolShape& s, Op op) {
    const Exact channels = Exact(s.n) * s.c;
    const Exact outputs = channels * s.p() * s.q();
    const Exact window = Exact(s.r) * s.s;
    if (t.direction == Direction::fwd) {
        t.flops(outputs * window);
        t.read("input", channels * image_footprint(s, {1, 1}), t.types.input);
        t.write("output", outputs, t.types.output);
        return;
    }
    t.read("grad_output", outputs, t.types.output);
    if (op == Op::maxpool) {
        t.read("indices", outputs, kIndexBits);
    }
    t.flops(op == Op::maxpool ? outputs : outputs * (window + 1));
    t.write("grad_input", channels * s.h * s.w, t.types.input);
}

// An operator whose row in the table says what an element of its matrix takes.
void tally_matrix(Tally& t, const OperatorTraits& traits, Exact elements) {
    if (t.direction == Direction::fwd) {
        t.flops(elements * traits.flops);
        t.read("input", elements, t.types.input);
        t.write("output", elements, t.types.output);
        return;
    }
    t.flops(elements * traits.gradient_flops);
    if (traits.keeps_output) {
        t.read("output", elements, t.types.output);
    }
    t.read("grad_output", elements, t.types.output);
    t.write("grad_input", elements, t.types.input);
}

// Norms, y = (x - mean) rstd gamma + beta along the columns; gamma and beta one a column
// (layernorm) or one a row (batchnorm: a row holds all values of one channel). An element: add for
// the mean, subtract, square, add for the variance, times rstd, times gamma, plus beta: 7; a row:
// two divisions, plus epsilon, reciprocal root: 4. Gradient of x, rstd (g gamma - mean(g gamma) -
// xhat mean(g gamma xhat)): xhat 2, g gamma 1, its sum 1, product with xhat and its sum 2, the
// bracket 3, times rstd 1: 10 an element, 2 divisions a row. Gradients of gamma and beta, sums of g
// xhat and of g: xhat 2, product 1, two sums 2: 5 an element.
void tally_norm(Tally& t, const RowsShape& s, Op op) {
    const Exact elements = Exact(s.rows) * s.cols;
    const Exact affine = Exact(op == Op::layernorm ? s.cols : s.rows) * 2;
    const Exact statistics = Exact(s.rows) * 2;
    t.read("input", elements, t.types.input);
    if (t.direction == Direction::fwd) {
        t.flops(elements * 7 + Exact(s.rows) * 4);
        t.read("weight", affine, t.types.weight);
        t.write("output", elements, t.types.output);
        return;
    }
    t.read("grad_output", elements, t.types.output);
    t.read("statistics", statistics, kStatisticsBits);
    if (t.direction == Direction::bwd_weight) {
        t.flops(elements * 5);
        t.write("grad_weight", affine, t.types.weight);
        return;
    }
    t.flops(elements * 10 + Exact(s.rows) * 2);
    t.read("weight", Exact(op == Op::layernorm ? s.cols : s.rows), t.types.weight);
    t.write("grad_input", elements, t.types.input);
}

// Each row copies one line of the table; rows are taken to be distinct where the table has as many.
// Gradient: one addition an element into the lines that were read.
void tally_embedding(Tally& t, const RowsShape& s, Exact elements) {
    t.read("indices", s.rows, kIndexBits);
    const Exact lines = Exact(s.table > 0 ? std::min(s.table, s.rows) : s.rows) * s.cols;
    if (t.direction == Direction::fwd) {
        t.read("weight", lines, t.types.weight);
        t.write("output", elements, t.types.output);
        return;
    }
    t.flops(elements);
    t.read("grad_output", elements, t.types.output);
    t.write("grad_weight", lines, t.types.weight);
}

void tally(Tally& t, const RowsShape& s, Op op) {
    const Exact elements = Exact(s.rows) * s.cols;
    if (const OperatorTraits& traits = traits_of(op); traits.flops > 0) {
        return tally_matrix(t, traits, elements);
    }
    return op == Op::embedding ? tally_embedding(t, s, elements) : tally_norm(t, s, op);
}

std::string numbered(std::string name, int i) {
    return i == 0 ? std::move(name) : std::move(name) + std::to_string(i + 1);
}

// Operations and tensors by the function's row in the table of elementwise.cpp.
void tally(Tally& t, const ElementwiseShape& s, Op) {
    const ElementwiseFunction& f = *find_elementwise(s.fn);
    const Exact elements = Exact(s.rows) * s.cols;
    if (t.direction == Direction::fwd) {
        t.flops(elements * f.flops);
        for (int i = 0; i < f.reads; ++i) {
            t.read(numbered("input", i), elements, t.types.input);
        }
        for (int i = 0; i < f.writes; ++i) {
            t.write(numbered("output", i), elements, t.types.output);
        }
        return;
    }
    t.flops(elements * f.gradient_flops);
    t.read("grad_output", elements, t.types.output);
    for (int i = 0; i < f.saved; ++i) {
        t.read(numbered("input", i), elements, t.types.input);
    }
    for (int i = 0; i < f.reads; ++i) {
        t.write(numbered("grad_input", i), elements, t.types.input);
    }
}

// A latent that all heads share: values are the first part of the keys, and move with them.
bool values_in_keys(const AttentionShape& s) {
    return s.key_heads() == 1 && s.groups > 1 && s.value_size() < s.k;
}

// Forward: Q K^T and P V, k and v MACs for every pair of a query and a key that it sees; scale 1
// and softmax 5 operations a score. Gradient: dP = dO V^T, dV = P^T dO, dQ = dS K, dK = dS^T Q,
// four products, and scale 1 and softmax gradient 4 a score. Traffic of the fused form: scores stay
// on chip, keys that heads share move once. An implementation that does not keep P recomputes it, a
// fifth product; one that does moves it: both lie above these counts.
void tally(Tally& t, const AttentionShape& s, Op) {
    const Exact scores = Exact(s.batch) * s.groups * seen_pairs(s);
    const Exact query = Exact(s.batch) * s.groups * s.m * s.k;
    const Exact keys = Exact(s.batch) * s.key_heads() * seen_keys(s);
    const Exact output = Exact(s.batch) * s.groups * s.m * s.value_size();
    const bool forward = t.direction == Direction::fwd;
    t.macs(scores * (Exact(s.k) + s.value_size()) * (forward ? 1 : 2));
    t.flops(scores * (forward ? 6 : 5));
    t.read("query", query, t.types.input);
    t.read("key", keys * s.k, t.types.weight);
    if (!values_in_keys(s)) {
        t.read("value", keys * s.value_size(), t.types.weight);
    }
    if (forward) {
        t.write("output", output, t.types.output);
        return;
    }
    t.read("grad_output", output, t.types.output);
    t.write("grad_query", query, t.types.input);
    t.write("grad_key", keys * s.k, t.types.weight);
    t.write("grad_value", keys * s.value_size(), t.types.weight);
}

// MACs = 3 n k a routed token; weights of the experts that uniform routing is expected to reach.
// Either gradient has as many MACs.
void tally(Tally& t, const MoeShape& s, Op) {
    const Exact tokens = Exact(s.m) * s.n;
    const Exact weights = Exact(3) * s.n * s.k;
    const Exact routed = Exact(s.m) * s.topk;
    t.macs(routed * weights);
    const Exact all = weights * s.experts;
    const double share = expected_experts(static_cast<double>(s.m), static_cast<double>(s.topk),
                                          static_cast<double>(s.experts)) /
                         static_cast<double>(s.experts);
    const Exact reached =
        all.get() ? std::optional<Count>(std::min<Count>(
                        *all.get(), std::llround(share * static_cast<double>(*all.get()))))
                  : std::nullopt;
    tally_operands(t, {tokens, reached, tokens, tokens, "weight"});
}

} // namespace

Count Work::bytes_read() const {
    Count sum = 0;
    for (const TensorUse& tensor : tensors) {
        sum += tensor.written ? 0 : tensor.bytes;
    }
    return sum;
}

Count Work::bytes_written() const {
    Count sum = 0;
    for (const TensorUse& tensor : tensors) {
        sum += tensor.written ? tensor.bytes : 0;
    }
    return sum;
}

std::optional<Work> count_work(const Layer& layer) {
    Tally t(layer);
    std::visit([&](const auto& shape) { tally(t, shape, layer.op); }, layer.shape);
    return t.total();
}

} // namespace eyeroof::model
