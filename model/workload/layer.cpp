// What makes a layer valid: every violated rule at once, each with the field it belongs to.
#include "model/workload/layer.hpp"

#include "base/suggest.hpp"
#include "model/workload/elementwise.hpp"
#include "model/workload/layer_work.hpp"
#include "model/workload/operators.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model {

namespace {

// floor((size + 2 pad - dilation (window - 1) - 1) / stride) + 1, and 0 where that is not a number
// of outputs (a window larger than the padded input, a stride of 0, values that overflow).
Count outputs_along(Count size, Count window, Count stride, Count pad, Count dilation) {
    const auto padding = checked_mul(pad, 2);
    const auto padded = padding ? checked_add(size, *padding) : std::nullopt;
    const auto reach = checked_product({dilation, window - 1});
    const auto slack = padded && reach ? checked_add(*padded, -*reach) : std::nullopt;
    if (!slack || *slack < 1 || stride < 1) {
        return 0;
    }
    return (*slack - 1) / stride + 1;
}

class Rules {
  public:
    explicit Rules(Diagnostics& found) : found_(found) {}

    void size(std::string_view field, Count value, Count smallest = 1) {
        if (value >= smallest && value <= kMaxDimension) {
            return;
        }
        const std::string hint = value < smallest
                                     ? fmt::format("the smallest {} is {}", field, smallest)
                                     : fmt::format("the largest dimension is {}", kMaxDimension);
        found_.error("bad-dimension", fmt::format("{} is {}", field, value), hint, {},
                     std::string(field));
    }

    void size(std::string_view field, Extent2 value, Count smallest = 1) {
        if (value.h == value.w) {
            size(field, value.h, smallest);
            return;
        }
        size(field, value.h, smallest);
        size(field, value.w, smallest);
    }

    void fits(std::string_view field, std::string_view along, Count size, Count window, Count pad,
              Count dilation) {
        if (outputs_along(size, window, 1, pad, dilation) > 0) {
            return;
        }
        found_.error("window-too-large",
                     fmt::format("a window of {} = {} with dilation {} does not fit the padded {} "
                                 "of {} + 2 x {}",
                                 field, window, dilation, along, size, pad),
                     "enlarge the input or the padding, or shrink the window", {},
                     std::string(field));
    }

    void divides(std::string_view field, Count channels, Count groups) {
        if (channels % groups != 0) {
            found_.error(
                "groups",
                fmt::format("{} = {} is not divisible by groups = {}", field, channels, groups),
                "both input and output channels are split evenly over the groups", {}, "groups");
        }
    }

    void refuse(std::string code, std::string message, std::string hint, std::string field) {
        found_.error(std::move(code), std::move(message), std::move(hint), {}, std::move(field));
    }

    bool clean() const { return !found_.has_errors(); }

