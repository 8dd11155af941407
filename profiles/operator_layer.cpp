#include "profiles/operator_layer.hpp"

#include "base/ascii.hpp"
#include "profiles/kernel_names.hpp"
#include "profiles/operator_args.hpp"
#include "profiles/operator_functions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace eyeroof::profiles {

namespace {

using model::DataType;
using model::Op;
using Made = std::optional<OperatorLayer>;

// Elements of what the tensors of the call make together, each dimension the largest of it.
Count broadcast(const OperatorArgs& args) {
    std::array<Count, 12> sizes{};
    sizes.fill(1);
    Count largest = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const Dims& dims = args.dims(i);
        if (!args.tensor(i) || dims.size() > sizes.size()) {
            continue;
        }
        largest = std::max(largest, args.elements(i));
        for (std::size_t d = 0; d < dims.size(); ++d) {
            Count& size = sizes[sizes.size() - dims.size() + d];
            size = std::max(size, dims[d]);
        }
    }
    const Count together = elements_of({sizes.begin(), sizes.end()});
    return largest > 0 && together > 0 ? together : largest;
}

// The first tensor of several elements, else the first: a number may come as a tensor of one.
std::size_t first_tensor(const OperatorArgs& args) {
    std::size_t found = args.size();
    for (std::size_t i = 0; i < args.size(); ++i) {
        if (args.elements(i) > 1) {
            return i;
        }
        found = found == args.size() && args.tensor(i) ? i : found;
    }
    return found;
}

Made pointwise(std::string_view fn, const OperatorArgs& args) {
    const std::size_t first = first_tensor(args);
    const Count out = broadcast(args);
    if (out <= 0) {
        return std::nullopt;
    }
    int large = 0; // operands that are read in full
    for (std::size_t i = 0; i < args.size(); ++i) {
        large += args.tensor(i) && 8 * args.elements(i) > out ? 1 : 0;
    }
    const auto reads = model::tensors_read(fn);
    if (large < 2 && reads == 2) {
        fn = unary_of(fn);
    } else if (large < 3 && reads == 3) {
        fn = large == 2 ? "add" : "mulu";
    }
    const DataType type = args.type(first);
    return pointwise_layer(std::string(fn), out * args.words(first), args.dims(first).back(),
                           {type, type, type});
}

// copy_(to, from): types may differ.
Made copied(const OperatorArgs& args) {
    if (!args.tensor(0)) {
        return std::nullopt;
    }
    const DataType to = args.type(0);
    const DataType from = args.tensor(1) ? args.type(1) : to;
    const Count words = args.words(0);
    const bool number = args.elements(1) == 1 && args.elements(0) > 1;
    if (!args.tensor(1) || number) {
        return pointwise_layer("fill", args.elements(0) * words, args.dims(0).back(), {to, to, to});
    }
    const char* const same = transposes(args) ? "transpose" : strided(args) ? "permute" : "copy";
    return pointwise_layer(from == to ? same : "cast", args.elements(0) * words,
                           args.dims(0).back(), {from, from, to});
}

Made gradient(std::string_view fn, const OperatorArgs& args) {
    if (!args.tensor(0)) {
        return std::nullopt;
    }
    const DataType type = args.type(0);
    return pointwise_layer(std::string(fn), args.elements(0), args.dims(0).back(),
                           {type, type, type}, model::Direction::bwd_data);
}

Made rows_layer(Op op, Count elements, Count cols, DataType type,
                model::Direction direction = model::Direction::fwd) {
    if (cols <= 0 || elements <= 0 || elements % cols != 0 || cols > model::kMaxDimension ||
        elements / cols > model::kMaxDimension) {
        return std::nullopt;
    }
    OperatorLayer made;
    made.layer.op = op;
    made.layer.shape = model::RowsShape{elements / cols, cols};
    made.layer.types = {type, type, type};
    made.layer.direction = direction;
    return made;
}

Count softmax_columns(const OperatorArgs& args, std::size_t tensor, std::size_t axis) {
    const Dims& dims = args.dims(tensor);
    const auto given = args.number(axis);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const std::int64_t at = given ? (*given < 0 ? *given + rank : *given) : rank - 1;
    return at >= 0 && at < rank ? dims[static_cast<std::size_t>(at)] : 0;
}

