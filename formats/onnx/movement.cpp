// Operators that move data without changing it: their result is written once.
#include "formats/onnx/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace eyeroof::formats::onnx {

namespace {

// Values of a tensor of sizes `dims` whose elements lie `strides` apart in `values` from `first`
// on: what transposing, slicing and repeating a shape comes to.
std::optional<std::vector<double>> strided(const std::vector<double>& values, const Dims& dims,
                                           const Dims& strides, std::int64_t first) {
    const auto all = product(dims, 0, dims.size());
    if (!all || *all < 0 || *all > static_cast<std::int64_t>(kMostKept)) {
        return std::nullopt;
    }
    std::vector<double> kept;
    for (std::int64_t i = 0; i < *all; ++i) {
        std::int64_t at = first;
        std::int64_t rest = i;
        for (std::size_t axis = dims.size(); axis-- > 0;) {
            at += rest % dims[axis] * strides[axis];
            rest /= dims[axis];
        }
        if (at < 0 || at >= static_cast<std::int64_t>(values.size())) {
            return std::nullopt;
        }
        kept.push_back(values[static_cast<std::size_t>(at)]);
    }
    return kept;
}

Dims strides_of(const Dims& dims) {
    Dims strides(dims.size(), 1);
    for (std::size_t axis = dims.size(); axis-- > 1;) {
        strides[axis - 1] = checked_mul(strides[axis], dims[axis]).value_or(0);
    }
    return strides;
}

void keep_values(Step& step, const Dims& dims, const Dims& strides, std::int64_t first) {
    if (step.in(0).values && !step.outputs.empty()) {
        step.outputs[0].values = strided(*step.in(0).values, dims, strides, first);
    }
}

void unknown_sizes(Step& step) {
    step.fail("the sizes of its operands are not known");
}

void transpose(Step& step) {
    const Value& x = step.in(0);
    if (!x.known()) {
        return unknown_sizes(step);
    }
    Dims order(x.dims->size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        order[i] = static_cast<std::int64_t>(order.size() - 1 - i);
    }
    order = step.integers("perm").value_or(order);
    Dims result;
    Dims moved; // axes longer than 1, in their new order
    Dims strides;
    const Dims own = strides_of(*x.dims);
    for (const std::int64_t axis : order) {
        const auto at = axis_of(x, axis);
        if (!at || order.size() != x.dims->size()) {
            return step.fail("its order of axes makes no sense");
        }
        result.push_back((*x.dims)[*at]);
        strides.push_back(own[*at]);
        if (result.back() != 1) {
            moved.push_back(axis);
        }
    }
    step.give(result);
    keep_values(step, result, strides, 0);
    if (std::is_sorted(moved.begin(), moved.end())) {
        step.outcome = Outcome::view; // nothing but axes of one element changes places
        return;
    }
    step.add_elementwise("copy");
}

void concat(Step& step) {
    const auto at = axis_of(step.in(0), step.integer("axis", 0));
    if (!at) {
        return unknown_sizes(step);
    }
    Dims result = *step.in(0).dims;
    result[*at] = 0;
    for (std::size_t i = 0; i < step.inputs(); ++i) {
        const Value& part = step.in(i);
        if (part.rank() != step.in(0).rank()) {
            return unknown_sizes(step);
        }
        result[*at] += (*part.dims)[*at];
    }
    step.give(result);
    step.add_elementwise("copy", step.learned_constants());
}

// First, last (exclusive) and stride along one axis of n; ONNX clamps.
std::int64_t taken(std::int64_t n, std::int64_t start, std::int64_t end, std::int64_t by,
                   std::int64_t& first) {
    const auto clamp = [&](std::int64_t v, std::int64_t low, std::int64_t high) {
        return std::clamp(v < 0 ? v + n : v, low, high);
    };
    first = by > 0 ? clamp(start, 0, n) : clamp(start, 0, n - 1);
    if (by > 0) {
        return std::max<std::int64_t>((clamp(end, 0, n) - first + by - 1) / by, 0);
    }
    const std::int64_t last = end < -n ? -1 : clamp(end, -1, n - 1);
    return std::max<std::int64_t>((first - last - by - 1) / -by, 0);
}

// Start and end of a slice; of an upper bound that takes elements away as if it took none.
std::pair<std::int64_t, std::int64_t> widest(const Step& step, std::int64_t start, std::int64_t end,
                                             std::int64_t by) {
    const bool forward = by > 0;
    return {forward && step.in(1).bounds ? 0 : start,
            !forward && step.in(2).bounds ? std::numeric_limits<std::int64_t>::min() : end};
}

void slice(Step& step) {
    const Value& x = step.in(0);
    const auto starts = step.integers("starts", 1);
    const auto ends = step.integers("ends", 2);
    auto axes = step.integers("axes", 3);
    const auto steps = step.integers("steps", 4);
    if (!x.known() || !starts || !ends || starts->size() != ends->size() ||
        (step.has(3) && !axes) || (step.has(4) && (!steps || step.in(4).bounds))) {
        return step.fail("its sizes or bounds are not known");
    }
    constexpr std::int64_t far = 2 * static_cast<std::int64_t>(kMostKept);
    Dims result = *x.dims;
    Dims strides = strides_of(*x.dims);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < starts->size(); ++i) {
        const std::int64_t axis =
            axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i);
        const auto at = axis_of(x, axis);
        const std::int64_t by = steps && i < steps->size() ? (*steps)[i] : 1;
        std::int64_t first = 0;
        if (!at || by == 0 || by < -2147483647 || by > 2147483647) {
            return step.fail("its bounds make no sense");
        }
        const auto [start, end] = widest(step, (*starts)[i], (*ends)[i], by);
        result[*at] = taken((*x.dims)[*at], start, end, by, first);
        if (x.values) { // so few that none of this is large
            offset += first * strides[*at];
            strides[*at] *= std::clamp<std::int64_t>(by, -far, far);
        }
    }
    step.give(result);
    keep_values(step, result, strides, offset);
    step.add_elementwise("copy");
}

