"""Constants that a graph computes are folded as ONNX's reference evaluator does: the size of a product tells the value."""

import warnings

import pytest

import eyeroof as er

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
numpy = pytest.importorskip("numpy", reason="numpy is not installed")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

F, I = TensorProto.FLOAT, TensorProto.INT64


# Each: the operator, further constants, and attributes; the first input is 3 x 4, positive.
CASES = {op: (op, {}, {}) for op in
         ("Neg", "Abs", "Sign", "Floor", "Ceil", "Round", "Sqrt", "Exp", "Log", "Reciprocal", "Sin", "Cos",
          "Tan", "Atan", "Tanh", "Sinh", "Cosh", "Asinh", "Softplus", "Softsign", "Sigmoid", "Relu", "Erf", "Identity", "Flatten", "Transpose")}
for op in ("Sum", "Mean", "Prod", "Max", "Min", "L1", "L2", "LogSum", "SumSquare", "LogSumExp"):
    for axes in ((0,), (1,), (-1,), (0, 1)):
        for keep in (0, 1):
            CASES[f"Reduce{op} {axes} keep {keep}"] = (
                f"Reduce{op}", {"axes": numpy.array(axes, numpy.int64)}, {"keepdims": keep})
for op in ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Mod"):
    CASES[op] = (op, {"b": numpy.array([[1.5, 2.0, 3.0, 0.5]], numpy.float32)},
                 {"fmod": 1} if op == "Mod" else {})
CASES.update({
    "CumSum": ("CumSum", {"axis": numpy.array(1, numpy.int64)}, {"exclusive": 1, "reverse": 1}),
    "Gather": ("Gather", {"i": numpy.array([2, 0, -1], numpy.int64)}, {"axis": 1}),
    "GatherElements": ("GatherElements", {"i": numpy.array([[0, 2, 1, 0]], numpy.int64)}, {"axis": 0}),
    "Slice": ("Slice", {"s": numpy.array([3, 0], numpy.int64), "e": numpy.array([-5, 3], numpy.int64),
                        "a": numpy.array([1, 0], numpy.int64), "t": numpy.array([-2, 1], numpy.int64)}, {}),
    "Tile": ("Tile", {"r": numpy.array([2, 3], numpy.int64)}, {}),
    "Expand": ("Expand", {"s": numpy.array([2, 3, 4], numpy.int64)}, {}),
    "Unsqueeze": ("Unsqueeze", {"a": numpy.array([0, 3], numpy.int64)}, {}),
    "Trilu": ("Trilu", {"k": numpy.array(1, numpy.int64)}, {"upper": 0}),
    "ArgMax": ("ArgMax", {}, {"axis": 1, "keepdims": 0}),
    "ArgMin": ("ArgMin", {}, {"axis": 0, "select_last_index": 1}),
    "Clip": ("Clip", {"lo": numpy.array(1.0, numpy.float32), "hi": numpy.array(3.0, numpy.float32)}, {}),
    "Pad": ("Pad", {"p": numpy.array([1, 0, 0, 2], numpy.int64), "v": numpy.array(2.0, numpy.float32)}, {}),
})


