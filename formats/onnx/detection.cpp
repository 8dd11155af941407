// Operators whose result depends on the data, with its largest size; regions, grids and scattered
// windows.
#include "base/checked.hpp"
#include "formats/onnx/fold.hpp"
#include "formats/onnx/operators.hpp"
#include "formats/onnx/windows.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace eyeroof::formats::onnx {

namespace {

using model::ElementwiseShape;
using model::Op;

// One pass over operand `i`, whatever the result's size.
void add_pass(Step& step, std::size_t i) {
    const auto all = step.in(i).elements();
    if (!all || *all < 1) {
        step.outcome = Outcome::view;
        return;
    }
    const std::int64_t cols = step.in(i).rank() > 0 ? step.in(i).dims->back() : 1;
    step.add(Op::elementwise, ElementwiseShape{*all / cols, cols, "copy"});
}

// Positions of what is not 0: as many columns, at most one for each element.
void non_zero(Step& step) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    if (!all) {
        return step.fail("the sizes of its input are not known");
    }
    Value& out = step.outputs.front();
    out.element = kInt64;
    if (x.values && !x.bounds && static_cast<std::int64_t>(x.values->size()) == *all) {
        std::vector<std::size_t> kept;
        for (std::size_t i = 0; i < x.values->size(); ++i) {
            if ((*x.values)[i] != 0.0) {
                kept.push_back(i);
            }
        }
        out.values.emplace();
        std::int64_t inner = *all;
        for (const std::int64_t size : *x.dims) { // the positions along one axis after the other
            inner /= size;
            for (const std::size_t at : kept) {
                out.values->push_back(
                    static_cast<double>(static_cast<std::int64_t>(at) / inner % size));
            }
        }
        step.give({x.rank(), static_cast<std::int64_t>(kept.size())});
    } else {
        step.give({x.rank(), *all});
        out.at_most = true;
    }
    add_pass(step, 0);
}

// For each class of each image so many boxes as may be kept, or all. Counted as one pass over boxes
// and scores.
void non_max_suppression(Step& step) {
    const Value& boxes = step.in(0);
    const Value& scores = step.in(1);
    if (boxes.rank() != 3 || scores.rank() != 3) {
        return step.fail("the sizes of its boxes or scores are not known");
    }
    const auto most = scalar_of(step, 2);
    const double each = static_cast<double>((*boxes.dims)[1]);
    const double limit = most && *most == *most ? *most : each; // not NaN
    const double kept = step.has(2) ? std::clamp(limit, 0.0, each) : 0.0;
    const auto classes = checked_mul((*scores.dims)[0], (*scores.dims)[1]);
    const auto all =
        classes ? checked_mul(*classes, static_cast<std::int64_t>(kept)) : std::nullopt;
    if (!all) {
        return step.fail("its sizes are too large");
    }
    step.outputs.front().element = kInt64;
    step.give({*all, 3});
    step.outputs.front().at_most = true;
    add_pass(step, 1);
}

void compress(Step& step) {
    const Value& x = step.in(0);
    const Value& condition = step.in(1);
    const auto all = x.elements();
    const bool along = step.node.attributes.contains("axis");
    const auto at = axis_of(x, step.integer("axis", 0));
    if (!all || condition.rank() != 1 || (along && !at)) {
        return step.fail("the sizes of its operands are not known");
    }
    std::int64_t kept = std::min(condition.dims->front(), along ? (*x.dims)[*at] : *all);
    if (condition.values && !condition.bounds) {
        kept = std::count_if(condition.values->begin(), condition.values->end(),
                             [](double v) { return v != 0.0; });
    } else {
        step.outputs.front().at_most = true;
    }
    Dims result = along ? *x.dims : Dims{kept};
    if (along) {
        result[*at] = kept;
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

// Values, their first positions, where each element went, how often each stands.
void unique(Step& step) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    const bool along = step.node.attributes.contains("axis");
    const auto at = axis_of(x, step.integer("axis", 0));
    if (!all || (along && !at)) {
        return step.fail("the sizes of its input are not known");
    }
    const std::int64_t most = along ? (*x.dims)[*at] : *all;
    step.give(along ? *x.dims : Dims{most});
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
        step.outputs[i].at_most = i != 2;
        if (i > 0) {
            step.outputs[i].dims = Dims{most};
            step.outputs[i].element = kInt64;
        }
    }
    add_pass(step, 0);
}

// Regions of a feature map, each brought to the same size.
void roi_align(Step& step, std::int64_t height, std::int64_t width) {
    const Value& x = step.in(0);
    const Value& regions = step.in(1);
    if (x.rank() != 4 || regions.rank() != 2) {
        return step.fail("the sizes of its operands are not known");
    }
    step.give({(*regions.dims)[0], (*x.dims)[1], height, width});
    step.add_elementwise("copy");
}

void max_roi_pool(Step& step) {
    const auto pooled = step.integers("pooled_shape");
    if (!pooled || pooled->size() != 2) {
        return step.fail("its pooled shape is not known");
    }
    roi_align(step, (*pooled)[0], (*pooled)[1]);
}