void split(Step& step) {
    const Value& x = step.in(0);
    const auto at = axis_of(x, step.integer("axis", 0));
    auto parts = step.integers("split", 1);
    const auto number = static_cast<std::int64_t>(step.outputs.size());
    if (!at || number < 1 || (step.has(1) && !parts) ||
        (parts && parts->size() != step.outputs.size())) {
        return step.fail("its sizes are not known");
    }
    const std::int64_t all = (*x.dims)[*at];
    const std::int64_t each = (all + number - 1) / number; // the last may be smaller
    std::int64_t rest = all;
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        const std::int64_t own = std::clamp<std::int64_t>(parts ? (*parts)[i] : each, 0, rest);
        rest -= own;
        step.outputs[i].dims = x.dims;
        (*step.outputs[i].dims)[*at] = own;
        step.outputs[i].element = x.element;
        if (x.values) {
            const Dims strides = strides_of(*x.dims);
            const std::int64_t first = (all - rest - own) * strides[*at];
            step.outputs[i].values = strided(*x.values, *step.outputs[i].dims, strides, first);
        }
    }
    const auto elements = x.elements();
    if (!elements || *elements < 1) {
        step.outcome = Outcome::view;
        return;
    }
    step.add(model::Op::elementwise,
             model::ElementwiseShape{*elements / x.dims->back(), x.dims->back(), "copy"});
}

// Of a constant table along its first axis: an embedding.
void gather(Step& step) {
    const Value& x = step.in(0);
    const Value& indices = step.in(1);
    const auto at = axis_of(x, step.integer("axis", 0));
    if (!at || !indices.known()) {
        return unknown_sizes(step);
    }
    Dims result(x.dims->begin(), x.dims->begin() + static_cast<std::ptrdiff_t>(*at));
    result.insert(result.end(), indices.dims->begin(), indices.dims->end());
    result.insert(result.end(), x.dims->begin() + static_cast<std::ptrdiff_t>(*at) + 1,
                  x.dims->end());
    step.give(result);
    const auto rows = indices.elements();
    const auto cols = product(*x.dims, 1, x.dims->size());
    const bool stays = x.origin != Origin::data || !x.made_of.empty();
    const bool table = stays && *at == 0 && x.rank() >= 2;
    if (!table || !rows || !cols || *rows < 1 || *cols < 1 || (*x.dims)[0] < 1) {
        return step.add_elementwise("copy");
    }
    step.add(model::Op::embedding, model::RowsShape{*rows, *cols, (*x.dims)[0]},
             step.learned(0, 1));
    step.layers.back().types.weight = data_type_of(x.element);
    step.layers.back().types.input = step.layers.back().types.weight;
}

