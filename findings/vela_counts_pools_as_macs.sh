#!/usr/bin/env bash
# Vela counts comparisons and copies as MACs, and the zeros that a transposed convolution inserts.
#
# "Neural network macs" of the summary, "MAC Count" and "Util%" of the table of layers, for Ethos-U55-128:
# 1. MaxPool of 2 x 2, stride 2, over 32 x 32 x 16: 16,384 MACs, though a maximum multiplies nothing. Averages and the
#    helper operators that Vela inserts count likewise: a softmax over 1,024 values has 2,048 MACs (a maximum and a sum).
# 2. TransposeConv of 8 x 8 x 16 to 16 x 16 x 32 with 2 x 2 taps, stride 2: 524,288 MACs. Each input meets each tap once,
#    8 x 8 x 16 x 32 x 2 x 2 = 131,072; three quarters of the products that Vela counts have an inserted zero.
# An ordinary convolution counts as by hand. Compare Vela's utilization and Tops/s with those of another model only for
# networks without these layers: an upsampling network looks up to four times as efficient as it is.
#
# Versions: ethos-u-vela 5.2.0, ai-edge-litert 2.3.0 (only its schema, to write the models), flatbuffers 25.12.19,
# numpy 2.4.6 (Python 3.11 or newer).
# Fails (exit 1) when the counts change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q ethos-u-vela==5.2.0 flatbuffers==25.12.19 numpy==2.4.6 || exit 77
"$folder/venv/bin/pip" install -q --no-deps ai-edge-litert==2.3.0 || exit 77
cd "$folder"
venv/bin/python - <<'PY'
import flatbuffers
import numpy
from ai_edge_litert import schema_py_generated as schema

model = None


def data(array):
    """Index of a new buffer of the model."""
    buffer = schema.BufferT()
    buffer.data = numpy.frombuffer(array.tobytes(), numpy.uint8)
    model.buffers.append(buffer)
    return len(model.buffers) - 1


def tensor(name, shape, buffer=0, kind=schema.TensorType.INT8, scale=0.5, zero=0):
    new = schema.TensorT()
    new.name, new.shape, new.buffer, new.type = name, shape, buffer, kind
    if scale:
        new.quantization = schema.QuantizationParametersT()
        new.quantization.scale, new.quantization.zeroPoint = [scale], [zero]
    return new


def write(name, operator, options, values, tensors, inputs, output):
    """Writes a model of one operator; its last input is that of the graph."""
    graph, step, code = schema.SubGraphT(), schema.OperatorT(), schema.OperatorCodeT()
    graph.name, graph.tensors, graph.operators = "main", tensors, [step]
    graph.inputs, graph.outputs = [inputs[-1] if operator == "TRANSPOSE_CONV" else 0], [output]
    step.opcodeIndex, step.inputs, step.outputs = 0, inputs, [output]
    step.builtinOptionsType = getattr(schema.BuiltinOptions, options)
    step.builtinOptions = getattr(schema, options + "T")()
    for key, value in values.items():
        setattr(step.builtinOptions, key, value)
    code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, operator)
    code.version = 1
    model.version, model.operatorCodes, model.subgraphs = 3, [code], [graph]
    builder = flatbuffers.Builder(4096)
    builder.Finish(model.Pack(builder), b"TFL3")
    with open(name + ".tflite", "wb") as file:
        file.write(builder.Output())


def fresh():
    global model
    model = schema.ModelT()
    model.buffers = [schema.BufferT()]


weights = numpy.random.default_rng(0).integers(-127, 127, (32, 2, 2, 16)).astype(numpy.int8)
two = {"padding": schema.Padding.VALID, "strideW": 2, "strideH": 2}
int32 = schema.TensorType.INT32
fresh()
write("pool", "MAX_POOL_2D", "Pool2DOptions", {**two, "filterWidth": 2, "filterHeight": 2},
      [tensor("x", [1, 32, 32, 16]), tensor("y", [1, 16, 16, 16])], [0], 1)
fresh()
write("softmax", "SOFTMAX", "SoftmaxOptions", {"beta": 1.0},
      [tensor("x", [1, 1024]), tensor("y", [1, 1024], scale=1 / 256, zero=-128)], [0], 1)
fresh()
write("conv", "CONV_2D", "Conv2DOptions", {**two, "dilationWFactor": 1, "dilationHFactor": 1},
      [tensor("x", [1, 8, 8, 16]), tensor("w", [32, 2, 2, 16], data(weights)),
       tensor("b", [32], data(numpy.zeros(32, numpy.int32)), int32), tensor("y", [1, 4, 4, 32])], [0, 1, 2], 3)
fresh()
write("transposed", "TRANSPOSE_CONV", "TransposeConvOptions", two,
      [tensor("s", [4], data(numpy.array([1, 16, 16, 32], numpy.int32)), int32, scale=0),
       tensor("w", [32, 2, 2, 16], data(weights)), tensor("x", [1, 8, 8, 16]), tensor("y", [1, 16, 16, 32])], [0, 1, 2], 3)
PY
for case in pool:16384:0 softmax:2048:0 conv:32768:32768 transposed:524288:131072; do
    IFS=: read -r name seen hand <<<"$case"
    venv/bin/vela "$name.tflite" --output-dir out --accelerator-config ethos-u55-128 --verbose-performance >"$name.log" 2>&1
    macs=$(sed -n 's/^Neural network macs *\([0-9]*\) .*/\1/p' "$name.log")
    echo "$name: $macs MACs, by hand $hand"
    [ "$macs" = "$seen" ]
done
