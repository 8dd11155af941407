#!/usr/bin/env python3
"""Writes the ONNX graphs of tests/data/onnx anew: python3 make_onnx.py [folder] (needs `pip install onnx`).

Weights are told to lie in another file that does not exist, as exporters of large models write them.
"""
import pathlib
import sys

import onnx
from onnx import TensorProto as T
from onnx import helper as h

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "onnx")


class Graph:
    """Collects nodes; every method gives the name of its result."""

    def __init__(self):
        self.nodes, self.weights, self.n = [], [], 0

    def weight(self, *dims, kind=T.FLOAT):
        self.n += 1
        w = onnx.TensorProto(name=f"w{self.n}", data_type=kind, dims=dims)
        w.data_location = T.EXTERNAL
        w.external_data.add(key="location", value="weights.bin")
        self.weights.append(w)
        return w.name

    def ints(self, *values):
        self.n += 1
        self.weights.append(h.make_tensor(f"c{self.n}", T.INT64, [len(values)], values))
        return f"c{self.n}"

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        self.n += 1
        names = [f"t{self.n}_{i}" if i else f"t{self.n}" for i in range(outputs)]
        self.nodes.append(h.make_node(op, list(inputs), names, f"{op}{self.n}", domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, c, k, r, stride=1, groups=1, bias=False, pad=None, **more):
        inputs = [x, self.weight(k, c // groups, r, r)] + ([self.weight(k)] if bias else [])
        pad = (r - 1) // 2 if pad is None else pad
        return self.add("Conv", *inputs, group=groups, kernel_shape=[r, r], strides=[stride] * 2, pads=[pad] * 4, **more)

    def norm(self, x, c):
        return self.add("BatchNormalization", x, *[self.weight(c) for _ in range(4)])

    def save(self, name, inputs, output, opset=17, functions=(), kind=T.FLOAT, domains=()):
        types = [h.make_tensor_value_info(i, kind_of, dims) for i, kind_of, dims in inputs]
        graph = h.make_graph(self.nodes, name, types, [h.make_tensor_value_info(output, kind, None)], self.weights)
        sets = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
        model = h.make_model(graph, opset_imports=sets, functions=functions, ir_version=10, producer_name="make_onnx.py")
        (OUT / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


def resnet50():
    g = Graph()
    relu = lambda x: g.add("Relu", x)
    x = relu(g.norm(g.conv("x", 3, 64, 7, 2), 64))
    x = g.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c = 64
    for k, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            s = stride if i == 0 else 1
            y = relu(g.norm(g.conv(x, c, k, 1), k))
            y = relu(g.norm(g.conv(y, k, k, 3, s), k))
            y = g.norm(g.conv(y, k, 4 * k, 1), 4 * k)
            around = g.norm(g.conv(x, c, 4 * k, 1, s), 4 * k) if i == 0 else x
            x, c = relu(g.add("Add", y, around)), 4 * k
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    x = g.add("Gemm", x, g.weight(1000, 2048), g.weight(1000), transB=1)
    g.save("resnet50", [("x", T.FLOAT, ["batch", 3, 224, 224])], x)


def mobilenet_v2():
    g = Graph()
    clip = lambda x: g.add("Clip", x)
    x, c = clip(g.norm(g.conv("x", 3, 32, 3, 2), 32)), 32
    for t, k, n, s in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(n):
            y, e = x, t * c
            if t > 1:
                y = clip(g.norm(g.conv(y, c, e, 1), e))
            y = clip(g.norm(g.conv(y, e, e, 3, s if i == 0 else 1, groups=e), e))
            y = g.norm(g.conv(y, e, k, 1), k)
            x, c = (g.add("Add", x, y) if i > 0 else y), k
    x = clip(g.norm(g.conv(x, 320, 1280, 1), 1280))
    x = g.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = g.add("Gemm", x, g.weight(1000, 1280), g.weight(1000), transB=1)
    g.save("mobilenet_v2", [("x", T.FLOAT, [1, 3, 224, 224])], x, opset=13)


def efficientnet_b0():
    g = Graph()
    silu = lambda x: g.add("Mul", x, g.add("Sigmoid", x))
    x, c = silu(g.norm(g.conv("x", 3, 32, 3, 2), 32)), 32
    for t, k, n, s, r in ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
        for i in range(n):
            y, e = x, t * c
            if t > 1:
                y = silu(g.norm(g.conv(y, c, e, 1), e))
            y = silu(g.norm(g.conv(y, e, e, r, s if i == 0 else 1, groups=e), e))
            z = g.conv(g.add("GlobalAveragePool", y), e, c // 4, 1, bias=True)
            y = g.add("Mul", y, g.add("Sigmoid", g.conv(silu(z), c // 4, e, 1, bias=True)))
            y = g.norm(g.conv(y, e, k, 1), k)
            x, c = (g.add("Add", x, y) if i > 0 else y), k
    x = silu(g.norm(g.conv(x, 320, 1280, 1), 1280))
    x = g.add("Flatten", g.add("GlobalAveragePool", x))
    x = g.add("Gemm", x, g.weight(1000, 1280), g.weight(1000), transB=1)
    g.save("efficientnet_b0", [("x", T.FLOAT, [1, 3, 224, 224])], x)


def bert_layer():
    """BERT's first layer at open sizes, its shapes worked out in the graph as exporters do."""
    g, d = Graph(), 768
    dims = g.add("Shape", "ids")
    one = lambda i: g.add("Unsqueeze", g.add("Gather", dims, g.add("Constant", value_int=i), axis=0), g.ints(0))
    batch, seq = one(0), one(1)
    x = g.add("Add", g.add("Gather", g.weight(30522, d), "ids"), g.weight(1, 1, d))
    x = g.add("LayerNormalization", x, g.weight(d), g.weight(d))
    split = g.add("Concat", batch, seq, g.ints(12, 64), axis=0)
    heads = lambda: g.add("Transpose", g.add("Reshape", g.add("Add", g.weight(d), g.add("MatMul", x, g.weight(d, d))), split), perm=[0, 2, 1, 3])
    q, k, v = heads(), heads(), heads()
    scores = g.add("MatMul", q, g.add("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.add("Div", scores, g.add("Constant", value_float=8.0))
    context = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
    joined = g.add("Reshape", g.add("Transpose", context, perm=[0, 2, 1, 3]), g.add("Concat", batch, seq, g.ints(-1), axis=0))
    y = g.add("Add", x, g.add("MatMul", joined, g.weight(d, d)))
    y = g.add("LayerNormalization", y, g.weight(d), g.weight(d))
    z = g.add("MatMul", g.add("Gelu", g.add("MatMul", y, g.weight(d, 4 * d))), g.weight(4 * d, d))
    g.save("bert_layer", [("ids", T.INT64, ["batch", "seq"])], g.add("Add", y, z), opset=20)


def attention_op():
    g = Graph()
    y = g.add("Attention", "q", "k", "v", "", "past_k", "past_v", outputs=3, q_num_heads=32, kv_num_heads=8)
    side = ["batch", 1, 8 * 128]
    past = ["batch", 8, "past", 128]
    g.save("attention_op", [("q", T.FLOAT16, ["batch", 1, 32 * 128]), ("k", T.FLOAT16, side), ("v", T.FLOAT16, side), ("past_k", T.FLOAT16, past), ("past_v", T.FLOAT16, past)], y[0], opset=23, kind=T.FLOAT16)


def group_query():
    g = Graph()
    past = [2, 8, 1024, 128]
    y = g.add("GroupQueryAttention", "q", "k", "v", "past_k", "past_v", outputs=3, domain="com.microsoft", num_heads=32, kv_num_heads=8)
    z = g.add("MatMulNBits", y[0], g.weight(4096, 128, 16, kind=T.UINT8), g.weight(4096 * 128), domain="com.microsoft", K=4096, N=4096, bits=4, block_size=32)
    z = g.add("SkipSimplifiedLayerNormalization", z, "q", g.weight(4096), domain="com.microsoft")
    g.save("group_query", [("q", T.FLOAT16, [2, 1, 4096]), ("k", T.FLOAT16, [2, 1, 1024]), ("v", T.FLOAT16, [2, 1, 1024]), ("past_k", T.FLOAT16, past), ("past_v", T.FLOAT16, past)], z, kind=T.FLOAT16, domains=["com.microsoft"])


def recurrent():
    g = Graph()
    y = g.add("LSTM", "x", g.weight(2, 1024, 128), g.weight(2, 1024, 256), g.weight(2, 2048), outputs=3, direction="bidirectional", hidden_size=256)
    y = g.add("Reshape", g.add("Transpose", y[0], perm=[0, 2, 1, 3]), g.ints(0, 0, -1))
    y = g.add("GRU", y, g.weight(1, 768, 512), g.weight(1, 768, 256), g.weight(1, 1536), outputs=2, hidden_size=256)
    g.save("recurrent", [("x", T.FLOAT, [10, 4, 128])], y[0])


def quantised():
    """One convolution in each of the three ways to write it in eight bits."""
    g = Graph()
    scale, zero = g.weight(), g.weight(kind=T.UINT8)
    x = g.add("QuantizeLinear", "x", scale, zero)
    y = g.add("QLinearConv", x, scale, zero, g.weight(8, 3, 3, 3, kind=T.INT8), scale, g.weight(kind=T.INT8), scale, zero, pads=[1] * 4)
    y = g.add("DequantizeLinear", y, scale, zero)
    w = g.add("DequantizeLinear", g.weight(16, 8, 3, 3, kind=T.INT8), scale, g.weight(kind=T.INT8))
    y = g.add("QuantizeLinear", g.add("Conv", y, w, pads=[1] * 4), scale, zero)
    y = g.add("ConvInteger", y, g.weight(4, 16, 1, 1, kind=T.INT8), zero)
    g.save("quantised", [("x", T.FLOAT, [1, 3, 32, 32])], y, kind=T.INT32)


def convolutions():
    """Grouped, depthwise, dilated, strided unevenly, in one and three dimensions, transposed."""
    g = Graph()
    x = g.conv("x", 16, 32, 3, groups=4)
    x = g.conv(x, 32, 32, 5, groups=32, stride=2)
    x = g.add("Conv", x, g.weight(32, 32, 3, 3), dilations=[2, 2], pads=[2] * 4)
    x = g.add("Conv", x, g.weight(32, 32, 3, 3), strides=[2, 1], auto_pad="SAME_UPPER")
    x = g.add("ConvTranspose", x, g.weight(32, 16, 2, 2), strides=[2, 2])
    x = g.add("Reshape", x, g.ints(1, 4, 4, 16, 64))
    x = g.add("Conv", x, g.weight(8, 4, 3, 3, 3), pads=[1] * 6)
    x = g.add("Conv", g.add("Reshape", x, g.ints(1, 8, -1)), g.weight(8, 8, 4), strides=[4])
    g.save("convolutions", [("x", T.FLOAT, [1, 16, 32, 64])], x)


def einsum():
    g = Graph()
    s = g.add("Einsum", "q", "k", equation="bqhd,bkhd->bhqk")
    y = g.add("Einsum", g.add("Softmax", s, axis=-1), "v", equation="bhqk,bkhd->bqhd")
    y = g.add("Einsum", y, g.weight(8, 64, 512), equation="bqhd,hdm->bqm")
    g.save("einsum", [(n, T.FLOAT, [2, 128, 8, 64]) for n in "qkv"], y)


def norms():
    g = Graph()
    x = g.add("InstanceNormalization", "x", g.weight(8), g.weight(8))
    x = g.add("GroupNormalization", x, g.weight(8), g.weight(8), num_groups=2)
    x = g.add("LRN", g.add("LeakyRelu", x), size=5)
    x = g.add("Resize", x, "", "", g.ints(1, 8, 32, 32))
    x = g.add("RMSNormalization", g.add("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1), g.weight(16), axis=-1)
    y = g.add("TopK", g.add("ArgMax", x, axis=1), g.ints(3), outputs=2)
    g.save("norms", [("x", T.FLOAT, [1, 8, 16, 16])], y[0], opset=23)


def functions():
    """A function of the file's own, with an attribute of its call, used twice."""
    relu = h.make_node("LeakyRelu", ["y"], ["z"])
    relu.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    body = h.make_function("own", "Dense", ["x", "w"], ["z"], [h.make_node("MatMul", ["x", "w"], ["y"]), relu], [h.make_opsetid("", 17)], ["slope"])
    g = Graph()
    x = g.add("Dense", "x", g.weight(64, 128), domain="own", slope=0.1)
    x = g.add("Dense", x, g.weight(128, 32), domain="own", slope=0.2)
    g.save("functions", [("x", T.FLOAT, [4, 64])], x, functions=[body], domains=["own"])


def control_flow():
    g = Graph()
    x = g.add("MatMul", "x", g.weight(8, 8))
    branch = h.make_graph([h.make_node("Identity", [x], ["b"])], "branch", [], [h.make_tensor_value_info("b", T.FLOAT, None)])
    y = g.add("If", "c", then_branch=branch, else_branch=branch)
    while_end = h.make_graph(
        [h.make_node("MatMul", ["v", "v"], ["next"]), h.make_node("ReduceMax", ["next"], ["top"], keepdims=0),
         h.make_node("Cast", ["top"], ["more"], to=T.BOOL)], "body",
        [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, []),
         h.make_tensor_value_info("v", T.FLOAT, [8, 8])],
        [h.make_tensor_value_info("more", T.BOOL, []), h.make_tensor_value_info("next", T.FLOAT, [8, 8])])
    y = g.add("Loop", "", "c", "square", body=while_end)
    y = g.add("NonMaxSuppression", "boxes", "scores")
    g.save("control_flow", [("x", T.FLOAT, [2, 8]), ("c", T.BOOL, []), ("square", T.FLOAT, [8, 8]), ("boxes", T.FLOAT, [1, 9, 4]), ("scores", T.FLOAT, [1, 1, 9])], y, kind=T.INT64)


def cyclic():
    g = Graph()
    g.nodes = [h.make_node("Add", ["x", "b"], ["a"], "first"), h.make_node("Relu", ["a"], ["b"], "second")]
    g.save("cyclic", [("x", T.FLOAT, [4])], "b")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for write in (resnet50, mobilenet_v2, efficientnet_b0, bert_layer, attention_op, group_query, recurrent, quantised, convolutions, einsum, norms, functions, control_flow, cyclic):
        write()