Made softmax(std::string_view name, const OperatorArgs& args) {
    if (name == "_softmax" || name == "_log_softmax" || name == "_safe_softmax") {
        return args.tensor(0) ? rows_layer(Op::softmax, args.elements(0),
                                           softmax_columns(args, 0, 1), args.type(0))
                              : std::nullopt;
    }
    if (name == "_softmax_backward_data" || name == "_log_softmax_backward_data") {
        return args.tensor(0)
                   ? rows_layer(Op::softmax, args.elements(0), softmax_columns(args, 0, 2),
                                args.type(0), model::Direction::bwd_data)
                   : std::nullopt;
    }
    return std::nullopt;
}

// Columns of a norm over the last dimensions: those of its weights, else as they were given.
Count norm_columns(const OperatorArgs& args, std::size_t tensor, std::size_t shape,
                   std::size_t weight) {
    if (args.tensor(weight)) {
        return args.elements(weight);
    }
    const auto given = args.numbers(shape);
    return given.empty() ? args.dims(tensor).back() : elements_of(given);
}

// With channels first: its images where it takes the statistics of its batch, else its planes.
Made channel_norm(const OperatorArgs& args, model::Direction direction, bool statistics) {
    const Dims& dims = args.dims(0);
    if (dims.size() < 2 || !args.tensor(0)) {
        return std::nullopt;
    }
    auto made = rows_layer(Op::batchnorm, args.elements(0), args.elements(0) / dims[1],
                           args.type(0), direction);
    const bool first = args.strides(0).empty() || fastest(args, 0) != std::size_t{1};
    if (made && first && dims.size() > 2) {
        auto& shape = std::get<model::RowsShape>(made->layer.shape);
        (statistics ? shape.images : shape.planes) = dims[0];
    }
    return made;
}

Made norm(std::string_view name, const OperatorArgs& args) {
    using model::Direction;
    if (name == "native_layer_norm" || name == "_fused_rms_norm") {
        return args.tensor(0) ? rows_layer(Op::layernorm, args.elements(0),
                                           norm_columns(args, 0, 1, 2), args.type(0))
                              : std::nullopt;
    }
    if (name == "native_layer_norm_backward") {
        return args.tensor(1)
                   ? rows_layer(Op::layernorm, args.elements(1), norm_columns(args, 1, 2, 5),
                                args.type(1), Direction::bwd_data)
                   : std::nullopt;
    }
    if (name == "_fused_rms_norm_backward") {
        return args.tensor(1)
                   ? rows_layer(Op::layernorm, args.elements(1), norm_columns(args, 1, 2, 4),
                                args.type(1), Direction::bwd_data)
                   : std::nullopt;
    }
    if (name.ends_with("group_norm")) { // x, weight, bias, N, C, HxW, groups
        const auto n = args.number(3);
        const auto groups = args.number(6);
        const bool known = args.tensor(0) && n && groups && *n > 0 && *groups > 0 &&
                           *n <= model::kMaxDimension && *groups <= model::kMaxDimension;
        return known && args.elements(0) % (*n * *groups) == 0
                   ? rows_layer(Op::layernorm, args.elements(0), args.elements(0) / (*n * *groups),
                                args.type(0))
                   : std::nullopt;
    }
    if (name.find("batch_norm") != std::string_view::npos) {
        constexpr std::size_t kTrains = 5; // x, weight, bias, running mean and variance, training
        const bool backward = name.find("backward") != std::string_view::npos;
        return channel_norm(args, backward ? Direction::bwd_data : Direction::fwd,
                            backward || args.truth(kTrains));
    }
    // vLLM: rms_norm(out, x, weight), fused_add_rms_norm(x, residual, weight).
    if (name.find("rms_norm") != std::string_view::npos && args.tensor(0)) {
        const Count cols = args.dims(0).back();
        auto made = rows_layer(Op::layernorm, args.elements(0), cols, args.type(0));
        if (made && name.starts_with("fused_add")) { // both tensors are read and written
            return pointwise_layer("mulu", 2 * args.elements(0), cols,
                                   {args.type(0), args.type(0), args.type(0)});
        }
        return made;
    }
    return std::nullopt;
}

