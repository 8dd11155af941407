"""What one PyTorch operator is as a layer: a row of docs/formats.md. Called by eyeroof.torch."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from . import Error

Row = Dict[str, Any]

# Elementwise functions of the model, by the operator's name.
_ELEMENTWISE = {
    "relu": "relu", "add": "add", "sub": "sub", "rsub": "sub", "mul": "mul", "div": "div",
    "pow": "powu", "square": "mulu", "gelu": "gelu", "sigmoid": "sigmoid", "tanh": "tanh",
    "exp": "exp", "expm1": "exp", "log": "log", "log1p": "log", "log2": "log", "sqrt": "sqrt",
    "rsqrt": "rsqrt", "reciprocal": "reciprocal", "abs": "abs", "neg": "neg", "silu": "silu",
    "softplus": "softplus", "leaky_relu": "leaky_relu", "clamp": "clamp", "clamp_min": "clamp",
    "clamp_max": "clamp", "hardtanh": "relu6", "hardswish": "hardswish", "mish": "silu",
    "hardsigmoid": "hardsigmoid", "elu": "elu", "erf": "erf", "where": "where", "maximum": "max",
    "minimum": "min", "masked_fill": "where", "clone": "copy", "copy": "copy", "cat": "copy",
    "stack": "copy", "_to_copy": "cast", "native_dropout": "dropout", "dropout": "dropout",
    "constant_pad_nd": "copy", "reflection_pad2d": "copy", "replication_pad2d": "copy",
    "roll": "copy", "index": "copy", "index_select": "copy", "gather": "copy", "repeat": "copy",
    "flip": "copy", "cumsum": "addu", "bitwise_not": "neg", "logical_not": "neg",
    "bitwise_and": "mul", "logical_and": "mul", "bitwise_or": "add", "logical_or": "add",
    "eq": "sub", "ne": "sub", "lt": "sub", "le": "sub", "gt": "sub", "ge": "sub", "sin": "exp",
    "cos": "exp", "floor_divide": "div", "remainder": "div", "fmod": "div", "lerp": "add3",
    "addcmul": "add3", "upsample_nearest2d": "copy", "upsample_bilinear2d": "copy",
    "upsample_bicubic2d": "copy", "_upsample_bilinear2d_aa": "copy", "pixel_shuffle": "copy",
    "scatter": "copy", "index_put": "copy", "masked_scatter": "copy", "grid_sampler_2d": "copy",
    "im2col": "copy", "col2im": "copy", "_log_softmax": "exp", "isinf": "sub", "isnan": "sub",
    "floor": "copy", "ceil": "copy", "round": "copy", "sign": "copy", "prelu": "leaky_relu",
    "_prelu_kernel": "leaky_relu", "channel_shuffle": "copy", "topk": "copy", "sort": "copy",
    "log_sigmoid_forward": "sigmoid", "logaddexp": "add", "max": "max", "min": "min",
    "unfold_copy": "copy", "fmax": "max", "fmin": "min", "trunc": "copy", "nan_to_num": "copy",
}
_UNARY_OF = {"add": "addu", "sub": "subu", "mul": "mulu", "div": "divu", "pow": "powu",
             "max": "clamp", "min": "clamp", "where": "clamp"}

# Views, sizes, and what makes a tensor of nothing: no work of their own.
_FREE = {
    "view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand", "slice", "select",
    "split", "split_with_sizes", "unbind", "unsqueeze", "squeeze", "detach", "alias", "as_strided",
    "arange", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "new_full",
    "full_like", "scalar_tensor", "lift_fresh", "chunk", "flatten", "unfold", "_local_scalar_dense",
    "new_zeros", "new_ones", "new_empty", "diagonal", "_reshape_alias", "triu", "tril", "fill",
    "lift_fresh_copy", "movedim", "view_as_real", "view_as_complex", "zero", "empty_strided",
    "new_empty_strided", "linspace", "eye", "rand", "randn", "_assert_async", "detach_copy", "device",
    "_assert_tensor_metadata", "item", "equal", "is_same_size", "sym_size", "resize", "set",
    "_conj", "imag", "real", "hstack", "empty_permuted", "swapaxes", "normal", "uniform",
    "_has_compatible_shallow_copy_type", "randperm", "broadcast_tensors", "meshgrid", "bernoulli",
}

# Reductions: read all, write little.
_REDUCED = {"mean", "_adaptive_avg_pool2d", "sum", "amax", "amin", "argmax", "argmin", "var", "std",
            "var_mean", "linalg_vector_norm", "norm", "prod", "any", "all", "logsumexp",
            "adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d",
            "adaptive_max_pool2d", "max_dim", "bincount"}


def product(sizes: Any) -> int:
    all_ = 1
    for size in sizes:
        all_ *= int(size)
    return all_


def _pair(values: Any) -> List[int]:
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    return [int(v) for v in (values * 2 if len(values) == 1 else values)]


def _one(values: Any, what: str) -> Any:
    """One number where both directions have it, else "HxW"."""
    pair = _pair(values)
    if len(pair) != 2:
        raise Error(f"{what} of {len(pair)} dimensions is not known [unsupported]")
    return pair[0] if pair[0] == pair[1] else f"{pair[0]}x{pair[1]}"


def _gemm(a: Any, b: Any) -> Row:
    return {"op": "gemm", "m": a.shape[0], "k": a.shape[1], "n": b.shape[1]}


def _bmm(a: Any, b: Any) -> Row:
    return {"op": "bmm", "batch": a.shape[0], "m": a.shape[1], "k": a.shape[2], "n": b.shape[2]}


def _grouped(args: Any) -> Row:
    """Products of experts: every row of `a` goes through one of the matrices."""
    a, b = args[0], args[1]
    if a.dim() == 2 and b.dim() == 3:  # rows are shared out over the groups
        groups = b.shape[0]
        return {"op": "bmm", "batch": groups, "m": max(1, -(-a.shape[0] // groups)),
                "k": a.shape[1], "n": b.shape[2]}
    if a.dim() == 3 and b.dim() == 3:
        return _bmm(a, b)
    raise Error("this form of grouped product is not known [unsupported]")


def _convolution(args: Any, out: Any) -> Row:
    x, weight, _, stride, pad, dilation, transposed, _, groups = args[:9]
    shape, size, result = list(x.shape), list(weight.shape[2:]), list(out.shape)
    stride, pad, dilation = list(stride), list(pad), list(dilation)
    depth = len(size)
    if depth == 1:  # rows of one pixel
        shape.insert(2, 1), size.insert(0, 1), result.insert(2, 1)
        stride, pad, dilation = [1] + stride[-1:], [0] + pad[-1:], [1] + dilation[-1:]
    stride, pad, dilation = (v * len(size) if len(v) == 1 else v for v in (stride, pad, dilation))
    images, taps = shape[0], 1
    if depth == 3:  # planes as images, taps in depth as channels
        images, taps = shape[0] * (shape[2] if transposed else result[2]), size[0]
        shape, size, result = shape[:2] + shape[3:], size[1:], result[:2] + result[3:]
        stride, pad, dilation = stride[1:], pad[1:], dilation[1:]
    row = {"op": "conv2d", "n": images, "r": size[0], "s": size[1],
           "stride": _one(stride, "a stride"), "pad": _one(pad, "a padding"),
           "dilation": _one(dilation, "a dilation"), "groups": groups}
    if transposed:  # the data gradient of the convolution from its output to its input
        row.update({"c": result[1], "h": result[2], "w": result[3], "k": shape[1] * taps,
                    "direction": "bwd_data"})
    else:
        row.update({"c": shape[1] * taps, "h": shape[2], "w": shape[3], "k": result[1]})
    return row


def attention_row(args: Any, kwargs: Any) -> Row:
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    given = {**dict(zip(names, args)), **kwargs}
    q, k, v = given["query"], given["key"], given["value"]
    if v.shape[-1] != q.shape[-1]:
        raise Error("attention with another width of values is not known [unsupported]")
    heads = q.shape[-3] if q.dim() > 2 else 1
    row = {"op": "attention", "batch": product(q.shape[:-3]), "groups": heads, "m": q.shape[-2],
           "n": k.shape[-2], "k": q.shape[-1]}
    keys = k.shape[-3] if k.dim() > 2 else 1
    if keys != heads:
        row["kv_heads"] = keys
    if given.get("is_causal") and k.shape[-2] == q.shape[-2]:
        row["causal"] = 1
    return row


def composite_rows(name: str, args: Any, out: Any) -> List[Row]:
    """LSTM, GRU, RNN: the input's product over the sequence, the recurrent one step after step."""
    packed = isinstance(args[1], torch.Tensor) and not isinstance(args[2], (list, tuple))
    if packed:
        raise KeyError(name)  # packed sequences: lengths are not known
    x, weights, biases, layers = args[0], list(args[2]), bool(args[3]), int(args[4])
    both, first = bool(args[7]), bool(args[8]) if len(args) > 8 else False
    steps, batch = (x.shape[1], x.shape[0]) if first else (x.shape[0], x.shape[1])
    each = len(weights) // (layers * (2 if both else 1))
    cell = {"lstm": "lstm_cell", "gru": "gru_cell"}.get(name, "add")
    rows: List[Row] = []
    for at in range(0, len(weights), each):
        inputs, again = weights[at], weights[at + 1]
        part = f".{at // each}"
        rows += [{"op": "gemm", "m": steps * batch, "n": inputs.shape[0], "k": inputs.shape[1],
                  "suffix": part + ".input"},
                 {"op": "gemm", "m": batch, "n": again.shape[0], "k": again.shape[1],
                  "count": steps, "suffix": part + ".recurrent"},
                 {"op": "elementwise", "rows": batch, "cols": again.shape[1], "fn": cell,
                  "count": steps, "suffix": part + ".cell"}]
    return rows