// [n, c, …] sampled at [n, outputs …, axes].
void grid_sample(Step& step) {
    const Value& x = step.in(0);
    const Value& grid = step.in(1);
    if (x.rank() < 3 || grid.rank() != x.rank()) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result = {(*x.dims)[0], (*x.dims)[1]};
    result.insert(result.end(), grid.dims->begin() + 1, grid.dims->end() - 1);
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void affine_grid(Step& step) {
    const auto size = step.integers("", 1);
    if (!size || size->size() < 4) {
        return step.fail("its size is not known");
    }
    Dims result = {(*size)[0]};
    result.insert(result.end(), size->begin() + 2, size->end());
    result.push_back(static_cast<std::int64_t>(size->size()) - 2);
    step.give(std::move(result));
    step.add_elementwise("fill");
}

void one_hot(Step& step) {
    const Value& indices = step.in(0);
    const auto depth = step.integers("", 1);
    std::int64_t axis = step.integer("axis", -1);
    axis += axis < 0 ? indices.rank() + 1 : 0;
    if (!indices.known() || !depth || depth->size() != 1 || axis < 0 || axis > indices.rank()) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result = *indices.dims;
    result.insert(result.begin() + axis, depth->front());
    step.give(std::move(result), 2);
    step.add_elementwise("fill");
}

// Columns of windows back to the image that they were taken from.
void col2im(Step& step) {
    const Value& x = step.in(0);
    const auto image = step.integers("", 1);
    const auto block = step.integers("", 2);
    const std::int64_t taps = block ? product(*block, 0, block->size()).value_or(0) : 0;
    if (x.rank() != 3 || !image || taps < 1) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result = {(*x.dims)[0], (*x.dims)[1] / taps};
    result.insert(result.end(), image->begin(), image->end());
    step.give(std::move(result));
    add_pass(step, 0);
}

// (size - 1) stride + window, without the pads; nothing where that is too large.
std::optional<std::int64_t> unpooled(std::int64_t size, std::int64_t stride, std::int64_t window,
                                     std::initializer_list<std::int64_t> pads) {
    auto all = checked_mul(size - 1, stride);
    all = all ? checked_add(*all, window) : std::nullopt;
    for (const std::int64_t pad : pads) {
        const auto less = checked_mul(pad, -1);
        all = all && less ? checked_add(*all, *less) : std::nullopt;
    }
    return all;
}

void max_unpool(Step& step) {
    const auto shape = step.integers("", 2);
    const Value& x = step.in(0);
    if (shape) {
        step.give(*shape);
        return step.add_elementwise("copy");
    }
    const auto kernel = step.integers("kernel_shape");
    if (!x.known() || x.rank() < 3 || !kernel ||
        static_cast<std::int64_t>(kernel->size()) != x.rank() - 2) {
        return step.fail("the sizes of its operands are not known");
    }
    const Dims strides = step.integers("strides").value_or(Dims(kernel->size(), 1));
    const Dims pads = step.integers("pads").value_or(Dims(2 * kernel->size(), 0));
    Dims result = *x.dims;
    for (std::size_t i = 0; i < kernel->size() && i < strides.size(); ++i) {
        if (kernel->size() + i >= pads.size()) {
            break;
        }
        const auto size =
            unpooled(result[i + 2], strides[i], (*kernel)[i], {pads[i], pads[kernel->size() + i]});
        if (!size) {
            return step.fail("its sizes are too large");
        }
        result[i + 2] = *size;
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

void center_crop_pad(Step& step) {
    const Value& x = step.in(0);
    const auto shape = step.integers("", 1);
    const auto axes = step.integers("axes");
    if (!x.known() || !shape) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result = *x.dims;
    for (std::size_t i = 0; i < shape->size(); ++i) {
        const auto at =
            axis_of(x, axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i));
        if (!at) {
            return step.fail("its axes make no sense");
        }
        result[*at] = (*shape)[i];
    }
    step.give(std::move(result));
    step.add_elementwise("copy");
}

// Windows of a signal's length, as constants.
void window_function(Step& step) {
    const auto size = step.integers("", 0);
    if (!size || size->size() != 1) {
        return step.fail("its size is not known");
    }
    step.outputs.front().element = static_cast<int>(step.integer("output_datatype", kFloat));
    step.give({size->front()});
    step.outputs.front().origin = Origin::constant;
    step.outcome = Outcome::folded;
}

} // namespace

void add_detection(Handlers& handlers) {
    handlers["NonZero"] = non_zero;
    handlers["NonMaxSuppression"] = non_max_suppression;
    handlers["Compress"] = compress;
    handlers["Unique"] = unique;
    handlers["RoiAlign"] = [](Step& s) {
        roi_align(s, s.integer("output_height", 1), s.integer("output_width", 1));
    };
    handlers["MaxRoiPool"] = max_roi_pool;
    handlers["GridSample"] = grid_sample;
    handlers["AffineGrid"] = affine_grid;
    handlers["OneHot"] = one_hot;
    handlers["Col2Im"] = col2im;
    handlers["MaxUnpool"] = max_unpool;
    handlers["CenterCropPad"] = center_crop_pad;
    for (const char* op : {"HannWindow", "HammingWindow", "BlackmanWindow"}) {
        handlers[op] = window_function;
    }
}

} // namespace eyeroof::formats::onnx
