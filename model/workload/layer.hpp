// A layer: one operator with the field's dimensions, its data types, direction and repeat count.
// Made by formats and the catalogs; consumed by every model function.
#pragma once

#include "base/checked.hpp"
#include "base/result.hpp"

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace eyeroof::model {

enum class Op {
    conv2d,
    gemm,
    bmm,
    maxpool,
    avgpool,
    elementwise,
    softmax,
    layernorm,
    batchnorm,
    embedding,
    rope,
    attention,
    moe
};
enum class Direction { fwd, bwd_data, bwd_weight };
// mxfp8, mxfp6, mxfp4, nvfp4: elements of 8, 6 or 4 bits in blocks, each with a scale of its own.
// fp4: the same elements (e2m1) without scales.
enum class DataType {
    fp64,
    fp32,
    tf32,
    fp16,
    bf16,
    fp8,
    mxfp8,
    mxfp6,
    fp4,
    mxfp4,
    nvfp4,
    int32,
    int16,
    int8,
    int4
};
inline constexpr std::size_t kDataTypes = 15;

// Bits of one element in memory, without block scales (tf32 is stored as 32).
int storage_bits(DataType type);

// A scale of 8 bits for every 32 elements (OCP Microscaling Formats v1.0, section 5.1: mxfp8,
// mxfp6, mxfp4), or for every 16 (nvfp4; NVIDIA, CUDA PTX ISA, block scaling of mma). The one scale
// that nvfp4 has for a whole tensor is not counted.
struct BlockScale {
    int elements = 0; // of a block; 0: the type has no scales
    int bits = 0;

    bool operator==(const BlockScale&) const = default;
};
BlockScale block_scale(DataType type);

// Bytes of an element with its share of the block's scale: 4.25 / 8 of mxfp4, 4.5 / 8 of nvfp4.
double bytes_per_element(DataType type);

// Bytes of a packed tensor with its scales; the last block may be short. Nothing where it does not
// fit 63 bits.
std::optional<Count> stored_bytes(DataType type, Count elements);

// Floating point of 8 bits or fewer: operands of products are quantized from wider activations.
bool is_narrow_float(DataType type);

struct TensorTypes {
    DataType input = DataType::fp16;
    DataType weight = DataType::fp16;
    DataType output = DataType::fp16;

    auto operator<=>(const TensorTypes&) const = default;
};

struct Extent2 { // height by width
    Count h = 1;
    Count w = 1;

    auto operator<=>(const Extent2&) const = default;
};

// Input [n, c, h, w] (c over all groups), weights [k, c/groups, r, s], output [n, k, p, q].
// Depthwise: groups == c. Padding is added on both sides.
struct ConvShape {
    Count n = 1, c = 1, h = 1, w = 1, k = 1, r = 1, s = 1;
    Extent2 stride{1, 1};
    Extent2 pad{0, 0};
    Extent2 dilation{1, 1};
    Count groups = 1;
    // Of a three-dimensional convolution, whose planes are images: taps in depth, which stand among
    // the channels that are summed over. MACs are exact; the tensor of those channels is counted
    // once a tap.
    Count depth = 1;

    // Output height and width: floor((h + 2 pad - dilation (r - 1) - 1) / stride) + 1.
    Count p() const;
    Count q() const;
    auto operator<=>(const ConvShape&) const = default;
};

// gemm: [batch, m, k] x [k, n] (weights shared over the batch); bmm: [batch, m, k] x [batch, k, n].
struct GemmShape {
    Count batch = 1, m = 1, n = 1, k = 1;

    auto operator<=>(const GemmShape&) const = default;
};

// Window of r x s over each of c channels.
struct PoolShape {
    Count n = 1, c = 1, h = 1, w = 1, r = 1, s = 1;
    Extent2 stride{1, 1};
    Extent2 pad{0, 0};

    Count p() const;
    Count q() const;
    auto operator<=>(const PoolShape&) const = default;
};

// softmax, layernorm, batchnorm, embedding, rope: a matrix; norms and softmax reduce along cols, so
// a row of batchnorm is a channel and its columns are batch x height x width. An embedding looks
// rows lines of cols up in a table; 0 lines in the table: as many as are looked up. A batchnorm of
// so many images takes their statistics first, as in training mode; 0: it has running statistics.
struct RowsShape {
    Count rows = 1, cols = 1;
    Count table = 0;
    Count images = 0;
    Count window = 0; // of a softmax over scores: a row sees at most so many keys; 0: no limit
    Count planes = 0; // of a batchnorm with running statistics, in a row; 0: not known

    auto operator<=>(const RowsShape&) const = default;
};

// fn fixes how many tensors are read: see tensors_read.
struct ElementwiseShape {
    Count rows = 1, cols = 1;
    std::string fn = "relu";

    auto operator<=>(const ElementwiseShape&) const = default;
};

// softmax(Q K^T) V per batch and head: queries m, keys n, head dimension k; groups = heads. The
// queries are the last m of the n tokens.
struct AttentionShape {
    Count batch = 1, groups = 1, m = 1, n = 1, k = 1;
    Count kv_heads = 0;  // heads that have keys of their own, a divisor of groups; 0: every head
    bool causal = false; // a query sees itself and what is before it
    Count window = 0;    // a query sees at most so many keys; 0: no limit
    Count v = 0;         // of a head's value; 0: as large as its key

    Count key_heads() const { return kv_heads > 0 ? kv_heads : groups; }
    Count value_size() const { return v > 0 ? v : k; }
    auto operator<=>(const AttentionShape&) const = default;
};

// Pairs of a query and a key that it sees, of one head; at most m n. Keys that some query sees.
Count seen_pairs(const AttentionShape& shape);
Count seen_keys(const AttentionShape& shape);

// A gated layer of experts: m tokens of n elements each go to topk of the `experts` that this
// device holds, as evenly as whole tokens allow: three products [tokens, n] x [n, k] (two of them
// beside each other) and back, k the inner width.
struct MoeShape {
    Count m = 1, n = 1, k = 1, topk = 1, experts = 1;

    Count routed() const { return m * topk; } // pairs of a token and its expert
    auto operator<=>(const MoeShape&) const = default;
};

using Shape = std::variant<ConvShape, GemmShape, PoolShape, RowsShape, ElementwiseShape,
                           AttentionShape, MoeShape>;

struct Layer {
    std::string name;
    Op op = Op::gemm;
    Shape shape = GemmShape{};
    TensorTypes types;
    Direction direction = Direction::fwd;
    Count count = 1;          // how often the network contains this very layer
    double input_zeros = 0.0; // share of zeros among the values, where it was measured: 0 … 1
    double output_zeros = 0.0;
    // Learned values that one run of the layer adds to the network, where they are not what its
    // weights say: biases, weights shared with another layer (0), experts that no token reaches.
    std::optional<Count> parameters = {};
    // So many times as many rows in a training step: a decoder's head runs for all tokens there,
    // for the last one else.
    Count in_training = 1;
    // Elements that a cache holds before the run: keys and values of earlier tokens, in the
    // output's type, or a sum, in fp32. Of networks without a graph, which names its states itself.
    Count cached = 0;

    auto operator<=>(const Layer&) const = default;
};

// A dimension above this is refused: no product of the ones that belong together is meaningful.
inline constexpr Count kMaxDimension = 1'000'000'000;

// Every violated rule: dimensions out of 1 … kMaxDimension, shape not of the operator, filter
// larger than the padded input, channels not divisible by groups, unknown elementwise function,
// overflow.
Diagnostics validate(const Layer& layer);

struct TensorUse {
    // "input", "weight", "output"; "input2" is the second operand of bmm and of elementwise
    // functions; "query", "key", "value"; gradients are "grad_" and the name of what they are
    // gradients of.
    std::string name;
    Count elements = 0;
    Count bytes = 0;
    bool written = false; // read otherwise

    bool operator==(const TensorUse&) const = default;
};

// Exact work of one execution of the layer (`count` is not multiplied in).
// macs: multiply-accumulates of convolutions and matrix products, zero for the other operators.
// flops: 2 per MAC; for the others the operations of the operator's textbook formula, which stands
// in layer_work.cpp. tensors: what a window never touches and padding are not moved.
struct Work {
    Count macs = 0;
    Count flops = 0;
    std::vector<TensorUse> tensors; // compulsory traffic: each tensor once

    Count bytes_read() const;
    Count bytes_written() const;
    Count bytes() const { return bytes_read() + bytes_written(); }
    bool operator==(const Work&) const = default;
};

// Errors: those of validate(); "overflow" when a count does not fit 63 bits.
Result<Work> work_of(const Layer& layer);

// Learned values: `parameters` where it is given, else the elements of the weights, the whole table
// of an embedding. Nothing for a layer that is not valid.
Count parameters_of(const Layer& layer);

// Whether the operator consists of multiply-accumulates: convolutions, products and attention.
bool multiplies(Op op);

// Tensors that an elementwise function reads (2 for add, 1 for relu and addu, 4 for adam …);
// nullopt for an unknown function. The table is in elementwise.cpp.
std::optional<int> tensors_read(std::string_view fn);
std::vector<std::string_view> elementwise_functions();

std::string_view op_name(Op op);
std::string_view direction_name(Direction direction);
std::string_view data_type_name(DataType type);
std::optional<Op> op_from_name(std::string_view name);
std::optional<Direction> direction_from_name(std::string_view name);
std::optional<DataType>
data_type_from_name(std::string_view name); // also "float16", "bfloat16", "half"
std::vector<std::string_view> op_names();
std::vector<std::string_view> data_type_names();

} // namespace eyeroof::model