void pad(Step& step) {
    const Value& x = step.in(0);
    const auto pads = step.integers("pads", 1);
    const auto axes = step.integers("axes", 3);
    const std::size_t count = axes ? axes->size() : x.known() ? x.dims->size() : 0;
    if (!x.known() || !pads || pads->size() != 2 * count) {
        return step.fail("its sizes or padding are not known");
    }
    Dims result = *x.dims;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = axis_of(x, axes ? (*axes)[i] : static_cast<std::int64_t>(i));
        if (!at) {
            return step.fail("its axes make no sense");
        }
        result[*at] = std::max<std::int64_t>(result[*at] + (*pads)[i] + (*pads)[count + i], 0);
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

std::int64_t scaled_size(std::int64_t size, double scale) {
    return static_cast<std::int64_t>(
        std::clamp(std::floor(static_cast<double>(size) * scale), 0.0, 1e9));
}

// The axes that scales and sizes stand for: all, or since opset 18 those of the attribute.
std::optional<std::vector<std::size_t>> resized_axes(const Step& step) {
    std::vector<std::size_t> all;
    const auto given = step.integers("axes");
    for (std::int64_t i = 0; i < step.in(0).rank(); ++i) {
        all.push_back(static_cast<std::size_t>(i));
    }
    if (!given || given->empty()) {
        return all;
    }
    all.clear();
    for (const std::int64_t axis : *given) {
        const auto at = axis_of(step.in(0), axis);
        if (!at) {
            return std::nullopt;
        }
        all.push_back(*at);
    }
    return all;
}

// Sizes as they are given, or the largest of one scale that all axes fit into (or reach).
void resize_to(const Step& step, const Dims& sizes, const std::vector<std::size_t>& axes,
               Dims& result) {
    const std::string policy = step.text("keep_aspect_ratio_policy", "stretch");
    double scale = policy == "not_smaller" ? 0.0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const double own = static_cast<double>(sizes[i]) /
                           static_cast<double>(std::max<std::int64_t>(result[axes[i]], 1));
        scale = policy == "not_smaller" ? std::max(scale, own) : std::min(scale, own);
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        std::int64_t& size = result[axes[i]];
        size = policy == "stretch" ? sizes[i]
                                   : static_cast<std::int64_t>(std::clamp(
                                         std::round(static_cast<double>(size) * scale), 0.0, 1e9));
    }
}

