#!/usr/bin/env bash
# onnx keeps the shapes of another batch: a model whose input changed from 1 to 8 images stays at 1 image inside.
#
# Exporters store the shape of every tensor in graph.value_info. Setting the batch of the input to 8 and calling
# onnx.shape_inference.infer_shapes with its defaults leaves all of them at batch 1. It even infers a new shape, that of
# the output, from a stale one. No warning, and onnx.checker.check_model passes. onnxruntime runs the same model with
# batch 8. An expert expects inference to overwrite what it can derive: the inputs are the only given shapes.
# A counter that reads value_info (onnx_tool, ZigZag, netron) then has the work of one image.
# What helps: clear graph.value_info first, or pass strict_mode=True, which reports the difference.
#
# Seen: input [8, 3, 32, 32], inner shapes [1, 8, 32, 32], a run of [8, 8, 32, 32].
#
# Versions: onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the shapes change. Skips (exit 77) where pip reaches no packages.
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

onnxruntime.set_default_logger_severity(3)  # it logs that it merges shapes


def shapes(model):
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            for value in [*model.graph.value_info, *model.graph.output]}


def weights(name, *shape):
    return numpy_helper.from_array(numpy.zeros(shape, numpy.float32), name)


graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["h"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["h"], ["r"]),
     helper.make_node("Conv", ["r", "v"], ["y"], pads=[1, 1, 1, 1])],
    "two", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "channels", "rows", "columns"])],
    [weights("w", 8, 3, 3, 3), weights("v", 8, 8, 3, 3)],
    value_info=[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8, 32, 32]) for name in "hr"])
exported = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
exported.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 8
onnx.checker.check_model(exported)
stale = shapes(onnx.shape_inference.infer_shapes(exported))
session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
ran = list(session.run(None, {"x": numpy.zeros((8, 3, 32, 32), numpy.float32)})[0].shape)
try:
    onnx.shape_inference.infer_shapes(exported, strict_mode=True)
    strict = "silent"
except onnx.shape_inference.InferenceError:
    strict = "reported"
del exported.graph.value_info[:]
fresh = shapes(onnx.shape_inference.infer_shapes(exported))
print("input [8, 3, 32, 32]; inferred", stale, "; run", ran, "; strict mode:", strict, "; without value_info", fresh)
old, new = [1, 8, 32, 32], [8, 8, 32, 32]
sys.exit(0 if all(stale[name] == old and fresh[name] == new for name in "hry") and ran == new and strict == "reported" else 1)
PY
