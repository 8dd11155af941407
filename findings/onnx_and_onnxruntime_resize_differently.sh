#!/usr/bin/env bash
# onnx and onnxruntime give Resize different sizes: 69 x 69 inferred and 70 x 70 run, for 100 x 100 scaled by 0.7.
#
# The operator's size is floor(input x scale), and the scale is a 32-bit float. onnx multiplies in double precision:
# 0.7 as float is 0.69999999, so the floor of 100 x 0.7 is 69. onnxruntime multiplies in 32 bit, where the product rounds to
# 70. So do 100 scaled by 1.3 (129 and 130) and 300 scaled by 2.1 (629 and 630); a scale that a float holds exactly, 0.5, gives equal sizes.
# An expert takes inferred shapes for those that run: every later layer, and each Concat with a skip connection, differs from the
# inferred shapes. Write `sizes` instead of `scales` to avoid it.
#
# Versions: onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the sizes change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 77
"$folder/venv/bin/python" - <<'PY'
import sys
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

onnxruntime.set_default_logger_severity(3)


def sizes(size, scale):
    """Rows of the resized output by onnx's inference and by a run."""
    shape = [1, 1, size, size]
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "", "s"], ["y"], mode="linear")], "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, "rows", "columns"])],
        [numpy_helper.from_array(numpy.array([1, 1, scale, scale], numpy.float32), "s")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    onnx.checker.check_model(model)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type.shape.dim
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return inferred[2].dim_value, session.run(None, {"x": numpy.zeros(shape, numpy.float32)})[0].shape[2]


expected = {(100, 0.7): (69, 70), (100, 1.3): (129, 130), (300, 2.1): (629, 630), (100, 0.5): (50, 50)}
seen = {case: sizes(*case) for case in expected}
for (size, scale), (inferred, run) in seen.items():
    print(f"{size} x {size} scaled by {scale}: inferred {inferred}, run {run}")
sys.exit(0 if seen == expected else 1)
PY