def model(case, seed):
    op, constants, attributes = CASES[case]
    dice = numpy.random.default_rng(seed)
    first = dice.uniform(0.4, 4.0, (3, 4)).astype(numpy.float32)
    tensors = {"c": first, **constants}
    integer = op in ("ArgMax", "ArgMin")
    chain = [helper.make_node(op, ["c", *constants], ["y"], **attributes)]
    chain += [helper.make_node("Cast", ["y"], ["yf"], to=F)] if integer else []
    chain += [helper.make_node("ReduceSum", ["yf" if integer else "y"], ["sum"], keepdims=0),
              helper.make_node("Abs", ["sum"], ["abs"]),
              helper.make_node("Clip", ["abs", "one", "most"], ["kept"]),
              helper.make_node("Cast", ["kept"], ["whole"], to=I),
              helper.make_node("Reshape", ["whole", "flat"], ["n"])]
    tensors.update(one=numpy.array(1.0, numpy.float32), most=numpy.array(900.0, numpy.float32),
                   flat=numpy.array([1], numpy.int64), front=numpy.array([1], numpy.int64),
                   back=numpy.array([8], numpy.int64), weight=numpy.zeros((8, 4), numpy.float32))
    product = [helper.make_node("Concat", ["front", "n", "back"], ["shape"], axis=0),
               helper.make_node("Expand", ["x", "shape"], ["wide"]),
               helper.make_node("MatMul", ["wide", "weight"], ["out"])]
    made = [numpy_helper.from_array(value, name) for name, value in tensors.items()]
    opset = [helper.make_opsetid("", 18)]
    whole = helper.make_model(
        helper.make_graph(chain + product, "g", [helper.make_tensor_value_info("x", F, [1, 1, 8])],
                          [helper.make_tensor_value_info("out", F, None)], made), opset_imports=opset)
    constant = helper.make_model(
        helper.make_graph(chain, "c", [], [helper.make_tensor_value_info("n", I, [1]),
                                           helper.make_tensor_value_info("kept", F, [])], made),
        opset_imports=opset)
    return whole, constant


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_computed_size_is_the_reference_evaluators(case, tmp_path):
    for seed in range(3):
        whole, constant = model(case, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            n, kept = ReferenceEvaluator(constant).run(None, {})
        path = tmp_path / "m.onnx"
        onnx.save(whole, str(path))
        net = er.network(str(path))
        found = net.totals()["macs"] / (8 * 4)
        near_whole = abs(float(kept) - round(float(kept))) < 1e-4  # fp32 may fall on either side
        assert found == n[0] or (near_whole and abs(found - n[0]) <= 1), (case, seed, found, n[0])
        assert er.exam(net, on="t4").uncosted_share == 0.0


def test_a_product_of_unknown_size_is_refused_in_every_format(tmp_path):
    """The size depends on the data, without a bound: no answer unless it is asked for."""
    graph = helper.make_graph(
        [helper.make_node("ReduceSum", ["d"], ["s"], keepdims=0), helper.make_node("Cast", ["s"], ["i"], to=I),
         helper.make_node("Reshape", ["i", "flat"], ["n"]),
         helper.make_node("Concat", ["front", "n", "back"], ["shape"], axis=0),
         helper.make_node("Expand", ["x", "shape"], ["wide"]),
         helper.make_node("MatMul", ["wide", "weight"], ["out"]),
         helper.make_node("MatMul", ["d", "weight"], ["known"])],
        "g", [helper.make_tensor_value_info("x", F, [1, 1, 8]), helper.make_tensor_value_info("d", F, [2, 8])],
        [helper.make_tensor_value_info("out", F, None), helper.make_tensor_value_info("known", F, [2, 4])],
        [numpy_helper.from_array(v, k) for k, v in
         (("flat", numpy.array([1], numpy.int64)), ("front", numpy.array([1], numpy.int64)),
          ("back", numpy.array([8], numpy.int64)), ("weight", numpy.zeros((8, 4), numpy.float32)))])
    path = tmp_path / "open.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), str(path))
    for name in ("text", "json", "html", "csv", "md"):
        code, out, err = er._eyeroof.command(["exam", str(path), "--on", "t4", "--format", name])
        assert code != 0 and not out and "--allow-uncosted" in err, name
    for call in (lambda: er.exam(str(path), on="t4"), lambda: er.timeline(str(path), on="t4"),
                 lambda: er.upgrade(str(path), "t4", "a10"), lambda: er.roofline(str(path), on="t4")):
        with pytest.raises(er.Error, match="uncosted"):
            call()
    allowed = er.exam(str(path), on="t4", allow_uncosted=True)
    assert allowed.uncosted_share > 0.0
    assert "have no cost" in allowed.text() and "have no cost" in allowed.html()
    assert "have no cost" in allowed.csv() and "have no cost" in allowed.markdown()
    assert "have no cost" in allowed._repr_html_()
