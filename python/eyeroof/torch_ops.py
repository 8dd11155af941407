"""What one PyTorch operator is as a layer: a row of docs/formats.md. Called by eyeroof.torch."""

from __future__ import annotations

import textwrap
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
    "minimum": "min", "masked_fill": "where", "clone": "copy", "copy": "copy", "cat": "concat",
    "stack": "concat", "_to_copy": "cast", "native_dropout": "dropout", "dropout": "dropout",
    "constant_pad_nd": "permute", "reflection_pad2d": "permute", "replication_pad2d": "permute",
    "roll": "permute", "index": "permute", "index_select": "permute", "gather": "permute", "repeat": "permute",
    "flip": "permute", "cumsum": "scan", "bitwise_not": "neg", "logical_not": "neg",
    "bitwise_and": "mul", "logical_and": "mul", "bitwise_or": "add", "logical_or": "add",
    "eq": "sub", "ne": "sub", "lt": "sub", "le": "sub", "gt": "sub", "ge": "sub", "sin": "exp",
    "cos": "exp", "floor_divide": "div", "remainder": "div", "fmod": "div", "lerp": "add3",
    "addcmul": "add3", "upsample_nearest2d": "copy", "upsample_bilinear2d": "copy",
    "upsample_bicubic2d": "copy", "_upsample_bilinear2d_aa": "copy", "pixel_shuffle": "permute",
    "scatter": "copy", "index_put": "copy", "masked_scatter": "copy", "grid_sampler_2d": "copy",
    "roi_align": "copy", "roi_pool": "copy", "ps_roi_align": "copy",
    "im2col": "permute", "col2im": "permute", "_log_softmax": "exp", "isinf": "sub", "isnan": "sub",
    "floor": "copy", "ceil": "copy", "round": "copy", "sign": "copy", "prelu": "leaky_relu",
    "_prelu_kernel": "leaky_relu", "channel_shuffle": "permute", "topk": "copy", "sort": "copy",
    "log_sigmoid_forward": "sigmoid", "logaddexp": "add", "max": "max", "min": "min",
    "unfold_copy": "copy", "fmax": "max", "fmin": "min", "trunc": "copy", "nan_to_num": "copy",
    "cumprod": "scan", "logcumsumexp": "scan", "cummax": "scan", "cummin": "scan",
    "_cummax_helper": "scan", "_cummin_helper": "scan", "tril": "copy", "triu": "copy",
    "tril_indices": "copy", "triu_indices": "copy", "xlogy": "pow", "xlog1py": "pow",
    "special_xlog1py": "pow", "special_xlogy": "pow", "special_entr": "log", "celu": "elu",
    "selu": "elu", "softshrink": "clamp", "hardshrink": "clamp", "threshold": "clamp",
    "rrelu_with_noise": "leaky_relu", "logit": "log", "tan": "exp", "asin": "exp", "acos": "exp",
    "atan": "exp", "sinh": "exp", "cosh": "exp", "asinh": "exp", "acosh": "exp", "atanh": "exp",
    "atan2": "pow", "hypot": "pow", "erfc": "erf", "erfinv": "erf", "lgamma": "exp",
    "digamma": "exp", "polygamma": "exp", "sinc": "exp", "frac": "copy", "sgn": "copy",
    "heaviside": "max", "copysign": "mul", "logaddexp2": "add", "exp2": "exp", "log10": "log",
    "logical_xor": "add", "bitwise_xor": "add", "bitwise_left_shift": "mul",
    "bitwise_right_shift": "mul", "__lshift__": "mul", "__rshift__": "mul", "__and__": "mul",
    "__or__": "add", "__xor__": "add", "float_power": "pow", "true_divide": "div",
    "addcdiv": "add3", "isfinite": "sub", "isneginf": "sub", "isposinf": "sub", "isclose": "sub",
    "special_i0": "exp", "special_i1": "exp", "special_ndtri": "exp", "i0": "exp",
    "special_log_ndtr": "log", "special_erfcx": "exp", "deg2rad": "mulu", "rad2deg": "mulu",
    "index_add": "add", "index_copy": "copy", "index_fill": "copy", "scatter_add": "add",
    "scatter_reduce": "add", "take": "copy", "put": "copy", "masked_scatter_": "copy",
    "_unsafe_index": "permute", "_unsafe_index_put": "copy", "_index_put_impl": "copy",
    "slice_scatter": "copy", "select_scatter": "copy", "diagonal_scatter": "copy",
    "as_strided_scatter": "copy", "diagonal_copy": "copy", "expand_copy": "copy",
    "view_copy": "copy", "permute_copy": "permute", "transpose_copy": "permute", "slice_copy": "copy",
    "select_copy": "copy", "native_channel_shuffle": "permute", "pixel_unshuffle": "permute",
    "rot90": "permute", "tile": "permute", "repeat_interleave": "permute", "reflection_pad1d": "permute",
    "reflection_pad3d": "permute", "replication_pad1d": "permute", "replication_pad3d": "permute",
    "_pad_circular": "permute", "pad": "permute", "upsample_nearest1d": "copy",
    "upsample_nearest3d": "copy", "upsample_linear1d": "copy", "upsample_trilinear3d": "copy",
    "_upsample_nearest_exact1d": "copy", "_upsample_nearest_exact2d": "copy",
    "_upsample_nearest_exact3d": "copy", "_upsample_bicubic2d_aa": "copy",
    "grid_sampler_3d": "copy", "grid_sampler": "copy", "max_unpool2d": "copy",
    "max_unpool3d": "copy", "clip": "clamp", "renorm": "mul", "cross": "mul", "linalg_cross": "mul",
    "vstack": "concat", "dstack": "concat", "column_stack": "concat",
    "special_expit": "sigmoid", "special_log_softmax": "exp", "quantize_per_tensor": "cast",
    "dequantize": "cast", "fake_quantize_per_tensor_affine_cachemask": "clamp", "feature_dropout":
    "dropout", "alpha_dropout": "dropout", "polar": "exp", "complex": "copy", "angle": "exp",
    "searchsorted": "copy", "bucketize": "copy", "isin": "sub", "nextafter": "add", "gcd": "div", "lcm": "div", "signbit": "copy", "positive": "copy",
    "_foreach_add": "add", "ldexp": "mul", "native_dropout_backward": "mul",
}
_UNARY_OF = {"add": "addu", "sub": "subu", "mul": "mulu", "div": "divu", "pow": "powu",
             "max": "clamp", "min": "clamp", "where": "clamp"}