// All of it read, little written: an average over what is reduced.
Made reduction(const OperatorArgs& args) {
    if (!args.tensor(0)) {
        return std::nullopt;
    }
    const Dims& dims = args.dims(0);
    Count out = 1;
    Count inner = 1; // results beside each other, within what is reduced
    const auto axes = args.numbers(1);
    if (axes.empty()) {
        out = args.text(1).empty() && dims.size() > 1 && args.size() > 2 ? dims.back() : 1;
        inner = out;
    } else {
        std::vector<bool> gone(dims.size(), false);
        for (const std::int64_t axis : axes) {
            const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis;
            if (at >= 0 && at < static_cast<std::int64_t>(dims.size())) {
                gone[static_cast<std::size_t>(at)] = true;
            }
        }
        for (std::size_t i = 0; i < dims.size(); ++i) {
            out *= gone[i] ? 1 : dims[i];
            inner = gone[i] ? 1 : inner * dims[i];
        }
    }
    const Count window = args.elements(0) / std::max<Count>(out, 1);
    if (window <= 1 || window > model::kMaxDimension || out > model::kMaxDimension) {
        return pointwise("copy", args);
    }
    OperatorLayer made;
    made.layer.op = Op::avgpool;
    made.layer.shape = inner > 1 ? model::PoolShape{out / inner, 1, window, inner, window, 1}
                                 : model::PoolShape{out, 1, 1, window, 1, window};
    const DataType type = args.type(0);
    made.layer.types = {type, type, type};
    return made;
}

Made looked_up(Count rows, Count cols, Count table, DataType type,
               model::Direction direction = model::Direction::fwd) {
    if (rows <= 0 || cols <= 0 || table < 0 || rows > model::kMaxDimension ||
        cols > model::kMaxDimension || table > model::kMaxDimension) {
        return std::nullopt;
    }
    OperatorLayer made;
    made.layer.op = Op::embedding;
    made.layer.shape = model::RowsShape{rows, cols, table};
    made.layer.types = {type, type, type};
    made.layer.direction = direction;
    return made;
}

Made lookup(std::string_view name, const OperatorArgs& args) {
    const Dims& table = args.dims(0);
    if (name == "embedding" && table.size() == 2) {
        return looked_up(args.elements(1), table[1], table[0], args.type(0));
    }
    if (name == "index_select" && args.tensor(0) && args.tensor(2) && table.size() == 2) {
        return looked_up(args.elements(2), table[1], table[0], args.type(0));
    }
    if (name == "embedding_dense_backward" && args.tensor(0)) {
        return looked_up(args.elements(1), table.back(), args.number(2).value_or(0), args.type(0),
                         model::Direction::bwd_weight);
    }
    if (name == "gather" && args.tensor(2)) {
        return pointwise_layer("copy", args.elements(2), args.dims(2).back(),
                               {args.type(0), args.type(0), args.type(0)});
    }
    if ((name == "scatter" || name == "scatter_add" || name == "index_add" ||
         name == "index_copy") &&
        args.tensor(2)) {
        const std::size_t from = args.tensor(3) ? 3 : 2;
        return pointwise_layer("add", args.elements(from), args.dims(from).back(),
                               {args.type(0), args.type(0), args.type(0)});
    }
    return std::nullopt;
}

// An input of the list at hand: elements of all its tensors.
Made optimizer(std::string_view name, const OperatorArgs& args, DataType type) {
    const auto list = [&](const char* fn, std::size_t argument) {
        return pointwise_layer(fn, args.listed(argument), 1, {type, type, type});
    };
    if (name.starts_with("_fused_adam")) {
        return list("adam", 0);
    }
    if (name.starts_with("_fused_sgd") || name.starts_with("_fused_adagrad")) {
        return list("sgd_momentum", 0);
    }
    if (name == "_foreach_copy" || name == "split_with_sizes_copy") {
        return list("copy", 0);
    }
    if (name.starts_with("_foreach_norm")) {
        return list("square", 0);
    }
    if (name == "_amp_foreach_non_finite_check_and_unscale") {
        return list("mulu", 0);
    }
    if (!name.starts_with("_foreach_")) {
        return std::nullopt;
    }
    int lists = 0;
    for (std::size_t i = 0; i < args.size(); ++i) {
        lists += args.listed(i) > 0 ? 1 : 0;
    }
    const auto known = pointwise_function(name.substr(9));
    if (lists == 1 || !known) {
        const bool fill = known == "fill";
        return list(fill ? "fill" : lists >= 3 ? "add3" : lists == 2 ? "add" : "mulu", 0);
    }
    return list(lists >= 3 ? "add3" : "add", 0);
}

