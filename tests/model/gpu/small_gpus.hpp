// GPUs for the tests, written out by hand from their published figures.
// Used by the tests of the GPU model and of what stands on it.
#pragma once

#include "model/gpu/predict.hpp"

namespace eyeroof::test {

inline model::Gpu v100_sxm2() {
    model::Gpu gpu;
    gpu.vendor = "NVIDIA";
    gpu.arch = model::GpuArch::volta;
    gpu.sms = 80;
    gpu.fp32_lanes = 64;
    gpu.base_hz = 1.29e9;
    gpu.boost_hz = gpu.tensor_hz = 1.53e9;
    gpu.rate(model::DataType::fp32) = {15.7e12, model::Pipe::vector};
    gpu.rate(model::DataType::fp16) = {125e12, model::Pipe::tensor};
    gpu.dram_bytes = 16e9;
    gpu.dram_bytes_per_s = 900e9;
    gpu.l2_bytes = 6.0 * 1048576.0;
    gpu.l2_bytes_per_s = 2.7e12;
    gpu.tdp_w = 300.0;
    return gpu;
}

inline model::Gpu a100_sxm_40() {
    model::Gpu gpu = v100_sxm2();
    gpu.arch = model::GpuArch::ampere;
    gpu.sms = 108;
    gpu.base_hz = 1.095e9;
    gpu.boost_hz = gpu.tensor_hz = 1.41e9;
    gpu.rate(model::DataType::fp32) = {19.5e12, model::Pipe::vector};
    gpu.rate(model::DataType::fp16) = {312e12, model::Pipe::tensor};
    gpu.dram_bytes = 40e9;
    gpu.dram_bytes_per_s = 1555e9;
    gpu.l2_bytes = 40.0 * 1048576.0;
    gpu.l2_bytes_per_s = 5.4e12;
    gpu.tdp_w = 400.0;
    return gpu;
}

inline model::Layer gemm(Count m, Count n, Count k, model::DataType type = model::DataType::fp16,
                         Count batch = 1) {
    model::Layer layer;
    layer.name = "gemm";
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{batch, m, n, k};
    layer.types = {type, type, type};
    return layer;
}

inline model::Layer conv(Count c, Count k, Count size, Count filter,
                         model::DataType type = model::DataType::fp32) {
    model::Layer layer;
    layer.name = "conv";
    layer.op = model::Op::conv2d;
    model::ConvShape shape;
    shape.n = 16;
    shape.c = c;
    shape.k = k;
    shape.h = shape.w = size;
    shape.r = shape.s = filter;
    shape.pad = {filter / 2, filter / 2};
    layer.shape = shape;
    layer.types = {type, type, type};
    return layer;
}

} // namespace eyeroof::test
