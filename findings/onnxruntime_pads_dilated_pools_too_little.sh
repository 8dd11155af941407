#!/usr/bin/env bash
# onnxruntime shrinks dilated pools with SAME padding: 8 x 8 with stride 1 becomes 6 x 6, without an error.
#
# auto_pad=SAME_UPPER means outputs of ceil(input / stride), whatever the dilation: 8 x 8 for taps of 3 x 3, stride 1,
# and dilation 2, which need a padding of 2 on each side. onnxruntime pads for a kernel without dilation, 1 on
# each side, and returns 6 x 6. onnx infers 8 x 8. MaxPool and AveragePool behave alike. For Conv it refuses the same
# attributes ("Dilation not supported for AutoPadType::SAME_UPPER"), so an expert expects a refusal or the right
# size. A session that runs is no evidence that shapes of a dilated network are those of the file: give explicit pads.
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
from onnx import TensorProto, helper

onnxruntime.set_default_logger_severity(3)


def rows(operator, **attributes):
    """Rows of the output by onnx's inference and by a run."""
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], kernel_shape=[3, 3], dilations=[2, 2], **attributes)], "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, "rows", "columns"])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=10)
    onnx.checker.check_model(model)
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output[0].type.tensor_type.shape.dim
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return inferred[2].dim_value, session.run(None, {"x": numpy.zeros((1, 1, 8, 8), numpy.float32)})[0].shape[2]


as_expected = True
for operator in ("MaxPool", "AveragePool"):
    same = rows(operator, auto_pad="SAME_UPPER")
    explicit = rows(operator, pads=[2, 2, 2, 2])
    print(f"{operator}, 8 x 8, 3 x 3, dilation 2: SAME_UPPER inferred and run {same}, explicit pads {explicit}")
    as_expected &= same == (8, 6) and explicit == (8, 8)
sys.exit(0 if as_expected else 1)
PY
