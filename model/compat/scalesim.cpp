#include "model/compat/scalesim.hpp"

#include <fmt/format.h>

namespace eyeroof::model::compat {

namespace {

Result<ScaleSimWork> unsupported(const std::string& what) {
    return Result<ScaleSimWork>::failure("unsupported", fmt::format("SCALE-Sim has no {}", what),
                                         "use eyeroof's own model for this layer");
}

Result<ScaleSimWork> checked(ScaleSimWork work, std::optional<Count> pixels,
                             std::optional<Count> window, std::optional<Count> runs) {
    const auto macs = pixels && window && runs
                          ? checked_product({*pixels, *window, work.filters, *runs})
                          : std::nullopt;
    if (!macs) {
        return Result<ScaleSimWork>::failure("overflow", "the layer's MACs do not fit 63 bits",
                                             "make the layer smaller");
    }
    work.pixels = *pixels;
    work.window = *window;
    work.runs = *runs;
    return work;
}

// ceil((size - taps + stride) / stride); validate() has seen to it that the window fits.
Count outputs_along(Count size, Count taps, Count stride) {
    return ceil_div(size - taps, stride) + 1;
}

Result<ScaleSimWork> work_of_conv(const ConvShape& s) {
    if (s.dilation != Extent2{1, 1}) {
        return unsupported("dilated convolution");
    }
    const Count p = outputs_along(s.h + 2 * s.pad.h, s.r, s.stride.h);
    const Count q = outputs_along(s.w + 2 * s.pad.w, s.s, s.stride.w);
    return checked({1, 1, s.k / s.groups, 1}, checked_mul(p, q),
                   checked_product({s.r, s.s, s.c / s.groups}), checked_mul(s.n, s.groups));
}

} // namespace

Result<ScaleSimWork> scalesim_work(const Layer& layer) {
    if (Diagnostics found = validate(layer); found.has_errors()) {
        return found;
    }
    if (layer.direction != Direction::fwd) {
        return unsupported("gradients");
    }
    if (layer.op == Op::conv2d) {
        return work_of_conv(std::get<ConvShape>(layer.shape));
    }
    if (layer.op == Op::gemm || layer.op == Op::bmm) {
        const auto& s = std::get<GemmShape>(layer.shape);
        return checked({1, 1, s.n, 1}, s.m, s.k, s.batch);
    }
    return unsupported(std::string(op_name(layer.op)));
}

Result<Count> scalesim_compute_cycles(const Layer& layer, Count rows, Count cols,
                                      DataflowKind dataflow) {
    if (rows < 1 || cols < 1 || rows > kMaxDimension || cols > kMaxDimension) {
        return Result<Count>::failure("bad-dimension",
                                      fmt::format("the array is {} x {}", rows, cols),
                                      "rows and columns are 1 or more");
    }
    const auto work = scalesim_work(layer);
    if (!work) {
        return work.diagnostics();
    }
    const auto [p, s, m, runs] = *work;
    std::optional<Count> folds;
    Count streamed = 0; // cycles of one fold
    switch (dataflow) {
    case DataflowKind::ws:
        folds = checked_mul(ceil_div(s, rows), ceil_div(m, cols));
        streamed = p + 2 * rows + cols - 2;
        break;
    case DataflowKind::os:
        folds = checked_mul(ceil_div(p, rows), ceil_div(m, cols));
        streamed = s + rows + cols - 2;
        break;
    case DataflowKind::is:
        folds = checked_mul(ceil_div(s, rows), ceil_div(p, cols));
        streamed = m + 2 * rows + cols - 2;
        break;
    default:
        return Result<Count>::failure("unsupported", "SCALE-Sim has the dataflows ws, os and is",
                                      "choose one of them with --dataflow");
    }
    const auto run = folds ? checked_mul(*folds, streamed) : std::nullopt;
    const auto all = run ? checked_mul(*run - 1, runs) : std::nullopt;
    if (!all) {
        return Result<Count>::failure("overflow", "the layer's cycles do not fit 63 bits",
                                      "make the layer smaller");
    }
    return *all;
}

double scalesim_utilization(const ScaleSimWork& work, Count cycles, Count rows, Count cols) {
    return static_cast<double>(work.macs()) /
           (static_cast<double>(cycles) * static_cast<double>(rows) * static_cast<double>(cols));
}

} // namespace eyeroof::model::compat
