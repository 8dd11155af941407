// Norms, softmax, pooling and reductions.
#include "formats/onnx/fold.hpp"
#include "formats/onnx/operators.hpp"
#include "formats/onnx/windows.hpp"
#include "model/workload/input_footprint.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

using model::Op;
using model::RowsShape;

void rows(Step& step, Op op, std::int64_t rows, std::int64_t cols, std::int64_t parameters) {
    step.give(*step.in(0).dims);
    if (rows < 1 || cols < 1) {
        return step.fail("one of its sizes is 0");
    }
    step.add(op, RowsShape{rows, cols}, parameters);
}

void batch_norm(Step& step) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    if (!all || x.rank() < 2 || (*x.dims)[1] < 1) {
        return step.fail("the sizes of its input are not known");
    }
    rows(step, Op::batchnorm, (*x.dims)[1], *all / (*x.dims)[1], step.learned(1, 3));
}

// Norms over the sizes from `axis` on; further outputs are statistics.
void norm_from(Step& step, std::int64_t axis, std::size_t weights) {
    const Value& x = step.in(0);
    const auto at = axis_of(x, axis);
    const auto all = x.elements();
    const auto cols = at ? product(*x.dims, *at, x.dims->size()) : std::nullopt;
    if (!all || !cols || *cols < 1) {
        return step.fail("the sizes of its input are not known");
    }
    rows(step, Op::layernorm, *all / *cols, *cols, step.learned(weights, weights + 2));
}

// com.microsoft: an addition of what goes around, and a norm.
void skip_norm(Step& step) {
    const Value& x = step.in(0);
    if (!x.known() || x.rank() < 1) {
        return step.fail("the sizes of its input are not known");
    }
    norm_from(step, -1, 2);
    if (step.outcome != Outcome::costed) {
        return;
    }
    if (step.outputs.size() > 3) {
        step.outputs[3] = step.outputs[0];
    }
    const auto shape = std::get<RowsShape>(step.layers.front().shape);
    step.add(Op::elementwise, model::ElementwiseShape{shape.rows, shape.cols, "add"}, 0, ".add");
}

// A row a group of an image's channels; the channels are scaled each for
// itself.
void group_norm(Step& step, std::int64_t groups) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    if (!all || x.rank() < 2 || *all < 1) {
        return step.fail("the sizes of its input are not known");
    }
    const auto number = checked_mul((*x.dims)[0], groups > 0 ? groups : (*x.dims)[1]);
    if (!number || *all % *number != 0) {
        return step.fail("its groups do not divide the channels");
    }
    rows(step, Op::layernorm, *number, *all / *number, step.learned(1, 3));
}

void softmax(Step& step) {
    const Value& x = step.in(0);
    constexpr std::int64_t along_one_axis = 13; // before, all sizes from the axis on are one row
    const bool one = step.opset >= along_one_axis;
    const auto at = axis_of(x, step.integer("axis", one ? -1 : 1));
    const auto all = x.elements();
    if (!all || !at) {
        return step.fail("the sizes of its input are not known");
    }
    const auto cols = one ? std::optional((*x.dims)[*at]) : product(*x.dims, *at, x.dims->size());
    rows(step, Op::softmax, cols.value_or(0) > 0 ? *all / *cols : 0, cols.value_or(0), 0);
}

Count touched(const Window& w) {
    return model::input_footprint_rows(
        {w.size, w.kernel, w.stride, w.before, w.dilation, w.outputs});
}

// Depth by planes: of three axes, depth is the height and a plane the width, with windows of as
// many taps (one more at most) that touch as many elements and leave as many results. Nothing where
// a plane is larger than any layer.
std::optional<std::vector<Window>> flat(std::vector<Window> windows) {
    if (windows.size() != 3) {
        return windows;
    }
    const Window& h = windows[1];
    const Window& w = windows[2];
    const auto fits = [](Count a, Count b) {
        const auto all = checked_mul(a, b);
        return all && *all <= model::kMaxDimension;
    };
    const bool one = h.outputs == 1 && w.outputs == 1;
    if (!fits(h.outputs, w.outputs) || !(one || fits(h.kernel, w.kernel)) ||
        !fits(touched(h), touched(w))) {
        return std::nullopt;
    }
    Window plane;
    plane.size = touched(h) * touched(w);
    plane.outputs = h.outputs * w.outputs;
    const std::int64_t steps = plane.outputs - 1;
    plane.kernel = steps > 0 ? h.kernel * w.kernel : plane.size;
    plane.stride =
        steps > 0 ? std::max<std::int64_t>((plane.size - plane.kernel + steps - 1) / steps, 1) : 1;
    std::int64_t beyond = steps * plane.stride + plane.kernel - plane.size;
    plane.kernel += beyond % 2; // padding is alike on both sides
    beyond += beyond % 2;
    if (beyond / 2 < plane.kernel) {
        plane.before = plane.after = beyond / 2;
    } else { // windows of more taps, that touch each other
        plane.stride = std::max<std::int64_t>(plane.size / plane.outputs, 1);
        plane.kernel = std::max<std::int64_t>(plane.size - plane.stride * steps, 1);
        plane.before = plane.after = std::max<std::int64_t>(plane.outputs - plane.size + 1, 0) / 2;
    }
    return std::vector{windows[0], plane};
}

