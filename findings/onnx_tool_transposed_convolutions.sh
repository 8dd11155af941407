#!/usr/bin/env bash
# onnx_tool counts a transposed convolution by its outputs, and a batched product by one of its batches.
#
# 1. ConvTranspose: MACs are outputs x weights of an input channel. Each input meets those weights once, so the count
#    is inputs x weights of an input channel. 16 channels of 8 x 8 to 32 of 16 x 16 with taps of 2 x 2 take
#    16 x 8 x 8 x 32 x 2 x 2 = 131,072 MACs; onnx_tool has 1,048,576, eight times as many: outputs over inputs. An
#    upsampling layer of a U-Net or a GAN is overrated by its upsampling factor.
# 2. MatMul of [2, 1, 64, 32] with [1, 3, 32, 16]: six products of 64 x 32 x 16, 196,608 MACs; onnx_tool has 98,304, three
#    of them. Where only one side has a batch, the count is right.
# Compare its totals with a profiler's or another counter's only for networks without both.
#
# Versions: onnx-tool 1.0.1, onnx 1.23.2, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx-tool==1.0.1 onnx==1.23.2 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY'
import contextlib
import io
import sys
import numpy
import onnx
import onnx_tool
from onnx import TensorProto, helper, numpy_helper


def counted(node, inputs, output, weights=()):
    """MACs that onnx_tool has of a valid model of one node."""
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)],
        [numpy_helper.from_array(numpy.zeros(shape, numpy.float32), name) for name, shape in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    profiled = onnx_tool.Model(model).graph
    with contextlib.redirect_stdout(io.StringIO()):
        profiled.shape_infer({name: numpy.zeros(shape, numpy.float32) for name, shape in inputs})
        profiled.profile()
    return int(profiled.macs[0])


up = counted(helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2]),
             [("x", [1, 16, 8, 8])], [1, 32, 16, 16], [("w", (16, 32, 2, 2))])
plain = counted(helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1]),
                [("x", [1, 16, 8, 8])], [1, 32, 8, 8], [("w", (32, 16, 3, 3))])
both = counted(helper.make_node("MatMul", ["a", "b"], ["y"]),
               [("a", [2, 1, 64, 32]), ("b", [1, 3, 32, 16])], [2, 3, 64, 16])
one = counted(helper.make_node("MatMul", ["a", "b"], ["y"]), [("a", [64, 32]), ("b", [4, 32, 16])], [4, 64, 16])
print(f"ConvTranspose: {up:,} of 131,072; Conv: {plain:,} of 294,912")
print(f"MatMul, batches of both: {both:,} of 196,608; batch of one: {one:,} of 131,072")
sys.exit(0 if (up, plain, both, one) == (1048576, 294912, 98304, 131072) else 1)
PY
