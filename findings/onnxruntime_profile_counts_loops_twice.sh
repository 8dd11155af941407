#!/usr/bin/env bash
# onnxruntime's profile has the time of a Loop twice: as the Loop's kernel, and as the kernels of its body.
#
# The JSON of SessionOptions.enable_profiling lists one event of category "Node" per kernel. For Loop, If, and Scan the kernel's
# event spans the body, and every pass of the body adds its own events of the same category, with no field that names the parent;
# the body's come first in the file. A Loop of 10 matrix multiplications has 10 MatMul events and a Loop event as long as all
# of them: a table by operator, the usual way to read the file, adds up to almost twice the run. There are also 11 events
# "SequentialExecutor::Execute" for one run. An exported recurrent network or a decoder with a loop thus seems half as fast.
# Sum only events that lie in no other of the same thread.
#
# Versions: onnxruntime 1.32.0, onnx 1.23.2, numpy 2.4.6 (Python 3.11 or newer).
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

size = [384, 384]


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


body = helper.make_graph(
    [helper.make_node("Identity", ["go"], ["going"]), helper.make_node("MatMul", ["state", "w"], ["next"], name="inner")],
    "body", [value("step", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("state", TensorProto.FLOAT, size)],
    [value("going", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, size)])
graph = helper.make_graph(
    [helper.make_node("Loop", ["steps", "yes", "x"], ["y"], body=body, name="outer")], "loop",
    [value("x", TensorProto.FLOAT, size)], [value("y", TensorProto.FLOAT, size)],
    [numpy_helper.from_array(numpy.array(10, numpy.int64), "steps"), numpy_helper.from_array(numpy.array(True), "yes"),
     numpy_helper.from_array(numpy.zeros(size, numpy.float32), "w")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.checker.check_model(model, full_check=True)
options = onnxruntime.SessionOptions()
options.enable_profiling, options.intra_op_num_threads = True, 1
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
session.run(None, {"x": numpy.zeros(size, numpy.float32)})
with open(session.end_profiling()) as file:
    events = json.load(file)
nodes = [event for event in events if event["cat"] == "Node"]
[loop] = [event for event in nodes if event["args"]["op_name"] == "Loop"]
products = [event for event in nodes if event["args"]["op_name"] == "MatMul"]
inside = all(loop["ts"] <= event["ts"] and event["ts"] + event["dur"] <= loop["ts"] + loop["dur"] for event in products)
[run] = [event["dur"] for event in events if event["name"] == "model_run"]
total = sum(event["dur"] for event in nodes)
named = any("parent" in key for event in nodes for key in event["args"])
executions = sum(event["name"] == "SequentialExecutor::Execute" for event in events)
print(f"run {run} us; nodes {total} us: Loop {loop['dur']}, {len(products)} MatMul {sum(event['dur'] for event in products)}; "
      f"{executions} executions; parents named: {named}")
sys.exit(0 if len(products) == 10 and inside and total > 1.5 * run and executions == 11 and not named else 1)
PY