  private:
    Diagnostics& found_;
};

void check(Rules& rules, const ConvShape& s, Op) {
    rules.size("n", s.n);
    rules.size("c", s.c);
    rules.size("h", s.h);
    rules.size("w", s.w);
    rules.size("k", s.k);
    rules.size("r", s.r);
    rules.size("s", s.s);
    rules.size("stride", s.stride);
    rules.size("pad", s.pad, 0);
    rules.size("dilation", s.dilation);
    rules.size("groups", s.groups);
    rules.size("depth", s.depth);
    if (rules.clean()) {
        rules.fits("r", "height", s.h, s.r, s.pad.h, s.dilation.h);
        rules.fits("s", "width", s.w, s.s, s.pad.w, s.dilation.w);
        rules.divides("c", s.c, s.groups);
        rules.divides("k", s.k, s.groups);
    }
}

void check(Rules& rules, const GemmShape& s, Op) {
    rules.size("batch", s.batch);
    rules.size("m", s.m);
    rules.size("n", s.n);
    rules.size("k", s.k);
}

void check(Rules& rules, const PoolShape& s, Op) {
    rules.size("n", s.n);
    rules.size("c", s.c);
    rules.size("h", s.h);
    rules.size("w", s.w);
    rules.size("r", s.r);
    rules.size("s", s.s);
    rules.size("stride", s.stride);
    rules.size("pad", s.pad, 0);
    if (rules.clean()) {
        rules.fits("r", "height", s.h, s.r, s.pad.h, 1);
        rules.fits("s", "width", s.w, s.s, s.pad.w, 1);
    }
}

void check(Rules& rules, const RowsShape& s, Op op) {
    rules.size("rows", s.rows);
    rules.size("cols", s.cols);
    rules.size("n", s.table, 0);
    rules.size("n", s.images, 0);
    if (s.images > 0 && (op != Op::batchnorm || s.cols % s.images != 0)) {
        rules.refuse("bad-dimension",
                     fmt::format("{} columns are no multiple of {} images", s.cols, s.images),
                     "columns are images x height x width", "n");
    }
    if (s.planes < 0 ||
        (s.planes > 0 && (op != Op::batchnorm || s.images > 0 || s.cols % s.planes != 0))) {
        rules.refuse("bad-dimension", fmt::format("{} columns are not {} planes", s.cols, s.planes),
                     "of a batchnorm with running statistics", "cols");
    }
    if (s.table > 0 && op != Op::embedding) {
        rules.refuse("unused-value", fmt::format("{} has no table", op_name(op)), "leave it out",
                     "n");
    }
    if (s.window < 0 || s.window > kMaxDimension || (s.window > 0 && op != Op::softmax)) {
        rules.refuse("bad-dimension", fmt::format("window is {}", s.window),
                     "of a softmax: 0 for none, or how many keys a query sees", "window");
    }
}

void check(Rules& rules, const ElementwiseShape& s, Op) {
    rules.size("rows", s.rows);
    rules.size("cols", s.cols);
    if (find_elementwise(s.fn) == nullptr) {
        const std::vector<std::string_view> known = elementwise_functions();
        rules.refuse("unknown-function", fmt::format("'{}' is not an elementwise function", s.fn),
                     suggestion(s.fn, known), "fn");
    }
}

void check(Rules& rules, const AttentionShape& s, Op) {
    rules.size("batch", s.batch);
    rules.size("groups", s.groups);
    rules.size("m", s.m);
    rules.size("n", s.n);
    rules.size("k", s.k);
    if (!rules.clean()) {
        return;
    }
    if (s.kv_heads < 0 || (s.kv_heads > 0 && s.groups % s.kv_heads != 0)) {
        rules.refuse("not-a-divisor",
                     fmt::format("{} heads cannot share the keys of {}", s.groups, s.kv_heads),
                     "kv_heads divides heads; leave it out where every head has its own",
                     "kv_heads");
    }
    if (s.window < 0 || s.window > kMaxDimension) {
        rules.refuse("bad-dimension", fmt::format("window is {}", s.window),
                     "0 for none, or how many keys a query sees", "window");
    }
    rules.size("v", s.v, 0);
    if ((s.causal || s.window > 0) && s.m > s.n) {
        rules.refuse("more-queries-than-keys",
                     fmt::format("{} queries are to be the last of {} tokens", s.m, s.n),
                     "kv_len counts the new tokens too", "n");
    }
}

void check(Rules& rules, const MoeShape& s, Op) {
    rules.size("m", s.m);
    rules.size("n", s.n);
    rules.size("k", s.k);
    rules.size("topk", s.topk);
    rules.size("experts", s.experts);
    if (rules.clean() && s.topk > s.experts) {
        rules.refuse("more-than-all",
                     fmt::format("a token cannot go to {} of {} experts", s.topk, s.experts),
                     "topk is at most experts", "topk");
    }
}

// Which gradients an operator has: of its data input, of its weights (for bmm: its second operand).
bool has_gradient(const Layer& layer) {
    const bool weight = layer.direction == Direction::bwd_weight;
    const OperatorTraits& traits = traits_of(layer.op);
    if (const auto* shape = std::get_if<ElementwiseShape>(&layer.shape); shape && !weight) {
        const auto* f = find_elementwise(shape->fn);
        return f == nullptr || f->gradient_flops >= 0;
    }
    return weight ? traits.weight_gradient : traits.input_gradient;
}

void check_direction(Rules& rules, const Layer& layer) {
    if (layer.direction == Direction::fwd || has_gradient(layer)) {
        return;
    }
    const bool weight = layer.direction == Direction::bwd_weight;
    rules.refuse("no-gradient",
                 fmt::format("{} has no gradient of its {}", op_name(layer.op),
                             weight ? "weights" : "input"),
                 weight ? "use fwd or bwd_data" : "use fwd", "direction");
}

} // namespace

