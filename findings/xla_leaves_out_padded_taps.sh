#!/usr/bin/env bash
# XLA's cost analysis counts no taps that meet padding: a dilated convolution has 40 % of the FLOPs that other counters give.
#
# cost_analysis()["flops"] of a compiled JAX function counts, for each output of a convolution, the taps that lie inside the input.
# Counters of PyTorch and ONNX, published tables, and the peak of a machine take all taps, since kernels multiply zeros.
# Shares of 2 x outputs x channels x taps that XLA has, with SAME padding:
# - 3 x 3 of ResNet-50 over 56, 28, 14, and 7: 97.6 %, 95.3 %, 90.7 %, and 81.9 %
# - 3 x 3 over 33 x 33 with dilation 12 and 18 (the pyramid of DeepLab v3): 57.4 % and 40.5 %
# The padding as a separate operator (jnp.pad, as many libraries write it) gives 100 % of the same numbers. An expert takes FLOPs
# of a convolution for a product of its sizes, equal for two ways to write one layer, and would read 40 % as a skipped
# tap. MFU from XLA is low by these shares, most for small maps. Compare FLOPs of convolutions with those of XLA layer by layer.
#
# Versions: jax and jaxlib 0.10.2 on a CPU, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6 || exit 77
JAX_PLATFORMS=cpu "$folder/venv/bin/python" - <<'PY'
import sys
import jax
import jax.numpy as jnp
from jax import lax


def share(size, channels, dilation=1, separate=False):
    """FLOPs of a 3 x 3 convolution with SAME padding, over those of all its taps."""
    def layer(x, w):
        padding = "SAME"
        if separate:
            x, padding = jnp.pad(x, ((0, 0), (0, 0), (dilation, dilation), (dilation, dilation))), "VALID"
        return lax.conv_general_dilated(x, w, (1, 1), padding, rhs_dilation=(dilation, dilation),
                                        dimension_numbers=("NCHW", "OIHW", "NCHW"))
    x = jax.ShapeDtypeStruct((1, channels, size, size), "float32")
    w = jax.ShapeDtypeStruct((channels, channels, 3, 3), "float32")
    assert jax.eval_shape(layer, x, w).shape == x.shape
    count = jax.jit(layer).lower(x, w).compile().cost_analysis()["flops"]
    return round(count / (2 * size**2 * channels**2 * 9), 3)


cases = [(56, 64), (28, 128), (14, 256), (7, 512), (33, 256, 12), (33, 256, 18)]
seen = [(share(*case), share(*case, separate=True)) for case in cases]
for case, (same, separate) in zip(cases, seen):
    print(f"3 x 3 over {case[0]} x {case[0]}, dilation {case[2] if len(case) > 2 else 1}: {same:.1%} with SAME, {separate:.1%} after a pad")
expected = [0.976, 0.953, 0.907, 0.819, 0.574, 0.405]
sys.exit(0 if seen == [(value, 1.0) for value in expected] else 1)
PY
