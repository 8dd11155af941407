#!/usr/bin/env bash
# onnx infers pooled shapes one row too large below opset 22, and transposed convolutions with SAME too large.
#
# 1. With ceil_mode=1, windows that would start in the padding on the right are ignored; the operator's text says so, and
#    onnxruntime and PyTorch do so. onnx's shape inference follows that for models of opset 22 only. MaxPool of 1 x 1 with
#    stride 2 over 56 x 56 (a subsampling shortcut) has 28 x 28 outputs, and 29 x 29 by inference at opset 21: later
#    layers get 7 % more MACs. MaxPool of 2 x 2, stride 2, padding 1 over 7 x 7 has 4 x 4 outputs, and 5 x 5.
#    The operator's rule is the same in all these opsets, and exporters still write opsets 17 to 21.
# 2. ConvTranspose with auto_pad=SAME_UPPER has outputs of input x stride by its definition: 8 x 8 with stride 2 gives
#    16 x 16. With output_padding=[1, 1] inference says 17 x 17. onnxruntime runs 16 x 16.
# A declared output of the right size then fails strict inference. The first is known for opset 22 (onnx's pull request 5741).
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

onnxruntime.set_default_logger_severity(3)


def sizes(node, size, opset, weights=()):
    """Rows of the output by onnx's inference and by a run."""
    shape = [1, 1, size, size]
    graph = helper.make_graph([node], "one", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, "rows", "columns"])],
                              [numpy_helper.from_array(numpy.zeros(s, numpy.float32), name) for name, s in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    onnx.checker.check_model(model)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type.shape.dim
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return inferred[2].dim_value, session.run(None, {"x": numpy.zeros(shape, numpy.float32)})[0].shape[2]


def pool(operator, kernel, padding):
    return helper.make_node(operator, ["x"], ["y"], kernel_shape=[kernel] * 2, strides=[2, 2], pads=[padding] * 4,
                            ceil_mode=1)


as_expected = True
for opset, subsampled, padded in ((19, (29, 28), (5, 4)), (21, (29, 28), (5, 4)), (22, (28, 28), (4, 4))):
    for operator in ("MaxPool", "AveragePool"):
        seen = sizes(pool(operator, 1, 0), 56, opset), sizes(pool(operator, 2, 1), 7, opset)
        print(f"opset {opset} {operator}: inferred and run", *seen)
        as_expected &= seen == (subsampled, padded)
up = sizes(helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_padding=[1, 1],
                            auto_pad="SAME_UPPER"), 8, 21, [("w", (1, 1, 3, 3))])
print("ConvTranspose: inferred and run", up)
sys.exit(0 if as_expected and up == (17, 16) else 1)
PY