// Bytes that each rank of a ring sends. In: what each has before. allreduce: 2 (n-1)/n in;
// all-gather: (n-1) in; reduce-scatter, all-to-all: (n-1)/n in; else in.
double ring_bytes(std::string_view what, double in, double ranks) {
    const std::string name = lowered(what);
    const auto says = [&](const char* a, const char* b) {
        return name.find(a) != std::string::npos || name.find(b) != std::string::npos;
    };
    if (says("allreduce", "all_reduce")) {
        return 2.0 * (ranks - 1.0) / ranks * in;
    }
    if (says("allgather", "all_gather")) {
        return (ranks - 1.0) * in;
    }
    if (says("reduce_scatter", "reducescatter") || says("all_to_all", "alltoall") ||
        says("all2all", "_allto")) {
        return (ranks - 1.0) / ranks * in;
    }
    return in;
}

Made collective(const Operator& op, const OperatorArgs& args, const OperatorContext& context) {
    if (!is_collective(op.name)) {
        return std::nullopt;
    }
    std::size_t at = first_tensor(args);
    double in = at < args.size() ? static_cast<double>(args.bytes(at)) : 0.0;
    if (in <= 0.0) {
        in = static_cast<double>(args.listed(0) * model::storage_bits(context.list_type) / 8);
    }
    const bool says = op.name == "record_param_comms" && args.number(0).has_value();
    const std::int64_t group = says ? args.number(0).value_or(0) : 0;
    const double ranks = static_cast<double>(group > 1           ? group
                                             : context.ranks > 1 ? context.ranks
                                                                 : 2);
    const std::string_view what = says && !args.text(1).empty() ? args.text(1) : op.name;
    const double sent = std::ceil(ring_bytes(what, in, ranks));
    if (!(sent >= 1.0) || sent > 1e15) {
        return std::nullopt;
    }
    auto made = pointwise_layer("peer", static_cast<Count>(sent), 1,
                                {DataType::int8, DataType::int8, DataType::int8});
    if (made) {
        made->approximate = !op.borrowed_from.empty() || (group <= 1 && context.ranks <= 1);
    }
    return made;
}

// What inference engines call their own kernels, by their signatures in vLLM.
Made engine_operator(std::string_view name, const OperatorArgs& args) {
    if (const auto gated = gated_function(name)) {
        const std::size_t in = args.tensor(1) && args.elements(1) > args.elements(0) ? 1 : 0;
        const DataType type = args.type(in);
        return args.tensor(in) ? pointwise_layer(std::string(*gated), args.elements(in) / 2, 1,
                                                 {type, type, type})
                               : std::nullopt;
    }
    if (name == "rotary_embedding" && args.tensor(1)) { // positions, query, key
        const Count cols = args.dims(1).back();
        const Count elements = args.elements(1) + (args.tensor(2) ? args.elements(2) : 0);
        return rows_layer(Op::rope, elements, elements % cols == 0 ? cols : 1, args.type(1));
    }
    if (name.starts_with("reshape_and_cache") || name.starts_with("concat_and_cache") ||
        name.starts_with("store_cache") || name.starts_with("store_kv_cache") ||
        name.starts_with("set_kv_buffer") || name.starts_with("set_mla_kv_buffer")) {
        // Keys and values of the new tokens; behind them stands the pool.
        const bool two = args.dims(0).size() == args.dims(1).size() && !args.dims(0).empty() &&
                         args.dims(0)[0] == args.dims(1)[0];
        const Count elements = args.elements(0) + (two ? args.elements(1) : 0);
        return pointwise_layer("copy", elements, 1, {args.type(0), args.type(0), args.type(0)});
    }
    const bool quantizes = name.find("fp8_quant") != std::string_view::npos ||
                           name.find("quant_fp8") != std::string_view::npos;
    if (quantizes && args.tensor(1)) { // out, x
        return pointwise_layer("cast", args.elements(1), args.dims(1).back(),
                               {args.type(1), args.type(1), DataType::fp8});
    }
    return std::nullopt;
}

