#!/usr/bin/env python3
"""Writes seeds of the ONNX target: operators that the models of tests/data do not have, a few in each file.

make_onnx_seeds.py FOLDER: ops_*.onnx. Needs the package onnx. Sizes need not make sense together: what is
refused is a seed, too.
"""
import os
import sys

from onnx import TensorProto, helper

FLOAT, INT, BYTE, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.BOOL
OURS, MICROSOFT = "", "com.microsoft"


class Model:
    def __init__(self, name):
        self.name, self.nodes, self.inputs, self.weights, self.outputs = name, [], [], [], []

    def value(self, *dims, element=FLOAT):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        return name

    def numbers(self, *values, element=INT, scalar=False):
        name = f"c{len(self.weights)}"
        self.weights.append(helper.make_tensor(name, element, [] if scalar else [len(values)], values))
        return name

    def weight(self, *dims, element=FLOAT):
        name = f"c{len(self.weights)}"
        size = 1
        for dim in dims:
            size *= dim
        self.weights.append(helper.make_tensor(name, element, dims, [0] * size))
        return name

    def node(self, op, *inputs, domain=OURS, outputs=1, **attributes):
        made = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, made, made[0], domain=domain, **attributes))
        self.outputs.append(helper.make_tensor_value_info(made[0], FLOAT, None))
        return made[0]

    def write(self, folder):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        sets = [helper.make_opsetid(OURS, 21), helper.make_opsetid(MICROSOFT, 1)]
        with open(os.path.join(folder, f"ops_{self.name}.onnx"), "wb") as file:
            file.write(helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString())


def detection():
    m = Model("detection")
    m.node("Compress", m.value(4, 5), m.numbers(1, 0, 1, element=BOOL), axis=0)
    m.node("Compress", m.value(4, 5), m.value(7, element=BOOL))
    m.node("Unique", m.value(6, 2), outputs=4, axis=0)
    m.node("Unique", m.value(6, 2))
    m.node("RoiAlign", m.value(1, 8, 16, 16), m.value(5, 4), m.value(5, element=INT), output_height=7, output_width=7)
    m.node("MaxRoiPool", m.value(1, 8, 16, 16), m.value(5, 5), pooled_shape=[3, 3])
    m.node("MaxRoiPool", m.value(1, 8, 16, 16), m.value(5, 5), pooled_shape=[3])
    m.node("GridSample", m.value(2, 3, 8, 8), m.value(2, 4, 4, 2))
    m.node("AffineGrid", m.value(2, 2, 3), m.numbers(2, 3, 8, 9))
    m.node("OneHot", m.value(4, element=INT), m.numbers(9, scalar=True), m.numbers(0, 1), axis=0)
    m.node("NonZero", m.value(3, 4))
    m.node("NonMaxSuppression", m.value(1, 20, 4), m.value(1, 3, 20), m.numbers(5))
    return m


def images():
    m = Model("images")
    m.node("Col2Im", m.value(1, 18, 16), m.numbers(6, 6), m.numbers(3, 3))
    m.node("MaxUnpool", m.value(1, 4, 5, 5), m.value(1, 4, 5, 5, element=INT), kernel_shape=[2, 2], strides=[2, 2],
           pads=[0, 0, 1, 1])
    m.node("MaxUnpool", m.value(1, 4, 5, 5), m.value(1, 4, 5, 5, element=INT), m.numbers(1, 4, 10, 10), kernel_shape=[2, 2])
    m.node("MaxUnpool", m.value(1, 4, 5, 5), m.value(1, 4, 5, 5, element=INT), kernel_shape=[2, 2],
           strides=[1 << 61, 1 << 62])
    m.node("CenterCropPad", m.value(1, 4, 9, 9), m.numbers(5, 12), axes=[2, 3])
    m.node("CenterCropPad", m.value(4, 9), m.numbers(5))
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        m.node(op, m.numbers(32, scalar=True))
    m.node("LpPool", m.value(1, 4, 9, 9), kernel_shape=[3, 3], strides=[2, 2])
    m.node("GlobalLpPool", m.value(1, 4, 9, 9))
    m.node("LpNormalization", m.value(4, 9), axis=1)
    m.node("MeanVarianceNormalization", m.value(1, 4, 9, 9))
    m.node("Upsample", m.value(1, 4, 9, 9), m.numbers(1.0, 1.0, 2.0, 2.0, element=FLOAT))
    m.node("QLinearAveragePool", *quantized(m, 1, 4, 9, 9), *scale(m), domain=MICROSOFT, kernel_shape=[3, 3])
    m.node("QLinearGlobalAveragePool", *quantized(m, 1, 4, 9, 9), *scale(m), domain=MICROSOFT)
    m.node("DeformConv", m.value(1, 4, 9, 9), m.weight(6, 4, 3, 3), m.value(1, 18, 7, 7))
    m.node("ReverseSequence", m.value(4, 3, 8), m.numbers(1, 2, 3))
    m.node("EyeLike", m.value(4, 4))
    m.node("Size", m.value(4, 4))
    return m


