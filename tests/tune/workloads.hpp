// Small workloads that tests of tuning share.
// Included by tests/tune.
#pragma once

#include "analysis/trials/workload.hpp"

namespace eyeroof::tests {

using analysis::tune::Workload;

inline Workload product(Count m, Count n, Count k) {
    Workload work;
    work.name = "product";
    work.rows = work.width = work.out_w = m;
    work.cols = n;
    work.depth = k;
    return work;
}

inline Workload convolution(Count images, Count channels, Count height, Count width, Count outputs,
                            Count taps, Count stride, Count pad) {
    model::Layer layer;
    layer.name = "conv";
    layer.op = model::Op::conv2d;
    layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    layer.shape = model::ConvShape{images, channels,         height,     width,  outputs, taps,
                                   taps,   {stride, stride}, {pad, pad}, {1, 1}, 1};
    return *analysis::tune::workload_of(layer);
}

} // namespace eyeroof::tests
