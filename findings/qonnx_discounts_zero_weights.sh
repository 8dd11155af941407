#!/usr/bin/env bash
# qonnx's inference cost depends on the values of the weights: zeros cost neither MACs nor memory by default.
#
# inference_cost(model) multiplies the MACs and the bits of weights of each layer by the share of its weights that are not zero
# (discount_sparsity=True, stated in the function's text, not beside its results). A convolution of 4,718,592 MACs with
# ternary weights, a third of them zero, has 3,145,728 MACs and 3,072 weights of 4,608. A graph exported with weights of zeros,
# as is usual for studies of speed, costs nothing, and two checkpoints of one architecture differ. An expert expects MACs and
# BOPs of quantized networks by shapes and widths: arrays of PEs do not skip zeros unless built to, and memory
# for 3,072 weights has no bits that say where they belong. Pass discount_sparsity=False before comparing with other counts.
#
# Versions: qonnx 1.0.0, onnx 1.23.2, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q qonnx==1.0.0 onnx==1.23.2 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY'
import sys
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.util.inference_cost import inference_cost


def cost(weights, **options):
    """MACs and weights of a convolution of 16 channels of 32 x 32 to 32 channels."""
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])], "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 32, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, 32, 32])],
        [numpy_helper.from_array(weights.astype(numpy.float32), "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    total = inference_cost(ModelWrapper(model), **options)["total_cost"]
    return int(total["total_macs"]), int(total["total_mem_w_elems"])


ternary = numpy.arange(32 * 16 * 3 * 3).reshape(32, 16, 3, 3) % 3 - 1
kept = numpy.count_nonzero(ternary)
seen = {"ternary": cost(ternary), "zeros": cost(ternary * 0), "ones": cost(ternary * 0 + 1),
        "ternary, not discounted": cost(ternary, discount_sparsity=False)}
for name, (macs, words) in seen.items():
    print(f"{name}: {macs:,} MACs, {words:,} weights")
full = (32 * 32 * 32 * 16 * 9, 4608)
expected = [(kept * 1024, kept), (0, 0), full, full]
sys.exit(0 if list(seen.values()) == expected else 1)
PY