def scale(m):
    return m.numbers(0.5, element=FLOAT, scalar=True), m.numbers(0, element=BYTE, scalar=True)


def quantized(m, *dims):
    return (m.value(*dims, element=BYTE), *scale(m))


def integers():
    m = Model("integers")
    m.node("MatMulInteger", m.value(4, 8, element=BYTE), m.weight(8, 6, element=BYTE))
    m.node("MatMulIntegerToFloat", m.value(4, 8, element=BYTE), m.weight(8, 6, element=BYTE), *scale(m), domain=MICROSOFT)
    m.node("DynamicQuantizeLinear", m.value(4, 8), outputs=3)
    m.node("DynamicQuantizeMatMul", m.value(4, 8), m.weight(8, 6, element=BYTE), *scale(m), domain=MICROSOFT)
    m.node("QLinearMatMul", *quantized(m, 4, 8), m.weight(8, 6, element=BYTE), *scale(m), *scale(m))
    m.node("QGemm", *quantized(m, 4, 8), m.weight(8, 6, element=BYTE), *scale(m), domain=MICROSOFT, transB=0)
    for op in ("QLinearAdd", "QLinearMul"):
        m.node(op, *quantized(m, 4, 8), *quantized(m, 4, 8), *scale(m), domain=MICROSOFT)
    for op in ("QLinearSigmoid", "QLinearLeakyRelu"):
        m.node(op, *quantized(m, 4, 8), *scale(m), domain=MICROSOFT)
    m.node("QLinearSoftmax", *quantized(m, 4, 8), *scale(m), domain=MICROSOFT, axis=1, opset=13)
    m.node("QLinearReduceMean", *quantized(m, 4, 8), *scale(m), domain=MICROSOFT, axes=[1])
    m.node("QLinearConcat", *scale(m), *quantized(m, 4, 8), *quantized(m, 4, 9), domain=MICROSOFT, axis=1)
    m.node("QLinearConcat", *scale(m), *quantized(m, 4, 8), *quantized(m, 4), domain=MICROSOFT, axis=3)
    m.node("QLinearWhere", m.value(4, 8, element=BOOL), *quantized(m, 4, 8), *quantized(m, 8), *scale(m), domain=MICROSOFT)
    m.node("MatMulBnb4", m.value(4, 64), m.weight(64, element=BYTE), m.weight(4), domain=MICROSOFT, K=64, N=2,
           block_size=32, quant_type=1)
    m.node("MatMulNBits", m.value(4, 64), m.weight(8, 2, 16, element=BYTE), m.weight(16), domain=MICROSOFT, K=64, N=8,
           block_size=32, bits=4)
    for bits in (4, 8, 0):
        m.node("GatherBlockQuantized", m.weight(10, 16, element=BYTE), m.value(3, element=INT), m.weight(10, 1),
               domain=MICROSOFT, bits=bits, block_size=16, gather_axis=0)
    return m


def transformers():
    m = Model("transformers")
    for ids, segments in ((m.value(2, 6, element=INT), m.weight(2, 8)), (m.value(6, element=INT), "")):
        m.node("EmbedLayerNormalization", ids, m.value(2, 6, element=INT), m.weight(30, 8), m.weight(16, 8), segments,
               m.weight(8), m.weight(8), domain=MICROSOFT, outputs=3)
    for form in ("relu", "swiglu"):
        m.node("MoE", m.value(6, 8), m.value(6, 4), m.weight(4, 16, 8), m.weight(4, 16), m.weight(4, 8, 16), domain=MICROSOFT,
               k=2, activation_type=form)
    for bits in (4, 8, 0, -1):
        m.node("QMoE", m.value(6, 8), m.value(6, 4), m.weight(4, 16, 4, element=BYTE), m.weight(4, 16), m.weight(4, 16),
               m.weight(4, 8, 8, element=BYTE), m.weight(4, 8), domain=MICROSOFT, k=2, expert_weight_bits=bits)
    m.node("GroupNorm", m.value(1, 9, 9, 8), m.weight(8), m.weight(8), domain=MICROSOFT, groups=4, channels_last=1)
    m.node("BiasAdd", m.value(1, 9, 8), m.weight(8), m.value(1, 9, 8), domain=MICROSOFT)
    m.node("BiasSplitGelu", m.value(1, 9, 16), m.weight(16), domain=MICROSOFT)
    m.node("QAttention", m.value(2, 6, 16, element=BYTE), m.weight(16, 48, element=BYTE), m.weight(48), *scale(m),
           domain=MICROSOFT, num_heads=4)
    m.node("Attention", m.value(2, 6, 16), m.weight(16, 48), m.weight(48), domain=MICROSOFT, num_heads=4,
           qkv_hidden_sizes=[16, 16, 16])
    m.node("MultiHeadAttention", m.value(2, 6, 16), m.value(2, 9, 16), m.value(2, 9, 16), domain=MICROSOFT, num_heads=4)
    m.node("MultiHeadAttention", m.value(2, 6, 4, 3, 4), domain=MICROSOFT, num_heads=4)
    for heads, shared in ((4, 2), (2, -1), (1 << 61, 1 << 62)):
        m.node("GroupQueryAttention", m.value(2, 6, 32), "", "", domain=MICROSOFT, num_heads=heads, kv_num_heads=shared)
    m.node("RotaryEmbedding", m.value(2, 6, 16), m.value(2, 6, element=INT), m.weight(16, 2), m.weight(16, 2), domain=MICROSOFT,
           num_heads=4)
    m.node("SkipLayerNormalization", m.value(2, 6, 16), m.value(2, 6, 16), m.weight(16), m.weight(16), m.weight(16),
           domain=MICROSOFT, outputs=4)
    for op in ("FusedMatMul", "TransposeMatMul"):
        m.node(op, m.value(2, 6, 8), m.value(2, 9, 8), domain=MICROSOFT, transB=1, alpha=0.5)
    m.node("FusedMatMul", m.value(6, 2, 8), m.value(8, 2, 9), domain=MICROSOFT, transBatchA=1, transBatchB=1)
    m.node("FusedGemm", m.value(6, 8), m.weight(8, 4), m.weight(4), domain=MICROSOFT, activation="Relu")
    m.node("FusedConv", m.value(1, 4, 9, 9), m.weight(6, 4, 3, 3), domain=MICROSOFT, activation="Relu", kernel_shape=[3, 3])
    for op in ("BiasGelu", "FastGelu"):
        m.node(op, m.value(6, 8), m.weight(8), domain=MICROSOFT)
    m.node("QuickGelu", m.value(6, 8), domain=MICROSOFT)
    m.node("RNN", m.value(5, 2, 8), m.weight(1, 6, 8), m.weight(1, 6, 6), outputs=2, hidden_size=6)
    return m


