#!/usr/bin/env python3
"""Every collected report and foreign file, run with the program and compared with its right answer.

usage: cases.py EYEROOF CASES [-v]

CASES holds public_reports/ (CASES.csv tells the symptom and how each value was derived),
discovery/, and errors.md. Figures are compared as they are printed, which is to three digits;
counts of ONNX files exactly. An answer that must be refused names its reason and the way out.
Without the folder, nothing is run, and the last line says so.
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROGRAM, CASES = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
REPORTS, FOUND = os.path.join(CASES, "public_reports"), os.path.join(CASES, "discovery")
VERBOSE = "-v" in sys.argv
rows = []  # (kind, file or words, arguments, check of (code, text))


def run(args):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120,
                          errors="replace")
    return done.returncode, done.stdout + done.stderr


def says(kind, files, args, *wanted, without=(), code=None):
    """The answer matches all patterns, and none of `without`. {} in args is the file."""
    def check(answer):
        rc, text = answer
        missing = [p for p in wanted if not re.search(p, text, re.S)]
        missing += ["not " + p for p in without if re.search(p, text, re.S)]
        if rc not in ((0, 2, 3) if code is None else (code,)):
            missing.append(f"exit {rc}")
        return missing
    for file in files.split():
        path = os.path.join(FOUND if file.startswith("+") else REPORTS, file.lstrip("+"))
        rows.append((kind, file, [path if a == "{}" else a for a in args.split()], check))


def answers(kind, args, *wanted, without=(), code=None):
    """The same without a file; the arguments are a list."""
    says(kind, "-", "", *wanted, without=without, code=code)
    kind, _, _, check = rows.pop()
    rows.append((kind, " ".join(args), args, check))


def counts(kind, file, macs=None, parameters=None, dims=()):
    """`net show` of an ONNX file: multiply-accumulates and learned values, exactly."""
    def check(answer):
        rc, text = answer
        try:
            total = json.JSONDecoder().raw_decode(text)[0]["total"]
        except ValueError:
            return [text.strip()[-200:]]
        got = {"macs": total["macs"], "parameters": total["parameters"]}
        want = {"macs": macs, "parameters": parameters}
        return [f"{k} {got[k]} for {v}" for k, v in want.items() if v not in (None, got[k])] + (
            [f"exit {rc}"] if rc else [])
    path = os.path.join(FOUND, file[1:]) if file[0] == "+" else os.path.join(
        REPORTS, "onnx", file)
    named = file if file[0] == "+" else "onnx/" + file + ".onnx"
    path = path if path.endswith(".onnx") else path + ".onnx"
    flags = [word for dim in dims for word in ("--dim", dim)]
    rows.append((kind, named, ["net", "show", path, "--format", "json", *flags], check))


def shares(*most):
    """No share of a step above 100 %."""
    return [rf"\((?:1[0-9][1-9]|1[1-9]\d|[2-9]\d\d)\.\d %\)", *most]


def onnx():
    # by hand: products of the sizes that CASES.csv names
    for file, macs, learned in (
            ("convt_1x1in", 288, None), ("convt_dw_g4", 4608, None), ("convt_g3", 6144, None),
            ("convt_4_6_k4s2", 49152, None), ("mm_vec_vec", 8, 0), ("mm_mat_vec", 32, 0),
            ("mm_vec_batched", 120, 0), ("mm_bcast", 960, 0), ("lstm100", 3276800, 32768),
            ("lstm_layout1", 6553600, 32768), ("ext_missing", 16777216, 4194304),
            ("shared", None, 576), ("nhwc", 2764800, None), ("scatternd", 0, None),
            ("qlinsoftmax", 0, None), ("conv_asym", 18432, None), ("autopad_odd", 18432, None),
            ("resize", 1572864, None), ("resize_axes", 14400, 24), ("resize_axes_sizes", 14400, 24),
            ("att23_gqa", 2 * 2 * 32 * 64 * 128 * 129 // 2, 0), ("gqa_window", None, 0),
            ("gqa_decode", 2 * 64 * 8192 * 128, 0), ("att23_vdim", 128 * 64 * 64 * 320, 0),
            ("att23_3d_past", 2 * 32 * 1024 * 128, 0), ("mha_ms", 2 * 2 * 8 * 128 * 256 * 64, 0),
            ("gqa_written", 2 * 64 * 8192 * 128, 0), ("gemm_ta", 32768, 1040),
            ("einsum_ell", 960, 0), ("loop10", 10 * 4 * 64 * 64, 4096),
            ("torchlib_fn", 4 * 64 * 32, 2080), ("convint", 5184, 144),
            ("act_act", 12 * 128 * 128 * 64, 0), ("conv_dynw", 8 * 14 * 14 * 36, 0),
            ("conv_ir3", 8 * 14 * 14 * 36, 288), ("if_data", 16384, 4096),
            ("deform", None, 4608), ("fusedmatmul", 12 * 128 * 128 * 64, 0), ("gn21", 0, 128),
            ("gridsample", 0, 0), ("norm23", 0, 512), ("split18", 1056, 264),
            ("convt_outshape", None, None), ("conv1d_dw", None, None)):
        counts("O", file, macs, learned)
    counts("O06", "reshape_dyn", 30, None, ["a=1", "b=1"])
    counts("O06", "reshape_shapeof", 14336, 448, ["a=1", "b=1"])
    counts("O12", "resize_sizes", 2 * 18612, None, ["n=1"])
    counts("O", "unk", 13824, 216, ["unk__1=1", "unk__2=8", "unk__3=8"])
    counts("O", "zero_rows", 4 * 64 * 32, 2048, ["n=4"])
    says("O14", "onnx/gqa_window.onnx", "net show {}", r"8\.3\d* GMAC")
    says("O15", "onnx/gqa_decode.onnx", "exam {} --on a100-sxm-80gb --launch none", "33.6 MB",
         r"45\.1 us")
    # no product is defined for a determinant or a Fourier transform: refused by name
    says("O", "onnx/det.onnx onnx/dft.onnx", "net show {}", "not-costed", r"(Det|DFT) \(1", code=3)


def discoveries():
    window = 2 * 8 * 64 * (127 * 128 // 2 + (4096 - 127) * 128)
    for file, macs, learned in (
            ("attention_is_causal_opset23", 2 * 8 * 128 * 129 // 2 * 64, 0),
            ("attention_window_opset25", window, 0), ("mla", 671088640, 0),
            ("attention_value_dim_differs", 2592, 0), ("sdpa_causal_parameters", None, 0),
            ("test_causal_conv_with_state_b1_c1_degenerate", None, 0),
            ("test_linear_attention_decode_step", None, 0), ("test_swiglu", 0, 0),
            ("onnxruntime_saved_nchwc", 4718592, 4640), ("gqa_dec", 2 * 32 * 4096 * 128, 0),
            ("att23_dec", 2 * 32 * 4096 * 128, 0)):
        counts("D", "+" + file, macs, learned)
    says("D", "+gqa_dec.onnx +att23_dec.onnx", "exam {} --on a100-sxm-80gb --launch none",
         "16.8 MB", r"33\.3 us")
    says("D", "+kineto_cpu_lstm.json", "import {}", r"\b22 ms", "lstm", r"89\.3 MFLOP/s")
    says("D", "+kineto_cpu_quantized_linear.json", "import {}", without=["100.0 % of 33.8"])
    says("D", "+kineto_cpu_compiled.json", "import {}", "18[0-9] ms", without=["100.0 % of 76"])
    says("D", "+kineto_amd_generic_name.json", "exam {}", "AMD Radeon Graphics", code=3)
    says("D", "+scalesim_sparse_topology.csv",
         f"exam {{}} --on {FOUND}/scalesim_sparse.cfg --compat scalesim", "1775",
         without=[r"1\d\d\.\d %"])
    says("D", "+scalesim_sparse.cfg", "hw show {}", "read from a SCALE-Sim cfg", code=0)
    says("D", "+zigzag_gemm.yaml", f"exam {{}} --on {FOUND}/zigzag_output_width.yaml",
         r"\bg\b", code=0)
    says("D", "+zigzag_output_width.yaml", "hw show {}", "output: 16 bit|64 bit", code=0)


def kineto_times():
    one = "import {}"
    # an end is at most the next start of its stream: 10 times 20 us, the longest cut at its next
    says("K01", "kineto/overflow_dur.json", one, r"computation +2[01]\d us", "longer",
         without=shares(r"\d{3} ms\n"))
    says("K01", "kineto/overflow_mi355.json", one, r"computation +2(\.\d+)? ms", "longer",
         without=shares())
    says("K02", "kineto/overlap_1ns.json kineto/overlap_rounding.json kineto/pdl_overlap.json "
         "kineto/touch.json", one, r"waits on the device +0 s", without=["beside it"])
    says("K03", "kineto/ts_zero.json", one, r"5 launches", "107 TFLOP/s", "warning")
    says("K04", "kineto/ts_string.json", one, "10 launches", r"computation +200 us")
    says("K05", "kineto/graph.json", one, "[Gg]raph", r"computation +\d+ us", r"idle +\d+ us")
    says("K05", "kineto/graph.json", "exam {} --on h100-sxm-80gb", "[Gg]raph")
    says("K06", "kineto/sync_events.json", one, r"computation +200 us")
    says("K07", "kineto/rccl_corr0.json", one, r"communication +100 us")
    says("K08", "kineto/triton_stream0.json", one, "1 launch of 1 kernel", "80 us")
    says("K17", "kineto/sglang_steps.json", one, r"step: step\[", "prefill|decode",
         without=[r"e-\d\d s of kernels"])
    says("K17", "kineto/vllm_steps.json", one, "step: execute_context", "prefill|decode")
    says("K19", "kineto/nan.json", one, "'NaN' is not a number", code=3)
    says("K19", "kineto/nan_in_kernel.json", one, "'inf' is not a number", code=3)
    says("K19", "kineto/bad_escape.json kineto/utf8_bad.json kineto/trailing_comma.json", one,
         r"json:\d+:\d+: error", "hint", code=3)
    says("K20", "kineto/array_form.json kineto/array_unclosed.json", one, "10 launches",
         "107 TFLOP/s", code=0)
    says("K20", "kineto/truncated.json", one, "ends in the middle", "hint", code=3)
    says("K", "kineto/neg_dur.json", one, "negative", "hint", code=3)
    says("K21", "kineto/two_gpus.json kineto/merged_ranks.json", one, r"GPU \d", without=shares())
    says("K22", "kineto/two_streams.json", one, r"total +170 us", without=shares(
        r"\((?:7[1-9]|[89]\d)\.\d %\)"))
    says("K23", "kineto/comm_names.json", one, r"computation +200 us",
         r"communication +1\.[23]\d* ms")
    says("K", "kineto/base.json kineto/no_props.json kineto/ts_abs_us.json kineto/ts_base.json",
         one, "10 launches", r"computation +200 us", "107 TFLOP/s")
    says("K", "kineto/memcpy.json", one, "107 TFLOP/s", "20 GB/s", "copies")
    says("K", "kineto/dup_corr.json", one, "400 us", "53.7 TFLOP/s")
    says("K", "kineto/no_shapes.json kineto/only_kernels.json", one, r"computation +\d+ us",
         r"record_shapes|ProfilerActivity.CPU")
    says("K", "kineto/xpu.json", one, "107 TFLOP/s")
    says("K", "kineto/above_roof.json", one, r"above it")


def kineto_work():
    # FLOPs of the operator's sizes over the kernel's time
    for file, rate in (
            ("sdpa", "115 TFLOP"), ("sdpa_causal", "57.3 TFLOP"), ("sdpa_gqa", "115 TFLOP"),
            ("sdpa_gqa_causal", "57.3 TFLOP"), ("sdpa_decode", "447 GFLOP"),
            ("conv_grouped", "385 GFLOP"), ("conv_dw_s2", "72.3 GFLOP"), ("convt", "20.4 TFLOP"),
            ("convt_g", "922 MFLOP"), ("convt_bwd", "11.3 TFLOP"), ("mm_sub", "105 GFLOP"),
            ("cpu_sdpa", "25.2 GFLOP"), ("scaled_mm", "1.37 PFLOP"), ("grouped_mm", "172 TFLOP"),
            ("hipblaslt_fp8", "1.37 PFLOP"), ("op_gptq", "537 GFLOP"), ("op_wint4", "537 GFLOP"),
            ("op_fa2_varlen", "68.[78] TFLOP"), ("op_fa2_varlen_fast", "45[89] TFLOP"),
            ("mm_complex", "10.7 TFLOP"), ("addmv", "336 GFLOP"), ("op_addmv", "33.6 GFLOP"),
            ("op_addmv_inpl", "33.6 GFLOP"), ("op_mv", "33.6 GFLOP"), ("op_dot", "2 GFLOP"),
            ("op_addbmm", "524 MFLOP"), ("op_bmm_exp", "67.1 GFLOP"),
            ("op_grouped_mm2d2d", "17.2 TFLOP"), ("op_lstm", "6.55 GFLOP"),
            ("baddbmm", "252 GFLOP"), ("linear_nd", "10.7 TFLOP"), ("mm_double", "2.68 TFLOP"),
            ("mm_int8", "2.68 TFLOP"), ("op_conv1d", "197 GFLOP"),
            ("op_conv_nhwc_fp16", "3.7 TFLOP"), ("op_fa2", "17.2 TFLOP"),
            ("op_sdpa_cudnn", "17.2 TFLOP"), ("op_sdpa_eff", "17.2 TFLOP"),
            ("op_expand_add", "168 GFLOP"), ("op_einsum", "16.8 GFLOP")):
        says("K09-K16", f"kineto/{file}.json", "import {}", rf"\s{rate}/s", without=shares())
    # one kernel of both gradients: twice the work forward
    for file, rate in (("op_convt_bwd", "20.4 TFLOP"), ("op_convt_bwd_named", "20.4 TFLOP|10.2 T"),
                       ("op_conv_bwd", "7.4 TFLOP"), ("op_conv_bwd_grp", "231 GFLOP"),
                       ("op_conv3d_bwd", "226 GFLOP"), ("op_conv_bwd_named", "7.4 TFLOP|3.7 T")):
        says("K11", f"kineto/{file}.json", "import {}", rf"\s({rate})")
    says("K", "kineto/op_sdpa_bwd.json", "import {}", r"(34.4|42.9) TFLOP/s")
    says("K", "kineto/op_copy_noncontig.json", "import {}", "1.34 TB/s")
    says("K", "kineto/op_rms.json", "import {}", "67.1 GB/s")
    says("K", "kineto/op_nccl.json", "import {}", r"communication +1 ms", "4.19 GB/s")
    says("K", "kineto/mm_zero.json", "import {}", "1 us", without=["FLOP/s +[1-9]"])
    says("K", "kineto/op_mm_sparse.json", "import {}", "not known")


def nsight():
    one, roof = "import {}", "roofline {} --on a100-sxm-80gb"
    says("N01", "ncu/locale_de.csv", one, r"1\.5 ms", code=0)
    says("N01", "ncu/locale_mixed.csv ncu/locale_de_small.csv ncu/locale_de_wide.csv", one, r"12\.5 us", code=0)
    says("N01", "ncu/locale_de_ambig.csv", one, r"12\.5 (ms|us)", code=0)
    says("N02", "ncu/units_base.csv ncu/units_bs.csv ncu/units_gibi.csv ncu/units_ms.csv "
         "ncu/units_tb.csv ncu/units_us.csv", one, r"1\.5 ms", without=["left out"], code=0)
    placed = [r"1 point;|1 of 1 points"]
    says("N03", "ncu/units_tb.csv", roof, *placed, "0.6667")
    says("N03", "ncu/units_bs.csv ncu/details_new.csv", roof, r"1 point;|op_ffma_pred_on")
    says("N04", "ncu/tensor_volta.csv ncu/tensor_ampere.csv ncu/tensor_hopper.csv", one, r"1\.5 ms")
    says("N05", "ncu/summary.csv", one, r"\b15 ms|1\.5 ms", r"\b10\b")
    says("N06", "ncu/two_headers.csv", one, "2 launches")
    says("N07", "ncu/na.csv ncu/na_long.csv ncu/sol_only.csv ncu/wide_instances.csv", one,
         r"1\.5 ms")
    says("N08", "ncu/rw_bytes.csv ncu/set_roofline.csv ncu/set_full.csv ncu/per_second_flops.csv "
         "ncu/sectors.csv", roof, *placed, "0.6667", "1.33 TFLOP/s")
    says("N08", "ncu/tensor_hmma_inst.csv", roof, "1 point;|ops_path")
    says("N08", "ncu/tensor_hmma_ops.csv", "roofline {} --on h100-sxm-80gb", *placed,
         "667 TFLOP/s")
    says("N", "ncu/min_cols.csv", one, "410 us")
    says("N", "ncu/no_id.csv", one, '"ID"', "hint", code=3)
    says("N", "ncu/three_cols.csv", one, "ncu --import", code=3)
    says("S01", "nsys/graph_trace.sqlite", one, r"9(\.00\d?)? ms", "cuda-graph-trace=node")
    says("S02", "nsys/graph_only.sqlite", one, "cuda-graph-trace=node")
    says("S", "nsys/graph_node.sqlite", one, "10 launches of 2 kernels")
    answers("S03", ["import", f"{REPORTS}/nsys/nvtx_v2.sqlite", "--nvtx", "layer fc1"],
            "5 launches")
    answers("S03", ["import", f"{REPORTS}/nsys/nvtx_v3.sqlite", "--nvtx", "layer fc1"],
            "5 launches")
    answers("S03", ["import", f"{REPORTS}/nsys/base.sqlite", "--nvtx", "layer fc9"], "no-match",
            "'layer fc1', 'layer fc2'")
    says("S04", "nsys/no_runtime.sqlite nsys/no_strings.sqlite nsys/no_gpu.sqlite "
         "nsys/no_nvtx.sqlite nsys/kernel_v2.sqlite nsys/kernel_v4.sqlite nsys/base.sqlite "
         "nsys/nvtx_v2.sqlite nsys/nvtx_v3.sqlite", one, "10 launches")
    says("S", "nsys/memcpy.sqlite", one, r"copies +100 us")
    says("S", "nsys/memcpy_only.sqlite", one, "no kernel", "nsys profile")
    says("S05", "nsys/kern_sum.csv nsys/gpu_trace.csv nsys/fake.nsys-rep nsys/stats_text.txt", one,
         "nsys export", code=3)
    says("S05", "ncu/fake.ncu-rep", one, "ncu --import", code=3)
    says("S", "nsys/base.sqlite", "exam {} --on v100-sxm2-16gb", "--profile", code=3)


def amd():
    one = "import {}"
    says("R01", "rocprof/kt_base.csv rocprof/kt_duration.csv rocprof/kt_guid.csv "
         "rocprof/kt_no_stream.csv rocprof/kt_old_agent.csv", one, "5 launches", "100 us",
         without=["ProfilerActivity"])
    says("R02", "rocprof/v2_mismatch.csv", one, "19 fields", code=3)
    says("R02", "rocprof/v2_ok.csv rocprof/v1_results.csv", one, "2 launches", "40 us")
    says("R03", "rocprof/1_results.db", one, "1 launch", "20 us")
    says("R04", "rocprof/ctr_fetch.csv", "roofline {} --on mi300x", "1 point;")
    says("R04", "rocprof/ctr_mi200.csv rocprof/ctr_mi300.csv rocprof/ctr_mi350.csv",
         "roofline {} --on mi300x", "SQ_INSTS_VALU")
    says("R05", "rocprof/v1_stats.csv rocprof/v3_stats.csv", one, "rocprofv3", "hint", code=3)


def tables():
    says("A01", "acc/gemm4.csv", "exam {} --on systolic:4x4 --compat scalesim --dataflow os",
         r"\bmm4 +1 +64 +9 ")
    says("A02", "acc/gemm_nocomma.csv", "exam {} --on systolic:16x16 --compat scalesim",
         r"A +1 +50331648", r"B +1 +196608")
    says("A03", "acc/gemm_nocomma.csv acc/conv_nocomma.csv", "net show {}", "2 layers")
    for files, macs in (("bom/bom_att.csv bom/utf16_att.csv bom/semi_att.csv acc/att.csv",
                         889163087872),
                        ("bom/bom_conv26.csv bom/crlf.csv bom/semi.csv acc/conv26.csv", 180),
                        ("bom/bom_gemm4.csv acc/gemm4.csv", 64),
                        ("bom/x.csv bom/y.csv", 5826038528),
                        ("acc/c3.csv", 64 * 64 * 9 * 56 * 56), ("acc/mbv2.csv", 12544 * 27 * 32),
                        ("acc/fp64.csv", 8192**3), ("acc/fp64_4096.csv", 4096**3),
                        ("acc/conv.csv", 64 * 784 * 9 + 8 * 128 * 3136 * 2 * 9),
                        ("acc/gqad.csv", 2 * 64 * 8192 * 128),
                        ("acc/moe.csv", 33 * 4 * 3 * 2880 * 2880)):
        says("A04", files, "net check {}", rf"\b{macs} MACs", code=0)
    says("A04", "bom/bom_base.json", "import {}", "10 launches", "107 TFLOP/s")
    says("A04", "bom/bom_kt_base.csv", "import {}", "5 launches", "100 us")
    says("A04", "bom/bom_units_base.csv", "import {}", r"1\.5 ms")
    says("A04", "bom/bom_high_ai.csv plain/high_ai.csv", "import {}", "3 launches")
    says("G01", "acc/fp64_4096.csv", "bound {} --on h100-sxm-80gb --measured 2.2ms",
         r"1\.\d+x the fused bound")
    says("O15", "acc/gqad.csv", "exam {} --on a100-sxm-80gb --launch none", "33.6 MB", "45.1 us")
    # uniform routing reaches 81.7 of 128 experts: 2,880 x 2,880 x 3 x 2 B each
    says("L06", "acc/moe.csv", "net show {}", r"32 tokens to 4 of 128", r"4\.0\d+ GB")


def networks():
    answers("L08", "exam qwen3-0.6b --phase training --on h100-sxm-80gb".split(), "5.105 TMAC")
    answers("L07", "scale llama-2-7b --length 8192 --on h100-sxm-80gb --zero 3 --devices 8 "
            "--fabric dgx-h100-ndr --recompute full".split(), "8192 tokens")
    answers("L09", "scale llama-2-7b:new=8192 --on h100-sxm-80gb --zero 3 --devices 8 --fabric "
            "dgx-h100-ndr --recompute full".split(), without=["2048 tokens"])
    answers("L06", "bound gpt-oss-120b:new=1,context=1024,batch=32 --on h200-sxm-141gb".split(),
            r"14[0-9] GB", without=["232 GB"])
    for name, size in (("qwen3-4b", None), ("gpt-oss-20b", None)):
        answers("L01", ["net", "show", name], "attention|mix", code=0)
    for gpu, rate in (("mi210", "181"), ("mi100", "92.3")):
        answers("G03", ["hw", "show", gpu], rate, code=0)


def messages():
    for typed, wanted in (("V100 32GB", "v100-sxm2-32gb"), ("Tesla V100", "v100-sxm2-16gb"),
                          ("jetson orin", "jetson-agx-orin-64gb"), ("T4,A10", "--on t4 --on a10")):
        answers("E", ["exam", "alexnet", "--on", typed], wanted, code=3)
    for typed, wanted in (("resnet50v1.5", "resnet50"), ("Qwen/Qwen3-32B", "qwen3-32b"),
                          ("vit-b/16", "vit-b-16"), ("meta-llama/Llama-3.1-8B", "llama-3.1-8b"),
                          ("stable diffusion xl", "sdxl-unet"), ("sam2", "ONNX")):
        answers("E", ["net", "show", typed], wanted, without=["resnet101"])
    answers("E", "exam alexnet --on a100-sxm-80gb --set bandwidth=900GB/s".split(),
            "dram-bandwidth", without=["mean 'l2"], code=3)
    answers("E", "serve llama-3.1-8b --on h100-sxm-80gb --batch 8".split(), "--requests 8|--requests N",
            code=2)
    answers("E", "serve deepseek-r1 --on h200-sxm-141gb --tensor 8".split(),
            "--dtype fp8")
    answers("E", "hw list --gpu".split(), "--gpu", without=["that is --on"], code=2)


def traces():
    """Of real traces: computation, communication, copies, and idle are the step, as printed."""
    def check(answer):
        parts = dict(re.findall(r"\n(computation|exposed communication|exposed copies|idle|total)"
                                r" .* ([\d.]+) %", answer[1].split("Critical path")[0]))
        total = sum(float(parts.get(name, 0)) for name in parts if name != "total")
        return [] if len(parts) == 5 and abs(total - 100.0) < 0.25 else [f"sum {total:.1f} %"]
    folder = os.path.join(CASES, "..", "data", "traces")
    for file in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
        if file.endswith(".json.gz"):
            rows.append(("T", file, ["import", os.path.join(folder, file)], check))


def uncovered():
    named = {file for _, file, _, _ in rows}
    named |= {os.path.relpath(word, REPORTS) for _, _, args, _ in rows for word in args
              if word.startswith(REPORTS)}
    there = (os.path.relpath(os.path.join(folder, file), REPORTS)
             for folder, _, files in os.walk(REPORTS) for file in files)
    return sorted(file for file in there if file not in named and file != "CASES.csv")


def main():
    if not os.path.isdir(REPORTS):
        print(f"cases.py: skipped, there is no {REPORTS}")
        return 0
    for group in (onnx, discoveries, kineto_times, kineto_work, nsight, amd, tables, networks,
                  messages, traces):
        group()
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda row: row[3](run(row[2])), rows))
    wrong = 0
    for (kind, file, args, _), missing in zip(rows, results):
        wrong += bool(missing)
        if missing or VERBOSE:
            print(f"{'wrong' if missing else 'right'} {kind} {file}: {args[0]}",
                  "; ".join(missing))
    missed = uncovered()
    for file in missed:
        print("no check", file)
    print(f"{len(rows) - wrong} of {len(rows)} checks right; {len(missed)} files without a check")
    return 1 if wrong or missed else 0


sys.exit(main())