# Views, sizes, and what makes a tensor of nothing: no work of their own.
_FREE = {
    "view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand", "slice", "select",
    "split", "split_with_sizes", "unbind", "unsqueeze", "squeeze", "detach", "alias", "as_strided",
    "empty", "empty_like", "scalar_tensor", "lift_fresh", "chunk", "flatten", "unfold",
    "_local_scalar_dense", "new_empty", "diagonal", "_reshape_alias", "lift_fresh_copy", "movedim",
    "view_as_real", "view_as_complex", "empty_strided", "new_empty_strided", "_assert_async",
    "detach_copy", "device", "squeeze_", "unsafe_split", "unsafe_chunk", "tensor_split", "narrow",
    "_conj_physical", "resolve_conj", "resolve_neg", "_nested_view_from_buffer",
    "_assert_tensor_metadata", "item", "equal", "is_same_size", "sym_size", "resize", "set",
    "_conj", "imag", "real", "hstack", "empty_permuted", "swapaxes",
    "_has_compatible_shallow_copy_type", "randperm", "broadcast_tensors", "meshgrid",
}

# What fills a tensor: a kernel that writes and reads nothing.
_FILLS = {"arange", "zeros", "ones", "full", "zeros_like", "ones_like", "new_full", "full_like",
          "new_zeros", "new_ones", "fill", "zero", "linspace", "logspace", "eye", "rand", "randn",
          "rand_like", "randn_like", "randint", "randint_like", "normal", "uniform", "exponential",
          "bernoulli", "tril_indices", "triu_indices", "hann_window", "hamming_window",
          "bartlett_window", "blackman_window", "kaiser_window"}