def _pool(op: str, args: Any, out: Any) -> Row:
    x, size = args[0], _pair(args[1])
    stride = args[2] if len(args) > 2 and args[2] else size
    pad = args[3] if len(args) > 3 else 0
    h, w = x.shape[-2], x.shape[-1]
    stride, padded = _pair(stride), _pair(pad)
    # Windows that stick out (ceil_mode) see as much padding as they need.
    for i, side in enumerate((h, w)):
        while (side + 2 * padded[i] - size[i]) // stride[i] + 1 < out.shape[i - 2]:
            padded[i] += 1
    return {"op": op, "n": product(x.shape[:-3]) or 1, "c": x.shape[-3], "h": h, "w": w,
            "r": size[0], "s": size[1], "stride": _one(stride, "a stride"),
            "pad": _one(padded, "a padding")}


def _rows(x: Any, cols: int) -> Tuple[int, int]:
    return max(1, x.numel() // max(1, cols)), max(1, cols)


def _reduced(x: Any, out: Any) -> Row:
    rows, cols = _rows(x, x.numel() // max(1, out.numel()))
    return {"op": "avgpool", "n": rows, "c": 1, "h": 1, "w": cols, "r": 1, "s": cols}


def _elementwise(fn: str, args: Any, out: Any) -> Row:
    large = sum(isinstance(a, torch.Tensor) and 8 * a.numel() > out.numel() for a in args[:2])
    fn = _UNARY_OF.get(fn, fn) if large < 2 else fn
    rows, cols = _rows(out, out.shape[-1] if out.dim() else 1)
    return {"op": "elementwise", "rows": rows, "cols": cols, "fn": fn}


def _norm(name: str, args: Any) -> Row:
    x = args[0]
    if name == "native_group_norm":
        return {"op": "layernorm", "rows": args[3] * args[6],
                "cols": args[4] * args[5] // args[6], "parameters": 2 * args[4]}
    if "layer_norm" in name or "rms_norm" in name:
        rows, cols = _rows(x, product(args[1]))
        return {"op": "layernorm", "rows": rows, "cols": cols}
    channels = x.shape[1]
    return {"op": "batchnorm", "rows": channels, "cols": x.numel() // channels}


_NORMS = {"native_layer_norm", "_fused_rms_norm", "native_group_norm", "native_batch_norm",
          "_native_batch_norm_legit", "cudnn_batch_norm", "_native_batch_norm_legit_no_training",
          "_batch_norm_with_update", "_batch_norm_no_update", "miopen_batch_norm"}

_SPECIAL: Dict[str, Callable[[Any, Any, Any], Row]] = {
    "mm": lambda a, k, o: _gemm(a[0], a[1]),
    "addmm": lambda a, k, o: _gemm(a[1], a[2]),
    "_scaled_mm": lambda a, k, o: _gemm(a[0], a[1]),
    "_int_mm": lambda a, k, o: _gemm(a[0], a[1]),
    "_addmm_activation": lambda a, k, o: _gemm(a[1], a[2]),
    "bmm": lambda a, k, o: _bmm(a[0], a[1]),
    "baddbmm": lambda a, k, o: _bmm(a[1], a[2]),
    "_grouped_mm": lambda a, k, o: _grouped(a),
    "_scaled_grouped_mm": lambda a, k, o: _grouped(a),
    "dot": lambda a, k, o: {"op": "bmm", "batch": 1, "m": 1, "k": a[0].numel(), "n": 1},
    "mv": lambda a, k, o: {"op": "gemm", "m": 1, "k": a[0].shape[1], "n": a[0].shape[0]},
    "convolution": lambda a, k, o: _convolution(a, o),
    "_convolution": lambda a, k, o: _convolution(a, o),
    "max_pool2d_with_indices": lambda a, k, o: _pool("maxpool", a, o),
    "max_pool2d": lambda a, k, o: _pool("maxpool", a, o),
    "avg_pool2d": lambda a, k, o: _pool("avgpool", a, o),
}


# Operands that an operator reads only where they lie densely; others it copies first, on its own.
_DENSE_ROWS = {"native_layer_norm": (0,), "_fused_rms_norm": (0,), "_softmax": (0,),
               "_log_softmax": (0,), "_safe_softmax": (0,)}
_DENSE_MATRICES = {"mm": (0, 1), "bmm": (0, 1), "addmm": (1, 2), "baddbmm": (1, 2)}


def copies_of(name: str, args: Any) -> List[Row]:
    """Copies that an operator makes of operands that lie apart, unseen by the dispatcher: a
    normalisation or softmax of a transposed tensor, a product of matrices without a dense side."""
    apart = [args[i] for i in _DENSE_ROWS.get(name, ()) if not args[i].is_contiguous()]
    apart += [args[i] for i in _DENSE_MATRICES.get(name, ())
              if 1 not in args[i].stride()[-2:] and 1 not in args[i].shape[-2:]]
    return [{**_elementwise("copy", [x], x), "suffix": ".contiguous"} for x in apart]


def row_of(name: str, args: Any, kwargs: Any, out: Any) -> Optional[Row]:
    """The layer that an operator is; None for views; KeyError for what is not known."""
    if name.endswith("_") and not name.endswith("__"):
        name = name[:-1]  # in place
    if name in _FREE:
        return None
    if name in _SPECIAL:
        return _SPECIAL[name](args, kwargs, out)
    if name.startswith(("_scaled_dot_product", "scaled_dot_product")):
        return attention_row(args[:3], {"is_causal": any(a is True for a in args[3:6])})
    if name in _NORMS:
        return _norm(name, args)
    if name in ("_softmax", "_log_softmax", "_safe_softmax"):
        rows, cols = _rows(args[0], args[0].shape[args[1]])
        return {"op": "softmax", "rows": rows, "cols": cols}
    if name == "embedding":
        rows, cols = _rows(out, out.shape[-1])
        return {"op": "embedding", "rows": rows, "cols": cols, "n": args[0].shape[0]}
    if name == "glu":
        return {**_elementwise("glu", args, out)}
    if name in _REDUCED or (name in ("max", "min") and len(args) == 1):
        return _reduced(args[0], out)
    return _elementwise(_ELEMENTWISE[name], args, out)