// Sizes by scales (operand 1 of Upsample, 2 of Resize) or as they are given
// (operand 3).
void resize(Step& step) {
    const Value& x = step.in(0);
    const std::size_t place = step.node.op == "Upsample" ? 1 : step.opset < 11 ? 1 : 2;
    const auto sizes = step.has(3) ? step.integers("", 3) : std::nullopt;
    if (!x.known()) {
        return unknown_sizes(step);
    }
    const auto given = step.node.attributes.find("scales");
    const auto scales = step.has(place)                       ? step.in(place).values
                        : given != step.node.attributes.end() ? std::optional(given->second.floats)
                                                              : std::nullopt;
    const auto axes = resized_axes(step);
    if (!axes) {
        return step.fail("its axes make no sense");
    }
    // A part of the image, from and to a share of each axis.
    const bool crops = step.text("coordinate_transformation_mode", "") == "tf_crop_and_resize";
    const auto& part = step.in(1).values;
    if (crops && (!part || part->size() != 2 * axes->size())) {
        return step.fail("its region is not known");
    }
    Dims result = *x.dims;
    if (sizes && sizes->size() == axes->size()) {
        resize_to(step, *sizes, *axes, result);
    } else if (scales && scales->size() == axes->size()) {
        for (std::size_t i = 0; i < axes->size(); ++i) {
            std::int64_t& size = result[(*axes)[i]];
            const double share = crops ? (*part)[axes->size() + i] - (*part)[i] : 1.0;
            size = scaled_size(size, share * (*scales)[i]);
        }
    } else {
        return step.fail("its scales are not known");
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void expand(Step& step) {
    const Value& x = step.in(0);
    const auto shape = step.integers("", 1);
    Value wanted;
    wanted.dims = shape;
    wanted.at_most = step.in(1).bounds;
    const auto result = broadcast(x, wanted);
    if (!result) {
        return unknown_sizes(step);
    }
    step.give(*result);
    step.outcome = Outcome::view; // its reader repeats its values
}

void tile(Step& step) {
    const Value& x = step.in(0);
    const auto times = step.integers("", 1);
    if (!x.known() || !times || times->size() != x.dims->size()) {
        return unknown_sizes(step);
    }
    Dims result = *x.dims;
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = checked_mul(result[i], std::max<std::int64_t>((*times)[i], 0)).value_or(0);
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void like_first(Step& step) {
    if (!step.in(0).known()) {
        return unknown_sizes(step);
    }
    step.give(*step.in(0).dims);
    step.add_elementwise("copy");
}

void like_indices(Step& step) {
    if (!step.in(1).known()) {
        return unknown_sizes(step);
    }
    step.give(*step.in(1).dims);
    step.add_elementwise("copy");
}

void gather_nd(Step& step) {
    const Value& x = step.in(0);
    const Value& i = step.in(1);
    const std::int64_t batch = step.integer("batch_dims", 0);
    if (!x.known() || i.rank() < 1 || batch < 0 || batch + i.dims->back() > x.rank()) {
        return unknown_sizes(step);
    }
    Dims result(i.dims->begin(), i.dims->end() - 1);
    result.insert(result.end(), x.dims->begin() + batch + i.dims->back(), x.dims->end());
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void top_k(Step& step) {
    const Value& x = step.in(0);
    const auto at = axis_of(x, step.integer("axis", -1));
    const auto k = step.has(1) ? step.integers("", 1) : std::optional(Dims{step.integer("k", 0)});
    if (!at || !k || k->empty()) {
        return unknown_sizes(step);
    }
    Dims result = *x.dims;
    result[*at] = std::clamp<std::int64_t>(k->front(), 0, result[*at]);
    step.give(result);
    if (step.outputs.size() > 1) {
        step.outputs[1].dims = result;
        step.outputs[1].element = kInt64;
    }
    const auto elements = x.elements();
    if (!elements || *elements < 1) {
        return step.fail("one of its sizes is 0");
    }
    // Reads all; what it writes is little.
    step.add(model::Op::elementwise,
             model::ElementwiseShape{*elements / x.dims->back(), x.dims->back(), "copy"});
}

void blocks(Step& step) {
    const Value& x = step.in(0);
    const std::int64_t b = step.integer("blocksize", 0);
    if (x.rank() != 4 || b < 1 || b > 65536) {
        return unknown_sizes(step);
    }
    const Dims& d = *x.dims;
    step.give(step.node.op == "DepthToSpace" ? Dims{d[0], d[1] / (b * b), d[2] * b, d[3] * b}
                                             : Dims{d[0], d[1] * b * b, d[2] / b, d[3] / b});
    step.add_elementwise("copy");
}

// com.microsoft.nchwc: into blocks of channels and out of them; `channels` without the padding.
void reorder(Step& step) {
    const Value& x = step.in(0);
    if (x.rank() < 3) {
        return unknown_sizes(step);
    }
    Dims result = *x.dims;
    const bool last = step.integer("channels_last", 0) != 0;
    const auto image = result.begin() + 1;
    if (step.node.op == "ReorderOutput") {
        result[1] = step.integer("channels", result[1]);
        last ? void(std::rotate(image, image + 1, result.end())) : void();
    } else if (last) {
        std::rotate(image, result.end() - 1, result.end());
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

// com.microsoft.nchwc: whole factors.
void upsample_blocks(Step& step) {
    const auto scales = step.integers("scales");
    if (!step.in(0).known() || !scales || scales->size() != step.in(0).dims->size()) {
        return unknown_sizes(step);
    }
    Dims result = *step.in(0).dims;
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = scaled_size(result[i], static_cast<double>((*scales)[i]));
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

// A cache that new words are written into, in its place.
void scatter_tensor(Step& step) {
    const auto words = step.in(1).elements();
    if (!step.in(0).known() || !words || *words < 1 || step.in(1).rank() < 1) {
        return unknown_sizes(step);
    }
    step.give(*step.in(0).dims);
    const std::int64_t cols = std::max<std::int64_t>(step.in(1).dims->back(), 1);
    step.add(model::Op::elementwise, model::ElementwiseShape{*words / cols, cols, "copy"});
}

} // namespace

void add_movement(Handlers& handlers) {
    handlers["Transpose"] = transpose;
    handlers["Concat"] = concat;
    handlers["Slice"] = slice;
    handlers["Split"] = split;
    handlers["Gather"] = gather;
    handlers["GatherElements"] = like_indices;
    handlers["GatherND"] = gather_nd;
    handlers["Pad"] = pad;
    handlers["Resize"] = handlers["Upsample"] = resize;
    handlers["Expand"] = expand;
    handlers["Tile"] = tile;
    handlers["TopK"] = top_k;
    handlers["DepthToSpace"] = handlers["SpaceToDepth"] = blocks;
    handlers["TensorScatter"] = scatter_tensor;
    handlers["com.microsoft.nchwc.ReorderInput"] = reorder;
    handlers["com.microsoft.nchwc.ReorderOutput"] = reorder;
    handlers["com.microsoft.nchwc.Upsample"] = upsample_blocks;
    for (const char* op : {"ScatterND", "ScatterElements", "Scatter", "Trilu", "ReverseSequence"}) {
        handlers[op] = like_first;
    }
}

} // namespace eyeroof::formats::onnx
