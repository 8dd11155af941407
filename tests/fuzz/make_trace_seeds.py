#!/usr/bin/env python3
"""Writes seeds of the target of profiles: operators of PyTorch, vLLM, and FlashAttention that no recorded trace has,
each with its launch and kernel, a dozen in each file.

make_trace_seeds.py FOLDER: traced_*. Sizes need not make sense together: what is refused is a seed, too.
"""
import json
import os
import sys

X, WEIGHT, ROW = [8, 16, 64], [128, 64], [64]
IMAGE, FILTER = [2, 16, 8, 8], [32, 16, 3, 3]
VOLUME, CUBE = [2, 4, 4, 8, 8], [8, 4, 3, 3, 3]
Q, TOKENS, GROUPED = [2, 8, 16, 64], [2, 16, 8, 64], [2, 2, 16, 64]
NONE = []


def operator(name, *dims, types=None, concrete=None, strides=None):
    args = {"Input Dims": list(dims), "Input type": types or ["c10::BFloat16" if d else "Scalar" for d in dims]}
    if concrete:
        args["Concrete Inputs"] = concrete
    if strides:
        args["Input Strides"] = strides
    return name, args


POINTWISE = """abs addcdiv addcmul add bernoulli bitwise_and bitwise_not bitwise_xor clamp_max exp2 expm1 flip floor
    floor_divide fmax fmin fmod hardsigmoid hardswish hardtanh isfinite isinf isnan leaky_relu lerp log1p log2 logical_and
    logical_not logit maximum minimum mish nan_to_num prelu relu6 remainder rsqrt rsub sigmoid silu softplus sqrt sub tanh
    tril triu true_divide trunc uniform_ masked_fill where _fused_dropout roll repeat zero_ clone erf neg reciprocal""".split()
GRADIENTS = """hardsigmoid_backward hardswish_backward hardtanh_backward leaky_relu_backward sigmoid_backward silu_backward
    softplus_backward tanh_backward gelu_backward threshold_backward elu_backward""".split()
REDUCTIONS = "amax amin argmax argmin count_nonzero cumprod cumsum logsumexp median nansum norm std topk var var_mean".split()
ENGINE = """_C::silu_and_mul _C::gelu_and_mul _C::gelu_tanh_and_mul _C::mul_and_silu swiglu geglu _C::rms_norm
    _C::fused_add_rms_norm _C::rotary_embedding _C_cache_ops::reshape_and_cache_flash _C_cache_ops::concat_and_cache_mla
    _C::static_scaled_fp8_quant vllm::per_token_group_quant_fp8 vllm::unified_attention_with_output""".split()
LISTS = """aten::_foreach_add_ aten::_foreach_mul_ aten::_foreach_addcmul_ aten::_foreach_sqrt aten::_foreach_norm
    aten::_foreach_copy_ aten::_foreach_zero_ aten::_fused_adam_ aten::_fused_adamw_ aten::_fused_sgd_
    aten::_fused_adagrad_ aten::split_with_sizes_copy aten::_amp_foreach_non_finite_check_and_unscale_ aten::cat
    aten::stack aten::_chunk_cat""".split()
COLLECTIVES = """c10d::allreduce_ c10d::_allgather_base_ c10d::_reduce_scatter_base_ c10d::alltoall_base_ c10d::broadcast_
    nccl:all_to_all cross_device_reduce_1stage All2All_Pooled_Wait vllm::all_reduce rccl""".split()


