#!/usr/bin/env bash
# XProf finds no tensor cores on Hopper and Blackwell: it knows kernels that use them by names of older libraries.
#
# "Kernel uses TensorCore" of the kernel statistics, and the share of tensor cores of each operation that follows from it, come from parts
# of names ("s16816", "hmma", "xmma_gemm"). All kernels below run on tensor cores. XProf says so for the two with older names, and not for
# - nvjet_tst_128x256_...: what cuBLAS 12.8 and later run for bf16 products on H100 and B200
# - cudnn_generated_fort_native_sdpa_sm90_...: attention of cuDNN
# - cutlass::device_kernel<...>: CUTLASS 3, and with it FlashAttention 3
# - gemm_fusion_dot: what XLA itself compiles by Triton for most products
# The operation is marked as eligible in each case. A training step on H100 looks as if nearly nothing used its tensor cores, and an
# expert would search for a wrong type or alignment. Take FLOP rates above the vector peak as evidence of tensor cores instead.
#
# Versions: xprof 2.24.2. Needs no GPU: the profile is written below in XSpace's format.
# Fails (exit 1) when the marks change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-deps xprof==2.24.2 || exit 77
cd "$folder"
venv/bin/python - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import json
import sys
from xprof.convert import _pywrap_profiler_plugin as xprof


def varint(number):
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def field(number, value):
    """A field of a protocol buffer: a whole number, text, or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def named(number, key, name):
    return field(number, field(1, key) + field(2, field(1, key) + field(2, name)))


kernels = {
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn": True,
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas": True,
    "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTT": False,
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_kernel0_0": False,
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<>>>(flash::FlashAttnFwdSm90<>::Params)": False,
    "gemm_fusion_dot_1": False}
stats = ["regs:168 static_shared:0 dynamic_shared:0 grid:132,1,1 block:384,1,1 occ_pct:12.5", "jit(f)/dot_general:dot_general"]
events = plane = b""
for number, name in enumerate(kernels, 1):
    event = field(1, number) + field(2, number * 200_000_000) + field(3, 100_000_000)
    events += field(4, event + b"".join(field(4, field(1, key) + field(5, text)) for key, text in enumerate(stats, 1)))
    plane += named(4, number, name)
for key, name in enumerate(("kernel_details", "tf_op", "compute_cap_major", "compute_cap_minor", "device_vendor"), 1):
    plane += named(5, key, name)
plane += field(6, field(1, 3) + field(3, 9)) + field(6, field(1, 4) + field(3, 0)) + field(6, field(1, 5) + field(5, "Nvidia"))
plane += field(2, "/device:GPU:0") + field(3, field(1, 7) + field(2, "Stream #7(Compute)") + events)
with open("host.xplane.pb", "wb") as file:
    file.write(field(1, plane) + field(4, "host"))
table = json.loads(xprof.xspace_to_tools_data(["host.xplane.pb"], "kernel_stats")[0])
columns = [column["id"] for column in table["cols"]]
rows = [dict(zip(columns, (cell["v"] for cell in row["c"]))) for row in table["rows"]]
for row in rows:
    print(f"{row['kernel_name'][:60]}: operation eligible {row['is_op_tensor_core_eligible']}, "
          f"kernel uses tensor cores {row['is_kernel_using_tensor_core']}")
seen = {row["kernel_name"]: row["is_kernel_using_tensor_core"] for row in rows}
sys.exit(0 if seen == kernels and all(row["is_op_tensor_core_eligible"] for row in rows) else 1)
PY
