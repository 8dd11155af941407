"""Networks of PyTorch models: what a forward pass runs, recorded operator by operator.

    with er.capture() as c:
        model(x)                       # on any device; "meta" needs neither memory nor time
    er.exam(c.network("mine"), on="a100-sxm-40gb")

Module names are kept. What is not known is told in `c.unknown` (operator: calls), and is left out.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import Error, Network, _eyeroof

Row = Dict[str, Any]

_TYPES = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16",
          torch.bfloat16: "bf16", torch.int8: "int8", torch.uint8: "int8"}

# Elementwise functions of the model, by the operator's name.
_ELEMENTWISE = {
    "relu": "relu", "relu_": "relu", "add": "add", "add_": "add", "sub": "sub", "rsub": "sub",
    "mul": "mul", "mul_": "mul", "div": "div", "div_": "div", "pow": "powu", "gelu": "gelu",
    "sigmoid": "sigmoid", "sigmoid_": "sigmoid", "tanh": "tanh", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "abs": "abs", "neg": "neg",
    "silu": "silu", "silu_": "silu", "softplus": "softplus", "leaky_relu": "leaky_relu",
    "clamp": "clamp", "clamp_min": "clamp", "hardtanh": "relu6", "hardtanh_": "relu6",
    "hardswish": "hardswish", "hardswish_": "hardswish", "hardsigmoid": "hardsigmoid",
    "hardsigmoid_": "hardsigmoid", "elu": "elu", "erf": "erf", "where": "where", "maximum": "max",
    "minimum": "min", "masked_fill": "where", "clone": "copy", "copy_": "copy", "cat": "copy",
    "stack": "copy", "_to_copy": "cast", "native_dropout": "dropout", "glu": "glu",
    "constant_pad_nd": "copy", "roll": "copy", "index": "copy",
}
_UNARY_OF = {"add": "addu", "sub": "subu", "mul": "mulu", "div": "divu"}

# Views and what makes a tensor of nothing: no work of their own.
_FREE = {
    "view", "_unsafe_view", "reshape", "t", "transpose", "permute", "expand", "slice", "select",
    "split", "split_with_sizes", "unbind", "unsqueeze", "squeeze", "detach", "alias", "as_strided",
    "arange", "zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like",
    "full_like", "scalar_tensor", "lift_fresh", "chunk", "flatten", "unfold", "_local_scalar_dense",
    "new_zeros", "new_ones", "new_empty", "diagonal", "_reshape_alias", "triu", "tril",
}


def _product(sizes: Any) -> int:
    all_ = 1
    for size in sizes:
        all_ *= int(size)
    return all_


def _one(values: Any, what: str) -> Any:
    """One number where both directions have it, else "HxW"."""
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    values = values * 2 if len(values) == 1 else values
    if len(values) != 2:
        raise Error(f"{what} of {len(values)} dimensions is not known [unsupported]")
    return values[0] if values[0] == values[1] else f"{values[0]}x{values[1]}"


def _gemm(a: Any, b: Any, bias: bool) -> Row:
    return {"op": "gemm", "m": a.shape[0], "k": a.shape[1], "n": b.shape[1], "bias": int(bias)}


def _bmm(a: Any, b: Any) -> Row:
    return {"op": "bmm", "batch": a.shape[0], "m": a.shape[1], "k": a.shape[2], "n": b.shape[2]}


def _convolution(args: Any, out: Any) -> Row:
    x, weight, bias, stride, pad, dilation, transposed, _, groups = args[:9]
    if x.dim() == 3:  # over one dimension: rows of one pixel
        x, weight, out = x.unsqueeze(2), weight.unsqueeze(2), out.unsqueeze(2)
        stride, pad, dilation = [1, *stride], [0, *pad], [1, *dilation]
    if x.dim() != 4:
        raise Error("convolutions over three dimensions are not known [unsupported]")
    row = {"op": "conv2d", "n": x.shape[0], "r": weight.shape[2], "s": weight.shape[3],
           "stride": _one(stride, "a stride"), "pad": _one(pad, "a padding"),
           "dilation": _one(dilation, "a dilation"), "groups": groups, "bias": int(bias is not None)}
    if transposed:  # the data gradient of the convolution from its output to its input
        row.update({"c": out.shape[1], "h": out.shape[2], "w": out.shape[3], "k": x.shape[1],
                    "direction": "bwd_data"})
    else:
        row.update({"c": x.shape[1], "h": x.shape[2], "w": x.shape[3], "k": out.shape[1]})
    return row


def _attention(args: Any, kwargs: Any) -> Row:
    q, k, v = args[:3]
    if v.shape[-1] != q.shape[-1]:
        raise Error("attention with another width of values is not known [unsupported]")
    heads, keys = q.shape[-3], k.shape[-3]
    return {"op": "attention", "batch": _product(q.shape[:-3]), "groups": keys,
            "m": q.shape[-2] * (heads // keys), "n": k.shape[-2], "k": q.shape[-1]}


def _pool(op: str, args: Any, out: Any) -> Row:
    x, size = args[0], args[1]
    stride = args[2] if len(args) > 2 and len(args[2]) else size
    pad = args[3] if len(args) > 3 else 0
    return {"op": op, "n": x.shape[0], "c": x.shape[1], "h": x.shape[2], "w": x.shape[3],
            "r": size[0], "s": size[-1], "stride": _one(stride, "a stride"),
            "pad": _one(pad, "a padding")}


def _rows(x: Any, cols: int) -> Tuple[int, int]:
    return max(1, x.numel() // max(1, cols)), max(1, cols)


def _elementwise(fn: str, args: Any, out: Any) -> Row:
    tensors = sum(isinstance(a, torch.Tensor) and a.numel() > 1 for a in args[:2])
    fn = _UNARY_OF.get(fn, fn) if tensors < 2 else fn
    rows, cols = _rows(out, out.shape[-1] if out.dim() else 1)
    return {"op": "elementwise", "rows": rows, "cols": cols, "fn": fn}


def _row(name: str, args: Any, kwargs: Any, out: Any) -> Optional[Row]:
    """The layer that an operator is; None for views; KeyError for what is not known."""
    if name in _FREE:
        return None
    if name == "mm":
        return _gemm(args[0], args[1], False)
    if name == "addmm":
        return _gemm(args[1], args[2], True)
    if name in ("bmm", "baddbmm"):
        return _bmm(*(args[1:3] if name == "baddbmm" else args[:2]))
    if name == "_scaled_mm":
        return _gemm(args[0], args[1], False)
    if name in ("convolution", "_convolution"):
        return _convolution(args, out)
    if name.startswith(("_scaled_dot_product", "scaled_dot_product")):
        return _attention(args, kwargs)
    if name in ("max_pool2d_with_indices", "max_pool2d"):
        return _pool("maxpool", args, out)
    if name == "avg_pool2d":
        return _pool("avgpool", args, out)
    if name in ("mean", "_adaptive_avg_pool2d", "sum", "amax", "argmax", "var"):
        rows, cols = _rows(args[0], args[0].numel() // max(1, out.numel()))
        return {"op": "avgpool", "n": rows, "c": 1, "h": 1, "w": cols, "r": 1, "s": cols}
    if name in ("_softmax", "_log_softmax"):
        rows, cols = _rows(args[0], args[0].shape[args[1]])
        return {"op": "softmax", "rows": rows, "cols": cols}
    if name in ("native_layer_norm", "_fused_rms_norm"):
        rows, cols = _rows(args[0], _product(args[1]))
        return {"op": "layernorm", "rows": rows, "cols": cols}
    if name == "native_group_norm":
        return {"op": "layernorm", "rows": args[3] * args[6],
                "cols": args[4] * args[5] // args[6], "parameters": 2 * args[4]}
    if name in ("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm",
                "_native_batch_norm_legit_no_training"):
        channels = args[0].shape[1]
        return {"op": "batchnorm", "rows": channels, "cols": args[0].numel() // channels}
    if name == "embedding":
        rows, cols = _rows(out, out.shape[-1])
        return {"op": "embedding", "rows": rows, "cols": cols, "n": args[0].shape[0]}
    fn = _ELEMENTWISE[name]
    return _elementwise(fn, args, out)


class Capture(TorchDispatchMode):
    """Records operators while it is entered; see the module's text."""

    def __init__(self, dtype: Optional[str] = None) -> None:
        super().__init__()
        self.rows: List[Row] = []
        self.unknown: Dict[str, int] = {}
        self._dtype = dtype
        self._stack: List[str] = []
        self._names: Dict[int, str] = {}
        self._hooks: List[Any] = []

    def __enter__(self) -> "Capture":
        register = torch.nn.modules.module
        self._hooks = [register.register_module_forward_pre_hook(self._enter_module),
                       register.register_module_forward_hook(self._leave_module)]
        super().__enter__()
        return self

    def __exit__(self, *details: Any) -> None:
        super().__exit__(*details)
        for hook in self._hooks:
            hook.remove()

    def _enter_module(self, module: Any, _: Any) -> None:
        if not self._stack:
            self._names = {id(m): n for n, m in module.named_modules()}
        self._stack.append(self._names.get(id(module), type(module).__name__))

    def _leave_module(self, *_: Any) -> None:
        if self._stack:
            self._stack.pop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        out = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(out, torch.Tensor):
            self._take(name, args, kwargs or {}, out)
        return result

    def _take(self, name: str, args: Any, kwargs: Any, out: Any) -> None:
        try:
            row = _row(name, args, kwargs, out)
        except KeyError:
            self.unknown[name] = self.unknown.get(name, 0) + 1
            return
        if row is None or out.numel() == 0:
            return
        where = self._stack[-1] if self._stack and self._stack[-1] else ""
        row["name"] = where or name
        row["dtype"] = self._dtype or _TYPES.get(out.dtype, "fp32")
        self.rows.append(row)

    def network(self, name: str = "captured") -> Network:
        """What was recorded, as a network for er.exam and all others."""
        if not self.rows:
            raise Error("nothing was recorded: run the model inside the with block [no-layers]")
        seen: Dict[str, int] = {}
        lines = []
        for row in self.rows:
            row = dict(row)
            seen[row["name"]] = seen.get(row["name"], 0) + 1
            if seen[row["name"]] > 1:
                row["name"] += f"_{seen[row['name']]}"
            cells = ", ".join(f"{key}: {json.dumps(value)}" for key, value in row.items())
            lines.append(f"  - {{{cells}}}")
        text = (f"name: {json.dumps(name)}\nsource: \"recorded from PyTorch {torch.__version__}\"\n"
                "layers:\n" + "\n".join(lines) + "\n")
        return _eyeroof.parse_network(text, name + ".yaml")