def operators():
    for name in POINTWISE:
        yield operator(f"aten::{name}", X, X, X)
        yield operator(f"aten::{name}", X, NONE, types=["float", "Scalar"], concrete=["", "2"])
    for name in GRADIENTS:
        yield operator(f"aten::{name}", X, X)
    for name in REDUCTIONS:
        for axes in ("[-1]", "[0, 1]", "[1]", ""):
            yield operator(f"aten::{name}", X, NONE, NONE, concrete=["", axes, "False"])
    for name in ENGINE:
        yield operator(name, [16, 64], [16, 128], [16, 64])
        yield operator(name, [16, 8, 64], [16, 8, 64], [16, 2, 64], concrete=["", "", "", "True"])
    for name in LISTS:
        tensors = [[64, 64], [64], [8, 8, 8]]
        yield operator(name, tensors, tensors, tensors, types=["TensorList"] * 3)
        yield operator(name, tensors, NONE, types=["TensorList", "Scalar"])
    for name in COLLECTIVES:
        yield operator(name, [4096])
        yield operator(name, [[4096], [64]], types=["TensorList"])
    yield operator("record_param_comms", [4096], NONE, concrete=["8", "allgather"])
    yield operator("record_param_comms", NONE, NONE, [4096], concrete=["4", "reduce_scatter", ""])
    for name, dims in (("_safe_softmax", [X]), ("_softmax_backward_data", [X, X]), ("_log_softmax", [X])):
        yield operator(f"aten::{name}", *dims, NONE, concrete=[""] * len(dims) + ["-2"])
    yield operator("aten::native_layer_norm", X, NONE, ROW, ROW, concrete=["", "[64]", "", ""])
    yield operator("aten::native_layer_norm_backward", X, X, NONE, X, X, ROW, concrete=["", "", "[64]", "", "", ""])
    yield operator("aten::_fused_rms_norm", X, NONE, ROW, concrete=["", "[64]", ""])
    yield operator("aten::_fused_rms_norm_backward", X, X, NONE, X, ROW, concrete=["", "", "[64]", "", ""])
    for groups in ("4", "0", "3"):
        yield operator("aten::native_group_norm", IMAGE, [16], [16], NONE, NONE, NONE, NONE,
                       concrete=["", "", "", "2", "16", "64", groups])
    for name in ("cudnn_batch_norm", "native_batch_norm", "miopen_batch_norm_backward"):
        yield operator(f"aten::{name}", IMAGE, [16], [16], [16], [16], NONE, concrete=[""] * 5 + ["True"],
                       strides=[[1024, 64, 8, 1], [1], [1], [1], [1], []])
    yield operator("aten::index_select", WEIGHT, NONE, ROW, concrete=["", "0", ""])
    for name in ("gather", "scatter", "scatter_add", "index_add", "index_copy"):
        yield operator(f"aten::{name}", WEIGHT, NONE, WEIGHT, WEIGHT, concrete=["", "0", "", ""])
    for name, at in (("_scaled_dot_product_flash_attention", 4), ("_scaled_dot_product_efficient_attention", 6),
                     ("_scaled_dot_product_cudnn_attention", 6), ("_flash_attention_forward", 8),
                     ("_efficient_attention_forward", 9), ("scaled_dot_product_attention", 5)):
        for keys in (Q, GROUPED, [2, 3, 16, 64]):
            yield operator(f"aten::{name}", Q, keys, keys, *[NONE] * 7, concrete=[""] * at + ["True"] + [""] * (9 - at))
    for name, at in (("_scaled_dot_product_flash_attention_backward", 11), ("_flash_attention_backward", 11),
                     ("_scaled_dot_product_efficient_attention_backward", 10)):
        yield operator(f"aten::{name}", Q, Q, Q, Q, Q, *[NONE] * 8, concrete=[""] * at + ["True"] + [""] * (12 - at))
    for name in ("flash_attn::_flash_attn_forward", "FlashAttnFunc", "flash_attn::_flash_attn_varlen_forward"):
        yield operator(name, TOKENS, TOKENS, TOKENS, NONE, NONE, NONE, concrete=[""] * 5 + ["False"])
        yield operator(name, [32, 8, 64], [32, 2, 64], [32, 2, 64])
    yield operator("aten::baddbmm", [8, 16, 32], [8, 16, 64], [8, 64, 32])
    yield operator("aten::_scaled_mm", [16, 64], [64, 32], types=["c10::Float8_e4m3fn", "c10::Float8_e5m2"])
    yield operator("aten::_int_mm", [16, 64], [64, 32], types=["signed char", "signed char"])
    yield operator("aten::_addmm_activation", [32], [16, 64], [64, 32])
    yield operator("triton_tem_fused_mm_7", [16, 64], [64, 32])
    yield operator("mylib::grouped_gemm", [64, 64], [4, 64, 32])
    yield operator("mylib::packed_fp4", [16, 64], [32, 32], types=["c10::BFloat16", "unsigned char"])
    options = ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]
    for name in ("convolution", "_convolution", "cudnn_convolution_relu", "miopen_convolution", "_conv_depthwise2d"):
        yield operator(f"aten::{name}", IMAGE, FILTER, [32], *[NONE] * 6, concrete=options)
    yield operator("aten::conv1d", [2, 16, 64], [32, 16, 3], [32], *[NONE] * 4, concrete=["", "", "", "[2]", "[1]", "[1]", "1"])
    for stride in ("[1, 2, 2]", "1", "[0]", ""):
        yield operator("aten::conv3d", VOLUME, CUBE, [8], *[NONE] * 4,
                       concrete=["", "", "", stride, "[1, 1, 1]", "[1, 1, 1]", "1"])
    for image, weight, each in (([2, 16, 8], [16, 32, 3], "[2]"), (IMAGE, [16, 32, 3, 3], "[2, 2]"),
                                (VOLUME, [4, 8, 3, 3, 3], "[2, 2, 2]")):
        yield operator("aten::convolution", image, weight, NONE, *[NONE] * 6,
                       concrete=["", "", "", each, "[1]", "[1]", "True", "[1]", "1"])
    for flags in ("[True, True, True]", "[True, False, False]", "[False, True, False]"):
        yield operator("aten::convolution_backward", [2, 32, 8, 8], IMAGE, FILTER, *[NONE] * 8,
                       concrete=["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", flags])
    yield operator("aten::copy_", IMAGE, IMAGE, strides=[[1024, 64, 8, 1], [1024, 1, 128, 16]])
    yield operator("aten::copy_", X, X, types=["float", "c10::Half"])
    yield operator("aten::copy_", X, [1], types=["float", "double"])
    yield operator("aten::view_as_complex", X, types=["c10::complex<float>"])
    yield operator("mylib::mystery", X, WEIGHT)