// Weights of a recurrent network as one GEMM over all tokens: matrices beside each other, in a list
// or as arguments of their own.
Made recurrent(std::string_view name, const Operator& op, const OperatorArgs& args) {
    constexpr std::array<std::string_view, 8> kNames = {
        "lstm",       "gru",        "rnn_tanh",         "rnn_relu",
        "_cudnn_rnn", "miopen_rnn", "mkldnn_rnn_layer", "quantized_lstm"};
    if (std::ranges::find(kNames, name) == kNames.end() || args.dims(0).size() < 2) {
        return std::nullopt;
    }
    const Count in = args.dims(0).back();
    Count weights = 0;
    for (const ListedTensor& tensor : op.listed) {
        weights += tensor.dims.size() == 2 ? elements_of(tensor.dims) : 0;
    }
    if (weights == 0) {
        for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
            weights += args.dims(i).size() == 2 ? args.elements(i) : 0;
        }
    }
    OperatorLayer made;
    made.layer.op = Op::gemm;
    made.layer.shape =
        model::GemmShape{1, args.elements(0) / std::max<Count>(in, 1), weights / in, in};
    const DataType type = args.type(0);
    made.layer.types = {type, type, type};
    made.approximate = weights % in != 0;
    return in > 0 && weights >= in ? Made(made) : std::nullopt;
}

// Products of groups of rows (experts), all groups together: the groups' sizes are on the device.
Made grouped_product(std::string_view name, const OperatorArgs& args) {
    if (name != "_grouped_mm" && name != "_scaled_grouped_mm") {
        return std::nullopt;
    }
    const Dims &a = args.dims(0), &b = args.dims(1);
    const Count groups = a.size() == 3   ? a[0]
                         : b.size() == 3 ? b[0]
                                         : args.elements(name == "_grouped_mm" ? 2 : 4);
    if (a.size() < 2 || b.size() < 2 || groups < 1) {
        return std::nullopt;
    }
    const Count rows = a[a.size() - 2], columns = b.back(), depth = a.back();
    const bool by_depth = a.size() == 2 && b.size() == 2;
    const bool by_rows = a.size() == 2 && b.size() == 3;
    const bool by_columns = a.size() == 3 && b.size() == 2;
    const auto part = [groups](Count all) {
        return std::max<Count>(1, (all + groups - 1) / groups);
    };
    OperatorLayer made;
    made.layer.op = Op::bmm;
    made.layer.shape =
        model::GemmShape{groups, by_rows ? part(rows) : rows, by_columns ? part(columns) : columns,
                         by_depth ? part(depth) : depth};
    const DataType type = args.type(0);
    made.layer.types = {type, args.type(1), model::is_narrow_float(type) ? DataType::bf16 : type};
    const Count split = by_rows ? rows : by_columns ? columns : by_depth ? depth : groups;
    made.approximate = split % groups != 0;
    return b[b.size() - 2] == depth ? Made(made) : std::nullopt;
}

// The dimensions of an equation's letters; nothing where those of one letter differ.
std::optional<std::map<char, Count>> letters_of(std::string_view left, const Dims& a,
                                                std::string_view right, const Dims& b) {
    std::map<char, Count> sizes;
    const auto take = [&sizes](std::string_view letters, const Dims& dims) {
        bool fits = letters.size() == dims.size();
        for (std::size_t i = 0; fits && i < letters.size(); ++i) {
            fits = sizes.try_emplace(letters[i], dims[i]).first->second == dims[i];
        }
        return fits;
    };
    return take(left, a) && take(right, b) ? std::optional(sizes) : std::nullopt;
}

// A product of two tensors by an equation, "bij,bkj->bik": letters of both and the result are a
// batch, those of both alone are summed over.
Made einsum(const Operator& op, const OperatorArgs& args, DataType type) {
    std::string equation(args.text(0));
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    if (operator_stem(op.name) != "einsum" || op.listed.size() != 2 || arrow == std::string::npos ||
        comma > arrow) {
        return std::nullopt;
    }
    const std::string left = equation.substr(0, comma);
    const std::string right = equation.substr(comma + 1, arrow - comma - 1);
    const std::string result = equation.substr(arrow + 2);
    const auto sizes = letters_of(left, op.listed[0].dims, right, op.listed[1].dims);
    if (!sizes) {
        return std::nullopt;
    }
    model::GemmShape shape;
    for (const auto& [letter, size] : *sizes) {
        const bool in_left = left.find(letter) != std::string::npos;
        const bool in_right = right.find(letter) != std::string::npos;
        const bool kept = result.find(letter) != std::string::npos;
        Count& of = in_left && in_right ? (kept ? shape.batch : shape.k)
                    : in_left           ? shape.m
                                        : shape.n;
        const auto product = size > 0 ? checked_mul(of, size) : std::nullopt;
        if (!product) {
            return std::nullopt;
        }
        of = *product;
    }
    OperatorLayer made;
    made.layer.op = Op::bmm;
    made.layer.shape = shape;
    made.layer.types = {type, type, type};
    made.approximate = true; // types of tensors in lists are not recorded
    return made;
}

