// SCALE-Sim's compute cycles in closed form, for `--compat scalesim` and to say how eyeroof
// differs.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model::compat {

// A layer as SCALE-Sim sees it: a product [pixels, window] x [window, filters], run `runs` times.
struct ScaleSimWork {
    Count pixels = 1;  // P: output pixels of one image
    Count window = 1;  // S: filter height * width * channels
    Count filters = 1; // M
    Count runs = 1;    // images and groups, which SCALE-Sim does not know and runs one by one

    Count macs() const { return pixels * window * filters * runs; }
    bool operator==(const ScaleSimWork&) const = default;
};

// Its output height is ceil((H - R + stride) / stride) over the padded input, without dilation: one
// more than ours where the last window sticks out. Errors: validate()'s; "unsupported" for other
// operators than conv2d, gemm and bmm, for gradients and for dilation; "overflow".
Result<ScaleSimWork> scalesim_work(const Layer& layer);

// With an array of AR rows and AC columns, a run takes
//   WS: ceil(S / AR) ceil(M / AC) (P + 2 AR + AC - 2) - 1
//   OS: ceil(P / AR) ceil(M / AC) (S + AR + AC - 2) - 1
//   IS: ceil(S / AR) ceil(P / AC) (M + 2 AR + AC - 2) - 1
// cycles: folds, each filled along the diagonal, streamed, and drained.
// Source: derived from SCALE-Sim's trace generators; equal on 42 of 42 runs of SCALE-Sim v3 (14
// layers of ResNet-50, three dataflows). Errors: scalesim_work()'s; "unsupported" for other
// dataflows.
Result<Count> scalesim_compute_cycles(const Layer& layer, Count rows, Count cols,
                                      DataflowKind dataflow);

// MACs / (cycles * rows * cols), SCALE-Sim's "overall utilization" as a fraction.
double scalesim_utilization(const ScaleSimWork& work, Count cycles, Count rows, Count cols);

} // namespace eyeroof::model::compat
