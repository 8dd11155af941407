// A GPU of round numbers and constants that say nothing: every term of the model is 1 or 0, memory
// is endless, so that a test turns one on and computes its worth by hand. Used by tests of single
// terms.
#pragma once

#include "model/gpu/conv.hpp"
#include "model/gpu/matmul.hpp"
#include "model/gpu/memory_op.hpp"
#include "model/gpu/predict.hpp"

namespace eyeroof::test {

inline constexpr double kEndless = 1e30;

// 10 SMs at 1 GHz: 100 GFLOP/s each in fp32, 800 in fp16 and 1.6 T in 8 bits on tensor cores.
inline model::Gpu plain_gpu() {
    model::Gpu gpu;
    gpu.arch = model::GpuArch::volta;
    gpu.sms = 10;
    gpu.fp32_lanes = 50;
    gpu.boost_hz = gpu.tensor_hz = 1e9;
    gpu.rate(model::DataType::fp32) = {1e12, model::Pipe::vector};
    gpu.rate(model::DataType::fp16) = {8e12, model::Pipe::tensor};
    gpu.rate(model::DataType::int8) = {16e12, model::Pipe::tensor};
    gpu.rate(model::DataType::fp8) = {16e12, model::Pipe::tensor};
    gpu.dram_bytes_per_s = kEndless;
    gpu.l2_bytes = 1e6;
    gpu.l2_bytes_per_s = kEndless;
    return gpu;
}

inline model::MatmulTerms plain_matmul() {
    model::MatmulTerms t;
    t.peak_share = t.dram_share = t.l2_share = t.sustained_clock = t.settle_s = 1.0;
    t.half_intensity = t.ramp_k = t.ramp_cycles = t.ramp_occupancy = t.slice_cost = 0.0;
    t.split_s = t.reuse = t.tlb_cost = t.resident_l2 = t.int8_s = t.quantise_s = 0.0;
    t.quantise_pass = t.fused_cast_s = 0.0;
    t.scattered_dram = t.issue_share = t.fp8_share = t.int8_share = 1.0;
    t.overlap = 3.0;
    return t;
}

inline model::ConvTerms plain_conv() {
    model::ConvTerms t;
    t.matmul = plain_matmul();
    t.fwd_cost = t.bwd_data_cost = t.bwd_weight_cost = t.weight_product = t.fused_share = 1.0;
    t.product_cost = t.transform_share = t.transform_l2 = 1.0;
    t.stride_waste = t.weight_sums = t.fused_ramp_k = t.fused_tail = t.fused_s = 0.0;
    t.transform_s = t.layout_share = t.layout_s = 0.0;
    return t;
}

inline model::MemoryTerms plain_memory() {
    model::MemoryTerms t;
    t.dram_share = t.resident_gain = t.resident_sharpness = t.norm_cache = 1.0;
    t.start_s = t.resident_l2 = t.softmax_pass = t.norm_pass = t.norm_cycles = 0.0;
    t.function_cycles = t.gated_cycles = t.rope_cycles = t.gather_cycles = t.row_s = 0.0;
    return t;
}

inline model::Layer relu_of_a_megabyte() { // read and written together
    model::Layer layer;
    layer.op = model::Op::elementwise;
    layer.shape = model::ElementwiseShape{1000, 125, "relu"};
    layer.types = {model::DataType::fp32, model::DataType::fp32, model::DataType::fp32};
    return layer;
}

} // namespace eyeroof::test