Made catenated(const OperatorArgs& args, const Operator& op, DataType type) {
    const Count listed = args.listed(0);
    if (listed > 0) {
        const Count cols = op.listed.front().dims.empty() ? 1 : op.listed.front().dims.back();
        return pointwise_layer("concat", listed, cols, {type, type, type});
    }
    return args.tensor(0) ? pointwise("concat", args) : std::nullopt;
}

Made by_name(const Operator& op, const OperatorArgs& args, const OperatorContext& context) {
    const std::string_view name = operator_stem(op.name);
    if (name == "copy") {
        return copied(args);
    }
    if (name == "cat" || name == "_cat" || name == "stack" || name == "_chunk_cat") {
        return catenated(args, op, context.list_type);
    }
    if (const auto fn = pointwise_function(name)) {
        return pointwise(*fn, args);
    }
    if (const auto fn = gradient_function(name)) {
        return gradient(*fn, args);
    }
    if (is_reduction(name)) {
        return reduction(args);
    }
    for (const auto& make :
         {grouped_product(name, args), einsum(op, args, context.list_type),
          recurrent(name, op, args), softmax(name, args), norm(name, args), lookup(name, args),
          engine_operator(name, args), optimizer(name, args, context.list_type)}) {
        if (make) {
            return make;
        }
    }
    return std::nullopt;
}

} // namespace

bool is_collective(std::string_view name) {
    return !communication_of(name).empty();
}

std::optional<DataType> type_in_kernel_name(std::string_view name) {
    struct Part {
        std::string_view text;
        DataType type;
    };
    constexpr Part kParts[] = {{"BFloat16", DataType::bf16},
                               {"bfloat16", DataType::bf16},
                               {"bf16", DataType::bf16},
                               {"c10::Half", DataType::fp16},
                               {"__half", DataType::fp16},
                               {"fp16", DataType::fp16},
                               {"f16", DataType::fp16},
                               {"OpaqueType<2u>", DataType::fp16},
                               {"OpaqueType<1u>", DataType::int8},
                               {"OpaqueType<4u>", DataType::fp32},
                               {"OpaqueType<8u>", DataType::fp64},
                               {"float", DataType::fp32},
                               {"double", DataType::fp64}};
    for (const Part& part : kParts) {
        if (name.find(part.text) != std::string_view::npos) {
            return part.type;
        }
    }
    return std::nullopt;
}

bool has_tensors(const Operator& op) {
    const OperatorArgs args(op);
    return first_tensor(args) < args.size() || !op.listed.empty();
}

std::optional<OperatorLayer> any_layer_of(const Operator& op, const OperatorContext& context) {
    const OperatorArgs args(op);
    auto made = layer_of(op);
    if (!made) {
        made = collective(op, args, context);
    }
    if (!made) {
        made = by_name(op, args, context);
    }
    if (!made) {
        const bool named = op.name.find("scaled_dot_product") != std::string::npos ||
                           op.name.find("_attention_") != std::string::npos ||
                           op.name.starts_with("flash_attn") || op.name == "FlashAttnFunc" ||
                           op.name.find("varlen_fwd") != std::string::npos;
        made = named ? custom_attention_of(op) : custom_experts_of(op);
    }
    if (!made || model::validate(made->layer).has_errors()) {
        return std::nullopt;
    }
    made->approximate = made->approximate || !op.borrowed_from.empty();
    return made;
}

std::optional<OperatorLayer> traffic_of(const Operator& op, const OperatorContext& context) {
    const OperatorArgs args(op);
    double bytes = 0.0;
    for (std::size_t i = 0; i < args.size(); ++i) {
        bytes += static_cast<double>(args.bytes(i));
        bytes += static_cast<double>(args.listed(i)) * model::storage_bits(context.list_type) / 8.0;
    }
    if (!(bytes >= 2.0) || bytes > 1e14) {
        return std::nullopt;
    }
    auto made = pointwise_layer("copy", static_cast<Count>(bytes / 2.0), 1,
                                {DataType::int8, DataType::int8, DataType::int8});
    if (!made || model::validate(made->layer).has_errors()) {
        return std::nullopt;
    }
    made->approximate = true;
    return made;
}

} // namespace eyeroof::profiles
