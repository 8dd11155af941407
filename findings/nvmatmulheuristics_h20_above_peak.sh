#!/usr/bin/env bash
# nvMatmulHeuristics predicts an H20 as fast as an H100, and three GPUs above the rate that their arithmetic has.
#
# The library picks GEMM kernels for a GPU from its list and returns the runtime that it estimates for each. For a product of
# 8,192 x 8,192 x 8,192 in fp16 with fp32 sums ("HSH"), the estimates of the best kernel are, in dense TFLOP/s:
# - H20_SXM: 580 of the 148 that the GPU has (78 SMs); the same product takes 1.85 ms on H100_SXM and 1.90 ms here
# - L20: 167 of 119.5
# - RTX_3090: 113 of 71, since GeForce has half the rate with fp32 sums
# H100_SXM (593 of 989) and A100_SXM_80GB (299 of 312) stay below. An expert takes an estimate for a GPU of a vendor's own list as
# bounded by that GPU's peak: a choice between H20 and H100 for prefill, or a roofline of these times, is wrong by 3.9x.
# Raise each runtime to at least 2 M N K / peak before comparing GPUs. The order of kernels on one GPU may still be right.
#
# Versions: nvidia-matmul-heuristics 0.1.0.27. Needs no GPU.
# Fails (exit 1) when the rates change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q nvidia-matmul-heuristics==0.1.0.27 || exit 77
"$folder/venv/bin/python" - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
from nvMatmulHeuristics import (NvMatmulHeuristicsFlags, NvMatmulHeuristicsInterfaceEx, NvMatmulHeuristicsMatmulLayout,
                                NvMatmulHeuristicsNvidiaGpu, NvMatmulHeuristicsTarget)

size = 8192


def rate(gpu):
    """TFLOP/s of the best kernel that either generation of CUTLASS has for a GPU."""
    times = []
    for target in ("CUTLASS", "CUTLASS3"):
        library = NvMatmulHeuristicsInterfaceEx(
            backend=NvMatmulHeuristicsTarget[target], gpu=NvMatmulHeuristicsNvidiaGpu[gpu],
            flags=NvMatmulHeuristicsFlags.PERF_MODEL_BASED_AUTO_TUNING)
        problem = library.makeNvMatmulHeuristicsProblem(size, size, size, NvMatmulHeuristicsMatmulLayout.TN_ROW_MAJOR, 1)
        times += [kernel["runtime"] for kernel in library.get(problem, 8, precision="HSH")]
    return 2 * size**3 / min(times) / 1e12


peaks = {"H20_SXM": 148, "L20": 119.5, "RTX_3090": 71, "H100_SXM": 989, "A100_SXM_80GB": 312}  # of the data sheets, dense
seen = {gpu: round(rate(gpu)) for gpu in peaks}
for gpu, peak in peaks.items():
    print(f"{gpu}: {seen[gpu]} TFLOP/s estimated, {peak} at most: {seen[gpu] / peak:.2f}")
expected = {"H20_SXM": 580, "L20": 167, "RTX_3090": 113, "H100_SXM": 593, "A100_SXM_80GB": 299}
sys.exit(0 if seen == expected else 1)
PY