Count ConvShape::p() const {
    return outputs_along(h, r, stride.h, pad.h, dilation.h);
}
Count ConvShape::q() const {
    return outputs_along(w, s, stride.w, pad.w, dilation.w);
}
Count seen_keys(const AttentionShape& s) {
    return s.window > 0 ? std::min(s.n, s.window + s.m - 1) : s.n;
}

// Query i of m sees min(n - m + i + 1, window) keys when causal, min(n, window) otherwise.
Count seen_pairs(const AttentionShape& s) {
    const Count most = s.window > 0 ? std::min(s.window, s.n) : s.n;
    const Count first = s.n - s.m + 1;
    if (!s.causal || most <= first) {
        return s.m * most;
    }
    const Count growing = most - first + 1; // queries that the window does not limit
    return growing * (first + most) / 2 + (s.m - growing) * most;
}

Count PoolShape::p() const {
    return outputs_along(h, r, stride.h, pad.h, 1);
}
Count PoolShape::q() const {
    return outputs_along(w, s, stride.w, pad.w, 1);
}

namespace {

// Nothing where something is wrong, which `found` tells.
std::optional<Work> checked_work(const Layer& layer, Diagnostics& found) {
    Rules rules(found);
    rules.size("count", layer.count);
    rules.size("in_training", layer.in_training);
    if (layer.parameters && *layer.parameters < 0) {
        rules.refuse("bad-dimension", fmt::format("parameters is {}", *layer.parameters),
                     "count from 0", "parameters");
    }
    if (layer.shape.index() != static_cast<std::size_t>(traits_of(layer.op).shape)) {
        rules.refuse("wrong-shape", fmt::format("the shape is not that of a {}", op_name(layer.op)),
                     "", "op");
        return std::nullopt;
    }
    std::visit([&](const auto& shape) { check(rules, shape, layer.op); }, layer.shape);
    check_direction(rules, layer);
    auto work = rules.clean() ? count_work(layer) : std::nullopt;
    if (rules.clean() && !work) {
        rules.refuse("overflow", "the layer's operations or bytes do not fit 63 bits",
                     "split the layer, or look for a dimension that is too large", "");
    }
    return work;
}

} // namespace

Diagnostics validate(const Layer& layer) {
    Diagnostics found;
    static_cast<void>(checked_work(layer, found));
    return found;
}

bool multiplies(Op op) {
    return traits_of(op).multiplies;
}

Count parameters_of(const Layer& layer) {
    if (layer.parameters) {
        return *layer.parameters;
    }
    if (layer.op == Op::embedding) {
        const auto& s = std::get<RowsShape>(layer.shape);
        return checked_mul(s.table > 0 ? s.table : s.rows, s.cols).value_or(0);
    }
    const auto work = work_of(layer);
    if (!work) {
        return 0;
    }
    const auto weight = std::find_if(work->tensors.begin(), work->tensors.end(),
                                     [](const TensorUse& t) { return t.name == "weight"; });
    return weight == work->tensors.end() ? 0 : weight->elements;
}

Result<Work> work_of(const Layer& layer) {
    Diagnostics found;
    auto work = checked_work(layer, found);
    return work ? Result<Work>(*std::move(work)) : Result<Work>(std::move(found));
}

} // namespace eyeroof::model
