#!/usr/bin/env bash
# onnxruntime, with its default optimization, saves a convolution as an operator of a private domain.
#
# A session on a CPU with SessionOptions.optimized_model_filepath writes the graph that it runs. At the default level
# (ORT_ENABLE_ALL) that graph holds com.microsoft.nchwc nodes: Conv whose weights are padded and blocked for the
# vector width of this processor. onnx's checker and shape inference do not know the domain, and the weights have
# another shape than the model's. A reader that counts work from the saved file must take channels from the node's
# group and the padded weights, or ask for ORT_ENABLE_EXTENDED, which keeps ai.onnx operators.
#
# Versions: onnx 1.17.0, onnxruntime 1.20.1. Seen on x86-64 with AVX2 or newer.
# Fails (exit 1) when the saved graph has no private domain any more. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx==1.17.0 onnxruntime==1.20.1 'numpy<2.3' || exit 77
"$folder/venv/bin/python" - "$folder" <<'PY'
import sys
import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

folder = sys.argv[1]
weights = numpy.zeros((20, 3, 3, 3), numpy.float32)
graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], "one",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 32, 32])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 20, 32, 32])],
    [onnx.numpy_helper.from_array(weights, "w")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.checker.check_model(model)


def saved(level, name):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = f"{folder}/{name}.onnx"
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return onnx.load(options.optimized_model_filepath)


levels = onnxruntime.GraphOptimizationLevel
full, extended = saved(levels.ORT_ENABLE_ALL, "all"), saved(levels.ORT_ENABLE_EXTENDED, "extended")
seen = [(node.domain, node.op_type) for node in full.graph.node]
shapes = [tuple(tensor.dims) for tensor in full.graph.initializer if len(tensor.dims) == 4]
print("onnxruntime", onnxruntime.__version__, "default level:", seen, "weights", shapes, "of (20, 3, 3, 3)")
print("ORT_ENABLE_EXTENDED:", [(node.domain, node.op_type) for node in extended.graph.node])
private = any(domain == "com.microsoft.nchwc" for domain, _ in seen)
padded = shapes and shapes[0] != (20, 3, 3, 3)
plain = all(node.domain in ("", "ai.onnx") for node in extended.graph.node)
sys.exit(0 if private and padded and plain else 1)
PY