# Reductions: read all, write little.
_REDUCED = {"mean", "_adaptive_avg_pool2d", "sum", "amax", "amin", "argmax", "argmin", "var", "std",
            "var_mean", "linalg_vector_norm", "norm", "prod", "any", "all", "logsumexp",
            "adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d",
            "adaptive_max_pool2d", "max_dim", "bincount", "adaptive_max_pool3d",
            "adaptive_avg_pool3d", "adaptive_max_pool1d", "aminmax", "nansum", "nanmean",
            "count_nonzero", "std_mean", "trace", "cov", "_adaptive_max_pool2d", "histc", "dist",
            "linalg_norm", "frobenius_norm", "nuclear_norm", "nanmedian", "median"}


# Where they name the axes: argument of each.
_AXIS_AT = {**{name: 1 for name in ("mean", "sum", "amax", "amin", "argmax", "argmin", "var", "std",
                                    "var_mean", "std_mean", "prod", "any", "all", "max", "min",
                                    "nansum", "nanmean", "count_nonzero")},
            "linalg_vector_norm": 2, "norm": 2}


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


_MOST = 10 ** 9  # the largest dimension of a layer


def _folded(size: int) -> Tuple[int, int]:
    """A size as two dimensions that the format holds: 2^30 is 2 x 2^29."""
    factor = 1
    while size // factor > _MOST or size % factor:
        factor += 1
        if factor > 1 << 20:
            raise Error(f"{size} elements do not fit two dimensions of a layer [unsupported]")
    return factor, size // factor


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
        shape.insert(2, 1)
        size.insert(0, 1)
        result.insert(2, 1)
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
    if taps > 1:
        row["depth"] = taps
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
    heads = q.shape[-3] if q.dim() > 2 else 1
    row = {"op": "attention", "batch": product(q.shape[:-3]), "groups": heads, "m": q.shape[-2],
           "n": k.shape[-2], "k": q.shape[-1]}
    if v.shape[-1] != q.shape[-1]:
        row["v"] = v.shape[-1]
    keys = k.shape[-3] if k.dim() > 2 else 1
    if keys != heads:
        row["kv_heads"] = keys
    if given.get("is_causal") and k.shape[-2] >= q.shape[-2]:
        row["causal"] = 1
        row["n"] = q.shape[-2]  # the first query sees the first key: none sees a key behind the last
    return row


def composite_rows(name: str, args: Any, out: Any) -> List[Row]:
    """LSTM, GRU, RNN as cuDNN runs them in one call: the input's product over the whole sequence,
    then a recurrent product and a cell after each other for every step."""
    packed = isinstance(args[1], torch.Tensor) and not isinstance(args[2], (list, tuple))
    if packed:
        raise KeyError(name)  # packed sequences: lengths are not known
    x, weights, biases, layers = args[0], list(args[2]), bool(args[3]), int(args[4])
    both, first = bool(args[7]), bool(args[8]) if len(args) > 8 else False
    if x.dim() == 2:
        x = x.unsqueeze(0 if first else 1)
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


