#!/usr/bin/env bash
# onnxruntime's profile leaves packed weights out: a MatMul has one input and 0 bytes of parameters.
#
# On a CPU a session packs constant weights of MatMul and Gemm at load, and drops the original. In the JSON of
# SessionOptions.enable_profiling, args.input_type_shape lists what is left, without a gap, and parameter_size counts
# that alone:
# - MatMul of [64, 256] by constant [256, 512]: inputs [[64, 256]], parameter_size 0 (524,288 bytes of weights)
# - Gemm of the same with bias: inputs [[64, 256], [512]], parameter_size 2,048: the bias stands where a reader expects weights
# Conv keeps its weights in the list. An expert takes shapes in a profile for those of the node's inputs, in order: FLOPs by
# the second input are then missing or 1/256, and bytes and intensity lack the weights, all that a decoder moves.
# Set the session option session.disable_prepacking to 1 for a profile that is complete (of other, slower kernels), or join
# the events with the model by node name.
#
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.4.6 (Python 3.11 or newer). Seen on x86-64.
# Fails (exit 1) when the events change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 || exit 77
cd "$folder"
venv/bin/python - <<'PY'
import json
import sys
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def profiled(node, weights, packing=True):
    """Shapes of inputs and bytes of parameters in the profile of a model of one node."""
    graph = helper.make_graph(
        [node], "one", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 256])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 512])],
        [numpy_helper.from_array(numpy.ones(shape, numpy.float32), name) for name, shape in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    if not packing:
        options.add_session_config_entry("session.disable_prepacking", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    session.run(None, {"x": numpy.ones((64, 256), numpy.float32)})
    with open(session.end_profiling()) as file:
        [event] = [event for event in json.load(file) if event["cat"] == "Node"]
    return [shape["float"] for shape in event["args"]["input_type_shape"]], int(event["args"]["parameter_size"])


matmul = helper.make_node("MatMul", ["x", "w"], ["y"]), [("w", (256, 512))]
gemm = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1), [("w", (512, 256)), ("b", (512,))]
seen = profiled(*matmul), profiled(*gemm)
full = profiled(*matmul, packing=False), profiled(*gemm, packing=False)
print("MatMul", seen[0], "Gemm", seen[1])
print("without packing: MatMul", full[0], "Gemm", full[1])
packed = seen == (([[64, 256]], 0), ([[64, 256], [512]], 2048))
complete = full == (([[64, 256], [256, 512]], 524288), ([[64, 256], [512, 256], [512]], 526336))
sys.exit(0 if packed and complete else 1)
PY