// A layer of pooling has no gaps between taps. Padding takes their place, and where it does not
// suffice, taps: windows touch as much and leave as many results.
void take_gaps(std::int64_t dilation, std::int64_t& taps, std::int64_t& pad) {
    const std::int64_t gaps = (dilation - 1) * (taps - 1);
    const std::int64_t padded = std::min(pad, gaps / 2);
    pad -= padded;
    taps += gaps - 2 * padded;
}

void pool(Step& step, Op op, bool global) {
    const Value& x = step.in(0);
    if (!x.known() || x.rank() < 3) {
        return step.fail("the sizes of its input are not known");
    }
    const Dims spatial(x.dims->begin() + 2, x.dims->end());
    const auto kernel = global ? std::optional(spatial) : step.integers("kernel_shape");
    const auto windows = kernel && kernel->size() == spatial.size()
                             ? windows_of(step, spatial, *kernel)
                             : std::nullopt;
    const auto planes = windows ? flat(*windows) : std::nullopt;
    const auto image = planes ? image_of(*planes) : std::nullopt;
    if (!image) {
        return step.fail(windows && !planes ? "its window is too large"
                                            : "its window makes no sense");
    }
    Dims result = {(*x.dims)[0], (*x.dims)[1]};
    for (const Window& window : *windows) {
        result.push_back(window.outputs);
    }
    step.give(result);
    model::PoolShape shape{(*x.dims)[0], (*x.dims)[1], image->h,      image->w,
                           image->r,     image->s,     image->stride, image->pad};
    take_gaps(image->dilation.h, shape.r, shape.pad.h);
    take_gaps(image->dilation.w, shape.s, shape.pad.w);
    if (step.outputs.size() > 1) {
        step.outputs[1] = step.outputs[0]; // where the maxima stood
        step.outputs[1].element = 7;
    }
    step.add(op, shape);
}

// Every value of some axes becomes one: pooling of so many.
void reduce(Step& step, bool one_axis) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    if (!all) {
        return step.fail("the sizes of its input are not known");
    }
    const auto at = axis_of(x, step.integer("axis", 0));
    std::vector<bool> one(x.dims->size(), false);
    if (one_axis && at) {
        one[*at] = true;
    }
    const auto gone = one_axis ? (at ? std::optional(one) : std::nullopt) : reduced_axes(step);
    if (!gone) {
        return step.fail("its axes are not known");
    }
    Dims result;
    std::int64_t left = 1;
    const bool keeps = step.integer("keepdims", 1) != 0;
    for (std::size_t i = 0; i < x.dims->size(); ++i) {
        const std::int64_t size = (*x.dims)[i];
        left *= (*gone)[i] ? 1 : size;
        if (!(*gone)[i] || keeps) {
            result.push_back((*gone)[i] ? 1 : size);
        }
    }
    step.give(std::move(result));
    if (one_axis && !step.outputs.empty()) {
        step.outputs[0].element = 7; // positions
    }
    if (*all < 1 || left < 1) {
        step.outcome = Outcome::view; // of nothing
        return;
    }
    const std::int64_t window = *all / left;
    step.add(Op::avgpool, model::PoolShape{1, left, window, 1, window, 1});
}

} // namespace

void add_norms(Handlers& handlers) {
    handlers["BatchNormalization"] = batch_norm;
    handlers["LayerNormalization"] = [](Step& s) { norm_from(s, s.integer("axis", -1), 1); };
    handlers["RMSNormalization"] = handlers["LayerNormalization"];
    handlers["SimplifiedLayerNormalization"] = handlers["LayerNormalization"];
    handlers["SkipLayerNormalization"] = skip_norm;
    handlers["SkipSimplifiedLayerNormalization"] = skip_norm;
    handlers["InstanceNormalization"] = [](Step& s) { group_norm(s, 0); };
    handlers["GroupNormalization"] = [](Step& s) { group_norm(s, s.integer("num_groups", 0)); };
    handlers["MeanVarianceNormalization"] = [](Step& s) { group_norm(s, 0); };
    handlers["LpNormalization"] = [](Step& s) { norm_from(s, s.integer("axis", -1), 9); };
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
        handlers[op] = softmax;
    }
    handlers["MaxPool"] = [](Step& s) { pool(s, Op::maxpool, false); };
    handlers["AveragePool"] = [](Step& s) { pool(s, Op::avgpool, false); };
    handlers["LpPool"] = handlers["AveragePool"];
    handlers["QLinearAveragePool"] = handlers["AveragePool"];
    handlers["com.microsoft.QLinearSoftmax"] = softmax;
    handlers["com.microsoft.QLinearReduceMean"] = [](Step& s) { reduce(s, false); };
    handlers["GlobalMaxPool"] = [](Step& s) { pool(s, Op::maxpool, true); };
    handlers["GlobalAveragePool"] = [](Step& s) { pool(s, Op::avgpool, true); };
    handlers["GlobalLpPool"] = handlers["GlobalAveragePool"];
    handlers["QLinearGlobalAveragePool"] = handlers["GlobalAveragePool"];
    for (const char* op :
         {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
          "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
        handlers[op] = [](Step& s) { reduce(s, false); };
    }
    handlers["ArgMax"] = handlers["ArgMin"] = [](Step& s) { reduce(s, true); };
}

} // namespace eyeroof::formats::onnx