def _pool3(op: str, args: Any, out: Any) -> Row:
    """Depth by planes: depth is the layer's height, a plane its width, with windows that cover it
    once and leave as many results."""
    x = args[0]
    size, stride = list(args[1]), list(args[2]) if len(args) > 2 and args[2] else list(args[1])
    pad = list(args[3]) if len(args) > 3 and isinstance(args[3], (list, tuple)) else [0]
    plane, results = x.shape[-2] * x.shape[-1], out.shape[-2] * out.shape[-1]
    step = max(1, plane // results)
    reach = plane - step * (results - 1)
    if reach < 1:
        raise KeyError(op)  # more results than elements: padding around every one
    padded = pad[0]
    while (x.shape[-3] + 2 * padded - size[0]) // stride[0] + 1 < out.shape[-3]:
        padded += 1
    return {"op": op, "n": product(x.shape[:-4]) or 1, "c": x.shape[-4] if x.dim() > 3 else 1,
            "h": x.shape[-3], "w": plane, "r": size[0], "s": reach,
            "stride": _one([stride[0], step], "a stride"), "pad": _one([padded, 0], "a padding")}


def _pool(op: str, args: Any, out: Any) -> Row:
    x, size = args[0], _pair(args[1])
    if x.dim() < 3 or len(size) != 2:
        raise KeyError(op)
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


def _along_dims(x: Any, out: Any, dims: Any) -> Row:
    """Along an axis that is not the innermost: a plane's whole height and one column of it."""
    named = [dims] if isinstance(dims, int) and not isinstance(dims, bool) else dims
    if not isinstance(named, (list, tuple)) or not named or not x.is_contiguous():
        return _reduced(x, out)
    gone = {int(d) % x.dim() for d in named}
    inner = product(x.shape[max(gone) + 1:])
    along = product(x.shape[d] for d in gone)
    outer = x.numel() // max(1, inner * along)
    if inner < 2 or along < 2 or max(inner, along, outer) > _MOST:
        return _reduced(x, out)
    return {"op": "avgpool", "n": outer, "c": 1, "h": along, "w": inner, "r": along, "s": 1}


def _reduced(x: Any, out: Any) -> Row:
    rows, cols = _rows(x, x.numel() // max(1, out.numel()))
    (n, c), (h, w) = _folded(rows), _folded(cols)
    return {"op": "avgpool", "n": c, "c": n, "h": h, "w": w, "r": h, "s": w}


def _scan(args: Any, out: Any) -> Row:
    """Along the dimension that is given; rows are what lies beside each other."""
    cols = out.shape[args[1]] if out.dim() else 1
    rows, cols = _rows(out, cols)
    return {"op": "elementwise", "rows": rows, "cols": cols, "fn": "scan"}


def _elementwise(fn: str, args: Any, out: Any) -> Row:
    large = sum(isinstance(a, torch.Tensor) and 8 * a.numel() > out.numel() for a in args[:2])
    fn = _UNARY_OF.get(fn, fn) if large < 2 else fn
    rows, cols = _rows(out, out.shape[-1] if out.dim() else 1)
    if max(rows, cols) > _MOST:
        rows, cols = _folded(rows * cols)
    return {"op": "elementwise", "rows": rows, "cols": cols, "fn": fn}


def _reordered(x: Any, out: Any) -> bool:
    """Do the elements of a copy lie in another order or further apart than the result's?"""
    return (isinstance(x, torch.Tensor) and x.shape == out.shape
            and any(n > 1 and a != b for n, a, b in zip(out.shape, x.stride(), out.stride())))


def _norm(name: str, args: Any) -> Row:
    x = args[0]
    if "layer_norm" in name or "rms_norm" in name:
        rows, cols = _rows(x, product(args[1]))
        return {"op": "layernorm", "rows": rows, "cols": cols}
    channels = x.shape[1]
    row = {"op": "batchnorm", "rows": channels, "cols": x.numel() // channels}
    running = "no_training" in name or "no_update" in name or (len(args) > 5 and args[5] is False)
    return row if running else {**row, "n": x.shape[0]}  # statistics of these images


_NORMS = {"native_layer_norm", "_fused_rms_norm", "native_batch_norm",
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
    "max_pool2d_with_indices": lambda a, k, o: _pool("maxpool", a, o),
    "max_pool2d": lambda a, k, o: _pool("maxpool", a, o),
    "avg_pool2d": lambda a, k, o: _pool("avgpool", a, o),
    "max_pool3d_with_indices": lambda a, k, o: _pool3("maxpool", a, o),
    "max_pool3d": lambda a, k, o: _pool3("maxpool", a, o),
    "avg_pool3d": lambda a, k, o: _pool3("avgpool", a, o),
    "fractional_max_pool2d": lambda a, k, o: _pool("maxpool", [*a[:2], a[1]], o),
    "addmv": lambda a, k, o: {"op": "gemm", "m": 1, "k": a[1].shape[1], "n": a[1].shape[0]},
    "addr": lambda a, k, o: _elementwise("add", [a[0], o], o),
    "addbmm": lambda a, k, o: _gemm(a[1].flatten(0, 1), a[2].transpose(0, 1).flatten(1)),
    "vdot": lambda a, k, o: {"op": "bmm", "batch": 1, "m": 1, "k": a[0].numel(), "n": 1},
    "affine_grid_generator": lambda a, k, o: {"op": "gemm", "m": product(o.shape[:-1]),
                                              "k": o.shape[-1] + 1, "n": o.shape[-1],
                                              "parameters": 0},
    "_pdist_forward": lambda a, k, o: {"op": "gemm", "m": a[0].shape[0], "k": a[0].shape[1],
                                       "n": a[0].shape[0], "parameters": 0},
    "fractional_max_pool3d": lambda a, k, o: _reduced(a[0], o),
    "_cdist_forward": lambda a, k, o: {"op": "bmm", "batch": product(o.shape[:-2]),
                                       "m": o.shape[-2], "k": a[0].shape[-1], "n": o.shape[-1]},
}


# Operators that an eager framework runs as several kernels: a loss is a function of its elements and
# a reduction, a group norm its statistics and a pass that applies them. Kernels of one operator are
# launched within its call, but for those before which it makes tensors as a call of their own does
# (own_call).

def _with_reduction(fn: str, args: Any, out: Any) -> List[Row]:
    x = args[0]
    rows = [{**_elementwise(fn, args, x), "suffix": ".elements"}]
    if out.numel() < x.numel():
        rows.append({**_reduced(x, out), "suffix": ".reduced"})
    return rows


def _log_sum_exp(args: Any, out: Any) -> List[Row]:
    x = args[0]  # maximum, difference, exponential, sum, and what is left of the rows
    one = [_elementwise(fn, [out], out) for fn in ("abs", "sub", "where", "log", "add")]
    rows = [_reduced(x, out), *one[:3], _elementwise("subu", [x], x), _elementwise("exp", [x], x),
            _reduced(x, out), *one[3:]]
    makes_tensor = (0, 1, 2, 4, 6)  # the others write over what they read
    return [{**row, "suffix": f".{i}", "own_call": i in makes_tensor} for i, row in enumerate(rows)]


def _group_norm(args: Any, out: Any) -> List[Row]:
    x, images, channels, inner, groups = args[0], args[3], args[4], args[5], args[6]
    statistics = {**_reduced(x, x.flatten()[: images * groups]), "suffix": ".moments", "parameters": 0}
    factors = {"op": "elementwise", "rows": images, "cols": channels, "fn": "mulu",
               "suffix": ".factors", "parameters": 0, "own_call": True}
    applied = {"op": "elementwise", "rows": images * channels, "cols": max(1, inner), "fn": "mulu",
               "own_call": True}
    return [statistics, factors, applied]


def _nll(args: Any, out: Any) -> List[Row]:
    x = args[0]  # one element of every row, and their mean
    picked = max(1, x.numel() // max(1, x.shape[1] if x.dim() > 1 else x.shape[0]))
    return [{"op": "elementwise", "rows": 1, "cols": picked, "fn": "pick"}]


def _convolved(args: Any, out: Any) -> List[Row]:
    """cuDNN's kernel, and the bias added by one of the framework's."""
    row = _convolution(args, out)
    bias = args[2]
    depthwise = row["groups"] > 1 and row["groups"] == row["c"] and not args[6]
    if not isinstance(bias, torch.Tensor) or depthwise:
        return [row]
    added = {**_elementwise("addu", [out], out), "suffix": ".bias", "parameters": 0}
    return [row, added]


def _numbered(rows: List[Row]) -> List[Row]:
    return [{**row, "suffix": f".{i}"} for i, row in enumerate(rows)]


def _passes(x: Any, count: int) -> List[Row]:
    """Kernels that read and write every element, as a radix sort does digit by digit."""
    return _numbered([_elementwise("copy", [x], x) for _ in range(count)])


def _fourier(args: Any, out: Any) -> List[Row]:
    """One pass over the data for each dimension: up to some thousand points stay in a block's shared
    memory, and its arithmetic hides behind the bytes."""
    x, dims = args[0], args[1]
    large = x if x.numel() * x.element_size() > out.numel() * out.element_size() else out
    parts = 2 if large.is_complex() else 1
    rows, cols = _rows(large, large.shape[-1])
    last = large.dim() - 1
    return _numbered([{"op": "elementwise", "rows": rows, "cols": parts * cols,
                       "fn": "copy" if d % large.dim() == last else "permute"} for d in dims])


def _euclidean(args: Any, out: Any) -> List[Row]:
    """Squares and ones beside the operands, one product of both, and the root."""
    a, b = args[0], args[1]
    wide = [_elementwise("concat", [x], torch.empty(*x.shape[:-1], x.shape[-1] + 2, device="meta"))
            for x in (a, b)]
    made = {"op": "bmm", "batch": product(out.shape[:-2]), "m": out.shape[-2],
            "k": a.shape[-1] + 2, "n": out.shape[-1], "parameters": 0}
    return _numbered([*wide, made, _elementwise("clamp", [out], out),
                      _elementwise("sqrt", [out], out)])


def _bilinear(args: Any, out: Any) -> List[Row]:
    """A product with each output's matrix, the row products with the second operand, and their sum."""
    weight, second = args[1], args[2]
    batch, results = max(1, out.numel() // out.shape[-1]), weight.shape[0]
    if [list(dims) for dims in args[3:7]] != [[1, 3], [0], [1, 2], [2, 3]]:
        raise KeyError("_trilinear")
    rows: List[Row] = []
    for i in range(results):
        weights = {} if i == 0 else {"parameters": 0}
        rows += [{"op": "gemm", "m": batch, "k": weight.shape[1], "n": weight.shape[2], **weights},
                 {"op": "bmm", "batch": batch, "m": 1, "k": second.shape[-1], "n": 1,
                  "parameters": 0},
                 {"op": "elementwise", "rows": batch, "cols": 1, "fn": "add", "parameters": 0}]
    return _numbered(rows)


def _chosen(args: Any, out: Any) -> List[Row]:
    """What is not zero: counted, and then written."""
    x = args[0]
    return _numbered([_reduced(x, x.flatten()[:1]), _elementwise("copy", [x], x),
                      _elementwise("fill", [], out)])


def _drawn(args: Any, out: Any) -> List[Row]:
    """Probabilities over exponential draws, and the largest of every row."""
    x = args[0]
    return _numbered([_elementwise("fill", [], x), _elementwise("div", [x, x], x),
                      _reduced(x, out)])


def _tap_products(args: Any, out: Any) -> List[Row]:
    """A convolution of (time, batch, channels): the bias, and a product for every tap."""
    taps, inner, outer = args[1].shape
    each = {"op": "gemm", "m": out.shape[0] * out.shape[1], "k": inner, "n": outer}
    return _numbered([_elementwise("fill", [], out),
                      *({**each, **({} if i == 0 else {"parameters": 0})} for i in range(taps))])


_SEVERAL: Dict[str, Callable[[Any, Any, Any], List[Row]]] = {
    "mse_loss": lambda a, k, o: _with_reduction("sub", a, o),
    "l1_loss": lambda a, k, o: _with_reduction("sub", a, o),
    "smooth_l1_loss": lambda a, k, o: _with_reduction("sub", a, o),
    "huber_loss": lambda a, k, o: _with_reduction("sub", a, o),
    "soft_margin_loss": lambda a, k, o: _with_reduction("mul", a, o),
    "binary_cross_entropy": lambda a, k, o: _with_reduction("pow", a, o),
    "binary_cross_entropy_with_logits": lambda a, k, o: [
        *({**_elementwise(fn, [a[0], a[0]], a[0]), "suffix": f".{fn}"}
          for fn in ("subu", "mul", "sigmoid", "sub")), *_with_reduction("mulu", a[:1], o)[1:]],
    "multi_margin_loss": lambda a, k, o: [_reduced(a[0], o)],
    "multilabel_margin_loss_forward": lambda a, k, o: [_reduced(a[0], o)],
    "nll_loss_forward": lambda a, k, o: _nll(a, o),
    "nll_loss": lambda a, k, o: _nll(a, o),
    "nll_loss2d_forward": lambda a, k, o: _nll(a, o),
    "_ctc_loss": lambda a, k, o: [{**_elementwise("add3", [a[0]], a[0]), "count": 1}],
    "logsumexp": lambda a, k, o: _log_sum_exp(a, o),
    "native_group_norm": lambda a, k, o: _group_norm(a, o),
    "diag_embed": lambda a, k, o: [{**_elementwise("fill", [], o), "suffix": ".zeros"},
                                   {**_elementwise("copy", [a[0]], a[0]), "suffix": ".diagonal"}],
    "convolution": lambda a, k, o: _convolved(a, o),
    "_convolution": lambda a, k, o: _convolved(a, o),
    "_embedding_bag": lambda a, k, o: [{"op": "embedding", "rows": a[1].numel(),
                                        "cols": a[0].shape[1], "n": a[0].shape[0]}],
    "_embedding_bag_forward_only": lambda a, k, o: _SEVERAL["_embedding_bag"](a, k, o),
    "topk": lambda a, k, o: _passes(a[0], 2),
    "kthvalue": lambda a, k, o: _passes(a[0], 2),
    "sort": lambda a, k, o: _passes(a[0], 4),
    "argsort": lambda a, k, o: _passes(a[0], 4),
    "mode": lambda a, k, o: _passes(a[0], 5),
    "_unique2": lambda a, k, o: _passes(a[0], 6),
    "unique_dim": lambda a, k, o: _passes(a[0], 6),
    "unique_consecutive": lambda a, k, o: _passes(a[0], 2),
    "nonzero": lambda a, k, o: _chosen(a, o),
    "masked_select": lambda a, k, o: _chosen(a, o),
    "multinomial": lambda a, k, o: _drawn(a, o),
    "_fft_c2c": lambda a, k, o: _fourier(a, o),
    "_fft_r2c": lambda a, k, o: _fourier(a, o),
    "_fft_c2r": lambda a, k, o: _fourier(a, o),
    "_euclidean_dist": lambda a, k, o: _euclidean(a, o),
    "_trilinear": lambda a, k, o: _bilinear(a, o),
    "conv_tbc": lambda a, k, o: _tap_products(a, o),
    "block_diag": lambda a, k, o: [{**_elementwise("fill", [], o), "suffix": ".zeros"},
                                   *_numbered([_elementwise("copy", [x], x) for x in a[0]])],
}


_READS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "pow": 2, "max": 2, "min": 2, "glu": 2,
          "add3": 3, "where": 3, "lstm_cell": 5, "gru_cell": 7, "fill": 0}


def _along(size: int, window: int, stride: int, pad: int, dilation: int) -> int:
    return (size + 2 * pad - dilation * (window - 1) - 1) // stride + 1


def _sides(value: Any) -> List[int]:
    return [int(v) for v in str(value).split("x")] * (1 if "x" in str(value) else 2)


def operands_of(row: Row) -> Tuple[List[int], int]:
    """Elements of what a row's layer reads from others, in order, and of what it writes: those of
    model/workload/operands.cpp."""
    op, get = row["op"], row.get
    if op in ("conv2d", "maxpool", "avgpool"):
        stride, pad = _sides(get("stride", 1)), _sides(get("pad", 0))
        dilation = _sides(get("dilation", 1))
        p, q = (_along(row[a], row[b], stride[i], pad[i], dilation[i])
                for i, (a, b) in enumerate((("h", "r"), ("w", "s"))))
        whole = get("n", 1) * row["c"] * row["h"] * row["w"]
        result = get("n", 1) * (row["k"] if op == "conv2d" else row["c"]) * p * q
        return ([result], whole) if get("direction") == "bwd_data" else ([whole], result)
    if op in ("gemm", "bmm"):
        batch, m, n, k = get("batch", 1), row["m"], row["n"], row["k"]
        second = [] if op == "gemm" or get("parameters", 1) > 0 else [batch * k * n]
        return [batch * m * k, *second], batch * m * n
    if op == "attention":
        query = row["batch"] * row["groups"] * row["m"] * row["k"]
        keys = row["batch"] * get("kv_heads", row["groups"]) * row["n"]
        value = get("v", row["k"])
        return [query, keys * row["k"], keys * value], query // row["k"] * value
    whole = row["rows"] * row["cols"]
    if op == "embedding":
        return [], whole
    return [whole] * (_READS.get(row["fn"], 1) if op == "elementwise" else 1), whole


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
    return [{**_elementwise("permute", [x], x), "suffix": ".contiguous"} for x in apart]


def rows_of(name: str, args: Any, kwargs: Any, out: Any) -> List[Row]:
    """The kernels that an operator is, as layers; none for views; KeyError for what is not known."""
    plain = name[:-1] if name.endswith("_") and not name.endswith("__") else name
    if plain in _SEVERAL:
        return _SEVERAL[plain](args, kwargs, out)
    row = row_of(name, args, kwargs, out)
    return [] if row is None else [row]


def row_of(name: str, args: Any, kwargs: Any, out: Any) -> Optional[Row]:
    """The layer that an operator is; None for views; KeyError for what is not known."""
    if name.endswith("_") and not name.endswith("__"):
        name = name[:-1]  # in place
    if name in _FREE:
        return None
    if name in _FILLS:
        return _elementwise("fill", [], out)
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
    if _ELEMENTWISE.get(name) == "scan":
        return _scan(args, out)
    if name in ("clone", "copy") and _reordered(args[0 if name == "clone" else 1], out):
        return _elementwise("permute", args, out)
    if name == "glu":
        return {**_elementwise("glu", args, out)}
    along = len(args) == 1 or not isinstance(args[1], torch.Tensor)
    if name in _REDUCED or (name in ("max", "min") and along):
        axis = _AXIS_AT.get(name, 0)
        return _along_dims(args[0], out, args[axis] if 0 < axis < len(args) else None)
    return _elementwise(_ELEMENTWISE[name], args, out)


def coverage() -> Dict[str, List[str]]:
    """Operators that have a cost, by the form of layer that they become; views cost nothing."""
    forms: Dict[str, List[str]] = {"no work": sorted(_FREE), "fill": sorted(_FILLS),
                                   "reduction": sorted(_REDUCED), "norm": sorted(_NORMS),
                                   "several kernels": sorted(_SEVERAL),
                                   "product or window": sorted(_SPECIAL),
                                   "softmax": ["_log_softmax", "_safe_softmax", "_softmax"],
                                   "attention": ["scaled_dot_product_attention"],
                                   "recurrent": ["gru", "lstm", "rnn_relu", "rnn_tanh"],
                                   "look-up": ["embedding"]}
    for name, fn in sorted(_ELEMENTWISE.items()):
        form = {"scan": "scan", "permute": "strided copy", "concat": "concatenation"}.get(
            fn, "pointwise or copy")
        forms.setdefault(form, []).append(name)
    return forms


def page() -> str:
    """docs/dev/torch-operators.md."""
    lines = ["# PyTorch operators that have a cost", "",
             "Printed by `python -m eyeroof.torch_ops`: the operators of PyTorch's dispatcher that "
             "`er.capture()` turns into",
             "layers, by the form of layer. An operator that is not listed stands in `c.unknown`. "
             "The network's answer is then refused,",
             "unless `--allow-uncosted` accepts its share.", ""]
    for form, names in coverage().items():
        lines += [f"## {form[0].upper()}{form[1:]} ({len(names)})", "",
                  *textwrap.wrap(", ".join(f"`{name}`" for name in names), 110), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    print(page(), end="")
