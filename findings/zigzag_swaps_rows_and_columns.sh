#!/usr/bin/env bash
# ZigZag swaps rows and columns of a kernel read from ONNX: inputs of strided convolutions are off by up to the stride.
#
# ONNX orders kernel_shape, strides, dilations, and pads as rows, then columns. ZigZag's reader takes the feature map in that
# order (OY rows, OX columns), and the kernel, strides, and dilations in the other (FX rows, FY columns; ix = stride of
# rows x ox). Nothing changes for square kernels and strides, nor for the number of MACs, so a check of totals does not show it.
#
# 1. A convolution of 1 x 5 taps, stride 1 x 4, over 16 x 1 x 1,024 inputs (a front end for audio): FX = 1, FY = 5. ZigZag
#    has 255 x 16 = 4,080 inputs, as if neither taps nor strides ran along the row; the layer reads 1,021 x 16 = 16,336.
# 2. 3 x 3, strides 2 x 1, padding 1, over 16 x 64 x 16: 8,704 inputs of 16,384. Written as 3 x 3, strides 1 x 2 over the
#    transposed map, the same layer again has the wrong number, so no orientation of the network avoids it.
# Energy and stalls of memories follow from these sizes. Describe such layers in ZigZag's own YAML.
#
# Versions: zigzag-dse 3.9.1 with onnx 1.23.2, numpy 2.4.6 (Python 3.11 or newer; six is not among its declared dependencies).
# Fails (exit 1) when the sizes change. Skips (exit 77) where pip reaches no packages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnx==1.23.2 numpy==2.4.6 pyyaml==6.0.4 cerberus==1.3.8 networkx==3.6.1 \
    typeguard==4.6.1 six==1.17.0 || exit 77
"$folder/venv/bin/pip" install -q --no-deps zigzag-dse==3.9.1 || exit 77
cd "$folder"
cat >mapping.yaml <<'YAML'
- name: default
  spatial_mapping: {D1: ["K, 32"], D2: ["C, 16"]}
  memory_operand_links: {O: O, W: I2, I: I1}
YAML
venv/bin/python - <<'PY' 2>"$folder/err" || { cat "$folder/err" >&2; exit 1; }
import sys
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from zigzag.parser.onnx.onnx_model_parser import ONNXModelParser


def layer(kernel, strides, pads, size):
    """ZigZag's layer of a convolution of 16 channels to 32: dimensions, and words of each operand."""
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=kernel, strides=strides, pads=pads)], "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, *size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 32, "rows", "columns"])],
        [numpy_helper.from_array(numpy.zeros((32, 16, *kernel), numpy.float32), "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model, full_check=True)
    model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    [node] = ONNXModelParser(model, "mapping.yaml").run().nodes()
    dimensions = {str(name): size for name, size in node.layer_dim_sizes.items()}
    return dimensions, {str(operand): words for operand, words in node.operand_size_elem.items()}


audio, audio_words = layer([1, 5], [1, 4], [0, 0, 0, 0], [1, 1024])
tall, tall_words = layer([3, 3], [2, 1], [1, 1, 1, 1], [64, 16])
wide, wide_words = layer([3, 3], [1, 2], [1, 1, 1, 1], [16, 64])
square, square_words = layer([3, 3], [2, 2], [1, 1, 1, 1], [64, 16])
print("1 x 5, stride 1 x 4, over 1 x 1,024:", audio, audio_words, "inputs by hand 16,336")
print("3 x 3, strides 2 x 1, over 64 x 16:", tall_words, "inputs by hand 16,384")
print("3 x 3, strides 1 x 2, over 16 x 64:", wide_words, "inputs by hand 16,384")
print("3 x 3, stride 2, over 64 x 16:", square_words, "inputs by hand 16,384")
swapped = (audio["FX"], audio["FY"], audio["OX"], audio["OY"]) == (1, 5, 255, 1)
inputs = [words["I"] for words in (audio_words, tall_words, wide_words, square_words)]
print(inputs)
sys.exit(0 if swapped and inputs == [4080, 8704, 8704, 16384] else 1)
PY