KERNELS = ["gemm_bf16", "ncclDevKernel_AllReduce_Sum_f32", "cunn_SoftMaxForward<float>", "CatArrayBatchedCopy<OpaqueType<2u>>",
           "triton_poi_fused_add_0", "Cijk_Ailk_Bljk_HHS", "void implicit_convolve_sgemm<float>", "nchwToNhwcKernel<__half>"]
GPUS = [{"name": "AMD Instinct MI300X", "computeMajor": 9}, {"name": "NVIDIA A100-SXM4-40GB", "numSms": 108},
        {"name": "NVIDIA GeForce RTX 4090", "totalGlobalMem": 25757220864}, {}]


def events(each):
    for i, (name, args) in enumerate(each):
        at = 100 * i
        yield {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 50,
               "args": {"External id": i + 1, "Sequence number": i // 2, "Fwd thread id": i % 2, **args}}
        yield {"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel" if i % 3 else "cudaLaunchKernel", "pid": 1,
               "tid": 1, "ts": at + 10, "dur": 5, "args": {"correlation": i, "External id": i + 1}}
        yield {"ph": "X", "cat": "kernel", "name": KERNELS[i % len(KERNELS)], "pid": 0, "tid": 7, "ts": at + 20, "dur": 9,
               "args": {"correlation": i, "External id": i + 1, "device": 0, "stream": 7 + i % 2, "grid": [8, 1, 1],
                        "block": [128, 1, 1]}}


def main():
    every = list(operators())
    for number, first in enumerate(range(0, len(every), 12)):
        text = {"deviceProperties": [{"id": 0, **GPUS[number % len(GPUS)]}],
                "distributedInfo": {"world_size": 1 + number % 3 * 4, "rank": 0},
                "traceEvents": list(events(every[first:first + 12]))}
        with open(os.path.join(sys.argv[1], f"traced_{number:02}"), "w") as file:
            json.dump(text, file, separators=(",", ":"))


if __name__ == "__main__":
    main()