def elementwise():
    m = Model("elementwise")
    for op in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Celu", "Cos", "Cosh", "Elu", "Erf", "HardSigmoid",
               "Hardmax", "IsInf", "IsNaN", "Mish", "Selu", "Shrink", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Tan",
               "Tanh", "ThresholdedRelu", "Dropout", "Bernoulli", "RandomNormalLike", "ArgMin", "ReduceL1", "ReduceLogSum",
               "ReduceSumSquare"):
        m.node(op, m.value(6, 8))
    for op in ("And", "Or", "Xor"):
        m.node(op, m.value(6, 8, element=BOOL), m.value(8, element=BOOL))
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        m.node(op, m.value(6, 8, element=INT), m.value(8, element=INT))
    m.node("BitShift", m.value(6, 8, element=BYTE), m.value(8, element=BYTE), direction="LEFT")
    m.node("BitwiseNot", m.value(6, 8, element=INT))
    for op in ("Greater", "GreaterOrEqual", "Pow", "CastLike"):
        m.node(op, m.value(6, 8), m.value(8))
    for op in ("RandomNormal", "RandomUniform"):
        m.node(op, shape=[3, 4])
    m.node("OptionalHasElement", m.node("Optional", m.value(3)))
    m.node("SequenceEmpty")
    return m


def activations():
    """Chains that frameworks write an activation as."""
    m = Model("activations")
    x = m.value(6, 8)
    half, one, root, three = (m.numbers(v, element=FLOAT, scalar=True) for v in (0.5, 1.0, 1.4142135, 3.0))
    erf = m.node("Erf", m.node("Div", x, root))
    m.node("Mul", m.node("Mul", x, m.node("Add", erf, one)), half)
    m.node("Mul", x, m.node("Sigmoid", x))
    m.node("Mul", x, m.node("HardSigmoid", x, alpha=1 / 6, beta=0.5))
    m.node("Div", m.node("Mul", x, m.node("Clip", m.node("Add", x, three), m.numbers(0.0, element=FLOAT, scalar=True),
                                          m.numbers(6.0, element=FLOAT, scalar=True))),
           m.numbers(6.0, element=FLOAT, scalar=True))
    cube = m.node("Pow", x, three)
    inner = m.node("Add", x, m.node("Mul", cube, m.numbers(0.044715, element=FLOAT, scalar=True)))
    tanh = m.node("Tanh", m.node("Mul", inner, m.numbers(0.7978845608, element=FLOAT, scalar=True)))
    m.node("Mul", half, m.node("Mul", x, m.node("Add", tanh, one)))
    m.node("Mul", x, m.node("Tanh", m.node("Softplus", x)))
    m.node("Mul", x, m.node("Sigmoid", m.node("Mul", x, m.numbers(1.702, element=FLOAT, scalar=True))))
    gate, up = (m.node("MatMul", x, m.weight(8, 12)) for _ in range(2))
    m.node("Mul", m.node("Mul", gate, m.node("Sigmoid", gate)), up)
    return m


for make in (detection, images, integers, transformers, elementwise, activations):
    make().write(sys.argv[1])
